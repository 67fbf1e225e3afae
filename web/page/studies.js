/* SPDX-License-Identifier: Apache-2.0 */
/* The view of studies: what kerf tune measures on this machine, live. */
import { Chart, HeatMap, svgOf } from './chart.js';
import {
  Alert, bytes, Choice, Command, Empty, get, html, percent, plain, quoted, save, seconds, setQuery, Table, useAddress, useAnswer, useLive,
} from './common.js';

const words = (study) => (study?.unit === 's' ? seconds : study?.unit === 'B' ? bytes : plain);
const settingText = (setting) => (setting ? Object.entries(setting).map(([name, value]) => `${name}=${value}`).join(' ') : '–');
const command = (study) => (study.request?.command || study.request?.words || []).join(' ');
const state = (study) => (study.invalid ? 'invalid' : study.stopped || 'runs, or was cut off');

function useStudy(id, version) {
  return useAnswer((signal) => (id ? get(`/api/v1/studies/${encodeURIComponent(id)}`, signal) : null), [id, version]);
}

/* The objective of each run, and the best so far. */
function courseOf(study) {
  const sign = study.request?.maximize ? -1 : 1;
  let best = Infinity;
  const values = study.entries.map((entry) => (typeof entry.value === 'number' ? entry.value : null));
  const course = values.map((value) => {
    if (value !== null) best = Math.min(best, sign * value);
    return isFinite(best) ? sign * best : null;
  });
  return { xs: study.entries.map((entry) => entry.n), xLabel: 'run', yLabel: 'objective', yWords: words(study),
    series: [{ label: 'measured', values, points: true }, { label: 'best so far', values: course }] };
}

function Course({ study }) {
  if (!study.entries.length) return null;
  return html`<section><h3>Run after run</h3><${Chart} label="the objective of each run, and the best so far" ...${courseOf(study)} /></section>`;
}

function Surface({ study, query }) {
  const many = study.params.filter((param) => param.values.length > 1);
  if (many.length < 2) return null;
  const names = many.map((param) => param.name);
  const x = names.includes(query.get('x')) ? query.get('x') : names[0];
  const y = names.includes(query.get('y')) && query.get('y') !== x ? query.get('y') : names.find((name) => name !== x);
  const cells = new Map();
  const sign = study.request?.maximize ? -1 : 1;
  for (const one of study.settings) {
    const key = `${one.setting[x]} ${one.setting[y]}`;
    const before = cells.get(key);
    if (before && !(one.mean !== null && sign * one.mean < sign * before.value)) continue;
    cells.set(key, { value: one.mean, text: `${settingText(one.setting)}: ${one.status}${one.reason ? `, ${one.reason}` : ''}`, marks: one.best ? '★' : one.status === 'not_measured' ? '?' : '' });
  }
  const values = (name) => many.find((param) => param.name === name).values;
  return html`<section><h3>The surface as it is believed</h3><div class="knobs">
      <${Choice} label="across" id="x" value=${x} options=${names} onValue=${(v) => setQuery({ x: v })} />
      <${Choice} label="down" id="y" value=${y} options=${names} onValue=${(v) => setQuery({ y: v })} /></div>
    <${HeatMap} caption="The best of each pair; ★ the best, ? not measured" xName=${x} yName=${y} xs=${values(x)} ys=${values(y)} cells=${cells} words=${words(study)} maximize=${study.request?.maximize} /></section>`;
}

/* What was measured before what is believed, each the best first. */
function ordered(study) {
  const sign = study.request?.maximize ? -1 : 1;
  const rank = (one) => (one.status === 'measured' ? 0 : one.status === 'not_measured' ? 1 : 2);
  return [...study.settings].sort((a, b) => rank(a) - rank(b) || sign * ((a.mean ?? Infinity) - (b.mean ?? Infinity)) || 0);
}

function Study({ study, query }) {
  const show = words(study);
  const best = study.settings.find((one) => one.best);
  return html`<section aria-label="study"><h2>${study.study}</h2>
    <p>${state(study)}${study.reason ? `: ${study.reason}` : ''}. ${study.observations} runs in ${seconds(study.elapsed_s)}.
      ${best && html`<br />The best so far: <b>${settingText(best.setting)}</b>, ${show(best.mean)} (${show(best.low)} to ${show(best.high)})${
        best.probability_within !== null ? `, within the margin of the best with ${percent(best.probability_within, 0)}` : ''}.`}
      ${study.recommendation && html`<br />${study.recommendation}`}</p>
    <${Course} study=${study} />
    <${Surface} study=${study} query=${query} />
    <${Table} caption="Settings, the best first" rows=${ordered(study)} keyOf=${(row) => settingText(row.setting)} columns=${[
      { name: 'setting', of: (row) => settingText(row.setting) },
      { name: 'state', of: (row) => row.status.replaceAll('_', ' ') },
      { name: 'runs', of: (row) => row.observations, right: true },
      { name: 'mean', of: (row) => row.mean ?? Infinity, show: (row) => (row.mean === null ? '–' : show(row.mean)), right: true },
      { name: 'interval', of: (row) => row.high ?? Infinity, show: (row) => (row.low === null ? '–' : `${show(row.low)} to ${show(row.high)}`), right: true },
      { name: 'within the margin', of: (row) => row.probability_within ?? -1, show: (row) => percent(row.probability_within, 0), right: true },
      { name: 'why not', of: (row) => row.reason }]} />
    <${Command} text=${`kerf studies show ${quoted(study.study)}`} />
    <p class="downloads"><button type="button" onClick=${() => save(`${study.study}.json`, JSON.stringify(study))}>download JSON</button>
      <button type="button" onClick=${() => save(`${study.study}.csv`, csvOf(study), 'text/csv')}>download CSV</button>
      <button type="button" disabled=${!study.entries.length} onClick=${() => save(`${study.study}.svg`, svgOf({ title: study.study, ...courseOf(study) }), 'image/svg+xml')}>download SVG</button></p></section>`;
}

function csvOf(study) {
  const names = study.params.map((param) => param.name);
  const word = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : value ?? '');
  return [['n', ...names, 'outcome', 'value'], ...study.entries.map((entry) => [entry.n, ...names.map((name) => entry.setting[name]), entry.outcome, entry.value])]
    .map((row) => row.map(word).join(',')).join('\n') + '\n';
}

function Compared({ one, other }) {
  const show = words(one);
  const byText = new Map(other.settings.map((row) => [settingText(row.setting), row]));
  const rows = one.settings.filter((row) => byText.has(settingText(row.setting)) && row.mean > 0 && byText.get(settingText(row.setting)).mean > 0)
    .map((row) => ({ text: settingText(row.setting), a: row.mean, b: byText.get(settingText(row.setting)).mean }));
  return html`<section><h2>Beside ${other.study}</h2>${rows.length ? html`<${Table} caption="Settings of both" rows=${rows} columns=${[
    { name: 'setting', of: (row) => row.text },
    { name: one.study, of: (row) => row.a, show: (row) => show(row.a), right: true },
    { name: other.study, of: (row) => row.b, show: (row) => show(row.b), right: true },
    { name: 'ratio', of: (row) => row.b / row.a, show: (row) => (row.b / row.a).toFixed(3), right: true }]} />`
    : html`<p>No setting was measured in both.</p>`}</section>`;
}

export function Studies() {
  const { query } = useAddress();
  const { version } = useLive();
  const id = query.get('study');
  const list = useAnswer((signal) => get('/api/v1/studies', signal), [version.studies]);
  const study = useStudy(id, version.studies);
  const other = useStudy(query.get('compare'), version.studies);
  const studies = list.answer?.studies || [];
  return html`<${Alert} error=${list.error || study.error || other.error} />
    ${list.answer && (studies.length ? html`<${Table} caption="Studies" rows=${studies} keyOf=${(row) => row.study} picked=${id} onPick=${(row) => setQuery({ study: row.study, compare: null })} columns=${[
      { name: 'study', of: (row) => row.study },
      { name: 'began', of: (row) => row.began },
      { name: 'state', of: state, show: (row) => row.invalid || state(row) },
      { name: 'runs', of: (row) => row.observations, right: true },
      { name: 'command', of: command }]} />`
      : html`<${Empty}>No studies yet. <code>kerf tune</code> makes one: for example <${Command} text="kerf tune --param n=1..64:x2 -- sh -c 'sleep 0.$((n % 7))'" /><//>`)}
    ${study.answer && id && html`<${Study} study=${study.answer} query=${query} />
      ${studies.length > 1 && html`<${Choice} label="compare with" id="compare" value=${query.get('compare') || ''} onValue=${(v) => setQuery({ compare: v || null })}
        options=${[{ value: '', label: 'nothing' }, ...studies.map((row) => row.study).filter((name) => name !== id)]} />`}
      ${other.answer && query.get('compare') && html`<${Compared} one=${study.answer} other=${other.answer} />`}`}`;
}
