/** The page's keys. None acts by itself: those of actions open their dialog. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { askFlatten, askKill, askPause, askResume } from './dialog.ts';
import { showInterval, shownMarket, showSymbol, view } from './store.ts';
import { showTab, tabs } from './workspace.ts';

interface Key {
  readonly key: string;
  readonly does: string;
  readonly run: () => void;
}

const isListed = signal(false);

function nextSymbol(): void {
  const markets = view.value?.markets ?? [];
  const at = markets.findIndex(({ symbol }) => symbol === shownMarket.value?.symbol);
  const next = markets[(at + 1) % Math.max(1, markets.length)];
  if (next !== undefined) showSymbol(next.symbol);
}

function nextInterval(): void {
  const { intervals = [], interval = '' } = shownMarket.value ?? {};
  const next = intervals[(intervals.indexOf(interval) + 1) % Math.max(1, intervals.length)];
  if (next !== undefined) showInterval(next);
}

function goTo(id: string): void {
  showTab(id);
  document.querySelector<HTMLElement>(`#tab-${id}`)?.focus();
}

const keys: readonly Key[] = [
  { key: 'k', does: 'Kill trading, after a question', run: () => askKill() },
  { key: 'p', does: 'Pause all strategies, after a question', run: () => askPause() },
  { key: 'r', does: 'Resume trading, after a question', run: () => askResume() },
  { key: 'f', does: 'Flatten all positions, after a question', run: () => askFlatten() },
  { key: 's', does: 'Show the next symbol', run: nextSymbol },
  { key: 'i', does: 'Show the next interval', run: nextInterval },
  ...tabs.map(({ id, title }, index) => ({ key: String(index + 1), does: `Show ${title}`, run: () => goTo(id) })),
  {
    key: '?',
    does: 'Show these keys',
    run: () => {
      isListed.value = true;
    },
  },
];

/** Not while somebody writes, and not over a dialog. */
function press(event: KeyboardEvent): void {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog') !== null) return;
  if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  const found = keys.find(({ key }) => key === event.key);
  if (found === undefined) return;
  event.preventDefault();
  found.run();
}

export const listenToKeys = (): void => addEventListener('keydown', press);
export const showKeys = (): void => {
  isListed.value = true;
};
const close = (): void => {
  isListed.value = false;
};

function List(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return html`
    <dialog ref=${dialog} onClose=${close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        ${keys.map(({ key, does }) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}
        <div><dt><kbd>Esc</kbd></dt><dd>Close a dialog, and do nothing</dd></div>
      </dl>
      <div class="row"><button type="button" class="button" onClick=${close}>Close</button></div>
    </dialog>
  `;
}

export const Keys = (): VNode | null => (isListed.value ? html`<${List} />` : null);
