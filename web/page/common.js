/* SPDX-License-Identifier: Apache-2.0 */
/* What all views share: the address as state, questions to the server, events, numbers, small parts of the page. */
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import htm from 'htm';

export const html = htm.bind(h);

// ---- The address: everything that a view shows is in it ----

const listeners = new Set();
let lastKey = '';
let lastTime = 0;

export function readAddress() {
  return { path: location.pathname, query: new URLSearchParams(location.search), hash: new URLSearchParams(location.hash.slice(1)) };
}

function changed() {
  for (const listener of listeners) listener();
}
addEventListener('popstate', changed);

export function go(url) {
  history.pushState(null, '', url);
  lastKey = '';
  changed();
}

/* Sets names of the query; null takes one away. What changes one thing again at once (typing, dragging) is one step back. */
export function setQuery(patch) {
  const { path, query } = readAddress();
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === '' || value === undefined) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  const key = Object.keys(patch).join();
  const now = Date.now();
  const replaces = key === lastKey && now - lastTime < 1000;
  lastKey = key;
  lastTime = now;
  history[replaces ? 'replaceState' : 'pushState'](null, '', path + (text ? `?${text}` : '') + location.hash);
  changed();
}

/* What never goes to the server: files and texts. */
export function setHash(patch) {
  const { path, hash } = readAddress();
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) hash.delete(name);
    else hash.set(name, value);
  }
  const text = hash.toString();
  history.replaceState(null, '', path + location.search + (text ? `#${text}` : ''));
  changed();
}

export function useAddress() {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return readAddress();
}

// ---- Questions ----

export class Wrong extends Error {
  constructor(detail, place = {}) {
    super(detail);
    this.place = place; // file, line, column
  }
}

async function refuse(response) {
  let body = {};
  try {
    body = await response.json();
  } catch { /* no JSON */ }
  throw new Wrong(body.detail || body.message || `The server answers ${response.status}`, body);
}

export async function get(path, signal) {
  const response = await fetch(path, { signal });
  if (!response.ok) await refuse(response);
  return response.json();
}

/* The answer of a verb: an object, or a text for formats other than json and html. */
export async function ask(verb, request, { format = 'json', signal } = {}) {
  const response = await fetch(`/api/v1/${verb}${format === 'json' ? '' : `?format=${format}`}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request), signal,
  });
  if (!response.ok) await refuse(response);
  return format === 'json' || format === 'html' ? response.json() : response.text();
}

/* The same as a stream: told(share) while it is computed, begun(number) so that it can be stopped. */
export async function askLong(verb, request, { format = 'json', signal, begun, told }) {
  const response = await fetch(`/api/v1/${verb}${format === 'json' ? '' : `?format=${format}`}`, {
    method: 'POST', signal, body: JSON.stringify(request),
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
  });
  if (!response.ok) await refuse(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Wrong('The connection ended before the answer');
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const text of events) {
      const [, name, data] = /^event: (\w+)\ndata: ([^]*)$/.exec(text) || [];
      if (name === 'answer') return JSON.parse(data);
      if (name === 'error') {
        const body = JSON.parse(data);
        throw new Wrong(body.detail, body);
      }
      if (name === 'begun') begun?.(JSON.parse(data).ask);
      if (name === 'progress') told?.(JSON.parse(data).done);
    }
  }
}

export const stopAsk = (number) => fetch(`/api/v1/asks/${number}/stop`, { method: 'POST' });

let names;
export const catalogue = () => (names ||= get('/api/v1/names').catch((error) => {
  names = null;
  throw error;
}));

/* The file that kerf open was given, where the address says opened=1; take(name, text, kind) is told of it once. */
export function useOpened(take) {
  useEffect(() => {
    if (!readAddress().query.get('opened')) return;
    get('/api/v1/opened').then(({ name, kind, text }) => {
      setQuery({ opened: null });
      take(name, text, kind);
    }, () => setQuery({ opened: null }));
  }, []);
}

/* The newest answer of what `make` asks; the one before stays until the next is there. Keys say when to ask again. */
export function useAnswer(make, keys) {
  const [state, set] = useState({});
  useEffect(() => {
    const over = new AbortController();
    set((before) => ({ ...before, waits: true }));
    Promise.resolve(make(over.signal)).then(
      (answer) => over.signal.aborted || set({ answer }),
      (error) => over.signal.aborted || set((before) => ({ answer: before.answer, error })),
    );
    return () => over.abort();
  }, keys);
  return state;
}

// ---- Events ----

const live = { version: { jobs: 0, studies: 0 }, isLost: false, listeners: new Set() };

function listenToServer() {
  const source = new EventSource('/api/v1/events');
  const tell = () => live.listeners.forEach((listener) => listener());
  source.addEventListener('hello', () => {
    if (live.isLost) for (const name of ['jobs', 'studies']) live.version[name]++;
    live.isLost = false;
    tell();
  });
  for (const name of ['jobs', 'studies']) {
    source.addEventListener(name, () => {
      live.version[name]++;
      tell();
    });
  }
  source.onerror = () => {
    source.close();
    live.isLost = true;
    tell();
    setTimeout(listenToServer, 1000);
  };
}
listenToServer();

export function useLive() {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((n) => n + 1);
    live.listeners.add(listener);
    return () => live.listeners.delete(listener);
  }, []);
  return live;
}

// ---- Numbers, in the words of the command line ----

function scaled(value, units) {
  const [factor, unit] = units.find(([size]) => Math.abs(value) >= size * 0.9995) || units.at(-1);
  const v = value / factor;
  const text = v.toFixed(Math.abs(v) >= 99.95 || v === 0 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2);
  return `${text} ${unit}`;
}
export const seconds = (value) => (value === null || value === undefined || !isFinite(value) ? '–' : value === 0 ? '0 s' : value >= 7200 ? `${(value / 3600).toFixed(1)} h`
  : scaled(value, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']]));
export const bytes = (value) => (value === null || value === undefined ? '–' : scaled(value, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']]));
export const joules = (value) => (value === null || value === undefined ? '–' : scaled(value, [[1e9, 'GJ'], [1e6, 'MJ'], [1e3, 'kJ'], [1, 'J']]));
export const percent = (share, digits = 1) => (share === null || share === undefined || !isFinite(share) ? '–' : `${(100 * share).toFixed(digits)} %`);
export const plain = (value) => (typeof value === 'number' ? String(+value.toPrecision(6)) : value ?? '–');

// ---- Parts of the page ----

export function Alert({ error }) {
  if (!error) return null;
  const { file, line, column } = error.place || {};
  const place = file ? `${file}${line ? `:${line}${column ? `:${column}` : ''}` : ''}: ` : '';
  return html`<p role="alert" class="alert">${place}${error.message}</p>`;
}

export function Field({ label, children, id, hint }) {
  return html`<div class="field"><label for=${id}>${label}</label>${children}${hint && html`<small>${hint}</small>`}</div>`;
}

export function NumberField({ label, value, onValue, min = 1, max, step = 1, id = label.replace(/\W/g, '-') }) {
  return html`<${Field} label=${label} id=${id}>
    <input id=${id} type="number" min=${min} max=${max} step=${step} value=${value} inputmode="numeric"
      onInput=${(event) => onValue(event.target.value)} /><//>`;
}

export function TextField({ label, value, onValue, placeholder, hint, id = label.replace(/\W/g, '-') }) {
  return html`<${Field} label=${label} id=${id} hint=${hint}>
    <input id=${id} type="text" value=${value} placeholder=${placeholder} autocomplete="off" spellcheck=${false}
      onInput=${(event) => onValue(event.target.value)} /><//>`;
}

export function Choice({ label, value, onValue, options, id = label.replace(/\W/g, '-') }) {
  const known = options.some((option) => (option.value ?? option) === value);
  return html`<${Field} label=${label} id=${id}>
    <select id=${id} value=${value} onChange=${(event) => onValue(event.target.value)}>
      ${!known && html`<option value=${value}>${value || '…'}</option>`}
      ${options.map((option) => html`<option value=${option.value ?? option}>${option.label ?? option}</option>`)}
    </select><//>`;
}

/* Files that were chosen or dropped anywhere on the page. */
export function FileField({ label, accept, onFile, onFiles, id = 'file' }) {
  const take = useRef();
  take.current = { onFile, onFiles };
  const text = async (file) => {
    if (!file.name.endsWith('.gz')) return file.text();
    return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text();
  };
  const read = async (files) => {
    if (files.length > 1 && take.current.onFiles) {
      take.current.onFiles(await Promise.all([...files].map(async (file) => [file.name.replace(/\.gz$/, ''), await text(file)])));
    } else if (files.length) take.current.onFile(files[0].name.replace(/\.gz$/, ''), await text(files[0]));
  };
  useEffect(() => {
    const over = (event) => event.preventDefault();
    const drop = (event) => {
      event.preventDefault();
      read(event.dataTransfer.files);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
  return html`<${Field} label=${label} id=${id}>
    <input id=${id} type="file" accept=${accept} multiple=${!!onFiles} onChange=${(event) => read(event.target.files).then(() => { event.target.value = ''; })} /><//>`;
}

export function save(name, content, type = 'application/json') {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* Puts a word into a shell's line as itself. */
export const quoted = (word) => (/^[\w./:,=%+@-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`);

export function Command({ text }) {
  const [copied, set] = useState(false);
  useEffect(() => set(false), [text]);
  const copy = () => navigator.clipboard?.writeText(text).then(() => set(true), () => {});
  return html`<p class="command"><code>${text}</code>
    <button type="button" onClick=${copy} aria-label="copy the command">${copied ? 'copied' : 'copy'}</button></p>`;
}

export function Empty({ children }) {
  return html`<div class="empty">${children}</div>`;
}

/* A picture that the server drew. */
export function Picture({ svg, label }) {
  const [url, set] = useState(null);
  useEffect(() => {
    if (!svg) return undefined;
    const made = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    set(made);
    return () => URL.revokeObjectURL(made);
  }, [svg]);
  return url && html`<img class="drawing" src=${url} alt=${label} />`;
}

/* A table whose columns sort: columns are {name, of(row), show(row), right}. */
export function Table({ columns, rows, onPick, picked, caption, keyOf }) {
  const [by, set] = useState({ column: -1, down: false });
  const sorted = by.column < 0 ? rows : [...rows].sort((a, b) => {
    const [x, y] = [columns[by.column].of(a), columns[by.column].of(b)];
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x ?? '').localeCompare(String(y ?? ''));
    return by.down ? -order : order;
  });
  const turn = (column) => set({ column, down: by.column === column && !by.down });
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table>
    ${caption && html`<caption>${caption}</caption>`}
    <thead><tr>${columns.map((column, c) => html`<th scope="col" class=${column.right ? 'right' : ''}
      aria-sort=${by.column === c ? (by.down ? 'descending' : 'ascending') : undefined}>
      <button type="button" onClick=${() => turn(c)}>${column.name}</button></th>`)}</tr></thead>
    <tbody>${sorted.map((row) => html`<tr key=${keyOf?.(row)} class=${onPick ? 'pick' : ''} aria-current=${picked && picked === keyOf?.(row) ? 'true' : undefined}
      onClick=${onPick && (() => onPick(row))}>${columns.map((column, c) => {
        const text = column.show ? column.show(row) : plain(column.of(row));
        return html`<td class=${column.right ? 'right' : ''}>${onPick && c === 0
          ? html`<button type="button" class="link" onClick=${(event) => { event.stopPropagation(); onPick(row); }}>${text}</button>` : text}</td>`;
      })}</tr>`)}</tbody></table></div>`;
}
