/* SPDX-License-Identifier: Apache-2.0 */
/* The page of kerf serve: a navigation and four views. */
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { go, html, useAddress, useLive } from './common.js';
import { Jobs } from './jobs.js';
import { Plan } from './plan.js';
import { Schedule } from './schedule.js';
import { Studies } from './studies.js';

const views = [['/plan', 'Plan', Plan], ['/schedule', 'Schedule', Schedule], ['/studies', 'Studies', Studies], ['/jobs', 'Jobs', Jobs]];

function Connection() {
  const { isLost } = useLive();
  return html`<p class="connection" role="status" hidden=${!isLost}>${isLost ? 'Connection lost; reconnecting …' : ''}</p>`;
}

function Page() {
  const { path } = useAddress();
  const [, name, View] = views.find(([at]) => at === path) || views[0];
  useEffect(() => {
    document.title = `kerf: ${name}`;
  }, [name]);
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(event.currentTarget.getAttribute('href'));
  };
  return html`<nav aria-label="Views"><span class="brand">kerf</span>
      ${views.map(([at, label]) => html`<a href=${at} aria-current=${label === name ? 'page' : undefined} onClick=${follow}>${label}</a>`)}
      <a class="aside" href="/docs">API</a></nav>
    <${Connection} />
    <main class="view"><h1>${name}</h1><${View} key=${name} /></main>`;
}

render(html`<${Page} />`, document.body);
