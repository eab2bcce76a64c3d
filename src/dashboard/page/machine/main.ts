/** The page of all daemons of a machine. */
import { signal } from '@preact/signals';
import { html, render } from 'htm/preact';
import type { ComponentType, VNode } from 'preact';
import { takeToken } from '../daemon.ts';
import { Mark, ThemeSwitch } from '../header.ts';
import { Toast } from '../toast.ts';
import { Daemons } from './daemons.ts';
import { Backtests, Grids } from './runs.ts';

interface Place {
  /** After `#` in the address. */
  readonly id: string;
  readonly title: string;
  readonly content: ComponentType;
}
const places: readonly Place[] = [
  { id: 'daemons', title: 'Daemons', content: Daemons },
  { id: 'backtests', title: 'Backtests', content: Backtests },
  { id: 'grids', title: 'Grids', content: Grids },
];

const chosen = signal(location.hash.slice(1));

function App(): VNode {
  const now = places.find(({ id }) => id === chosen.value) ?? (places[0] as Place);
  document.title = `Sluice · ${now.title}`;
  return html`
    <header class="top">
      <div class="brand"><${Mark} /><h1>Sluice</h1></div>
      <nav class="places" aria-label="Pages">
        ${places.map(({ id, title }) => html`<a key=${id} href=${`#${id}`} aria-current=${id === now.id ? 'page' : undefined}>${title}</a>`)}
      </nav>
      <div class="tools"><${ThemeSwitch} /></div>
    </header>
    <main><${now.content} key=${now.id} /></main>
    <${Toast} />
  `;
}

takeToken();
addEventListener('hashchange', () => {
  // The printed address, opened in a tab that shows the page already, loads nothing by itself.
  if (takeToken()) location.reload();
  else chosen.value = location.hash.slice(1);
});
const root = document.querySelector('#app');
if (root !== null) {
  root.replaceChildren();
  render(html`<${App} />`, root as HTMLElement);
}
