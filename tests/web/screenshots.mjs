/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of docs/page.md: node screenshots.mjs KERF FOLDER writes page-plan.png, page-schedule.png, page-studies.png and
 * page-jobs.png there, from a server with a study and a job of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [program, out] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'kerf-shots-'));
const env = { ...process.env, KERF_STUDIES: join(folder, 'studies') };
const surface = join(folder, 'surface.sh');
writeFileSync(surface, 'awk -v b=$1 -v t=$2 "BEGIN { print \\"time\\", 1 + 30 / b + b / 900 + 2 / t + 0.15 * t }"\n');
spawnSync(program, ['tune', '--param', 'batch=16..512:x2', '--param', 'threads=1..4', '--max-observations', '60', '--interference', 'ignore',
  '--objective', 'regex:time ([0-9.]+)', '--', 'sh', surface, '{batch}', '{threads}'], { env, stdio: 'ignore' });
const kerf = spawn(program, ['open', '--no-browser', '--store', join(folder, 'jobs.db')], { stdio: ['ignore', 'pipe', 'inherit'], env });
const base = await new Promise((done) => kerf.stdout.once('data', (bytes) => done(String(bytes).trim().replace(/\/$/, ''))));
const post = (path, body) => fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
await post('/jobs', { job_id: 'nightly-resnet', job_id_prefix: 'nightly', batch_sizes: [128, 256, 512, 1024], default_batch_size: 512, max_epochs: 90,
  target_metric: 0.75, max_power: 300, number_of_gpus: 4, gpu_model: 'A100', mab_seed: 1, num_pruning_rounds: 2 });
for (let run = 0; run < 24; run++) { // a run costs least at 256
  const { batch_size: size, trial_number: trial } = await (await fetch(`${base}/jobs/batch_size?job_id=nightly-resnet`)).json();
  const time = 4000 * (1 + 0.3 * Math.abs(Math.log2(size / 256))) * (1 + 0.04 * Math.sin(run * 7));
  await post('/report', { job_id: 'nightly-resnet', batch_size: size, trial_number: trial, time, energy: 900 * time, metric: 0.76, current_epoch: 40 });
}
const browser = await chromium.launch({ executablePath: process.env.KERF_CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1100, height: 760 } });
const shot = async (name, path, ready) => {
  await page.goto(base + path);
  await ready();
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(out, `page-${name}.png`) });
};
await shot('plan', '/plan?model=llama3_70b&gpus=512&global_batch=1024&top=8&search=1', () => page.getByRole('table').first().waitFor());
await shot('schedule', '/schedule?schedule=zb_v&devices=8&microbatches=16&compare=1f1b', () => page.locator('canvas[data-drawn]').first().waitFor());
const { studies } = await (await fetch(`${base}/api/v1/studies`)).json();
await shot('studies', `/studies?study=${studies[0].study}`, () => page.getByRole('heading', { level: 2 }).first().waitFor());
await shot('jobs', '/jobs?job=nightly-resnet', () => page.getByRole('heading', { level: 2 }).first().waitFor());
await browser.close();
kerf.kill();
rmSync(folder, { recursive: true });
