/** Where we are: mode, exchange, market time, state, connection; and the buttons that stop and go on. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { DaemonState, View } from '../view.ts';
import { askKill, askPause, askResume } from './dialog.ts';
import { clockTime, day } from './format.ts';
import { daemonName } from './machine/daemon-name.ts';
import { Choice, Pill, type Tone } from './parts.ts';
import { connection, isOffline } from './store.ts';
import { chooseTheme, type Theme, theme } from './theme.ts';

const states: Readonly<Record<DaemonState, readonly [Tone, string]>> = {
  starting: ['plain', 'Starting'],
  recovering: ['warn', 'Recovering'],
  ready: ['good', 'Ready'],
  killed: ['bad', 'Killed'],
  stopping: ['plain', 'Stopping'],
};

/** Green alone where orders can be created: not without market data or a running strategy, and not where the page knows old news only. */
function badge({ state, blocked, noMarketData, strategies }: View): readonly [Tone, string] {
  if (isOffline.value) return ['plain', 'Not connected'];
  if (state !== 'ready') return states[state];
  if (blocked !== undefined) return ['warn', 'Orders blocked'];
  if (noMarketData !== undefined) return ['warn', 'No market data'];
  return strategies.some(({ status }) => status === 'running') ? states.ready : ['warn', 'No strategy runs'];
}

const themes: readonly (readonly [Theme, string])[] = [
  ['auto', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export const ThemeSwitch = (): VNode =>
  html`<${Choice} kind="themes" label="Colours" options=${themes} chosen=${theme.value} choose=${chooseTheme} />`;

const isStopped = ({ state, strategies }: View): boolean =>
  state === 'killed' || strategies.some(({ status }) => status === 'paused' || status === 'killed');

/** Something enters positions. */
const isEntering = ({ state, strategies }: View): boolean =>
  state !== 'killed' && (strategies.length === 0 || strategies.some(({ status }) => status === 'running'));

/** What stops is there while something goes on, and what goes on while something is stopped: of several strategies both may be. */
const Switches = ({ view }: { view: View }): VNode => html`
  ${isStopped(view) ? html`<button type="button" class="button primary" disabled=${isOffline.value} onClick=${() => askResume()}>Resume …</button>` : null}
  ${isEntering(view) ? html`<button type="button" class="button" disabled=${isOffline.value} onClick=${() => askPause()}>Pause …</button>` : null}
  <button type="button" class="button danger" disabled=${isOffline.value} onClick=${() => askKill()}>Kill …</button>
`;

export const Mark = (): VNode => html`
  <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
    <rect width="16" height="16" rx="4" />
    <path d="M3 5.5c2.5-2 4.5 2 7 0 1-.8 2-.8 3-.3M3 10.5c2.5-2 4.5 2 7 0 1-.8 2-.8 3-.3" />
  </svg>
`;

export function Header({ view }: { view: View }): VNode {
  const [tone, label] = badge(view);
  return html`
    <header class="top">
      <div class="brand">
        <${Mark} />
        <h1>Sluice</h1>
        ${daemonName === undefined ? null : html`<a class="back" href="../../">All daemons</a><b>${decodeURIComponent(daemonName)}</b>`}
        <span class=${`mode ${view.isRealMoney ? 'real' : ''}`}>${view.mode}</span>
      </div>
      <div class="state"><${Pill} tone=${tone}><i class="dot"></i>${label}<//></div>
      <div class="where">
        <time datetime=${new Date(view.marketTime).toISOString()}>
          <span class="wide">${day(view.marketTime)}</span> <b>${clockTime(view.marketTime)}</b> UTC
        </time>
        ${view.speed === 1 ? null : html`<span class="speed" title="Exchange time runs this much faster than real time">×${view.speed}</span>`}
        <span class="exchange">${view.account} account at ${view.exchangeUrl}</span>
      </div>
      <div class="tools">
        <${ThemeSwitch} />
        <${Switches} view=${view} />
      </div>
    </header>
  `;
}

/** Warns when the page has lost the daemon: old numbers must not pass for new ones. */
export function ConnectionBanner(): VNode | null {
  if (connection.value === 'refused') {
    return html`<div class="banner lost" role="alert">
      <span><b>Not connected.</b> This tab has no valid token: open the address that the daemon printed when it started.</span>
    </div>`;
  }
  if (connection.value !== 'lost') return null;
  return html`<div class="banner lost" role="alert">
    <span><b>Not connected.</b> What you see is the last that the daemon said; trying again …</span>
  </div>`;
}
