/* SPDX-License-Identifier: Apache-2.0 */
/* The view of recurring jobs: what the service has learnt about each, live. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart, svgOf } from './chart.js';
import { Alert, Command, Empty, get, html, joules, percent, quoted, save, seconds, setQuery, Table, useAddress, useAnswer, useLive } from './common.js';

const path = (id) => `/api/v1/jobs/${encodeURIComponent(id)}`;

const listed = 10000, shown = 500; // rows of a list, and of its table
const curves = 9;                  // a chart has so many colours

/* All pages of a list, up to `listed` rows. */
async function all(url, name, signal, order = 'asc') {
  const rows = [];
  for (let after = ''; ;) {
    const page = await get(`${url}?limit=1000${order === 'desc' ? '&order=desc' : ''}${after}`, signal);
    rows.push(...page[name]);
    if (page.next === null || rows.length >= listed) return rows;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

/* The newest trials, the oldest of them first. */
const newest = async (id, signal) => (await all(`${path(id)}/trials`, 'trials', signal, 'desc')).reverse();

/* What a run cost, as the service weighs energy against time: eta E + (1 - eta) P_max t (include/kerf/jobs.h). */
const costOf = (spec) => (trial) => spec.eta_knob * trial.energy_j + (1 - spec.eta_knob) * spec.max_power * trial.time_s;

/* The cost of each run that ended, by batch size; sizes beyond the colours share the last one. */
function costsOf(trials, cost) {
  const ended = trials.filter((trial) => trial.time_s !== null);
  const sizes = [...new Set(ended.map((trial) => trial.batch_size))].sort((a, b) => a - b);
  const own = sizes.length > curves ? curves - 1 : sizes.length;
  const points = (label, of) => ({ label, points: true, values: ended.map((trial) => (of.includes(trial.batch_size) ? cost(trial) : null)) });
  return { xs: ended.map((trial) => trial.trial_number), xLabel: 'trial', yLabel: 'cost', yWords: joules,
    series: [...sizes.slice(0, own).map((size) => points(`batch size ${size}`, [size])),
      ...(own < sizes.length ? [points(`${sizes.length - own} larger batch sizes`, sizes.slice(own))] : [])] };
}

function csvOf(trials) {
  const keys = ['trial_number', 'batch_size', 'type', 'status', 'converged', 'time_s', 'energy_j', 'dispatched_s', 'seen_s', 'reason'];
  const word = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : value ?? '');
  return [keys, ...trials.map((trial) => keys.map((key) => word(trial[key])))].map((row) => row.join(',')).join('\n') + '\n';
}

function Trials({ trials, job, cost }) {
  const drawn = costsOf(trials, cost);
  return html`${trials.length < job.last_trial_number && html`<p>${trials.length >= listed ? 'The job has more trials than the page reads' : 'The server has removed old trials'}: of ${job.last_trial_number} the page shows and counts ${trials.length}.</p>`}
    ${drawn.xs.length > 1 && html`<section><h3>Cost, run after run</h3><${Chart} label="the cost of each run" ...${drawn} /></section>`}
    <${Table} caption=${trials.length > shown ? `The newest ${shown} of ${trials.length} trials; the downloads have all` : 'Trials, the newest first'} rows=${[...trials].reverse().slice(0, shown)} keyOf=${(row) => row.trial_number} columns=${[
      { name: 'trial', of: (row) => row.trial_number, right: true },
      { name: 'batch size', of: (row) => row.batch_size, right: true },
      { name: 'type', of: (row) => row.type },
      { name: 'status', of: (row) => row.status, show: (row) => `${row.status}${row.converged === false ? ', not converged' : ''}${row.lease_ended ? ', lease ended' : ''}` },
      { name: 'time', of: (row) => row.time_s ?? -1, show: (row) => seconds(row.time_s), right: true },
      { name: 'energy', of: (row) => row.energy_j ?? -1, show: (row) => joules(row.energy_j), right: true },
      { name: 'why this batch size', of: (row) => row.reason }]} />`;
}

const sum = (list) => list.reduce((total, value) => total + value, 0);

/* What a size takes until a run converges: a run that does not must be followed by another. null: none has converged. */
function untilConverged(trials, of) {
  const times = trials.filter((trial) => trial.converged).length;
  return times ? sum(trials.map(of)) / times : null;
}

/* What is known of each batch size: mean and spread of the runs that converged, what it takes until one does, and what that
 * saves against the default. */
function Sizes({ trials, job, cost }) {
  const { batch_sizes: sizes, default_batch_size: usual } = job.spec;
  const ended = new Map(sizes.map((size) => [size, trials.filter((trial) => trial.time_s !== null && trial.batch_size === size)]));
  const usually = untilConverged(ended.get(usual), cost);
  const state = (size) => {
    if (job.stage === 'MAB') return job.arms.some((arm) => arm.batch_size === size) ? '' : 'left out';
    const failed = ended.get(size).some((trial) => trial.type === 'Exploration' && !trial.converged && !trial.lease_ended);
    return failed ? 'did not converge' : '';
  };
  const rows = sizes.map((size) => {
    const costs = ended.get(size).filter((trial) => trial.converged).map(cost);
    const middle = costs.length ? sum(costs) / costs.length : null;
    const half = costs.length > 1 ? 2 * Math.sqrt(sum(costs.map((value) => (value - middle) ** 2)) / (costs.length - 1) / costs.length) : null;
    const whole = untilConverged(ended.get(size), cost);
    return { size, runs: ended.get(size).length, n: costs.length, middle, half, whole, saved: whole !== null && usually !== null ? 1 - whole / usually : null, state: state(size) };
  });
  return html`<${Table} caption="Cost by batch size; until one converges, the runs before it that did not cost too" rows=${rows} keyOf=${(row) => row.size} columns=${[
    { name: 'batch size', of: (row) => row.size, show: (row) => `${row.size}${row.size === usual ? ' (default)' : ''}`, right: true },
    { name: 'runs', of: (row) => row.runs, right: true },
    { name: 'converged', of: (row) => row.n, right: true },
    { name: 'their mean cost', of: (row) => row.middle ?? Infinity, show: (row) => joules(row.middle), right: true },
    { name: 'two standard errors', of: (row) => row.half ?? -1, show: (row) => (row.half === null ? '–' : `± ${joules(row.half)}`), right: true },
    { name: 'until one converges', of: (row) => row.whole ?? Infinity, show: (row) => joules(row.whole), right: true },
    { name: 'saved against the default', of: (row) => row.saved ?? -Infinity, show: (row) => percent(row.saved), right: true },
    { name: 'state', of: (row) => row.state }]} />`;
}

/* The posteriors of the arms' mean costs. They are normal, of the cost or, of the policy kerf, of its logarithm. */
function Posteriors({ arms, isLogarithm }) {
  const ran = arms.filter((arm) => arm.num_observations > 0);
  const known = ran.filter((arm) => arm.param_precision > 0 && isFinite(arm.param_mean));
  const alike = ran.filter((arm) => arm.param_precision === 'inf').map((arm) => arm.batch_size);
  const rest = alike.length > 0 && html`<p>Not drawn: batch size ${alike.join(', ')}, of whose costs no spread is known.</p>`;
  if (!known.length) return rest;
  const drawn = [...known].sort((a, b) => b.param_mean - a.param_mean).slice(0, curves).sort((a, b) => a.batch_size - b.batch_size);
  const sd = (arm) => 1 / Math.sqrt(arm.param_precision);
  const from = Math.min(...drawn.map((arm) => -arm.param_mean - 4 * sd(arm)));
  const to = Math.max(...drawn.map((arm) => -arm.param_mean + 4 * sd(arm)));
  const [first, last] = isLogarithm ? [Math.exp(from), Math.exp(to)] : [from, to];
  const xs = Array.from({ length: 200 }, (_, i) => first + ((last - first) * i) / 199);
  const normal = (arm, x) => Math.exp(-0.5 * ((x + arm.param_mean) / sd(arm)) ** 2) / sd(arm) / Math.sqrt(2 * Math.PI);
  const density = (arm) => (x) => (isLogarithm ? normal(arm, Math.log(x)) / x : normal(arm, x));
  return html`<section><h3>What each arm is believed to cost</h3><${Chart} label="posteriors of the arms' mean costs" xs=${xs} xLabel="cost" yLabel="density" xWords=${joules} yWords=${(v) => v.toExponential(1)}
    series=${drawn.map((arm) => ({ label: `batch size ${arm.batch_size}`, values: xs.map(density(arm)) }))} />
    ${drawn.length < known.length && html`<p>Drawn are the ${curves} arms of the lowest mean cost, of ${known.length}.</p>`}${rest}</section>`;
}

/* What the runs took, against as many that converge with the default alone. */
function Saved({ trials, job }) {
  const ended = trials.filter((trial) => trial.time_s !== null);
  const times = ended.filter((trial) => trial.converged).length;
  const usual = ended.filter((trial) => trial.batch_size === job.spec.default_batch_size);
  if (!usual.some((trial) => trial.converged)) return null;
  const saved = (of) => untilConverged(usual, of) * times - sum(ended.map(of));
  const lost = trials.filter((trial) => trial.status === 'Failed').length;
  const [energy, time] = [saved((trial) => trial.energy_j), saved((trial) => trial.time_s)];
  return html`<p>Against always running the default, as its ${usual.length} runs were: energy ${energy >= 0 ? 'saved' : 'lost'} ${joules(Math.abs(energy))},
    time ${time >= 0 ? 'saved' : 'lost'} ${seconds(Math.abs(time))} over ${ended.length} runs, exploring and those that did not converge included${lost > 0 && `; ${lost} that did not report an end are not measured`}.</p>`;
}

function Remove({ id, onRemove }) {
  const dialog = useRef();
  const remove = () => {
    dialog.current.close();
    onRemove();
  };
  return html`<button type="button" onClick=${() => dialog.current.showModal()}>delete</button>
    <dialog ref=${dialog} aria-label="delete the job"><p>Delete the job <b>${id}</b> with all its trials?</p>
      <p class="downloads"><button type="button" onClick=${remove}>delete it</button> <button type="button" autofocus onClick=${() => dialog.current.close()}>keep it</button></p></dialog>`;
}

/* Deletes the job that `remove` names, whose view leaves the address then. Until the server has answered it is `gone`, and
 * nothing is asked of it: the event that tells of its end may come before that answer. */
function useRemoval() {
  const [gone, remove] = useState(null);
  const [refused, refuse] = useState({});
  useEffect(() => {
    if (gone === null) return;
    fetch(`/jobs?job_id=${encodeURIComponent(gone)}`, { method: 'DELETE' }).then(({ ok, status }) => {
      if (ok) setQuery({ job: null });
      else throw new Error(status === 401 || status === 403 ? 'Deleting needs a token with the role admin' : `The server answers ${status}`);
    }).catch((error) => refuse({ id: gone, error })).then(() => remove(null));
  }, [gone]);
  return { gone, remove, errorOf: (id) => (refused.id === id ? refused.error : undefined) };
}

function Job({ job, trials, onRemove }) {
  const { spec } = job;
  const cost = costOf(spec);
  const last = trials.at(-1);
  return html`<section aria-label="job"><h2>${job.job_id}</h2>
    <p>${job.stage}; ${job.trials_ended} of ${job.last_trial_number} trials ended. Batch sizes ${spec.batch_sizes.join(', ')}, by default ${spec.default_batch_size}; ${spec.number_of_gpus} × ${spec.gpu_model}, at most ${spec.max_power} W; policy ${spec.policy}.
      ${job.min_cost !== null && html`<br />The cheapest run: ${joules(job.min_cost)} with batch size ${job.min_cost_batch_size}.`}
      <br />${job.next ? html`A run that begins now would get batch size <b>${job.next.batch_size}</b>: ${job.next.reason}` : 'A run that begins now would be refused: no batch size converged.'}
      ${last?.reason && html`<br />The last decision, batch size ${last.batch_size}: ${last.reason}`}</p>
    <${Saved} trials=${trials} job=${job} />
    <${Sizes} trials=${trials} job=${job} cost=${cost} />
    <${Posteriors} arms=${job.arms} isLogarithm=${spec.policy === 'kerf'} />
    <${Trials} trials=${trials} job=${job} cost=${cost} />
    <${Command} text=${`kerf jobs show ${quoted(job.job_id)} --server ${location.origin}`} />
    <p class="downloads"><button type="button" onClick=${() => save('job.json', JSON.stringify({ ...job, trials }))}>download JSON</button>
      <button type="button" onClick=${() => save('trials.csv', csvOf(trials), 'text/csv')}>download CSV</button>
      <button type="button" disabled=${!job.trials_ended} onClick=${() => save('costs.svg', svgOf({ title: job.job_id, ...costsOf(trials, cost) }), 'image/svg+xml')}>download SVG</button> <${Remove} id=${job.job_id} onRemove=${onRemove} /></p></section>`;
}

export function Jobs() {
  const { query } = useAddress();
  const { version } = useLive();
  const id = query.get('job');
  const list = useAnswer((signal) => all('/api/v1/jobs', 'jobs', signal), [version.jobs]);
  const { gone, remove, errorOf } = useRemoval();
  const there = id === gone ? null : id;
  const one = useAnswer(async (signal) => (there ? { job: await get(path(there), signal), trials: await newest(there, signal) } : null), [there, version.jobs]);
  const jobs = list.answer || [];
  return html`<${Alert} error=${list.error || one.error || errorOf(id)} />
    ${jobs.length >= listed && html`<p>The page reads no more than the first ${jobs.length} jobs.</p>`}
    ${list.answer && (jobs.length ? html`<${Table} caption="Jobs" rows=${jobs} keyOf=${(row) => row.job_id} picked=${id} onPick=${(row) => setQuery({ job: row.job_id })} columns=${[
      { name: 'job', of: (row) => row.job_id },
      { name: 'GPU', of: (row) => row.spec.gpu_model },
      { name: 'stage', of: (row) => row.stage },
      { name: 'trials', of: (row) => row.last_trial_number, right: true },
      { name: 'lowest cost', of: (row) => row.min_cost ?? Infinity, show: (row) => joules(row.min_cost), right: true },
      { name: 'with batch size', of: (row) => row.min_cost_batch_size, show: (row) => (row.min_cost === null ? '–' : row.min_cost_batch_size), right: true }]} />`
      : html`<${Empty}>No jobs yet. A file with batch sizes and a target, such as examples/jobs/job.json, makes a training script that runs again and again one: <${Command} text=${`kerf jobs add my-job.json --server ${location.origin}`} />
        Then let kerf run it: <${Command} text=${`kerf jobs run my-job --server ${location.origin} --metric-regex 'accuracy=([0-9.]+)' -- ./train.sh {batch_size}`} /><//>`)}
    ${one.answer && there && html`<${Job} job=${one.answer.job} trials=${one.answer.trials} onRemove=${() => remove(id)} />`}`;
}
