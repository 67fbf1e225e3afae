/* SPDX-License-Identifier: Apache-2.0 */
/* The view of schedules: the knobs are in the address, and the server draws what they ask for. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { timeline } from '../timeline.js';
import {
  Alert, ask, askLong, catalogue, Choice, Command, Empty, FileField, html, NumberField, percent, plain, quoted, save, seconds,
  setHash, setQuery, stopAsk, TextField, useAddress, useAnswer, useOpened,
} from './common.js';

const first = { schedule: '1f1b', devices: '4', microbatches: '8' };
const times = [['forward', 'forward', '1'], ['backward_input', 'backward of the input', '1'], ['backward_weight', 'backward of the weights', '1']];
const options = ['chunks', 'slices', 'attention', 'group', 'p2p', 'memory_cap', 'jitter', 'placement', 'search_time'];

/* "1,1.2,5ms" is a time for each stage. What is no time is no number in JSON, and the server says which it is. */
const perSecond = { '': 1, s: 1, ms: 1e3, us: 1e6, µs: 1e6, ns: 1e9 };
const listed = (text) => text.split(',').map((word) => {
  const [, digits, unit] = /^\s*([\d.]+(?:e[-+]?\d+)?)(\D*?)\s*$/i.exec(word) || [];
  return digits / perSecond[unit];
});

/* Its files as [name, text]; null: none, or an address that somebody has bent. */
function droppedTrace(hash) {
  try {
    const files = JSON.parse(hash.get('trace'));
    return Array.isArray(files) && files.every((file) => Array.isArray(file) && file.length === 2) ? files : null;
  } catch {
    return null;
  }
}

/* What is asked: the address as a request of POST /api/v1/schedule. */
export function requestOf(query, hash) {
  const file = hash.get('file');
  const name = file || query.get('schedule') || first.schedule;
  const other = query.get('compare');
  const isPlan = file?.endsWith('.plan.json');
  const request = { no_ops: true };
  if (file) request.files = { [file]: hash.get('text') || '' };
  if (isPlan) {
    request.plan = file;
    if (other) request.compare = other;
    return request;
  }
  const trace = query.get('trace'); // the one that kerf open was given, or files that were dropped
  const dropped = droppedTrace(hash);
  if (dropped) request.files = Object.fromEntries(dropped.map(([name, text]) => [`${trace}/${name}`, text]));
  if (trace) request.trace = dropped ? trace : '-';
  const own = [trace && !file ? query.get('schedule') : name, other].filter(Boolean);
  if (own.length) request.schedule = other ? own : own[0];
  for (const key of ['devices', 'microbatches']) {
    const value = query.get(key) || (trace || (file && !other) ? null : first[key]);
    if (value) request[key] = key === 'devices' ? Number(value) : value;
  }
  for (const key of options) {
    const value = query.get(key);
    if (value) request[key] = /^\d+$/.test(value) && !['memory_cap', 'attention'].includes(key) ? Number(value) : value;
  }
  const byStage = {};
  for (const [key] of times) {
    const value = query.get(key);
    if (value?.includes(',')) byStage[key] = listed(value);
    else if (value) request[key] = value;
  }
  if (Object.keys(byStage).length) {
    request.times = 'times.json';
    request.files = { ...request.files, 'times.json': JSON.stringify(byStage) };
  }
  return request;
}

/* The same for a shell. Times by stage come from standard input; files that were dropped have their names. */
function commandOf(request, trace) {
  const byStage = request.times && request.files[request.times];
  const words = byStage ? ['echo', quoted(byStage), '|', 'kerf', 'schedule'] : ['kerf', 'schedule'];
  if (Array.isArray(request.schedule)) words.push('compare', ...request.schedule.map(quoted));
  else if (request.schedule) words.push(quoted(request.schedule));
  for (const [key, value] of Object.entries(request)) {
    if (['schedule', 'files', 'no_ops', 'trace'].includes(key)) continue;
    words.push(`--${key.replaceAll('_', '-')}`, key === 'times' ? '-' : quoted(value));
  }
  if (request.trace) words.push('--trace', quoted(trace));
  return words.join(' ');
}

/* A dropped file: its form is told by its content; a plan keeps the layout that is shown alone. */
function fileOf(name, text) {
  if (!/^[[{]/.test(text.trimStart())) return { name, text };
  let json;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`${name}: invalid JSON: ${error.message}`);
  }
  if (json.searches || json.plans || json.pipeline) return { name: name.replace(/(\.plan)?\.json$/, '') + '.plan.json', text };
  throw new Error(`${name}: neither a schedule nor a plan; kerf plan --format json writes plans`);
}

// ---- The picture ----

function Drawing({ part, onStretch }) {
  const box = useRef();
  const stretch = useRef(onStretch);
  stretch.current = onStretch;
  useEffect(() => {
    if (!part) return undefined;
    box.current.innerHTML = part;
    const data = box.current.querySelector('.data');
    if (!data) return undefined;
    const shown = timeline(box.current, JSON.parse(data.textContent), { onStretch: (held) => stretch.current(held) });
    return () => shown.stop();
  }, [part]);
  return html`<div class="timeline" ref=${box}></div>`;
}

function Figures({ answer }) {
  const rows = [...(answer.schedules || [answer, ...(answer.compared || [])]), ...(answer.refused || [])];
  const gap = (row) => (row.step_lower_bound_s > 0 ? row.step_s / row.step_lower_bound_s - 1 : NaN);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="figures"><table class="figures"><thead><tr><th scope="col">schedule</th>
    ${['makespan', 'idle of makespan', 'idle of span', 'idle over ideal', 'lower bound', 'above the bound', 'peak of activations'].map((name) => html`
      <th scope="col" class="right">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => (row.why ? html`<tr><th scope="row">${row.schedule}</th><td colspan="7">${row.why}</td></tr>` : html`<tr>
      <th scope="row">${row.schedule}</th>
      <td class="right">${seconds(row.makespan_s)}</td><td class="right">${percent(row.bubble?.of_makespan)}</td>
      <td class="right">${percent(row.bubble?.of_span)}</td><td class="right">${percent(row.bubble?.of_ideal)}</td>
      <td class="right">${seconds(row.step_lower_bound_s)}</td><td class="right">${row.within_cap === false ? 'over its cap' : gap(row) < 1e-9 ? 'proved best' : percent(gap(row))}</td>
      <td class="right">${row.peak_activations ? plain(Math.max(...row.peak_activations)) : '–'}</td></tr>`))}</tbody></table></div>`;
}

// ---- The text form ----

function Editor({ request, hash, error }) {
  const shown = hash.get('file')?.endsWith('.txt') ? hash.get('text') : null;
  const [text, set] = useState(shown);
  const [failure, fail] = useState(null);
  const area = useRef();
  useEffect(() => {
    if (shown !== null && shown !== text) set(shown);
  }, [shown]);
  const begin = async () => {
    if (text !== null) return;
    const { files, schedule, ...rest } = request;
    const written = await ask('schedule', { ...rest, files, schedule: Array.isArray(schedule) ? schedule[0] : schedule }, { format: 'text' });
    set(written);
  };
  const edit = (value) => {
    set(value);
    setHash({ file: 'edited.txt', text: value });
  };
  const place = error?.place?.file === 'edited.txt' ? error.place : null;
  const jump = () => {
    const lines = text.split('\n');
    const from = lines.slice(0, place.line - 1).join('\n').length + (place.line > 1 ? 1 : 0);
    area.current.focus();
    area.current.setSelectionRange(from, from + lines[place.line - 1].length);
  };
  return html`<details class="editor" open=${shown !== null} onToggle=${(event) => event.target.open && begin().then(() => fail(null), fail)}>
    <summary>Edit as text</summary><${Alert} error=${failure} />
    <textarea ref=${area} aria-label="text form" rows="14" spellcheck=${false} value=${text ?? ''} onInput=${(event) => edit(event.target.value)}
      aria-invalid=${place ? 'true' : undefined}></textarea>
    ${place?.line && html`<button type="button" onClick=${jump}>go to line ${place.line}</button>`}
    ${shown !== null && html`<button type="button" onClick=${() => { set(null); setHash({ file: null, text: null }); }}>back to the rule</button>`}
  </details>`;
}

// ---- The view ----

/* Answers while one drags: one question at a time, the newest next. */
function useDrawing(request) {
  const [state, set] = useState({});
  const wanted = useRef(null);
  const runs = useRef(false);
  const key = JSON.stringify(request);
  useEffect(() => {
    const searches = [request.schedule, request.compare].flat().some((name) => name === 'best');
    const over = new AbortController();
    wanted.current = searches ? null : { request, key };
    if (searches) {
      set((before) => ({ ...before, error: null, search: { done: 0 } }));
      askLong('schedule', request, {
        format: 'html', signal: over.signal,
        begun: (number) => set((before) => ({ ...before, search: { done: 0, number } })),
        told: (done) => set((before) => ({ ...before, search: { ...before.search, done } })),
      }).then((answer) => set({ answer, key }), (error) => over.signal.aborted || set((before) => ({ ...before, error, search: null })));
      return () => over.abort();
    }
    const run = async () => {
      runs.current = true;
      while (wanted.current) {
        const now = wanted.current;
        wanted.current = null;
        try {
          const answer = await ask('schedule', now.request, { format: 'html' });
          set({ answer, key: now.key });
        } catch (error) {
          set((before) => ({ ...before, error, search: null }));
        }
      }
      runs.current = false;
    };
    if (!runs.current) run();
    return undefined;
  }, [key]);
  return state;
}

export function Schedule() {
  const { query, hash } = useAddress();
  const names = useAnswer(() => catalogue(), []);
  const request = requestOf(query, hash);
  const { answer, error, search } = useDrawing(request);
  const [wrong, setWrong] = useState(null);
  const value = (key) => query.get(key) ?? first[key] ?? '';
  const rules = names.answer?.schedules || [];
  const rule = rules.find(({ name }) => name === value('schedule'));
  const choices = rules.map(({ name }) => name);
  const file = hash.get('file');
  const trace = query.get('trace');
  const isPlan = file?.endsWith('.plan.json');
  const has = (key) => (file || trace ? query.get(key) || '' : value(key)); // files and traces have sizes of their own
  const name = file || value('schedule');

  const open = (fileName, text, kind) => {
    if (kind === 'trace') {
      setQuery({ trace: fileName, schedule: null, devices: null, microbatches: null });
      return;
    }
    try {
      const { name: kept, text: content } = fileOf(fileName, text);
      setWrong(null);
      setQuery({ devices: null, microbatches: null, chunks: null });
      setHash({ file: kept, text: content });
    } catch (thrown) {
      setWrong(thrown);
    }
  };

  useOpened(open);
  const openTrace = (files) => {
    setWrong(null);
    setHash({ file: null, text: null, trace: JSON.stringify(files) });
    setQuery({ trace: 'trace', schedule: null, devices: null, microbatches: null });
  };
  const openOne = (fileName, text) => {
    const isTrace = /^\s*[[{]/.test(text) && /"traceEvents"|"forward-\d|"iteration"|"ph"\s*:/.test(text);
    if (isTrace) openTrace([[fileName, text]]);
    else open(fileName, text);
  };

  /* The end of a bar was taken hold of: the time of its pass follows the pointer, of its stage alone with shift. */
  const stretch = ({ part, stage, seconds: took, perPixel, x }) => {
    const [key] = /weights/.test(part) ? times[2] : /forward/.test(part) ? times[0] : times[1];
    const both = /backward$/.test(part);
    const move = (event) => {
      const now = Math.max(0.001, took + (event.clientX - x) * perPixel);
      const text = String(+now.toPrecision(3));
      if (event.shiftKey && answer?.answer.stages) {
        const before = (query.get(key) || '1').split(',');
        const list = Array.from({ length: answer.answer.stages }, (_, s) => before[before.length > 1 ? s : 0] ?? '1');
        list[stage] = both ? String(+(now / 2).toPrecision(3)) : text;
        setQuery({ [key]: list.join(',') });
      } else if (both) {
        const half = String(+(now / 2).toPrecision(3));
        setQuery({ backward_input: half, backward_weight: half });
      } else setQuery({ [key]: text });
    };
    const end = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', end);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
  };

  const download = async (format, ending, type) => {
    try {
      const { schedule, ...rest } = request;
      const whole = format === 'json' ? { ...request, no_ops: false } : { ...rest, schedule: ['text', 'csv'].includes(format) && Array.isArray(schedule) ? schedule[0] : schedule };
      const got = await ask('schedule', whole, { format });
      save(`${name.replace(/\..*$/, '')}.${ending}`, typeof got === 'string' ? got : JSON.stringify(got), type);
    } catch (thrown) {
      setWrong(thrown);
    }
  };

  return html`
    <form class="knobs" onSubmit=${(event) => event.preventDefault()}>
      ${trace && html`<div class="field"><span class="name">trace</span><p class="held">${trace}
          <button type="button" onClick=${() => { setHash({ trace: null }); setQuery({ trace: null }); }}>close</button></p></div>`}
      ${file ? html`<div class="field"><span class="name">${isPlan ? 'plan' : 'schedule'}</span><p class="held">${file}
          <button type="button" onClick=${() => setHash({ file: null, text: null })}>close</button></p></div>`
        : html`<${Choice} label="schedule" value=${trace ? query.get('schedule') || '' : value('schedule')}
          options=${trace ? [{ value: '', label: 'as measured' }, ...choices] : choices} onValue=${(v) => setQuery({ schedule: v || null })} />`}
      ${!isPlan && html`
      <${NumberField} label="devices" value=${has('devices')} max="4096" onValue=${(v) => setQuery({ devices: v })} />
      <${NumberField} label="micro-batches" value=${has('microbatches')} max="1048576" onValue=${(v) => setQuery({ microbatches: v })} />
      ${rule?.takes_chunks && html`<${NumberField} label="chunks" value=${value('chunks')} onValue=${(v) => setQuery({ chunks: v })} />`}
      ${rule?.takes_slices && html`<${NumberField} label="slices" value=${value('slices')} onValue=${(v) => setQuery({ slices: v })} />
        <${TextField} label="attention" id="attention" value=${value('attention')} placeholder="0%" onValue=${(v) => setQuery({ attention: v })} />`}
      ${times.map(([key, label, usual]) => html`<${TextField} label=${label} id=${key} value=${value(key)} placeholder=${trace ? 'measured' : usual} onValue=${(v) => setQuery({ [key]: v })} />`)}
      <${TextField} label="latency" id="p2p" value=${value('p2p')} placeholder=${trace ? 'measured' : '0'} onValue=${(v) => setQuery({ p2p: v })} />
      <${TextField} label="memory cap" id="memory_cap" value=${value('memory_cap')} placeholder="none" onValue=${(v) => setQuery({ memory_cap: v })} />`}
      <${Choice} label="compare with" id="compare" value=${value('compare')} onValue=${(v) => setQuery({ compare: v || null })}
        options=${[{ value: '', label: 'nothing' }, ...choices]} />
      ${[value('schedule'), value('compare')].includes('best') && html`<${TextField} label="search time" id="search_time" value=${value('search_time')} placeholder="1s" onValue=${(v) => setQuery({ search_time: v })} />`}
      <${FileField} label="open a file" accept=".csv,.txt,.json,.gz,.sched" onFile=${openOne} onFiles=${openTrace} />
    </form>
    <p class="hint">Times are seconds or such as 5ms; a list between commas gives each stage its own. Drag the end of an operation to change its time, with
      shift of its stage alone.</p>
    <${Alert} error=${wrong || error} />
    ${search && html`<p class="progress"><progress max="1" value=${search.done} aria-label="search"></progress>
      ${search.number && html`<button type="button" onClick=${() => stopAsk(search.number)}>stop</button>`}</p>`}
    ${answer ? html`<${Figures} answer=${answer.answer} />
      <${Drawing} part=${answer.html} onStretch=${stretch} />` : !error && html`<${Empty}>Drawing …<//>`}
    ${answer && !answer.answer.schedules && html`<${Editor} request=${request} hash=${hash} error=${error} />`}
    <${Command} text=${commandOf(request, trace)} />
    <p class="downloads">
      <button type="button" onClick=${() => download('json', 'json', 'application/json')}>download JSON</button>
      <button type="button" onClick=${() => download('csv', 'csv', 'text/csv')}>download CSV</button>
      <button type="button" onClick=${() => download('text', 'txt', 'text/plain')}>download text</button>
      <button type="button" onClick=${() => download('svg', 'svg', 'image/svg+xml')}>download SVG</button></p>`;
}
