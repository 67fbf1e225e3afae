/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages with timelines in a browser: node timeline.test.mjs TIMELINE_PAGES, the program that writes them. Says
 * "skipped: ..." where playwright-core (npm ci) or Chromium is not there.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const chromiumPath = process.env.KERF_CHROMIUM || '/usr/bin/chromium';
function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(0);
}
const { chromium } = await import('playwright-core').catch((error) =>
  skip(error.code === 'ERR_MODULE_NOT_FOUND' ? 'no playwright-core (npm ci in tests/web)' : `${error}`.split('\n')[0]));
if (!existsSync(chromiumPath)) skip(`no ${chromiumPath}; KERF_CHROMIUM names another`);

const folder = mkdtempSync(join(tmpdir(), 'kerf-web-'));
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const browser = await chromium.launch({ executablePath: chromiumPath, args: flags });

async function open(args, options = {}) {
  const file = join(folder, `${args.join('-')}.html`);
  if (!existsSync(file)) execFileSync(process.argv[2], [...args.slice(0, 3), file, ...args.slice(3)]);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.problems = [];
  page.on('console', (message) => {
    if (!message.text().startsWith('Canvas2D: Multiple readback')) page.problems.push(message.text()); // ours, below
  });
  page.on('pageerror', (error) => page.problems.push(error.stack));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && request.url() !== pathToFileURL(file).href) page.problems.push(request.url());
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('canvas[data-drawn]');
  return page;
}

const lanes = (page) => page.locator('canvas[data-drawn]').first();
const view = (page) => lanes(page).evaluate((canvas) => [+canvas.dataset.from, +canvas.dataset.to]);
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const near = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} is not near to ${b}`);

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.close();
}

/* Where a time and a lane are on the screen, from the drawing itself: its first and last column that is not blank. */
async function spot(page, time, lane, count) {
  const box = await lanes(page).boundingBox();
  const edges = await lanes(page).evaluate((canvas, rows) => {
    const { width, height } = canvas;
    const scale = width / canvas.clientWidth;
    const y = Math.round((18 + ((canvas.clientHeight - 42) * 0.5) / rows) * scale);
    const row = canvas.getContext('2d').getImageData(0, Math.min(y, height - 1), width, 1).data;
    const solid = [];
    let run = 0;
    for (let x = 0; x < width; x++) { // the longest run that is painted: labels have gaps
      run = row[4 * x + 3] === 255 ? run + 1 : 0;
      if (run > (solid[1] ?? 0) - (solid[0] ?? 0)) solid.splice(0, 2, x + 1 - run, x + 1);
    }
    return solid.map((x) => x / scale);
  }, count);
  const [from, to] = await view(page);
  return [box.x + edges[0] + ((time - from) / (to - from)) * (edges[1] - edges[0]),
    box.y + 18 + ((box.height - 42) * (lane + 0.5)) / count];
}

const tests = {
  async 'an operation is explained under the mouse'() {
    const page = await open(['1f1b', '4', '8']);
    await page.mouse.move(...(await spot(page, 10.5, 1, 4)));
    assert.equal(await page.locator('.tip').innerText(),
      'device 1 · forward of micro-batch 3 · stage 1 · 10.0 s to 11.0 s (1.0 s)\nafter backward of micro-batch 0 · stage 1\nActivations held (micro-batches): 3');
    await page.mouse.move(...(await spot(page, 6, 0, 4)));
    assert.match(await page.locator('.tip').innerText(), /^device 0 · idle · 4\.0 s to 10\.0 s \(6\.0 s\)/);
    await page.mouse.move(5, 5);
    assert.ok(await page.locator('.tip').isHidden());
    await close(page);
  },

  async 'halves of a fused operation are both told'() {
    const page = await open(['dualpipe', '8', '20']);
    await page.mouse.move(...(await spot(page, 18, 0, 8)));
    assert.match(await page.locator('.tip').innerText(),
      /^device 0 · forward of micro-batch 7 · stage 0 · with backward of micro-batch 13 · stage 7 · /);
    await close(page);
  },

  async 'the wheel zooms about the pointer, dragging pans, all comes back'() {
    const page = await open(['1f1b', '4', '8']);
    assert.deepEqual(await view(page), [0, 33]);
    const [x, y] = await spot(page, 11, 1, 4);
    await page.mouse.move(x, y);
    for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -60);
    await settle(page);
    const [from, to] = await view(page);
    near(to - from, 33 * Math.exp(-1.2), 0.01);
    near((11 - from) / (to - from), 11 / 33, 0.01);
    await page.mouse.down();
    await page.mouse.move(x + 60, y, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    assert.ok((await view(page))[0] < from);
    const both = await page.$$eval('canvas[data-from]', (all) => new Set(all.map((canvas) => canvas.dataset.from)).size);
    assert.equal(both, 1); // the memory moves with the timeline
    await page.getByRole('button', { name: 'All' }).click();
    await settle(page);
    assert.deepEqual(await view(page), [0, 33]);
    await close(page);
  },

  async 'at full extent the wheel scrolls the page'() {
    const page = await open(['1f1b', '4', '8']);
    await page.evaluate(() => { document.body.style.paddingBottom = '2000px'; });
    const [x, y] = await spot(page, 11, 1, 4);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 120);
    const scrolled = () => page.evaluate(() => window.scrollY);
    for (let frame = 0; frame < 300 && await scrolled() === 0; frame++) await settle(page);
    assert.ok(await scrolled() > 0);
    await settle(page);
    assert.deepEqual(await view(page), [0, 33]);
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -60); // towards the middle it zooms
    await settle(page);
    const [from, to] = await view(page);
    assert.ok(to - from < 33);
    await page.mouse.wheel(0, 30); // and back while something is hidden
    await settle(page);
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    assert.ok((await view(page))[1] - (await view(page))[0] > to - from);
    await close(page);
  },

  async 'keys zoom and pan'() {
    const page = await open(['1f1b', '4', '8']);
    await lanes(page).focus();
    for (const key of ['+', '+', 'ArrowRight']) await page.keyboard.press(key);
    await settle(page);
    const [from, to] = await view(page);
    near(to - from, 33 * 0.64, 1e-6);
    near(from, (33 * 0.36) / 2 + 3.3 * 0.64, 1e-6);
    await page.keyboard.press('0');
    await settle(page);
    assert.deepEqual(await view(page), [0, 33]);
    await close(page);
  },

  async 'a click shows a micro-batch everywhere'() {
    const page = await open(['1f1b', '4', '8']);
    const colours = () => lanes(page).evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let full = 0;
      for (let i = 0; i < data.length; i += 4) full += data[i] === 0x17 && data[i + 1] === 0x90 && data[i + 2] === 0x6e;
      return full;
    });
    const before = await colours();
    await page.mouse.click(...(await spot(page, 10.5, 1, 4)));
    await settle(page);
    const during = await colours();
    assert.ok(during > 0);
    near(during / before, 1 / 8, 0.02); // one of eight backward passes
    await page.keyboard.press('Escape');
    await settle(page);
    assert.equal(await colours(), before);
    await close(page);
  },

  async 'narrow, dark and printed pages fit'() {
    const page = await open(['1f1b', '64', '128'], { viewport: { width: 360, height: 700 }, colorScheme: 'dark' });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    const paper = () => page.evaluate(() => getComputedStyle(document.querySelector('main')).backgroundColor);
    assert.equal(await paper(), 'rgb(26, 32, 39)');
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    assert.equal(await paper(), 'rgb(255, 255, 255)');
    await close(page);
  },

  async 'strings are not markup, and the numbers are there as a table'() {
    const page = await open(['1f1b', '4', '8']);
    assert.match(await page.locator('header p').innerText(), /<\/script><b>&$/);
    assert.equal(await page.locator('header b').count(), 0);
    await page.locator('summary').first().click();
    assert.match(await page.locator('table').first().innerText(), /device 3\s+16\s+24\.0 s\s+27 %/);
    assert.match(await lanes(page).getAttribute('aria-label'), /4 lanes.*27 % of the time is idle/);
    await close(page);
  },

  async 'a window is what is shown at first'() {
    const page = await open(['zb_h1', '4', '8', '10', '20']);
    assert.deepEqual(await view(page), [10, 20]);
    await lanes(page).focus();
    await page.keyboard.press('Home');
    await settle(page);
    assert.equal((await view(page))[0], 0);
    await close(page);
  },

  async 'half a million operations need few rectangles'() {
    const page = await open(['1f1b', '244', '1024']);
    assert.ok(+(await lanes(page).getAttribute('data-drawn')) <= 244);
    const box = await lanes(page).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 100);
    const times = [];
    for (let i = 0; i < 20; i++) {
      await page.mouse.wheel(0, -60);
      await settle(page);
      times.push(+(await page.evaluate(() => document.querySelector('main').dataset.frame)));
      assert.ok(+(await lanes(page).getAttribute('data-drawn')) < 80000);
    }
    console.log(`     frames of ${times.sort((a, b) => a - b)[10]} ms (median)`);
    const [from, to] = await view(page);
    near(to - from, 3801 * Math.exp(-4.8), 1);
    await close(page);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(failed ? `${failed} failed` : 'all passed');
process.exit(failed ? 1 : 0);
