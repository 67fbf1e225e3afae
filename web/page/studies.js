/* SPDX-License-Identifier: Apache-2.0 */
/* The view of studies: what kerf tune measures on this machine, live. */
import { Chart, HeatMap, Shares, svgOf } from './chart.js';
import {
  Alert, bytes, Choice, Command, Empty, get, html, percent, plain, quoted, save, seconds, setQuery, Table, useAddress, useAnswer, useLive,
} from './common.js';

const number = (value) => (typeof value === 'number' ? plain(+value.toPrecision(4)) : plain(value));
const words = (study) => (study?.unit === 's' ? seconds : study?.unit === 'B' ? bytes : number);
const word = (value) => (value === true ? 'on' : value === false ? 'off' : String(value));
const settingText = (setting) => (setting ? Object.entries(setting).map(([name, value]) => `${name}=${word(value)}`).join(' ') : '–');
/* How many settings there are, which of a large grid may be an estimate. */
const howMany = ({ settings_in_all: all }) => (Number.isInteger(all) ? all : `about ${Number(all.toPrecision(2))}`);
/* A probability is never told as 100 %; as kerf tune writes it. */
const chance = (value) => (value > 0.999 ? '>99.9 %' : percent(value, (value < 0.1 && value >= 0.0005) || value > 0.99 ? 1 : 0));
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

/* One parameter alone: its curve, with what is known of each value. Words have no order, and are points. */
function Curve({ study, param }) {
  const show = words(study);
  const byValue = new Map(study.settings.map((one) => [word(one.setting[param.name]), one]));
  const ones = param.values.map((value) => byValue.get(value));
  const ordered = param.values.every((value) => value !== '' && isFinite(value));
  const xs = param.values.map((value, i) => (ordered ? +value : i));
  const of = (status, key) => ones.map((one) => (one?.status === status ? one[key] : null));
  const series = [['measured', 'measured'], ['not_measured', 'expected'], ['censored', 'stopped, so longer']].map(([status, label]) => (
    { label, points: true, values: of(status, 'mean'), low: of(status, 'low'), high: of(status, 'high') }))
    .filter(({ values }) => values.some((value) => value !== null));
  if (!series.length) return null;
  const positive = ordered && xs[0] > 0 && xs.at(-1) / xs[0] >= 16;
  return html`<section><h3>The objective by ${param.name}, with ${share(study.request.confidence)} intervals</h3><${Chart} label=${`the objective by ${param.name}, with intervals`} xs=${xs} series=${series} logX=${positive}
    xLabel=${param.name} yLabel="objective" yWords=${show} xWords=${ordered ? plain : (v) => param.values[v] ?? ''} /></section>`;
}

/* Two parameters across and down; of the others the best, or the values that were chosen. */
function Surface({ study, query }) {
  const many = study.params.filter((param) => param.values.length > 1);
  if (many.length === 1) return html`<${Curve} study=${study} param=${many[0]} />`;
  if (many.length < 2) return null;
  const names = many.map((param) => param.name);
  const x = names.includes(query.get('x')) ? query.get('x') : names[0];
  const y = names.includes(query.get('y')) && query.get('y') !== x ? query.get('y') : names.find((name) => name !== x);
  const others = many.filter(({ name }) => name !== x && name !== y);
  const chosen = others.filter((param) => param.values.includes(query.get(`at-${param.name}`)));
  const cells = new Map();
  const sign = study.request?.maximize ? -1 : 1;
  for (const one of study.settings) {
    if (chosen.some(({ name }) => word(one.setting[name]) !== query.get(`at-${name}`))) continue;
    const key = `${word(one.setting[x])} ${word(one.setting[y])}`;
    const before = cells.get(key);
    const isWorse = one.mean === null || (before?.value !== null && sign * one.mean >= sign * before?.value);
    if (before && (before.marks === '★' || (isWorse && !one.best))) continue;
    const interval = one.low === null ? '' : ` (${words(study)(one.low)} to ${words(study)(one.high)})`;
    cells.set(key, { value: one.mean, text: `${settingText(one.setting)}: ${one.status.replaceAll('_', ' ')}${one.mean === null ? '' : `, ${words(study)(one.mean)}${interval}`}${one.reason ? `, ${one.reason}` : ''}`,
      marks: one.best ? '★' : one.status === 'not_measured' ? '?' : '' });
  }
  const values = (name) => many.find((param) => param.name === name).values;
  const best = others.filter((param) => !chosen.includes(param)).map(({ name }) => name);
  const slice = [...chosen.map(({ name }) => `${name}=${query.get(`at-${name}`)}`), ...(best.length ? [`the best of ${best.join(', ')}`] : [])];
  const without = study.settings.filter(({ setting }) => !(x in setting && y in setting)).length;
  return html`<section><h3>The surface as it is believed</h3><div class="knobs">
      <${Choice} label="across" id="x" value=${x} options=${names} onValue=${(v) => setQuery({ x: v })} />
      <${Choice} label="down" id="y" value=${y} options=${names} onValue=${(v) => setQuery({ y: v })} />
      ${others.map((param) => html`<${Choice} label=${param.name} id=${`at-${param.name}`} value=${query.get(`at-${param.name}`) || ''} onValue=${(v) => setQuery({ [`at-${param.name}`]: v || null })}
        options=${[{ value: '', label: 'the best' }, ...param.values]} />`)}</div>
    <${HeatMap} caption=${`${slice.length ? `With ${slice.join(', ')}; ` : ''}★ the best, ? not measured${without ? `; ${without} settings have no ${x} or ${y}` : ''}`} xName=${x} yName=${y} xs=${values(x)} ys=${values(y)} cells=${cells} words=${words(study)} maximize=${study.request?.maximize} /></section>`;
}

/* Both objectives of each measured setting; the front is what no other setting beats in both. */
function Front({ study }) {
  const { pareto } = study;
  const name = (study.request.objective || '').split(' ')[0].replace(/^json:/, '').replace(/^regex:.*/, 'objective');
  const second = words(pareto);
  const members = new Set(pareto.front.map(({ setting }) => settingText(setting)));
  const ones = study.settings.filter((one) => one.status === 'measured' && Number.isFinite(one.second)).sort((a, b) => a.mean - b.mean);
  if (!ones.length) return null;
  const of = (is) => ones.map((one) => (members.has(settingText(one.setting)) === is ? one.second : null));
  return html`<section><h3>The Pareto front</h3>
    <p>For each of all settings one of these ${pareto.front.length} is at most ${share(study.request.within)} worse in either, with a probability of ${chance(pareto.probability)}.</p>
    <${Chart} label=${`${pareto.objective} over ${name}: the Pareto front and the other settings`} xs=${ones.map((one) => one.mean)} xLabel=${name} xWords=${words(study)}
      yLabel=${pareto.objective} yWords=${second} series=${[{ label: 'front', values: of(true), points: true }, { label: 'others', values: of(false), points: true }]} />
    <${Table} caption="The front" rows=${pareto.front} keyOf=${(row) => settingText(row.setting)} columns=${[
      { name: 'setting', of: (row) => settingText(row.setting) },
      { name, of: (row) => row.mean, show: (row) => words(study)(row.mean), right: true },
      { name: pareto.objective, of: (row) => row.second, show: (row) => second(row.second), right: true },
      { name: 'unbeaten', of: (row) => row.unbeaten, show: (row) => chance(row.unbeaten), right: true }]} /></section>`;
}

const unknown = 0.5; // a wider interval says next to nothing (app/cli/tune_table.c)

/* The share of each parameter, and of the pairs that have one, in the differences between settings. */
function Matters({ study }) {
  const of = study.importance_of;
  if (study.importance.filter(({ parameters }) => parameters.length === 1).length < 2) return null;
  const rows = study.importance.filter((one, i) => one.parameters.length === 1 || (one.share >= 0.01 && i < 12))
    .map(({ parameters, share, interval }) => ({ name: parameters.join(' with '), share, interval }));
  const rest = rows.reduce((left, row) => left - (row.share ?? NaN), 1);
  if (rest >= 0.01) rows.push({ name: 'all else', share: rest, interval: null });
  const [low, high] = study.importance[0].interval ?? [-Infinity, Infinity];
  const spread = of.ratio ? `a factor of ${Math.exp(of.spread).toPrecision(3)}` : words(study)(of.spread);
  return html`<section><h3>What matters</h3><${Shares} rows=${rows}
    caption=${`Shares of the variance between ${of.settings} settings${of.sample ? ' drawn at random' : ''}, which differ by ${spread} (standard deviation)`} />
    ${high - low > unknown && html`<p>Too little was measured to say what matters.</p>`}</section>`;
}

/* What was measured before what is believed, each the best first. */
function ordered(study) {
  const sign = study.request?.maximize ? -1 : 1;
  const rank = (one) => (one.status === 'measured' ? 0 : one.status === 'not_measured' ? 1 : 2);
  return [...study.settings].sort((a, b) => rank(a) - rank(b) || sign * ((a.mean ?? Infinity) - (b.mean ?? Infinity)) || 0);
}

const rowsShown = 30;
const share = (value) => `${plain(+(100 * value).toPrecision(6))} %`;

function Study({ study, query }) {
  const show = words(study);
  const rows = ordered(study);
  const all = query.get('rows') === 'all' || rows.length <= rowsShown;
  const level = share(study.request.confidence);
  const best = study.settings.find((one) => one.best), recommended = study.settings.find((one) => one.recommended);
  return html`<section aria-label="study"><h2>${study.study}</h2>
    <p>${state(study)}${study.reason ? `: ${study.reason}` : ''}. ${study.observations} runs in ${seconds(study.elapsed_s)}.
      ${best && !study.pareto && html`<br />The best so far: <b>${settingText(best.setting)}</b>, ${show(best.mean)} (${level}: ${show(best.low)} to ${show(best.high)})${
        best.probability_within !== null ? `, within ${share(study.request.within)} of the best with ${chance(best.probability_within)}` : ''}.`}
      ${study.chance_unseen !== null && html`<br />Looked at closely: ${study.looked_at} of ${howMany(study)} settings. That one of the others is better by more than ${share(study.request.within)} has an estimated probability of ${chance(study.chance_unseen)}.`}
      ${study.chance_isolated > 0.01 && study.predictions > 0 && html`<br />That a value which was not tried is better, although nothing beside it is, has a probability of ${chance(study.chance_isolated)}.`}
      ${study.modes && html`<br />Some of the runs came out ${percent(Math.abs(study.modes.slower - 1), 0)} ${study.modes.slower > 1 ? 'higher' : 'lower'} than the others, by chance and whichever the setting: the machine has two modes.`}
      ${recommended && !recommended.best && !study.pareto && html`<br />Recommended: <b>${settingText(recommended.setting)}</b>, ${study.recommendation}.`}</p>
    <${Course} study=${study} />
    ${study.pareto ? html`<${Front} study=${study} />` : html`<${Surface} study=${study} query=${query} /><${Matters} study=${study} />`}
    <${Table} caption="Settings, the best first" rows=${all ? rows : rows.slice(0, rowsShown)} keyOf=${(row) => settingText(row.setting)} columns=${[
      { name: 'setting', of: (row) => settingText(row.setting) },
      { name: 'measured', of: (row) => row.observed_mean ?? Infinity, show: (row) => (row.observed_mean === null ? '–' : show(row.observed_mean)), right: true },
      { name: 'estimate', of: (row) => row.mean ?? Infinity, show: (row) => (row.mean === null ? '–' : show(row.mean)), right: true },
      { name: `${level} interval`, of: (row) => row.high ?? Infinity, show: (row) => (row.low === null ? '–' : `${show(row.low)} to ${show(row.high)}`), right: true },
      ...(study.pareto ? [{ name: study.pareto.objective, of: (row) => row.second ?? Infinity, show: (row) => (Number.isFinite(row.second) ? words(study.pareto)(row.second) : '–'), right: true }] : []),
      { name: `within ${share(study.request.within)}`, of: (row) => row.probability_within ?? -1, show: (row) => chance(row.probability_within), right: true },
      { name: 'runs', of: (row) => row.observations, right: true },
      { name: 'state', of: (row) => row.status.replaceAll('_', ' ') },
      { name: 'why not', of: (row) => row.reason }]} />
    ${study.settings_left_out > 0 && html`<p>${study.settings_left_out} settings more are not shown; <code>kerf studies show</code> has them.</p>`}
    ${!all && html`<p><button type="button" onClick=${() => setQuery({ rows: 'all' })}>all ${rows.length} settings</button></p>`}
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
  const known = ({ settings }) => settings.filter((row) => row.mean !== null).map((row) => [settingText(row.setting), row.mean]);
  const means = new Map(known(other));
  const rows = known(one).filter(([text]) => means.has(text)).map(([text, a]) => ({ text, a, b: means.get(text) }));
  const alike = one.request.objective === other.request.objective;
  const ratio = ({ a, b }) => (alike && a * b > 0 ? b / a : null);
  return html`<section><h2>Beside ${other.study}</h2>${rows.length ? html`<${Table} caption="Settings of both" rows=${rows} columns=${[
    { name: 'setting', of: (row) => row.text },
    { name: one.study, of: (row) => row.a, show: (row) => words(one)(row.a), right: true },
    { name: other.study, of: (row) => row.b, show: (row) => words(other)(row.b), right: true },
    { name: 'ratio', of: (row) => ratio(row) ?? -1, show: (row) => ratio(row)?.toFixed(3) ?? '–', right: true }]} />`
    : html`<p>No setting has an estimate in both.</p>`}</section>`;
}

export function Studies() {
  const { query } = useAddress();
  const { version } = useLive();
  const id = query.get('study');
  const list = useAnswer((signal) => get('/api/v1/studies', signal), [version.studies]);
  const study = useStudy(id, version.studies);
  const other = useStudy(query.get('compare'), version.studies);
  const { studies = [], more = 0 } = list.answer || {};
  return html`<${Alert} error=${list.error || study.error || other.error} />
    ${list.answer && (studies.length ? html`<${Table} caption="Studies" rows=${studies} keyOf=${(row) => row.study} picked=${id} onPick=${(row) => setQuery({ study: row.study, compare: null })} columns=${[
      { name: 'study', of: (row) => row.study },
      { name: 'began', of: (row) => row.began },
      { name: 'state', of: state, show: (row) => row.invalid || state(row) },
      { name: 'runs', of: (row) => row.observations, right: true },
      { name: 'command', of: command }]} />`
      : html`<${Empty}>No studies yet. <code>kerf tune</code> makes one: for example <${Command} text="kerf tune --param n=1..64:x2 -- sh -c 'sleep 0.$(($0 % 7))' {n}" /><//>`)}
    ${more > 0 && html`<p>${more} older studies are not listed; <code>kerf studies</code> has them.</p>`}
    ${study.answer && id && html`<${Study} study=${study.answer} query=${query} />
      ${studies.length > 1 && html`<${Choice} label="compare with" id="compare" value=${query.get('compare') || ''} onValue=${(v) => setQuery({ compare: v || null })}
        options=${[{ value: '', label: 'nothing' }, ...studies.map((row) => row.study).filter((name) => name !== id)]} />`}
      ${other.answer && query.get('compare') && html`<${Compared} one=${study.answer} other=${other.answer} />`}`}`;
}
