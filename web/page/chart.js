/* SPDX-License-Identifier: Apache-2.0 */
/* Curves and points in the colours of kerf's pictures (lib/draw/palette.c), with a table of the same numbers. */
import uPlot from 'uplot';
import { useEffect, useRef } from 'preact/hooks';
import { html, plain } from './common.js';

export const colours = ['#305da8', '#e4962f', '#17906e', '#be78aa', '#66c4f7', '#3c4858', '#d0562c', '#f9ce68', '#9260e0'];

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* series: [{label, values, points, low, high}] over xs, with whiskers from low to high where they are there; words(value)
 * writes a y. The legend tells the values under the pointer. */
export function Chart({ label, xs, series, xLabel, yLabel, xWords = plain, yWords = plain, logX, height = 240 }) {
  const box = useRef();
  const told = (one, i) => (one.values[i] === null || one.values[i] === undefined ? null
    : yWords(one.values[i]) + (one.low && one.low[i] !== null ? ` (${yWords(one.low[i])} to ${yWords(one.high[i])})` : ''));
  useEffect(() => {
    const axis = () => ({ stroke: token('--soft'), grid: { stroke: token('--grid'), width: 1 }, ticks: { stroke: token('--grid') } });
    const ends = series.flatMap(({ low, high }) => (low ? [...low, ...high] : [])).filter((v) => v !== null);
    const range = (_, least, most) => uPlot.rangeNum(Math.min(least ?? Infinity, ...ends), Math.max(most ?? -Infinity, ...ends), 0.1, false);
    const whiskers = (plot) => series.forEach((one, s) => one.low?.forEach((low, i) => {
      if (low === null || one.values[i] === null) return;
      const [x, from, to] = [plot.valToPos(xs[i], 'x', true), plot.valToPos(low, 'y', true), plot.valToPos(one.high[i], 'y', true)];
      const half = 4 * devicePixelRatio;
      plot.ctx.strokeStyle = colours[s % colours.length];
      plot.ctx.lineWidth = 1.5 * devicePixelRatio;
      plot.ctx.beginPath();
      for (const [x0, y0, x1, y1] of [[x, from, x, to], [x - half, from, x + half, from], [x - half, to, x + half, to]]) {
        plot.ctx.moveTo(x0, y0);
        plot.ctx.lineTo(x1, y1);
      }
      plot.ctx.stroke();
    }));
    const make = () => new uPlot({
      width: Math.max(220, box.current.clientWidth), height, cursor: { drag: { setScale: false } },
      scales: { x: { time: false, distr: logX ? 3 : 1, log: 2 }, ...(ends.length && { y: { range } }) },
      legend: { show: true, live: true }, hooks: { draw: [whiskers] },
      axes: [{ ...axis(), label: xLabel, values: (_, all) => all.map((v) => (v === null ? '' : xWords(v))) },
        { ...axis(), label: yLabel, size: 64, values: (_, all) => all.map((v) => (v === null ? '' : yWords(v))) }],
      series: [{ label: xLabel, value: (_, v) => (v === null || v === undefined ? '–' : xWords(v)) }, ...series.map((one, i) => ({
        label: one.label, stroke: colours[i % colours.length], width: one.points ? 0 : 2, spanGaps: true,
        points: { show: one.points || xs.length < 40, size: 7, fill: colours[i % colours.length] }, value: (_, v, s, at) => told(one, at) ?? '–',
      }))],
    }, [xs, ...series.map(({ values }) => values)], box.current);
    let plot = make();
    const again = () => {
      plot.destroy();
      plot = make();
    };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const resized = new ResizeObserver(([entry]) => plot.setSize({ width: Math.max(220, entry.contentRect.width), height }));
    resized.observe(box.current);
    dark.addEventListener('change', again);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', again);
      plot.destroy();
    };
  }, [JSON.stringify([xs, series, logX])]);
  return html`<figure><div class="chart" role="img" aria-label=${label} ref=${box}></div>
    <details><summary>As a table${xs.length > 500 && `, the first 500 of ${xs.length}`}</summary><table><thead><tr><th scope="col">${xLabel}</th>
      ${series.map((one) => html`<th scope="col" class="right">${one.label}</th>`)}</tr></thead>
      <tbody>${xs.slice(0, 500).map((x, i) => html`<tr><th scope="row">${xWords(x)}</th>
        ${series.map((one) => html`<td class="right">${told(one, i) ?? ''}</td>`)}</tr>`)}</tbody></table></details></figure>`;
}

/* The same curves and points as a file: SVG of one plot. */
export function svgOf({ title, xs, series, xLabel, yLabel, xWords = plain, yWords = plain }) {
  const [w, h, left, right, top, bottom] = [720, 400, 84, 20, 56, 52];
  const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" ${more}>${String(words).replace(/[&<>]/g, (c) => `&#${c.charCodeAt()};`)}</text>`;
  const known = series.flatMap(({ values }) => values).filter((v) => v !== null && isFinite(v));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.min(0, ...known), Math.max(...known)];
  const x = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (w - left - right);
  const y = (v) => h - bottom - ((v - y0) / (y1 - y0 || 1)) * (h - top - bottom);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const axes = shares.map((share) => {
    const [vx, vy] = [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
    return `<path d="M${left} ${y(vy)}H${w - right}" stroke="#e2e6ea"/>${text(left - 8, y(vy) + 4, yWords(vy), 'text-anchor="end"')}${text(x(vx), h - bottom + 18, xWords(vx), 'text-anchor="middle"')}`;
  }).join('');
  const marks = series.map(({ label, values, points }, i) => {
    const colour = colours[i % colours.length];
    const at = values.map((v, k) => (v === null ? null : [x(xs[k]).toFixed(1), y(v).toFixed(1)])).filter(Boolean);
    const drawn = points ? at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`).join('')
      : `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${at.join(' ')}"/>`;
    return `${drawn}<rect x="${left + i * 150}" y="34" width="10" height="10" fill="${colour}"/>${text(left + 15 + i * 150, 43, label)}`;
  }).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#2a323d"><rect width="${w}" height="${h}" fill="#ffffff"/>${
    text(left, 22, title, 'font-weight="bold" font-size="15"')}${axes}${marks}${text((left + w) / 2, h - 12, xLabel, 'text-anchor="middle"')}${text(8, 52, yLabel)}</svg>`;
}

/* From the palette's blue over green to a pale yellow, as heat maps of the command line: 0 is the best. */
const scale = ['#244990', '#26619f', '#2c78ad', '#2493af', '#43abab', '#66c2a7', '#93d5a0', '#c9e2a0', '#f8efb5'];
export function heat(share) {
  const at = scale[Math.min(scale.length - 1, Math.max(0, Math.round(share * (scale.length - 1))))];
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(at.slice(i, i + 2), 16) / 255);
  const light = 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;
  return { background: at, color: light > 0.18 ? '#141a22' : '#ffffff' };
}

/* cells: a map of "x y" to {value, text, marks}; smaller is better unless maximize. */
export function HeatMap({ caption, xName, yName, xs, ys, cells, words, maximize, onPick }) {
  const known = [...cells.values()].map(({ value }) => value).filter(Number.isFinite);
  const ranked = known.every((value) => value > 0); // a colour is a ratio to the best
  const best = maximize ? Math.max(...known) : Math.min(...known);
  const most = Math.max(1.2, ...known.map((value) => (maximize ? best / value : value / best)));
  const share = (value) => Math.log(maximize ? best / value : value / best) / Math.log(most);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="heat"><caption>${caption}</caption>
    <thead><tr><th scope="col">${yName} \\ ${xName}</th>${xs.map((x) => html`<th scope="col">${x}</th>`)}</tr></thead>
    <tbody>${ys.map((y) => html`<tr><th scope="row">${y}</th>${xs.map((x) => {
      const cell = cells.get(`${x} ${y}`);
      if (!cell) return html`<td class="none"></td>`;
      const isKnown = Number.isFinite(cell.value);
      const style = isKnown && ranked ? heat(share(cell.value)) : {};
      const text = html`${isKnown ? words(cell.value) : cell.text}${cell.marks && html`<b>${cell.marks}</b>`}`;
      return html`<td style=${style} title=${cell.text}>${onPick ? html`<button type="button" class="cell" style=${{ color: style.color }} onClick=${() => onPick(cell)}>${text}</button>` : text}</td>`;
    })}</tr>`)}</tbody></table></div>`;
}

/* Shares with their intervals: rows of {name, share, interval}; a share of null is not known. */
export function Shares({ rows, caption }) {
  const wide = (share) => `${(100 * share).toFixed(1)}%`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="parts shares"><caption>${caption}</caption>
    <thead><tr><th scope="col"></th><th scope="col" class="right">share</th><th scope="col" class="right">90 % interval</th><th></th></tr></thead>
    <tbody>${rows.map(({ name, share, interval }) => html`<tr title=${interval ? `${name}: ${wide(share)}, ${wide(interval[0])} to ${wide(interval[1])}` : name}>
      <th scope="row">${name}</th><td class="right">${share === null ? '–' : `${(100 * share).toFixed(0)} %`}</td>
      <td class="right">${interval ? `${(100 * interval[0]).toFixed(0)} to ${(100 * interval[1]).toFixed(0)} %` : ''}</td>
      <td class="bar"><div class="whisker">${share !== null && html`<span style=${{ width: wide(share), background: colours[0] }}></span>`}
        ${interval && html`<i style=${{ left: wide(interval[0]), width: wide(interval[1] - interval[0]) }}></i>`}</div></td></tr>`)}</tbody></table></div>`;
}

/* The parts' names as the pictures of kerf plan have them (lib/call/plan_words.c). */
const partNames = { gemm: 'GEMM', memory: 'memory-bound', tp: 'exposed TP', cp: 'exposed CP', ep: 'exposed EP', dp: 'exposed DP', pp: 'exposed PP' };

/* Bars of parts, longest first, with their shares: where the time goes. */
export function Parts({ parts, words, caption }) {
  const rows = Object.entries(parts).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  const whole = rows.reduce((sum, [, value]) => sum + value, 0);
  return html`<table class="parts"><caption>${caption}</caption><tbody>${rows.map(([name, value]) => html`<tr>
    <th scope="row">${partNames[name] || name}</th><td class="right">${words(value)}</td><td class="right">${(100 * value / whole).toFixed(0)} %</td>
    <td class="bar"><span style=${{ width: `${Math.max(0.5, 100 * value / rows[0][1])}%`, background: colours[0] }}></span></td></tr>`)}</tbody></table>`;
}
