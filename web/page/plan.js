/* SPDX-License-Identifier: Apache-2.0 */
/* The view of plans: what is asked is in the address; a search is asked for by its button. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart, HeatMap, Parts } from './chart.js';
import {
  Alert, ask, askLong, bytes, catalogue, Choice, Command, Empty, FileField, go, html, NumberField, percent, Picture, plain, quoted,
  readAddress, save, seconds, setHash, setQuery, stopAsk, Table, TextField, useAddress, useAnswer, useOpened,
} from './common.js';

const first = { model: 'llama3_70b', system: 'h100', gpus: '512', global_batch: '1024', top: '20' };
const limits = ['tp', 'cp', 'pp', 'vpp', 'ep', 'etp', 'dp', 'zero', 'micro_batch', 'recompute', 'schedules'];
const frameworks = ['megatron', 'torchtitan', 'deepspeed', 'nanotron', 'megatron-bridge'];
const others = ['seq_length', 'precision', 'stack', 'strategy', 'for', 'space', 'tokens', 'price', ...limits];

function requestOf(query, hash) {
  const request = {};
  for (const key of ['model', 'system', 'gpus', 'global_batch', 'top', ...others]) {
    const value = query.get(key) ?? first[key];
    if (value) request[key] = /^\d+$/.test(value) ? Number(value) : value;
  }
  const sizes = query.get('sizes');
  if (sizes) request.gpus = [...new Set([...sizes.split(',').map(Number), Number(request.gpus)])].sort((a, b) => a - b);
  for (const flag of ['safe', 'why']) if (query.get(flag)) request[flag] = true;
  if (hash.get('config')) request.model = JSON.parse(hash.get('config'));
  return request;
}

function commandOf(request, configName) {
  const words = ['kerf', 'plan', quoted(typeof request.model === 'object' ? configName : request.model)];
  for (const [key, value] of Object.entries(request)) {
    if (key === 'model') continue;
    words.push(`--${key.replaceAll('_', '-')}`);
    if (value !== true) words.push(quoted(value));
  }
  return words.join(' ');
}

const dimensions = ['tp', 'cp', 'pp', 'vpp', 'ep', 'etp', 'dp', 'zero', 'micro_batch', 'recompute', 'schedule'];

// ---- One layout ----

function Launch({ answer, rank }) {
  const [framework, setFramework] = useState('');
  const { answer: written, error } = useAnswer(
    (signal) => (framework ? ask('launch', { write: framework, plan: answer, rank }, { signal }) : null), [framework, rank, answer]);
  return html`<section><h3>Launch</h3>
    <${Choice} label="framework" value=${framework} options=${[{ value: '', label: 'choose one' }, ...frameworks]} onValue=${setFramework} />
    ${error ? html`<${Alert} error=${error} />` : written && html`<pre tabindex="0">${written.text}</pre>
      <p class="downloads"><button type="button" onClick=${() => save(`launch.${framework === 'torchtitan' ? 'toml' : framework === 'nanotron' ? 'yaml' : 'sh'}`, written.text, 'text/plain')}>download launch</button></p>`}</section>`;
}

function Why({ why }) {
  if (!why?.others?.length) return null;
  return html`<section><h3>Why this one</h3><${Table} rows=${why.others} columns=${[
    { name: 'instead of', of: (row) => `${row.dimension} ${row.best}` },
    { name: 'with', of: (row) => `${row.dimension} ${row.value}` },
    { name: 'slower by', of: (row) => row.slower_s, show: (row) => seconds(row.slower_s), right: true },
    { name: 'more memory', of: (row) => row.more_bytes, show: (row) => (row.more_bytes < 0 ? `−${bytes(-row.more_bytes)}` : bytes(row.more_bytes)), right: true },
    { name: 'its best layout', of: (row) => row.layout_text }]} /></section>`;
}

function Layout({ search, plan, answer, request, configName }) {
  const box = useRef();
  const rank = plan.rank;
  useEffect(() => box.current.focus(), [plan.layout_text]);
  const model = quoted(typeof request.model === 'object' ? configName : request.model);
  const words = ['gpus', 'global_batch', 'seq_length', 'precision', 'gradients', 'mtp_layers', 'stack']
    .filter((key) => search[key] !== undefined && search[key] !== null).map((key) => `--${key.replaceAll('_', '-')} ${quoted(search[key])}`);
  const estimate = `kerf estimate ${model} --system ${quoted(search.system)} ${words.join(' ')} --layout ${plan.layout_text}`;
  const follow = () => {
    const alone = { kerf: answer.kerf, searches: [{ ...search, why: undefined, alike: undefined, plans: [{ ...plan, rank: 1 }] }] };
    go(`/schedule#${new URLSearchParams({ file: `${plan.layout_text}.plan.json`, text: JSON.stringify(alone) })}`);
  };
  return html`<section class="layout" tabindex="-1" ref=${box} aria-label="layout"><h2>${rank}. ${plan.layout_text}</h2>
    <p>${seconds(plan.step_time_s)} a step (90 %: ${seconds(plan.step_low_s)} to ${seconds(plan.step_high_s)},
      ${plan.comparable_runs ? ` from ${plan.comparable_runs} comparable runs` : ' nothing like this was measured'}),
      ${bytes(plan.memory_bytes)} of ${bytes(search.memory_capacity_bytes)}, out of memory with a chance of ${percent(plan.p_oom, 0)}, MFU ${percent(plan.mfu)}</p>
    <${Command} text=${estimate} />
    <div class="two"><${Parts} caption="Where the time goes" parts=${plan.time_s} words=${seconds} />
      <${Parts} caption="What fills the memory" parts=${plan.memory} words=${bytes} /></div>
    <p class="downloads"><button type="button" onClick=${follow}>show its pipeline</button></p>
    ${rank === 1 && html`<${Why} why=${search.why} />`}
    <${Launch} answer=${answer} rank=${rank} /></section>`;
}

// ---- Charts over the answer ----

function Front({ search }) {
  const points = [...search.plans].sort((a, b) => a.memory_bytes - b.memory_bytes);
  let least = Infinity;
  const front = points.map((plan) => {
    const better = plan.step_time_s < least;
    least = Math.min(least, plan.step_time_s);
    return better ? plan.step_time_s : null;
  });
  const xs = points.map((plan, i) => plan.memory_bytes + i * 1e-3); // rising
  return html`<section><h2>Time against memory</h2><${Chart} label="time against memory, with the front of the best" xs=${xs} xLabel="memory of the fullest accelerator" yLabel="step" xWords=${bytes} yWords=${seconds}
    series=${[{ label: 'layouts', values: points.map((plan) => plan.step_time_s), points: true }, { label: 'front', values: front }]} /></section>`;
}

function Scaling({ searches }) {
  if (searches.length < 2) return null;
  const rows = searches.filter((search) => search.plans.length).sort((a, b) => a.gpus - b.gpus);
  return html`<section><h2>Scaling</h2><${Chart} label="tokens a second over accelerators" xs=${rows.map((search) => search.gpus)} xLabel="accelerators" yLabel="tokens/s" logX=${true}
    yWords=${(v) => plain(Math.round(v))} series=${[
      { label: 'best layout', values: rows.map((search) => search.plans[0].tokens_per_s_per_device * search.gpus) },
      { label: 'linear', values: rows.map((search) => rows[0].plans[0].tokens_per_s_per_device * search.gpus) }]} /></section>`;
}

function Map2({ search, onPick, query }) {
  const used = dimensions.filter((name) => new Set(search.plans.map((plan) => plan.layout[name])).size > 1);
  const x = used.includes(query.get('x')) ? query.get('x') : used[0];
  const y = used.includes(query.get('y')) ? query.get('y') : used[1];
  if (used.length < 2) return null;
  const values = (name) => [...new Set(search.plans.map((plan) => plan.layout[name]))].sort((a, b) => (typeof a === 'number' ? a - b : a < b ? -1 : 1));
  const cells = new Map();
  for (const plan of search.plans) {
    const key = `${plan.layout[x]} ${plan.layout[y]}`;
    if (!cells.has(key) || cells.get(key).value > plan.step_time_s) cells.set(key, { value: plan.step_time_s, text: plan.layout_text, plan });
  }
  return html`<section><h2>Over two dimensions</h2><div class="knobs">
      <${Choice} label="across" id="x" value=${x} options=${used} onValue=${(v) => setQuery({ x: v })} />
      <${Choice} label="down" id="y" value=${y} options=${used} onValue=${(v) => setQuery({ y: v })} /></div>
    <${HeatMap} caption="The least time of a step among the layouts above" xName=${x} yName=${y} xs=${values(x)} ys=${values(y)} cells=${cells} words=${seconds} onPick=${(cell) => onPick(cell.plan)} /></section>`;
}

const columns = [
  { name: 'rank', of: (plan) => plan.rank, right: true },
  { name: 'layout', of: (plan) => plan.layout_text },
  { name: 'step', of: (plan) => plan.step_time_s, show: (plan) => seconds(plan.step_time_s), right: true },
  { name: '90 %', of: (plan) => plan.step_high_s, show: (plan) => `${seconds(plan.step_low_s)} to ${seconds(plan.step_high_s)}`, right: true },
  { name: 'memory', of: (plan) => plan.memory_bytes, show: (plan) => bytes(plan.memory_bytes), right: true },
  { name: 'out of memory', of: (plan) => plan.p_oom, show: (plan) => percent(plan.p_oom, 0), right: true },
  { name: 'MFU', of: (plan) => plan.mfu, show: (plan) => percent(plan.mfu), right: true },
];

function Answer({ answer, request, query, configName, isFile }) {
  const searches = answer.searches;
  const search = searches.find((one) => String(one.gpus) === query.get('gpus')) || searches.at(-1);
  const picked = search.plans.find((plan) => plan.layout_text === query.get('layout'));
  const pick = (plan) => setQuery({ layout: plan.layout_text });
  const { answer: picture } = useAnswer((signal) => (isFile ? null : ask('plan', request, { format: 'svg', signal })), [answer]);
  const shape = Object.entries(search.dimensions || {}).map(([key, value]) => `${key.replaceAll('_', ' ')} ${plain(value)}`).join(', ');
  const understood = [...(search.ignored || []).map((key) => `ignored ${key}`), ...Object.entries(search.assumed || {}).map(([key, value]) => `assumed ${key} ${value}`)];
  if (!search.plans.length) return html`<${Empty}>No layout fits.<//>`;
  return html`<p class="summary">${plain(search.candidates)} layouts, ${plain(search.feasible)} fit; ${search.proved ? 'the best is proved' : 'the search was ended before its proof'}.
      ${shape && html`<br /><small>Understood: ${shape}, ${plain(search.seq_length)} tokens a sample, ${search.precision}.</small>`}
      ${understood.length > 0 && html`<br /><small>${understood.join('; ')}</small>`}
      ${search.alike && html`<br /><small>The best ${search.alike.ranks} are within error of each other: to decide, run layouts 1 and ${search.alike.measure} for ${search.alike.steps} steps.</small>`}</p>
    <${Table} caption="The best layouts" columns=${columns} rows=${search.plans} keyOf=${(plan) => plan.layout_text} picked=${picked?.layout_text} onPick=${pick} />
    ${picked && html`<${Layout} search=${search} plan=${picked} answer=${{ ...answer, searches: [search] }} request=${request} configName=${configName} />`}
    <${Front} search=${search} />
    <${Scaling} searches=${searches} />
    <${Map2} search=${search} query=${query} onPick=${pick} />
    ${picture && html`<section><h2>Picture</h2><${Picture} svg=${picture} label="where the time of the best layouts goes, and their memory" /></section>`}
    <p class="downloads">
      <button type="button" onClick=${() => save('plan.json', JSON.stringify(answer))}>download JSON</button>
      <button type="button" onClick=${() => save('plan.csv', csvOf(search), 'text/csv')}>download CSV</button>
      <button type="button" disabled=${!picture} onClick=${() => save('plan.svg', picture, 'image/svg+xml')}>download SVG</button></p>`;
}

function csvOf(search) {
  const keys = ['rank', 'step_time_s', 'step_low_s', 'step_high_s', 'memory_bytes', 'p_oom', 'mfu', 'layout_text'];
  const word = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  return [keys, ...search.plans.map((plan) => keys.map((key) => word(plan[key])))].map((row) => row.join(',')).join('\n') + '\n';
}

// ---- The view ----

export function Plan() {
  const { query, hash } = useAddress();
  const names = useAnswer(() => catalogue(), []);
  const [state, set] = useState({});
  const over = useRef(null);
  const value = (key) => query.get(key) ?? first[key] ?? '';
  const configName = hash.get('config-name') || 'config.json';
  const put = (key) => (v) => setQuery({ [key]: v || null, layout: null });

  const search = async () => {
    over.current?.abort();
    const mine = (over.current = new AbortController());
    const now = readAddress();
    let request;
    try {
      request = requestOf(now.query, now.hash);
      set({ search: { done: 0 } });
      const answer = await askLong('plan', request, {
        signal: mine.signal,
        begun: (number) => set({ search: { done: 0, number } }),
        told: (done) => set((before) => ({ search: { ...before.search, done } })),
      });
      set({ answer, request });
      setQuery({ search: '1' });
    } catch (error) {
      if (!mine.signal.aborted) set({ error });
    }
  };
  useEffect(() => {
    if (query.get('search')) search(); // an address that was shared, or a reload
    return () => over.current?.abort();
  }, []);

  const open = (name, text) => {
    try {
      const config = JSON.parse(text);
      if (config.searches) {
        const { model, system, gpus, global_batch, seq_length } = config.searches[0] || {};
        set({ answer: config, request: { model, system, gpus, global_batch, seq_length }, file: name });
        return;
      }
      setHash({ config: JSON.stringify(config), 'config-name': name });
      set({});
    } catch (error) {
      set({ error: new Error(`${name}: invalid JSON: ${error.message}`) });
    }
  };

  useOpened(open);

  const held = hash.get('config');
  const request = state.request || (() => {
    try {
      return requestOf(query, hash);
    } catch {
      return first;
    }
  })();
  return html`
    <form class="knobs" onSubmit=${(event) => { event.preventDefault(); search(); }}>
      ${held ? html`<div class="field"><span class="name">model</span><p class="held">${configName} <button type="button" onClick=${() => setHash({ config: null, 'config-name': null })}>close</button></p></div>`
        : html`<${Choice} label="model" value=${value('model')} options=${names.answer?.models || []} onValue=${put('model')} />`}
      <${Choice} label="system" value=${value('system')} options=${names.answer?.systems || []} onValue=${put('system')} />
      <${NumberField} label="accelerators" id="gpus" value=${value('gpus')} onValue=${put('gpus')} />
      <${NumberField} label="global batch" id="global_batch" value=${value('global_batch')} onValue=${put('global_batch')} />
      <${TextField} label="sequence length" id="seq_length" value=${value('seq_length')} placeholder="the model's" onValue=${put('seq_length')} />
      <${Choice} label="precision" value=${value('precision')} options=${[{ value: '', label: 'bf16' }, 'fp16', 'fp8']} onValue=${put('precision')} />
      <${Choice} label="stack" value=${value('stack')} options=${[{ value: '', label: 'default' }, ...(names.answer?.stacks || [])]} onValue=${put('stack')} />
      <${Choice} label="for framework" id="for" value=${value('for')} options=${[{ value: '', label: 'any' }, ...frameworks]} onValue=${put('for')} />
      <${TextField} label="scaling over" id="sizes" value=${value('sizes')} placeholder="64,128,256" onValue=${put('sizes')} />
      <${FileField} label="open a file" accept=".json" onFile=${open} />
      <details class="limits" open=${limits.some((key) => query.get(key))}><summary>Limits</summary><div class="knobs">
        ${limits.map((key) => html`<${TextField} label=${key.replace('_', '-')} id=${key} value=${value(key)} placeholder="any" onValue=${put(key)} />`)}
        <${NumberField} label="layouts kept" id="top" value=${value('top')} max="1000" onValue=${put('top')} />
        <div class="field check"><input type="checkbox" id="safe" checked=${!!query.get('safe')} onChange=${(event) => setQuery({ safe: event.target.checked ? '1' : null })} /><label for="safe">at most 5 % out of memory</label></div>
        <div class="field check"><input type="checkbox" id="why" checked=${!!query.get('why')} onChange=${(event) => setQuery({ why: event.target.checked ? '1' : null })} /><label for="why">say why</label></div>
      </div></details>
      <button type="submit" class="main">search</button>
    </form>
    <${Alert} error=${state.error || names.error} />
    ${state.search && html`<p class="progress"><progress max="1" value=${state.search.done} aria-label="search"></progress>
      ${state.search.number && html`<button type="button" onClick=${() => stopAsk(state.search.number)}>stop</button>`}</p>`}
    ${state.answer ? html`<${Answer} answer=${state.answer} request=${request} query=${query} configName=${configName} isFile=${!!state.file} />`
      : !state.search && !state.error && html`<${Empty}>Choose a model and a machine, then <button type="button" onClick=${search}>search the best layouts</button>. A dropped config.json stands for a model.<//>`}
    <${Command} text=${state.file ? `kerf open ${quoted(state.file)}` : commandOf(request, configName)} />`;
}
