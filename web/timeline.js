/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines in a page: timeline(root, data) draws the panels that the data describes on the canvases within root
 * (lib/draw/html_timeline.c writes both). It also zooms, pans and explains them, and says on demand what an operation
 * waited for and which operations the end depends on (the critical path). onStretch is told that somebody takes hold of the
 * end of a bar: {part, stage, seconds, perPixel, x}. Each panel has two canvases: the drawing, and above it the marks that follow
 * the pointer. Bars that are narrower than a few pixels are gathered in columns of one device pixel with their mean
 * colour. So half a million bars cost one pass over the numbers and one image per panel, not one rectangle each.
 */
export function timeline(root, data, { onStretch } = {}) {
  const tip = root.querySelector('.tip');
  const over = new AbortController(); // ends what listens beyond root
  let theme = {};
  let critical = null; // per panel of lanes the bars of the critical path, while it is shown
  let picked = -1; // the micro-batch that is shown everywhere

  // ---- Formatted numbers, as in lib/draw/chart_number.c ----

  const scales = {
    s: [[1, ' s'], [1e-3, ' ms'], [1e-6, ' µs'], [1e-9, ' ns'], [1e-12, ' ps']],
    B: [[1e18, ' EB'], [1e15, ' PB'], [1e12, ' TB'], [1e9, ' GB'], [1e6, ' MB'], [1e3, ' kB'], [1, ' B']],
    '': [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1, '']],
  };
  const scaleOf = (unit, like) => scales[unit].find((s) => like >= s[0] * 0.9995) || scales[unit].at(-1);
  const grouped = (text) => text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));

  function number(value, unit) {
    const [factor, name] = scaleOf(unit, value > 0 ? value : 1);
    const v = value / factor;
    let text = v.toFixed(v >= 99.95 || v === 0 ? 0 : v >= 9.995 ? 1 : 2);
    if (text.includes('.')) text = text.replace(/0+$/, '').replace(/\.$/, unit === '' ? '' : '.0');
    return grouped(text) + name;
  }

  // With as many decimals as a step needs, in the unit that suits `like`.
  function numberLike(value, unit, like, step) {
    const [factor, name] = scaleOf(unit, like);
    const decimals = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9)));
    return value === 0 ? '0' : grouped((value / factor).toFixed(decimals)) + name;
  }

  const percent = (share) => (share * 100).toFixed(share >= 0.0005 && share < 0.0095 ? 1 : 0) + ' %';

  // Steps of 1, 2 or 5 times a power of ten, at least `gap` apart.
  function ticks(from, to, pixels, gap, unit) {
    const least = ((to - from) / pixels) * gap;
    const tens = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((m) => m * tens).find((s) => s >= least * (1 - 1e-9));
    const all = [];
    for (let k = Math.ceil(from / step - 1e-9); k * step <= to * (1 + 1e-12); k++) {
      all.push({ value: k * step, label: numberLike(k === 0 ? 0 : k * step, unit, Math.max(to, step), step) });
    }
    return all;
  }

  // ---- Data ----

  // Variable-length integers in base 64, zigzag-coded or as indexes of a table: html.c.
  function unpack({ n, t, b }) {
    const bytes = atob(b);
    const values = new Float64Array(n);
    for (let i = 0, at = 0; i < n; i++) {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = bytes.charCodeAt(at++);
        value += (byte & 127) * scale;
        if (byte < 128) break;
      }
      values[i] = t ? t[value] : value % 2 ? -(value + 1) / 2 : value / 2;
    }
    return values;
  }

  const channels = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
  const css = (rgb) => `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;
  const mix = (a, b, share) => a.map((v, i) => Math.round(v + (b[i] - v) * share));
  const light = (rgb) => (0.2126 * rgb[0] ** 2 + 0.7152 * rgb[1] ** 2 + 0.0722 * rgb[2] ** 2) / 65025;

  // A code of html_timeline.c as an object; series are relative to the lane's series.
  function kindOf(code, panel) {
    const low = code % 2 ** 20;
    const split = (low >> 8) & 255;
    const halves = [{ part: low & 255, shade: (low >> 16) & 3, series: Math.floor(code / 2 ** 20) % 2 ** 16 }];
    if (split) halves.push({ part: split - 1, shade: (low >> 18) & 3, series: Math.floor(code / 2 ** 36) });
    for (const half of halves) half.rgb = channels(panel.tones[half.part][half.shade]);
    return { halves, split: split > 0 };
  }

  function readBars(panel) {
    const [gap, took, code, num, below] = ['gap', 'took', 'code', 'number', 'with'].map((name) => unpack(panel[name]));
    const known = new Map();
    const kinds = [];
    let at = 0;
    let splits = 0;
    panel.kinds = kinds;
    panel.lanes = panel.counts.map((count, l) => {
      const lane = {
        label: panel.labels[l], first: panel.first[l], count,
        start: new Float64Array(count), end: new Float64Array(count),
        kind: new Uint16Array(count), number: new Int32Array(count), below: new Int32Array(count),
      };
      const next = new Map(); // part to the number behind its last one
      for (let i = 0, time = 0; i < count; i++, at++) {
        if (!known.has(code[at])) known.set(code[at], kinds.push(kindOf(code[at], panel)) - 1);
        const kind = known.get(code[at]);
        const [upper, lower] = kinds[kind].halves;
        lane.start[i] = (time += gap[at]) * panel.quantum;
        lane.end[i] = (time += took[at]) * panel.quantum;
        lane.kind[i] = kind;
        lane.number[i] = num[at] + (next.get(upper.part) || 0);
        next.set(upper.part, lane.number[i] + 1);
        lane.below[i] = -1;
        if (lower) {
          lane.below[i] = below[splits++] + (next.get(lower.part) || 0);
          next.set(lower.part, lane.below[i] + 1);
        }
      }
      return lane;
    });
    for (const name of ['gap', 'took', 'code', 'number', 'with']) delete panel[name];
  }

  function readCurves(panel) {
    const dx = unpack(panel.x);
    const dy = unpack(panel.y);
    let at = 0;
    panel.most = panel.limit;
    panel.lanes = panel.counts.map((count, l) => {
      const lane = { label: panel.labels[l], count, x: new Float64Array(count), y: new Float64Array(count), peak: 0 };
      for (let i = 0, x = 0, y = 0; i < count; i++, at++) {
        lane.x[i] = (x += dx[at]) * panel.quantum;
        lane.y[i] = (y += dy[at]) * panel.step;
      }
      for (let i = 0; i < count; i++) { // of several steps at one time the last one lasts
        if (i + 1 === count || lane.x[i + 1] !== lane.x[i]) lane.peak = Math.max(lane.peak, lane.y[i]);
      }
      panel.most = Math.max(panel.most, lane.peak);
      return lane;
    });
    panel.fullest = panel.lanes.reduce((best, lane, l) => (lane.peak > panel.lanes[best].peak ? l : best), 0);
  }

  // The first index whose value is above x (or not below it).
  function search(values, x, orEqual) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (orEqual ? values[middle] >= x : values[middle] > x) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  const valueAt = (lane, x) => {
    const k = search(lane.x, x);
    return k > 0 ? lane.y[k - 1] : 0;
  };

  // ---- Panels ----

  function place(panel) {
    const box = panel.canvas.parentElement;
    const width = Math.max(box.clientWidth, 200);
    const scale = window.devicePixelRatio || 1;
    const context = panel.canvas.getContext('2d');
    context.font = theme.font;
    const longest = Math.max(0, ...panel.labels.slice(0, 512).map((label) => context.measureText(label).width));
    panel.wanted = panel.kind === 'lanes' ? Math.min(Math.ceil(longest) + 10, width * 0.3, 180) : 56;
    const group = panels.filter((other) => other.view === panel.view);
    panel.left = Math.max(...group.map((other) => other.wanted || 0));
    panel.width = width - panel.left - (width < 500 ? 8 : 46);
    if (panel.kind === 'lanes') {
      const count = panel.lanes.length;
      const sizes = [[4, 40], [8, 34], [16, 26], [24, 22], [36, 17], [52, 13], [80, 9]];
      const size = sizes.find((s) => count <= s[0]);
      panel.group = size ? 1 : Math.ceil(count / 340);
      panel.rows = Math.ceil(count / panel.group);
      panel.pitch = size ? size[1] : Math.max(2, Math.floor(680 / panel.rows));
      panel.bar = panel.pitch - (panel.pitch >= 17 ? 4 : panel.pitch > 5 ? 1 : panel.pitch > 3 ? 0.5 : 0);
      panel.least = panel.bar > 5 ? 2 : 5; // pixels that a bar needs to be drawn as one
      panel.top = 18;
      panel.height = panel.rows * panel.pitch;
    } else {
      panel.top = panel.limit ? 18 : 8;
      panel.height = 150;
    }
    const height = panel.top + panel.height + 24;
    for (const canvas of [panel.canvas, panel.over]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = `${height}px`;
      canvas.getContext('2d').setTransform(scale, 0, 0, scale, 0, 0);
    }
    if (panel.group > 1 && !panel.note) {
      panel.note = document.createElement('li');
      panel.section.querySelector('.legend').append(panel.note);
    }
    if (panel.note) panel.note.textContent = `${panel.group} lanes share a row`;
    panel.scale = scale;
    panel.full = [width, height];
  }

  const xOf = (panel, time) => panel.left + ((time - panel.view.from) / (panel.view.to - panel.view.from)) * panel.width;
  const timeOf = (panel, x) => panel.view.from + ((x - panel.left) / panel.width) * (panel.view.to - panel.view.from);
  const rowTop = (panel, row) => panel.top + row * panel.pitch + (panel.pitch - panel.bar) / 2;
  const matches = (lane, i) => picked < 0 || lane.number[i] === picked || lane.below[i] === picked;

  function drawAxis(panel, g) {
    const bottom = panel.top + panel.height;
    g.font = theme.small;
    g.textBaseline = 'alphabetic';
    g.textAlign = 'center';
    for (const tick of ticks(panel.view.from, panel.view.to, panel.width, 84, data.time)) {
      const x = Math.round(xOf(panel, tick.value)) + 0.5;
      g.fillStyle = css(theme.grid);
      g.fillRect(x - 0.5, panel.top, 1, panel.height + 5);
      g.fillStyle = css(theme.soft);
      g.fillText(tick.label, x, bottom + 18);
    }
    g.fillStyle = css(theme.axis);
    g.fillRect(panel.left, bottom, panel.width, 1);
  }

  // One row of pixels: draws wide bars, gathers the columns that narrow bars touch, and adds up the busy time.
  function drawRow(panel, g, row, strip) {
    const { view, scale, kinds, gather, group } = panel;
    const { busy, red, green, blue, marked, times } = gather;
    const pixels = busy.length;
    const perTime = pixels / (view.to - view.from);
    const least = panel.least * scale;
    const y = rowTop(panel, row);
    let used = group > 1;
    for (const column of [busy, red, green, blue]) column.fill(0);
    marked.fill(used ? 1 : 0);
    for (const lane of panel.lanes.slice(row * group, (row + 1) * group)) {
      const first = search(lane.end, view.from, true);
      const end = search(lane.start, view.to, true);
      for (let i = first; group === 1 && i < end; i++) {
        const from = (lane.start[i] - view.from) * perTime;
        const to = (lane.end[i] - view.from) * perTime;
        if (to - from >= least) continue;
        used = true;
        const last = Math.min(pixels, Math.max(Math.ceil(to), Math.floor(from) + 1));
        for (let c = Math.max(0, Math.floor(from)); c < last; c++) marked[c] = 1;
      }
      for (let i = first; i < end; i++) {
        const kind = lane.kind[i];
        const shown = matches(lane, i);
        let from = Math.max(0, (lane.start[i] - view.from) * perTime);
        let to = Math.min(pixels, (lane.end[i] - view.from) * perTime);
        times[kind] += to - from;
        if (used) {
          const [r, gr, b] = shown ? kinds[kind].mean : kinds[kind].pale;
          const last = Math.min(pixels, Math.max(Math.ceil(to), Math.floor(from) + 1));
          for (let c = Math.floor(from); c < last; c++) {
            if (!marked[c]) { // narrow bars lie before or behind: the columns between are this bar's own
              if (c + 2 < last) c = last - 2;
              continue;
            }
            const part = Math.min(to, c + 1) - Math.max(from, c) + 1e-6;
            busy[c] += part;
            red[c] += r * part;
            green[c] += gr * part;
            blue[c] += b * part;
          }
          if (group > 1) continue;
          while (from < to && marked[Math.floor(from)]) from = Math.floor(from) + 1;
          while (to > from && marked[Math.ceil(to) - 1]) to = Math.ceil(to) - 1;
        }
        if (to - from < 0.5) continue;
        const touches = i + 1 < lane.count && (lane.start[i + 1] - lane.end[i]) * perTime < scale;
        const wide = (to - from) / scale;
        const gap = touches && wide > 3.5 && panel.bar > 5 ? (wide < 7 ? 0.5 : 1) : 0;
        drawBar(panel, g, kinds[kind], shown, panel.left + from / scale, y, wide - gap, [lane.number[i], lane.below[i]]);
      }
    }
    if (!used) return;
    for (let c = 0, p = row * pixels * 4; c < pixels; c++, p += 4) {
      if (!busy[c]) continue;
      const ink = Math.min(1, Math.max(busy[c] / group, 0.125));
      strip.data[p] = theme.ground[0] * (1 - ink) + (red[c] / busy[c]) * ink;
      strip.data[p + 1] = theme.ground[1] * (1 - ink) + (green[c] / busy[c]) * ink;
      strip.data[p + 2] = theme.ground[2] * (1 - ink) + (blue[c] / busy[c]) * ink;
      strip.data[p + 3] = 255;
    }
    panel.gathered.push(row);
  }

  function drawBar(panel, g, kind, shown, x, y, w, numbers) {
    const height = panel.bar / kind.halves.length;
    kind.halves.forEach((half, h) => {
      const top = y + h * height;
      const line = kind.split && panel.bar > 12 ? 0.5 : 0;
      g.fillStyle = shown ? half.css : half.paleCss;
      g.fillRect(x, top + (h ? line : 0), w, height - line);
      panel.drawn++;
      if (w < 12 || height < 9 || numbers[h] < 0) return;
      const size = Math.min(11, Math.floor(height * 0.72));
      if (panel.digits * size * 0.58 + 3 > w) return;
      const letter = (panel.digits + 1) * size * 0.62 + 4 > w ? '' : panel.letters?.[half.part] || '';
      panel.texts.push([size, shown ? half.ink : css(theme.soft), letter + numbers[h], x + w / 2, top + height / 2 + size * 0.35]);
    });
  }

  function drawLanes(panel) {
    const g = panel.canvas.getContext('2d');
    const pixels = Math.max(1, Math.round(panel.width * panel.scale));
    const strip = g.createImageData(pixels, panel.rows);
    const [busy, red, green, blue] = [0, 1, 2, 3].map(() => new Float64Array(pixels));
    const times = new Float64Array(panel.kinds.length); // busy time of each kind, in pixels
    panel.gather = { busy, red, green, blue, times, marked: new Uint8Array(pixels) };
    panel.gathered = [];
    panel.texts = [];
    panel.drawn = 0;
    for (const kind of panel.kinds) {
      for (const half of kind.halves) {
        half.css = css(half.rgb);
        half.paleCss = css(mix(half.rgb, theme.ground, 0.8));
        half.ink = light(half.rgb) > 0.36 ? '#141a22' : '#ffffff';
      }
      kind.mean = mix(kind.halves[0].rgb, kind.halves.at(-1).rgb, 0.5);
      kind.pale = mix(kind.mean, theme.ground, 0.8);
    }
    g.clearRect(0, 0, ...panel.full);
    g.fillStyle = css(theme.ground);
    if (panel.bar === panel.pitch) g.fillRect(panel.left, panel.top, panel.width, panel.height);
    else for (let row = 0; row < panel.rows; row++) g.fillRect(panel.left, rowTop(panel, row), panel.width, panel.bar);
    drawAxis(panel, g);
    for (let row = 0; row < panel.rows; row++) drawRow(panel, g, row, strip);
    drawGathered(panel, g, strip);
    g.textAlign = 'center';
    let size = 0;
    for (const [wanted, ink, text, x, y] of panel.texts) {
      if (size !== wanted) g.font = `${(size = wanted)}px ${theme.family}`;
      g.fillStyle = ink;
      g.fillText(text, x, y);
    }
    drawCritical(panel, g);
    drawLabels(panel, g);
    tellShares(panel, pixels);
  }

  // The gathered columns of all rows are one image. Each of its rows of pixels is stretched to its lane.
  function drawGathered(panel, g, strip) {
    if (!panel.gathered.length) return;
    panel.image ||= document.createElement('canvas');
    panel.image.width = strip.width;
    panel.image.height = strip.height;
    panel.image.getContext('2d').putImageData(strip, 0, 0);
    g.imageSmoothingEnabled = false;
    for (const row of panel.gathered) {
      g.drawImage(panel.image, 0, row, strip.width, 1, panel.left, rowTop(panel, row), panel.width, panel.bar);
      panel.drawn++;
    }
  }

  function drawLabels(panel, g) {
    const size = panel.pitch >= 16 ? 12 : 10;
    const each = [1, 2, 4, 8, 16, 32, 64, 128].find((n) => n * panel.pitch >= 13) || 256;
    g.font = `${size}px ${theme.family}`;
    for (let row = 0; row < panel.rows; row += each) {
      const y = rowTop(panel, row) + panel.bar / 2 + size * 0.35;
      g.textAlign = 'right';
      g.fillStyle = css(theme.ink);
      g.fillText(panel.labels[row * panel.group], panel.left - 8, y, panel.left - 8);
      if (each > 1 || panel.full[0] < 500) continue;
      g.fillStyle = css(theme.soft);
      g.fillText(percent(idleShare(panel, panel.lanes[row])), panel.full[0], y);
    }
    if (each > 1 || panel.full[0] < 500) return;
    g.font = theme.small;
    g.fillText('idle', panel.full[0], panel.top - 5);
  }

  // The time that idle shares refer to: the part of the visible time in which the panel has bars.
  const active = ({ view, extent }) => Math.min(view.to, extent.to) - Math.max(view.from, extent.from);

  function idleShare(panel, lane) {
    const { from, to } = panel.view;
    let busy = 0;
    for (let i = search(lane.end, from, true); i < lane.count && lane.start[i] < to; i++) {
      busy += Math.min(lane.end[i], to) - Math.max(lane.start[i], from);
    }
    return active(panel) > 0 ? Math.max(0, 1 - busy / active(panel)) : 0;
  }

  function tellShares(panel, pixels) {
    const { view, lanes, kinds } = panel;
    const sums = new Float64Array(panel.parts.length);
    panel.gather.times.forEach((time, k) => {
      for (const half of kinds[k].halves) sums[half.part] += time / kinds[k].halves.length;
    });
    const beside = lanes.filter((lane, l) => !panel.idles[l]);
    const one = (active(panel) / (view.to - view.from)) * pixels;
    const whole = one * (lanes.length - beside.length);
    const copying = beside.reduce((sum, lane) => sum + (1 - idleShare(panel, lane)) * one, 0);
    const busy = sums.reduce((a, b) => a + b, 0) - copying;
    for (const item of panel.section.querySelectorAll('.legend li[data-part]')) {
      const part = item.dataset.part;
      const share = part === 'idle' ? 1 - busy / whole : sums[part] / whole;
      item.querySelector('span').textContent = whole > 0 ? percent(Math.min(1, Math.max(0, share))) : '';
    }
  }

  // ---- The memory below ----

  const yOf = (panel, value) => panel.top + panel.height * (1 - value / (panel.most * 1.06 || 1));

  // The points of a curve: every step, or the minimum and the maximum within a pixel.
  function trace(panel, lane, visit) {
    const { view, left, width } = panel;
    const end = left + width;
    let value = valueAt(lane, view.from);
    let k = search(lane.x, view.from);
    let column = -1;
    let least = value;
    let most = value;
    visit(left, value, value, value);
    for (; k < lane.count && lane.x[k] <= view.to; k++) {
      if (k + 1 < lane.count && lane.x[k + 1] === lane.x[k]) continue;
      const x = xOf(panel, lane.x[k]);
      if (Math.floor(x) !== column) {
        column = Math.floor(x);
        least = most = value;
      }
      least = Math.min(least, lane.y[k]);
      most = Math.max(most, lane.y[k]);
      visit(x, lane.y[k], least, most, value);
      value = lane.y[k];
    }
    visit(end, value, value, value, value);
  }

  function strokeLane(panel, g, lane, colour, width) {
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.lineJoin = 'round';
    g.beginPath();
    let column = -1;
    trace(panel, lane, (x, y, least, most, before) => {
      const at = yOf(panel, y);
      if (before === undefined) g.moveTo(x, at);
      else if (Math.floor(x * 2) !== column || x === panel.left + panel.width) g.lineTo(x, yOf(panel, before));
      else if (y > least && y < most) return; // a step within a pixel that shows nothing new
      g.lineTo(x, at);
      column = Math.floor(x * 2);
    });
    g.stroke();
  }

  // From the minimum to the maximum over all lanes, by columns.
  function fillBand(panel, g) {
    const columns = Math.max(1, Math.round(panel.width));
    const low = new Float64Array(columns).fill(Infinity);
    const high = new Float64Array(columns).fill(-Infinity);
    const { from, to } = panel.view;
    for (const { x, y, count } of panel.lanes) {
      let k = search(x, from);
      let value = k > 0 ? y[k - 1] : 0;
      for (let c = 0; c < columns; c++) {
        const end = from + ((to - from) * (c + 1)) / columns;
        let least = value;
        let most = value;
        for (; k < count && x[k] <= end; k++) {
          value = y[k];
          if (k + 1 < count && x[k + 1] === x[k]) continue;
          if (value < least) least = value;
          if (value > most) most = value;
        }
        if (least < low[c]) low[c] = least;
        if (most > high[c]) high[c] = most;
      }
    }
    g.fillStyle = css(theme.grid);
    g.beginPath();
    for (let c = 0; c < columns; c++) g.lineTo(panel.left + c + 0.5, yOf(panel, high[c]));
    for (let c = columns; c-- > 0; ) g.lineTo(panel.left + c + 0.5, yOf(panel, low[c]));
    g.fill();
  }

  function drawSteps(panel) {
    const g = panel.canvas.getContext('2d');
    const many = panel.lanes.length > 12;
    const top = panel.most * 1.06 || 1;
    g.clearRect(0, 0, ...panel.full);
    if (many) fillBand(panel, g);
    drawAxis(panel, g);
    g.textAlign = 'right';
    for (const tick of ticks(0, top, panel.height, 24, panel.unit)) {
      const y = Math.round(yOf(panel, tick.value)) + 0.5;
      g.fillStyle = css(theme.grid);
      g.fillRect(panel.left, y - 0.5, panel.width, 1);
      g.fillStyle = css(theme.soft);
      g.fillText(tick.label, panel.left - 8, y + 4);
    }
    panel.lanes.forEach((lane, l) => {
      if (!many && l !== panel.fullest) strokeLane(panel, g, lane, css(theme.axis), 1);
    });
    if (panel.lanes.length) strokeLane(panel, g, panel.lanes[panel.fullest], css(theme.strong), 1.75);
    if (!panel.limit) return;
    const y = Math.round(yOf(panel, panel.limit)) + 0.5;
    g.strokeStyle = g.fillStyle = css(theme.limit);
    g.lineWidth = 1.25;
    g.setLineDash([4, 4]);
    g.beginPath();
    g.moveTo(panel.left, y);
    g.lineTo(panel.left + panel.width, y);
    g.stroke();
    g.setLineDash([]);
    g.fillText(panel.limitLabel, panel.left + panel.width, y - 6);
  }

  function stepsLegend(panel) {
    const list = panel.section.querySelector('.legend');
    const item = (colour, text, kind) => {
      const li = document.createElement('li');
      const mark = document.createElement('i');
      mark.style.background = `var(--${colour})`;
      mark.className = kind;
      li.append(mark, text);
      list.append(li);
    };
    if (!panel.lanes.length) return;
    const { label, peak } = panel.lanes[panel.fullest];
    item('strong', `${label}, peak ${number(peak, panel.unit)}`, 'line');
    if (panel.lanes.length > 12) item('grid', 'from the minimum to the maximum over all lanes', '');
    else if (panel.lanes.length > 1) item('axis', 'other lanes', 'line');
  }

  // ---- What waits for what ----

  // Stage and micro-batch of a bar, or of its lower half where that is a backward.
  const isForward = (name) => /forward/.test(name);
  const isBackward = (name) => /backward/.test(name) && !/weights/.test(name);
  const stageOf = (lane, half) => (half.series ? half.series - 32768 + lane.first : -1);

  // All bars by what they compute, made when it is first asked for.
  function barsOf(panel) {
    if (panel.known) return panel.known;
    panel.known = new Map();
    panel.lanes.forEach((lane, l) => {
      for (let i = 0; i < lane.count; i++) {
        panel.kinds[lane.kind[i]].halves.forEach((half, h) => {
          const name = panel.parts[half.part];
          const num = h ? lane.below[i] : lane.number[i];
          const kind = isForward(name) ? 'F' : isBackward(name) ? 'B' : '';
          if (kind) panel.known.set(`${kind} ${stageOf(lane, half)} ${num}`, { l, i });
        });
      }
    });
    return panel.known;
  }

  // The bar whose end this one started at: the one before it on its lane, or the one whose result it needs. null: none.
  function waitedFor(panel, l, i) {
    const lane = panel.lanes[l];
    const eps = (panel.extent.to - panel.extent.from) * 1e-7 + panel.quantum * 2;
    if (i > 0 && lane.end[i - 1] >= lane.start[i] - eps) return { l, i: i - 1 };
    let last = null;
    panel.kinds[lane.kind[i]].halves.forEach((half, h) => {
      const name = panel.parts[half.part];
      const stage = stageOf(lane, half);
      const num = h ? lane.below[i] : lane.number[i];
      const known = barsOf(panel);
      const before = isForward(name) ? known.get(`F ${stage - 1} ${num}`)
        : isBackward(name) ? known.get(`B ${stage + 1} ${num}`) || known.get(`F ${stage} ${num}`)
          : known.get(`B ${stage} ${num}`) || known.get(`F ${stage} ${num}`);
      if (!before || (before.l === l && before.i === i)) return;
      const end = panel.lanes[before.l].end[before.i];
      if (end <= lane.start[i] + eps && (!last || end > panel.lanes[last.l].end[last.i])) last = before;
    });
    return last || (i > 0 ? { l, i: i - 1 } : null);
  }

  // From the operation that ends last back to one that waited for nothing.
  function criticalPath(panel) {
    let at = null;
    panel.lanes.forEach((lane, l) => {
      const i = lane.count - 1;
      if (i >= 0 && (!at || lane.end[i] > panel.lanes[at.l].end[at.i])) at = { l, i };
    });
    const path = [];
    for (let bars = panel.lanes.reduce((sum, lane) => sum + lane.count, 0); at && bars > 0; bars--) {
      path.push(at);
      at = waitedFor(panel, at.l, at.i);
    }
    return path;
  }

  // The middles of the bars of the path, joined.
  function drawCritical(panel, g) {
    const path = critical?.get(panel);
    if (!path) return;
    const { from, to } = panel.view;
    g.save();
    g.beginPath();
    g.rect(panel.left, 0, panel.width, panel.full[1]);
    g.clip();
    g.strokeStyle = css(theme.limit);
    g.lineWidth = 2;
    g.lineJoin = 'round';
    g.beginPath();
    for (const { l, i } of path) {
      const lane = panel.lanes[l];
      if (lane.start[i] > to) continue;
      const y = rowTop(panel, Math.floor(l / panel.group)) + panel.bar / 2;
      g.lineTo(xOf(panel, lane.end[i]), y);
      g.lineTo(xOf(panel, lane.start[i]), y);
      if (lane.end[i] < from) break;
    }
    g.stroke();
    g.restore();
  }

  // ---- What follows the pointer ----

  function barAt(panel, x, y) {
    const row = Math.floor((y - panel.top) / panel.pitch);
    if (panel.kind !== 'lanes' || row < 0 || row >= panel.rows || x < panel.left || x > panel.left + panel.width) return null;
    const within = ((y - panel.top) / panel.pitch - row) * panel.group;
    const l = Math.min(panel.lanes.length - 1, row * panel.group + Math.floor(within));
    const lane = panel.lanes[l];
    const time = timeOf(panel, x);
    const i = search(lane.end, time);
    const near = (timeOf(panel, x + 1) - time) * 2; // a narrow bar is found two pixels off
    const hit = [i, i - 1].find((k) => k >= 0 && k < lane.count && lane.start[k] - near <= time && lane.end[k] + near >= time);
    const lower = y - rowTop(panel, row) > panel.bar / 2;
    return { panel, l, lane, row, time, i: i < lane.count && lane.start[i] <= time ? i : hit ?? -1, lower };
  }

  function halfWords(panel, lane, half, num) {
    const series = panel.series && half.series ? ` · ${panel.series} ${half.series - 32768 + lane.first}` : '';
    return panel.parts[half.part] + (num >= 0 ? ` of ${panel.numbers} ${num}` : '') + series;
  }

  function words({ panel, lane, i, time }) {
    let what = 'idle';
    let from = lane.count ? panel.extent.from : 0;
    let to = panel.extent.to;
    if (i >= 0) {
      const { halves } = panel.kinds[lane.kind[i]];
      what = halves.map((half, h) => halfWords(panel, lane, half, h ? lane.below[i] : lane.number[i])).join(' · with ');
      [from, to] = [lane.start[i], lane.end[i]];
    } else {
      const next = search(lane.start, time);
      if (next < lane.count) to = lane.start[next];
      if (next > 0) from = lane.end[next - 1];
    }
    const step = to > from ? 10 ** (Math.floor(Math.log10(to - from)) - 1) : 1;
    const times = [from, to].map((t) => numberLike(t, panel.unit, to, step)).join(' to ');
    return `${lane.label} · ${what} · ${times} (${number(to - from, panel.unit)})`;
  }

  // The panel of steps below a timeline has the memory of its devices.
  function stepsOf({ panel, l }) {
    const next = panels[panels.indexOf(panel) + 1];
    const devices = panel.idles.filter(Boolean).length;
    return next && next.kind === 'steps' && next.lanes.length === devices && l < devices ? next : undefined;
  }

  function hover(panel, x, y) {
    const inside = x >= panel.left && x <= panel.left + panel.width;
    const found = barAt(panel, x, y);
    for (const other of panels) {
      const g = other.over.getContext('2d');
      g.clearRect(0, 0, ...other.full);
      if (other.view !== panel.view || !inside) continue;
      g.fillStyle = css(theme.soft);
      g.fillRect(Math.round(other.left + (x - panel.left) * (other.width / panel.width)), other.top, 1, other.height);
      if (found && stepsOf(found) === other) {
        const lane = other.lanes[found.l];
        strokeLane(other, g, lane, css(theme.ink), 1.25);
        g.fillStyle = css(theme.ink);
        g.beginPath();
        g.arc(xOf(other, found.time), yOf(other, valueAt(lane, found.time)), 3.5, 0, 7);
        g.fill();
      }
    }
    panel.canvas.style.cursor = found && found.i >= 0 ? 'pointer' : '';
    if (found && found.i >= 0 && panel.group === 1) {
      const g = panel.over.getContext('2d');
      const from = Math.max(panel.left, xOf(panel, found.lane.start[found.i]));
      const to = Math.min(panel.left + panel.width, xOf(panel, found.lane.end[found.i]));
      g.strokeStyle = css(theme.ink);
      g.lineWidth = 1.5;
      g.strokeRect(from, rowTop(panel, found.row), Math.max(to - from, 1), panel.bar);
    }
    return found;
  }

  function showTip(found, event) {
    tip.hidden = !found;
    if (!found) return;
    const steps = stepsOf(found);
    tip.textContent = words(found);
    const before = found.i >= 0 ? waitedFor(found.panel, found.l, found.i) : null;
    if (before) {
      const lane = found.panel.lanes[before.l];
      const waits = document.createElement('small');
      const [half] = found.panel.kinds[lane.kind[before.i]].halves;
      const gap = found.lane.start[found.i] - lane.end[before.i];
      waits.textContent = `after ${halfWords(found.panel, lane, half, lane.number[before.i])}`
        + (before.l === found.l ? '' : ` on ${lane.label}`)
        + (gap > found.panel.quantum * 2 ? `, ${number(gap, found.panel.unit)} later` : '');
      tip.append(waits);
    }
    if (steps) {
      const held = document.createElement('small');
      held.textContent = `${steps.title}: ${number(valueAt(steps.lanes[found.l], found.time), steps.unit)}`;
      tip.append(held);
    }
    const box = tip.getBoundingClientRect();
    const right = document.documentElement.clientWidth - box.width - 8;
    const above = event.clientY - box.height - 14;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, right))}px`;
    tip.style.top = `${above > 8 ? above : event.clientY + 20}px`;
  }

  function leave() {
    tip.hidden = true;
    for (const panel of panels) panel.over.getContext('2d').clearRect(0, 0, ...panel.full);
  }

  // ---- Moving ----

  const dirty = new Set();

  function redraw(view) {
    if (!dirty.size) requestAnimationFrame(flush);
    dirty.add(view);
  }

  function flush() {
    const start = performance.now();
    for (const panel of panels.filter((p) => dirty.has(p.view))) {
      (panel.kind === 'lanes' ? drawLanes : drawSteps)(panel);
      panel.canvas.dataset.drawn = panel.drawn || 0;
      panel.canvas.dataset.from = panel.view.from;
      panel.canvas.dataset.to = panel.view.to;
    }
    dirty.clear();
    root.dataset.frame = (performance.now() - start).toFixed(1);
  }

  function show(view, from, to) {
    const span = Math.min(Math.max(to - from, view.least), view.all.to - view.all.from);
    const middle = (from + to) / 2;
    view.from = Math.min(Math.max(middle - span / 2, view.all.from), view.all.to - span);
    view.to = view.from + span;
    leave();
    redraw(view);
  }

  // Zooms so that the time at the share `at` of the width keeps its place.
  function zoom(view, factor, at = 0.5) {
    const span = view.to - view.from;
    const wanted = Math.min(Math.max(span * factor, view.least), view.all.to - view.all.from);
    const from = view.from + (span - wanted) * at;
    show(view, from, from + wanted);
  }

  function pan(view, share) {
    const by = (view.to - view.from) * share;
    show(view, view.from + by, view.to + by);
  }

  function pick(num) {
    picked = picked === num ? -1 : num;
    for (const view of views.values()) redraw(view);
  }

  function listen(panel) {
    const { canvas, view } = panel;
    const pointers = new Map();
    let moved = 0;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const share = (x) => Math.min(1, Math.max(0, (x - panel.left) / panel.width));
    canvas.addEventListener('wheel', (event) => {
      const unit = event.deltaMode === 1 ? 16 : 1;
      const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      const pans = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const whole = view.from <= view.all.from && view.to >= view.all.to;
      if (whole && (pans || event.deltaY > 0) && !event.ctrlKey) return; // nothing is hidden: the page scrolls
      event.preventDefault();
      if (pans) pan(view, (across * unit) / panel.width);
      else zoom(view, Math.exp(Math.max(-60, Math.min(60, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.004)), share(at(event)[0]));
    }, { passive: false });
    // The bar whose end is here, where there is room to take hold of it.
    const endAt = ([x, y]) => {
      const found = onStretch && panel.group === 1 && barAt(panel, x - 3, y);
      if (!found || found.i < 0) return null;
      const { lane, i } = found;
      const from = xOf(panel, lane.start[i]);
      const to = xOf(panel, lane.end[i]);
      return to - from > 10 && Math.abs(x - to) <= 4 ? found : null;
    };
    canvas.addEventListener('pointerdown', (event) => {
      const held = endAt(at(event));
      if (held) {
        const { lane, i } = held;
        const { halves } = panel.kinds[lane.kind[i]];
        event.preventDefault();
        onStretch({
          part: panel.parts[halves[0].part], stage: stageOf(lane, halves[0]), seconds: lane.end[i] - lane.start[i],
          perPixel: (view.to - view.from) / panel.width, x: event.clientX,
        });
        return;
      }
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      moved = 0;
    });
    canvas.addEventListener('pointermove', (event) => {
      const now = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        showTip(hover(panel, ...now), event);
        if (endAt(now)) canvas.style.cursor = 'ew-resize';
        return;
      }
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      if (others.length) {
        const other = others[0][1];
        const apart = (p) => Math.max(24, Math.abs(p[0] - other[0]));
        zoom(view, apart(before) / apart(now), share((now[0] + other[0]) / 2));
        pan(view, (before[0] - now[0]) / 2 / panel.width);
      } else if (moved > 3) pan(view, (before[0] - now[0]) / panel.width);
      pointers.set(event.pointerId, now);
    });
    canvas.addEventListener('pointerup', (event) => {
      const found = pointers.size === 1 && moved <= 3 ? barAt(panel, ...at(event)) : null;
      pointers.delete(event.pointerId);
      if (moved > 3) return;
      if (!found || found.i < 0) pick(picked);
      else pick(found.lower && found.lane.below[found.i] >= 0 ? found.lane.below[found.i] : found.lane.number[found.i]);
    });
    canvas.addEventListener('pointercancel', (event) => pointers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', leave);
    canvas.addEventListener('keydown', (event) => {
      const act = {
        ArrowLeft: () => pan(view, -0.1), ArrowRight: () => pan(view, 0.1),
        ArrowUp: () => zoom(view, 0.8), ArrowDown: () => zoom(view, 1.25),
        '+': () => zoom(view, 0.8), '=': () => zoom(view, 0.8), '-': () => zoom(view, 1.25),
        0: () => show(view, view.all.from, view.all.to), Home: () => show(view, view.all.from, view.all.to),
        Escape: () => pick(picked),
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  // ---- The beginning ----

  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['ground', 'grid', 'axis', 'ink', 'soft', 'strong', 'limit']) {
      theme[name] = channels(parseInt(style.getPropertyValue(`--${name}`).trim().slice(1), 16));
    }
    theme.family = getComputedStyle(document.body).fontFamily;
    theme.font = `12px ${theme.family}`;
    theme.small = `11px ${theme.family}`;
  }

  const panels = data.panels;
  const views = new Map();

  for (const panel of panels) {
    panel.section = root.querySelector(`[data-panel="${panel.panel}"]`);
    [panel.canvas, panel.over] = panel.section.querySelectorAll('canvas');
    (panel.kind === 'lanes' ? readBars : readCurves)(panel);
    panel.extent = { from: Infinity, to: -Infinity };
    panel.digits = 1;
    for (const lane of panel.lanes) {
      if (!lane.count) continue;
      panel.extent.from = Math.min(panel.extent.from, (lane.start || lane.x)[0]);
      panel.extent.to = Math.max(panel.extent.to, (lane.end || lane.x)[lane.count - 1]);
      if (panel.kind === 'lanes') panel.digits = Math.max(panel.digits, String(lane.number.reduce((a, b) => Math.max(a, b), 0)).length);
    }
    if (!views.has(panel.view)) {
      const range = { from: panel.from, to: panel.to };
      views.set(panel.view, { ...range, all: { ...range } });
    }
    panel.view = views.get(panel.view);
    panel.view.all.from = Math.min(panel.view.all.from, panel.extent.from);
    panel.view.all.to = Math.max(panel.view.all.to, panel.extent.to);
    if (panel.kind === 'steps') stepsLegend(panel);
    listen(panel);
  }
  for (const view of views.values()) view.least = (view.all.to - view.all.from) * 1e-7;

  function layout() {
    readTheme();
    for (const panel of panels) place(panel);
    for (const panel of panels) place(panel); // once all know how much their labels need
    for (const view of views.values()) dirty.add(view);
    flush();
  }

  const tools = {
    in: (view) => zoom(view, 0.5), out: (view) => zoom(view, 2), all: (view) => show(view, view.all.from, view.all.to),
  };
  for (const button of root.querySelectorAll('[data-do]')) {
    button.addEventListener('click', () => {
      if (button.dataset.do === 'critical') {
        critical = critical ? null : new Map(panels.filter((p) => p.kind === 'lanes').map((p) => [p, criticalPath(p)]));
        button.setAttribute('aria-pressed', critical !== null);
        views.forEach(redraw);
      } else views.forEach(tools[button.dataset.do]);
    });
  }
  layout();
  const resized = new ResizeObserver(layout);
  resized.observe(root);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', layout, { signal: over.signal });
  for (const [event, paper] of [['beforeprint', true], ['afterprint', false]]) { // paper is white
    window.addEventListener(event, () => {
      document.documentElement.classList.toggle('paper', paper);
      layout();
    }, { signal: over.signal });
  }
  over.signal.addEventListener('abort', () => resized.disconnect());
  return { stop: () => over.abort(), redraw: layout };
}
