/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the page of kerf serve: node bundle.mjs FOLDER writes index.html.gz, page.js.gz and page.css.gz there, the same
 * bytes for the same sources.
 */
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
const common = { bundle: true, minify: true, write: false, legalComments: 'none', logLevel: 'warning' };

async function made(entry, options) {
  const { outputFiles } = await build({ entryPoints: [join(here, entry)], ...common, ...options });
  return outputFiles[0].contents;
}
const put = (name, bytes) => writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));

put('index.html', readFileSync(join(here, 'page/index.html')));
put('page.js', await made('page/main.js', { format: 'esm', target: 'es2021' }));
put('page.css', await made('page/page.css', {}));
