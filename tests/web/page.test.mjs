/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of kerf serve in a browser: node page.test.mjs KERF [NAME...] runs the tests whose names have a NAME in them.
 * Says "skipped: ..." where playwright-core (npm ci in tests/web) or Chromium is not there, or kerf has no page.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const chromiumPath = process.env.KERF_CHROMIUM || '/usr/bin/chromium';
const { chromium } = await import('playwright-core').catch(() => ({}));
if (!chromium || !existsSync(chromiumPath)) {
  console.log(`skipped: no ${chromium ? chromiumPath : 'playwright-core (npm ci in tests/web)'}`);
  process.exit(0);
}
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const [program, ...wanted] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'kerf-page-'));
const studies = join(folder, 'studies');
mkdirSync(studies);
const environment = { ...process.env, KERF_STUDIES: studies };

let port = 0;
let kerf;
async function start() {
  kerf = spawn(program, ['serve', '--listen', `127.0.0.1:${port}`, '--store', join(folder, 'jobs.db')],
    { stdio: ['ignore', 'ignore', 'pipe'], env: environment });
  port = await new Promise((done, fail) => {
    let text = '';
    kerf.stderr.on('data', (bytes) => {
      text += bytes;
      const found = /listening: http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (found) done(+found[1]);
    });
    kerf.on('exit', () => fail(new Error(text)));
  });
}
const end = (signal) => new Promise((done) => {
  kerf.removeAllListeners('exit');
  kerf.once('exit', done);
  kerf.kill(signal);
});
await start();
const at = () => `http://127.0.0.1:${port}`;
if ((await fetch(`${at()}/page.js`)).status === 404) {
  console.log('skipped: this kerf was built without its page (Node.js and npm)');
  await end('SIGTERM');
  process.exit(0);
}

const browser = await chromium.launch({ executablePath: chromiumPath,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'] });
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(+(process.env.KERF_WAIT_MS || 120000)); // an event comes, however slow the machine
  page.problems = [];
  page.on('console', (message) => message.type() === 'error' && page.problems.push(message.text()));
  page.on('pageerror', (error) => page.problems.push(error.stack));
  page.on('dialog', (dialog) => dialog.dismiss() && page.problems.push('a dialog opened'));
  page.on('request', (request) => {
    if (!request.url().startsWith(at()) && !/^(data|blob):/.test(request.url())) page.problems.push(`asks ${request.url()}`);
  });
  await page.goto(at() + path);
  return page;
}
async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}
const main = (page) => page.getByRole('main');
const box = (page, name) => page.getByRole('textbox', { name, exact: true });
const count = (page, name) => page.getByRole('spinbutton', { name, exact: true });
const choice = (page, name) => page.getByRole('combobox', { name, exact: true });
const button = (page, name) => page.getByRole('button', { name, exact: true });
const timeline = (page) => page.getByRole('img', { name: /^timeline/i }).first();
/* Waits until it is so, however slow the machine; the page's policy forbids what playwright's waitForFunction evaluates. */
const until = async (is) => {
  for (let i = 0; i < 2400 && !(await is()); i++) await new Promise((done) => setTimeout(done, 50));
  assert.ok(await is());
};
const says = (page, text) => main(page).getByText(text).first().waitFor();
const download = async (page, name) => {
  const [file] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
  return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
};
const drop = async (page, name, text) => {
  writeFileSync(join(folder, name), text);
  await page.locator('input[type=file]').first().setInputFiles(join(folder, name));
};
const hostile = '<img src=x onerror=alert(1)> & "quoted" \u202e';
const job = (id, sizes = [8, 16, 32], more = {}) => fetch(`${at()}/jobs`, { method: 'POST', headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ job_id: id, job_id_prefix: '', batch_sizes: sizes, default_batch_size: 16, max_epochs: 5,
    target_metric: 0.5, max_power: 100, number_of_gpus: 1, gpu_model: 'none', ...more }) });
const views = [['/plan', 'Plan'], ['/schedule', 'Schedule'], ['/studies', 'Studies'], ['/jobs', 'Jobs']];

const tests = {
  async 'each view opens by its link, and back leads to the one before'() {
    const page = await open('/');
    for (const [path, name] of views) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      assert.equal(new URL(page.url()).pathname, path);
    }
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Studies' }).waitFor();
    await close(page);
  },

  async 'a schedule is what the command line says'() {
    const page = await open('/schedule?schedule=zb_h1&devices=8&microbatches=32');
    await timeline(page).waitFor();
    const { makespan_s: makespan } = JSON.parse(execFileSync(program, ['schedule', 'zb_h1', '-p', '8', '-m', '32', '--no-ops', '--format', 'json']));
    await says(page, `${makespan} s`);
    await says(page, 'kerf schedule zb_h1 --devices 8 --microbatches 32');
    const [name, text] = await download(page, 'download JSON');
    assert.equal(name, 'zb_h1.json');
    assert.equal(JSON.parse(text).makespan_s, makespan);
    assert.equal((await download(page, 'download CSV'))[1].split('\n').length, 9);
    assert.match((await download(page, 'download text'))[1], /^schedule zb_h1\n/);
    assert.match((await download(page, 'download SVG'))[1], /^<svg /);
    await close(page);
  },

  async 'a list of times has units, and no gaps'() {
    let page = await open('/schedule?devices=2&microbatches=2&forward=500ms,1.5');
    await timeline(page).waitFor();
    await says(page, `echo '{"forward":[0.5,1.5]}' | kerf schedule 1f1b --devices 2 --microbatches 2 --times -`);
    await close(page);
    page = await open('/schedule?devices=2&microbatches=2&forward=1,');
    await page.getByRole('alert').filter({ hasText: '"forward"[1] must be a number of seconds' }).waitFor();
    page.problems = page.problems.filter((words) => !/status of 400/.test(words));
    await close(page);
  },

  async 'what exceeds its cap is no optimum, and what is refused says why'() {
    let page = await open('/schedule?schedule=1f1b&devices=8&microbatches=32&memory_cap=4');
    await page.locator('table.figures').filter({ hasText: 'over its cap' }).waitFor();
    assert.equal(await page.getByText('proved best').count(), 0);
    await close(page);
    page = await open('/schedule?schedule=1f1b&devices=3&microbatches=8&compare=dualpipe');
    await page.locator('table.figures').filter({ hasText: 'dualpipe needs an even number of devices' }).waitFor();
    await close(page);
  },

  async 'the address is the state: knobs, reload, back'() {
    const page = await open('/schedule');
    await timeline(page).waitFor();
    await count(page, 'devices').fill('6');
    await page.waitForURL(/devices=6/);
    await says(page, /on 6 devices/);
    await choice(page, 'compare with').selectOption('zb_h1');
    await says(page, 'Comparison of schedules');
    await page.reload();
    await says(page, 'Comparison of schedules');
    assert.equal(await count(page, 'devices').inputValue(), '6');
    await page.goBack();
    await says(page, /through 6 stages/);
    await box(page, 'forward').fill('1,2,1,1,1,1');
    await says(page, 'kerf schedule 1f1b');
    await page.locator('table.figures').filter({ hasText: '43.0 s' }).waitFor();
    await box(page, 'latency').fill('later');
    await page.getByRole('alert').filter({ hasText: '--p2p must be a time' }).waitFor();
    page.problems = page.problems.filter((text) => !/status of 400/.test(text));
    await close(page);
  },

  async 'the end of an operation can be dragged'() {
    const page = await open('/schedule?schedule=1f1b&devices=4&microbatches=4');
    await page.locator('canvas[data-drawn]').first().waitFor();
    const place = await page.locator('canvas[data-drawn]').first().boundingBox();
    const spot = await page.evaluate(() => { // the first column of the first row whose cursor says so
      const canvas = document.querySelector('canvas[data-drawn]');
      const { left, top } = canvas.getBoundingClientRect();
      for (let x = 60; x < canvas.clientWidth; x++) {
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + x, clientY: top + 30, bubbles: true }));
        if (canvas.style.cursor === 'ew-resize') return x;
      }
      return -1;
    });
    assert.ok(spot > 0);
    await page.mouse.move(place.x + spot + 1, place.y + 30);
    await page.mouse.down();
    await page.mouse.move(place.x + spot + 40, place.y + 30, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/forward=1\.\d|forward=2/);
    await close(page);
  },

  async 'the critical path and what an operation waited for'() {
    const page = await open('/schedule?schedule=1f1b&devices=4&microbatches=8');
    await page.locator('canvas[data-drawn]').first().waitFor();
    const picture = () => page.locator('canvas[data-drawn]').first().evaluate((canvas) => canvas.toDataURL());
    const before = await picture();
    await button(page, 'Critical path').click();
    assert.equal(await button(page, 'Critical path').getAttribute('aria-pressed'), 'true');
    await until(async () => (await picture()) !== before);
    await close(page);
  },

  async 'a search of the best order tells how far it is, and can be stopped'() {
    const page = await open('/schedule?schedule=best&devices=8&microbatches=32&placement=v&forward=1&backward_input=1.9&backward_weight=0.8&p2p=0.05&memory_cap=4&search_time=20m');
    await button(page, 'stop').click();
    await timeline(page).waitFor();
    await close(page);
  },

  async 'a schedule can be edited as text, with errors at their line'() {
    const page = await open('/schedule?schedule=1f1b&devices=2&microbatches=2');
    await timeline(page).waitFor();
    await page.getByText('Edit as text').click();
    const area = box(page, 'text form');
    await until(async () => /^schedule 1f1b/.test(await area.inputValue()));
    const text = await area.inputValue();
    await area.fill(text.replace('F@0 ', 'Q@0 '));
    await page.getByRole('alert').filter({ hasText: /edited\.txt:\d+:\d+/ }).waitFor();
    await page.getByRole('button', { name: /^go to line/ }).click();
    await area.fill(text);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    page.problems = page.problems.filter((words) => !/status of 400/.test(words));
    await close(page);
  },

  async 'files: a torch CSV, a plan, broken ones'() {
    const page = await open('/schedule');
    await drop(page, 'torch.csv', '0F0,0B0,0F1,0B1\n');
    await says(page, 'torch.csv');
    await says(page, /2 micro-batches through 1 stage/);
    await page.reload();
    await says(page, /2 micro-batches through 1 stage/);
    await drop(page, 'torch.csv', '0F0,0Z0\n');
    await page.getByRole('alert').filter({ hasText: 'torch.csv:1' }).waitFor();
    const plan = execFileSync(program, ['plan', 'llama3_8b', '-s', 'h100', '-n', '64', '-b', '128', '--pp', '4', '--format', 'json', '--top', '1']);
    await drop(page, 'mine.json', plan);
    await says(page, 'mine.plan.json');
    await says(page, /on 4 devices/);
    const runs = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../examples/runs/megatron');
    await page.locator('input[type=file]').setInputFiles(readdirSync(runs).map((name) => join(runs, name)));
    await choice(page, 'schedule').waitFor();
    await until(async () => /trace=trace/.test(page.url()));
    await says(page, /idle/);
    await choice(page, 'schedule').selectOption('1f1b');
    await says(page, 'Measured (Megatron');
    await page.reload();
    await says(page, 'Measured (Megatron');
    await button(page, 'close').click();
    await drop(page, 'broken.json', '{"searches": [');
    await page.getByRole('alert').filter({ hasText: 'broken.json' }).waitFor();
    await drop(page, 'other.json', '{"a": 1}');
    await page.getByRole('alert').filter({ hasText: 'other.json' }).waitFor();
    page.problems = page.problems.filter((words) => !/status of 400/.test(words));
    await close(page);
  },

  async 'a plan: search, sort, open, launch, pipeline'() {
    const page = await open('/plan');
    await choice(page, 'model').selectOption('llama3_8b');
    await count(page, 'accelerators').fill('64');
    await count(page, 'global batch').fill('128');
    await choice(page, 'precision').selectOption('fp8');
    await button(page, 'search').click();
    const rows = page.getByRole('table').filter({ hasText: 'The best layouts' }).getByRole('row');
    await rows.nth(2).waitFor();
    const best = JSON.parse(execFileSync(program, ['plan', 'llama3_8b', '-s', 'h100', '-n', '64', '-b', '128', '--precision', 'fp8', '--format', 'json'])).searches[0].plans[0];
    assert.ok((await rows.nth(1).innerText()).includes(best.layout_text));
    await rows.nth(0).getByRole('button', { name: 'memory', exact: true }).click();
    await page.waitForURL(/search=1/);
    await rows.nth(1).click();
    await says(page, /kerf estimate llama3_8b/);
    const [, ...command] = (await main(page).getByText(/^kerf estimate llama3_8b/).first().innerText()).split(/\s+/);
    const estimate = JSON.parse(execFileSync(program, [...command, '--format', 'json']));
    assert.ok((await rows.nth(1).innerText()).includes(estimate.layout_text));
    await says(page, new RegExp(`^${estimate.step_time_s.toPrecision(3)} s a step`));
    await choice(page, 'framework').selectOption('megatron');
    await says(page, '--tensor-model-parallel-size');
    const [, csv] = await download(page, 'download CSV');
    assert.ok(csv.includes('step_time_s'));
    await page.reload();
    await says(page, /kerf estimate llama3_8b/);
    await button(page, 'show its pipeline').click();
    await page.getByRole('heading', { level: 1, name: 'Schedule' }).waitFor();
    await timeline(page).waitFor();
    await page.goBack();
    await rows.nth(2).waitFor();
    await close(page);
  },

  async 'a dropped config is a model, and a broken one a line'() {
    const page = await open('/plan');
    await drop(page, 'tiny.json', JSON.stringify({ hidden_size: 2048, num_hidden_layers: 16, num_attention_heads: 16, intermediate_size: 8192, vocab_size: 32000, max_position_embeddings: 4096, my_key: 1 }));
    await says(page, 'tiny.json');
    await count(page, 'accelerators').fill('16');
    await button(page, 'search').click();
    await page.getByRole('table').getByRole('row').nth(2).waitFor();
    await says(page, /Understood: hidden size 2048/);
    await says(page, /ignored my_key/);
    await drop(page, 'broken.json', '{"hidden_size": 4096,');
    await page.getByRole('alert').filter({ hasText: 'broken.json' }).waitFor();
    await close(page);
  },

  async 'a hostile address breaks nothing'() {
    for (const path of ['/schedule?trace=x#trace={', '/schedule?schedule=<img+src=x+onerror=alert(1)>&devices=-1', '/schedule?forward=1,,x&compare=best,best',
      '/schedule#file=../../etc/passwd&text=1', '/plan?layout=x&x=y&gpus=1e99&top=-1&model=../a#config={', '/plan?search=1#config=[1]', '/studies?study=../../etc/passwd&compare=..', '/jobs?job=%00%ff', '/%2e%2e/plan']) {
      const page = await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForTimeout(150);
      page.problems = page.problems.filter((words) => !/status of 4\d\d/.test(words));
      await close(page);
    }
  },

  async 'jobs: a hostile name is text, decisions arrive by themselves, deleting asks first'() {
    const page = await open('/jobs');
    await says(page, 'No jobs yet');
    await says(page, /^kerf jobs add my-job.json --server/);
    assert.equal((await job(hostile)).status, 201);
    const row = page.getByRole('button', { name: hostile, exact: true });
    await row.click(); // the event came
    await says(page, '0 of 0 trials ended');
    const batch = await (await fetch(`${at()}/jobs/batch_size?job_id=${encodeURIComponent(hostile)}`)).json();
    await says(page, '0 of 1 trials ended');
    await fetch(`${at()}/report`, { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ job_id: hostile, batch_size: batch.batch_size, trial_number: batch.trial_number, time: 12, energy: 3400, metric: 0.9, current_epoch: 3 }) });
    await says(page, '1 of 1 trials ended');
    assert.match((await download(page, 'download CSV'))[1], /^trial_number,.*\n1,16,Exploration,Succeeded,true,12,/);
    assert.match((await download(page, 'download SVG'))[1], /^<svg .*&#60;img/);
    await button(page, 'delete').click();
    await button(page, 'keep it').click();
    await button(page, 'delete').click();
    await button(page, 'delete it').click();
    await says(page, 'No jobs yet');
    await close(page);
  },

  async 'jobs: more batch sizes than colours are told'() {
    const sizes = Array.from({ length: 12 }, (_, i) => 8 * (i + 1));
    assert.equal((await job('wide', sizes)).status, 201);
    for (let i = 0; i < sizes.length; i++) {
      const batch = await (await fetch(`${at()}/jobs/batch_size?job_id=wide`)).json();
      await fetch(`${at()}/report`, { method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ job_id: 'wide', batch_size: batch.batch_size, trial_number: batch.trial_number, time: 12, energy: 3400, metric: 0.9, current_epoch: 3 }) });
    }
    const page = await open('/jobs?job=wide');
    await says(page, '12 of 12 trials ended');
    assert.match((await download(page, 'download SVG'))[1], /4 larger batch sizes/);
    await button(page, 'delete').click();
    await button(page, 'delete it').click();
    await says(page, 'No jobs yet');
    await close(page);
  },

  async 'jobs: what is saved counts the runs that did not converge on both sides'() {
    const send = (method, to, body) => fetch(`${at()}${to}`, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ job_id: 'even', ...body }) });
    assert.equal((await job('even', [16], { beta_knob: null })).status, 201);
    for (let i = 0; i < 6; i++) {
      const { batch_size, trial_number } = await (await fetch(`${at()}/jobs/batch_size?job_id=even`)).json();
      await send('POST', '/report', { batch_size, trial_number, time: 10, energy: 1000, metric: i % 2 ? 0.1 : 0.9, current_epoch: 5 });
    }
    let page = await open('/jobs?job=even');
    await says(page, /energy saved 0 J,\s+time saved 0 s/);
    await says(page, /of 1 arm it drew/);
    const row = (size) => page.getByRole('table').filter({ hasText: 'their mean cost' }).getByRole('row').filter({ hasText: size });
    assert.match((await row('16 (default)').innerText()).replace(/\s+/g, ' '), /^16 \(default\) 6 3 1\.00 kJ ± 0 J 2\.00 kJ 0\.0 %/);
    await says(page, 'Not drawn: batch size 16');
    await close(page);
    await fetch(`${at()}/jobs?job_id=even`, { method: 'DELETE' });
    assert.equal((await job('even')).status, 201); // a run that was given up says nothing of its size
    const { batch_size, trial_number } = await (await fetch(`${at()}/jobs/batch_size?job_id=even`)).json();
    await send('PATCH', '/trials', { batch_size, trial_number });
    page = await open('/jobs?job=even');
    await says(page, '1 of 1 trials ended');
    assert.doesNotMatch(await row('16 (default)').innerText(), /left out|did not converge/);
    await page.route(/job_id=even/, (route) => route.fulfill({ status: 403 }));
    await button(page, 'delete').click();
    await button(page, 'delete it').click();
    await page.getByRole('alert').filter({ hasText: 'Deleting needs a token with the role admin' }).waitFor();
    await says(page, '1 of 1 trials ended'); // it is there again
    page.problems = page.problems.filter((words) => !/status of 403/.test(words));
    await page.unroute(/job_id=even/);
    await page.route(/job_id=even/, async (route) => {
      const response = await route.fetch();
      await says(page, 'No jobs yet'); // the event comes before the answer
      await route.fulfill({ response });
    });
    await button(page, 'delete').click();
    await button(page, 'delete it').click();
    await page.waitForURL(/\/jobs$/);
    await close(page);
  },

  async 'studies: one that runs grows, an invalid one is said'() {
    const page = await open('/studies');
    await says(page, 'No studies yet');
    const advice = await main(page).getByText(/^kerf tune /).first().innerText();
    const run = spawnSync('sh', ['-c', advice.replace('kerf tune', `${program} tune --study advice --max-observations 1 --interference ignore`)], { env: environment });
    assert.notEqual(run.status, 2, String(run.stderr));
    rmSync(join(studies, 'advice.jsonl'));
    writeFileSync(join(studies, 'broken.jsonl'), 'no json\n');
    spawnSync(program, ['tune', '--param', 'n=1..4', '--param', 'm=1,2', '--max-observations', '12', '--interference', 'ignore', '--', 'sh', '-c', 'exit 0', '{n}', '{m}'],
      { env: environment, stdio: 'ignore' }); // sure or not
    const row = page.getByRole('button', { name: /^20\d\d/ }).first();
    await row.click();
    await page.getByRole('table').filter({ hasText: 'Settings' }).first().waitFor();
    await says(page, 'The surface as it is believed');
    await says(page, 'Shares of the variance between 8 settings');
    await page.setViewportSize({ width: 420, height: 900 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 420);
    await page.setViewportSize({ width: 1280, height: 900 });
    await says(page, 'broken');
    spawnSync(program, ['tune', '--param', 'n=1..4', '--study', 'front', '--policy', 'exhaustive', '--interference', 'ignore', '--objective', 'json:a', '--pareto', 'b',
      '--', 'sh', '-c', 'echo "{{\\"a\\": $0, \\"b\\": $((5 - $0))}"', '{n}'], { env: environment, stdio: 'ignore' });
    await page.getByRole('button', { name: 'front', exact: true }).click();
    await says(page, 'For each of all settings one of these 4 is at most 3 % worse in either');
    await page.getByRole('table').filter({ hasText: 'unbeaten' }).first().waitFor();
    await page.getByRole('table').filter({ hasText: 'why not' }).getByRole('columnheader', { name: 'b', exact: true }).waitFor();
    const large = ['a', 'b', 'c'].flatMap((name) => ['--param', `${name}=1..1000`]);
    spawnSync(program, ['tune', ...large, '--study', 'large', '--max-observations', '8', '--interference', 'ignore', '--objective', 'regex:([0-9]+)',
      '--', 'sh', '-c', 'expr 100 + $0 + $1 + $2', '{a}', '{b}', '{c}'], { env: environment, stdio: 'ignore' });
    await page.getByRole('button', { name: 'large', exact: true }).click();
    await says(page, 'Looked at closely: 200 of 1000000000 settings. That one of the others is better by more than 3 % has an estimated probability of');
    await row.click();
    await says(page, 'The surface as it is believed');
    const [, csv] = await download(page, 'download CSV');
    assert.match(csv, /^n,n,m,outcome,value|^n,m,n,outcome,value/);
    await close(page);
  },

  async 'studies: a failed setting hides no measured one, a flag is a curve, signs and chances as the command line has them'() {
    const tune = (name, script, ...params) => spawnSync(program, ['tune', '--study', name, '--policy', 'exhaustive', '--interference', 'ignore', '--objective', 'json:v',
      ...params.flatMap((param) => ['--param', param]), '--', 'sh', '-c', script, ...params.map((param) => `{${param.replace(/\??=.*/, '')}}`)], { env: environment, stdio: 'ignore' });
    tune('hidden', 'test $2 = 1 && exit 1; echo "{{\\"v\\": -$0$1}"', 'a=1,2', 'b=1,2', 'c=1,2');
    tune('flag', 'echo "{{\\"v\\": 3$#}"', 'map?=-m');
    tune('other', 'echo "{{\\"v\\": 4}"', 'a=1,2', 'b=1,2', 'c=1,2');
    const page = await open('/studies?study=hidden');
    const surface = page.getByRole('table').filter({ hasText: '★ the best, ? not measured' });
    await surface.waitFor();
    assert.deepEqual((await surface.getByRole('cell').allInnerTexts()).map((text) => text.replace('★', '')), ['-11', '-21', '-12', '-22']);
    await choice(page, 'compare with').selectOption('other');
    const both = page.getByRole('table').filter({ hasText: 'Settings of both' });
    await both.waitFor();
    assert.equal(await both.getByRole('row').count(), 5);
    await page.route('**/api/v1/studies/hidden', async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: { ...answer, settings: answer.settings.map((one) => ({ ...one, probability_within: one.best ? 0.9965 : 0.004 })) } });
    });
    await page.goto(`${at()}/studies?study=hidden`);
    await says(page, /\(95 %: -22 to -22\), within 3 % of the best with 99\.7 %/);
    await page.getByRole('table').filter({ hasText: 'Settings, the best first' }).getByRole('columnheader', { name: '95 % interval' }).waitFor();
    await page.goto(`${at()}/studies?study=flag`);
    await says(page, 'The objective by map');
    await close(page);
  },

  async 'studies: the best is there although there are more settings than an answer has'() {
    spawnSync(program, ['tune', '--study', 'many', '--param', 'n=1..4200', '--policy', 'exhaustive', '--max-observations', '1', '--interference', 'ignore', '--objective', 'json:v',
      '--', 'sh', '-c', 'echo "{{\\"v\\": 5000}"', '{n}'], { env: environment, stdio: 'ignore' });
    const [head] = readFileSync(join(studies, 'many.jsonl'), 'utf8').split('\n');
    const entries = Array.from({ length: 4200 }, (_, i) => JSON.stringify({ n: i + 1, setting: `n=${i + 1}`, outcome: 'value', value: 5000 - i }));
    writeFileSync(join(studies, 'many.jsonl'), [head, ...entries, ''].join('\n'));
    const page = await open('/studies?study=many');
    await says(page, /The best so far: n=4200, 801/);
    await says(page, '103 settings more are not shown');
    await close(page);
    rmSync(join(studies, 'many.jsonl'));
  },

  async 'a server that dies is said, and comes back by itself'() {
    const page = await open('/jobs');
    await main(page).getByText('No jobs yet').waitFor();
    await end('SIGKILL');
    await page.getByText(/Connection lost/).waitFor();
    await start();
    await page.getByText(/Connection lost/).waitFor({ state: 'hidden' });
    await page.context().close();
  },

  async 'the keyboard reaches everything'() {
    const page = await open('/schedule?schedule=1f1b&devices=4&microbatches=8');
    await timeline(page).waitFor();
    const seen = new Set();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      seen.add(await page.evaluate(() => {
        const focused = document.activeElement;
        return (focused.getAttribute('aria-label') || focused.labels?.[0]?.innerText || focused.innerText || '').trim();
      }));
    }
    for (const name of ['Plan', 'Jobs', 'schedule', 'devices', 'micro-batches', 'Critical path', 'download JSON', 'copy the command']) assert.ok(seen.has(name), name);
    await page.locator('canvas[data-drawn]').first().focus();
    await page.keyboard.press('+');
    await until(() => page.locator('canvas[data-drawn]').first().evaluate((canvas) => +canvas.dataset.from > 0));
    await close(page);
  },

  async 'no view is wider than a phone, in light and dark nothing is hard to read'() {
    for (const [path] of [...views, ['/schedule?schedule=zb_v&devices=8&microbatches=16&compare=1f1b'], ['/plan?model=llama3_8b&gpus=64&global_batch=128&search=1']]) {
      for (const colorScheme of ['light', 'dark']) {
        const page = await open(path, { viewport: { width: 360, height: 740 }, colorScheme, bypassCSP: true });
        await page.getByRole('heading', { level: 1 }).waitFor();
        if (path === '/schedule') await timeline(page).waitFor();
        if (path === '/jobs' || path === '/studies') await page.locator('.empty, table').first().waitFor();
        if (path.includes('search=1')) await page.getByRole('table').first().waitFor();
        if (path.includes('zb_v')) await timeline(page).waitFor();
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, path);
        await page.addScriptTag({ path: axe });
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id, nodes }) => `${path} ${colorScheme} ${id} ${nodes[0].html}`), []);
        await close(page);
      }
    }
  },

  async 'what is sent is small, and the policy strict'() {
    const page = await open('/schedule');
    await timeline(page).waitFor();
    const sent = await page.evaluate(() => performance.getEntries().filter((entry) => entry.transferSize && !/api/.test(entry.name)).reduce((sum, entry) => sum + entry.transferSize, 0));
    assert.ok(sent > 10000 && sent <= 80 * 1024, `${sent} bytes`);
    const policy = (await fetch(`${at()}/`)).headers.get('content-security-policy');
    assert.ok(!/unsafe/.test(policy) && /script-src 'self'/.test(policy), policy);
    await close(page);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
await browser.close();
await end('SIGTERM');
rmSync(folder, { recursive: true });
console.log(failed ? `${failed} failed` : 'all passed');
process.exit(failed ? 1 : 0);
