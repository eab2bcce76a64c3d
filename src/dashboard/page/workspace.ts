/** The lower part of the page: what is asked for when somebody looks at it, one tab at a time. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentType, VNode } from 'preact';
import { ComparisonTab } from './machine/comparison-tab.ts';
import { daemonName } from './machine/daemon-name.ts';
import { Denials } from './panels/denials.ts';
import { Limits } from './panels/limits.ts';
import { Log } from './panels/log.ts';
import { Performance } from './panels/performance.ts';

interface Tab {
  readonly id: string;
  readonly title: string;
  readonly content: ComponentType;
}

export const tabs: readonly Tab[] = [
  { id: 'performance', title: 'Performance', content: Performance },
  { id: 'limits', title: 'Limits', content: Limits },
  { id: 'denials', title: 'Denials', content: Denials },
  { id: 'log', title: 'Log', content: Log },
  ...(daemonName === undefined ? [] : [{ id: 'comparison', title: 'Live and backtest', content: ComparisonTab }]),
];

const chosen = signal('performance');
export const showTab = (id: string): void => {
  chosen.value = id;
};

const tabId = (id: string): string => `tab-${id}`;

/** Arrows move between tabs, as in other programs. */
function move(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const at = tabs.findIndex(({ id }) => id === chosen.value);
  const next = tabs[(at + step + tabs.length) % tabs.length];
  if (next === undefined) return;
  showTab(next.id);
  document.querySelector<HTMLElement>(`#${tabId(next.id)}`)?.focus();
  event.preventDefault();
}

export function Workspace(): VNode | null {
  const now = tabs.find(({ id }) => id === chosen.value) ?? tabs[0];
  if (now === undefined) return null;
  return html`
    <section class="panel workspace" id="workspace" aria-label="Workspace">
      <div class="tabs" role="tablist" aria-label="Workspace" onKeyDown=${move}>
        ${tabs.map(
          ({ id, title }) => html`
            <button
              type="button"
              role="tab"
              id=${tabId(id)}
              aria-selected=${id === now.id}
              aria-controls="tab-content"
              tabindex=${id === now.id ? 0 : -1}
              onClick=${() => showTab(id)}
            >${title}</button>
          `,
        )}
      </div>
      <div role="tabpanel" id="tab-content" aria-labelledby=${tabId(now.id)}><${now.content} key=${now.id} /></div>
    </section>
  `;
}
