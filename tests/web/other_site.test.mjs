/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of another site against `kerf serve`, in a browser: node other_site.test.mjs KERF. Nothing that the page tries
 * may reach the server's jobs; a link to the server's own page works. Says "skipped: ..." where playwright-core
 * (npm ci) or Chromium is not there, or where kerf was built without its server.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const chromiumPath = process.env.KERF_CHROMIUM || '/usr/bin/chromium';
const { chromium } = await import('playwright-core').catch(() => ({}));
if (!chromium || !existsSync(chromiumPath)) {
  console.log(`skipped: no ${chromium ? chromiumPath : 'playwright-core (npm ci in tests/web)'}`);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'kerf-web-'));
const job = JSON.stringify({ job_id: 'a', job_id_prefix: '', batch_sizes: [64], default_batch_size: 64, max_power: 300,
  number_of_gpus: 1, gpu_model: 'V100' });

/* The port, when the server says where it listens. */
const lines = [];
function startKerf() {
  const kerf = spawn(process.argv[2], ['serve', '--listen', '127.0.0.1:0', '--store', join(folder, 'jobs.db'),
    '--log', 'json', '--log-requests'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let rest = '';
  return new Promise((done, fail) => {
    kerf.stderr.on('data', (bytes) => {
      const parts = (rest + bytes).split('\n');
      rest = parts.pop();
      lines.push(...parts.filter((part) => part.startsWith('{')).map((part) => JSON.parse(part)));
      const listening = lines.find((line) => line.event === 'listening');
      if (listening) done([kerf, listening.message.match(/127\.0\.0\.1:(\d+)/)[1]]);
    });
    kerf.on('exit', () => fail(new Error(rest)));
  });
}

/* The status with which the server answers what the page does: its log says so, and the browser does not. */
async function answerTo(path, act) {
  const before = lines.length;
  const found = () => lines.slice(before).find((line) => line.event === 'request' && line.path === path);
  await act();
  for (let i = 0; i < 3000 && !found(); i++) await new Promise((done) => setTimeout(done, 10));
  assert.ok(found(), `nobody asked ${path}`);
  return found().status;
}

const [kerf, port] = await startKerf().catch((error) => {
  console.log(error.message.includes('built without') ? `skipped: ${error.message}` : error.message);
  process.exit(error.message.includes('built without') ? 0 : 1);
});
const site = createServer((request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>another site</title><iframe name=inside></iframe><iframe name=beside></iframe>');
});
await new Promise((done) => site.listen(0, '127.0.0.1', done));
const elsewhere = `http://evil.example:${site.address().port}/`;
const browser = await chromium.launch({ executablePath: chromiumPath,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--disable-features=BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights,LocalNetworkAccessChecks',
    '--host-resolver-rules=MAP evil.example 127.0.0.1'] });
const page = await browser.newPage();
const server = `http://127.0.0.1:${port}`;

await page.goto(elsewhere);
const url = server + '/jobs';
assert.equal(await answerTo('/jobs', () => page.evaluate(([to, body]) => {
  fetch(to, { method: 'POST', mode: 'no-cors', body, headers: { 'Content-Type': 'text/plain' } }).catch(() => 0);
}, [url, job])), 403);
assert.equal(await answerTo('/jobs/batch_size', () => page.evaluate((to) => {
  new Image().src = `${to}/batch_size?job_id=a`;
}, url)), 403);
assert.equal(await answerTo('/jobs', () => page.evaluate(([to, body]) => {
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', action: to, enctype: 'text/plain', target: 'inside' });
  const input = Object.assign(document.createElement('input'), { name: body.slice(0, -1) + ',"x":"', value: '"}' });
  form.append(input);
  document.body.append(form);
  form.submit();
}, [url, job])), 403);
/* In a frame of its own: a browser may drop what a frame is told while the answer to its form arrives. */
assert.equal(await answerTo('/docs', () => page.evaluate((to) => { frames.beside.location = to; }, `${server}/docs`)), 403);

/* A name of the other site's own that means this machine: the browser takes it for one site with the server. */
const rebound = await page.goto(`http://evil.example:${port}/api/v1/jobs`);
assert.equal(rebound.status(), 403);
assert.equal((await page.goto(`http://evil.example:${port}/`)).status(), 403);

/* A link leads to a page. */
await page.goto(elsewhere);
assert.equal(await answerTo('/', () => page.evaluate((to) => { location = to; }, `${server}/`)), 200);
await page.waitForSelector('h1');
const jobs = await (await fetch(`${server}/api/v1/jobs`)).json();
assert.deepEqual(jobs, { jobs: [], next: null });
const asProgram = await fetch(url, { method: 'POST', body: job, headers: { 'Content-Type': 'application/json' } });
assert.equal(asProgram.status, 201); // the same, from a program

await browser.close();
site.close();
kerf.kill();
rmSync(folder, { recursive: true });
console.log('ok');
