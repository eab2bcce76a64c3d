/** What each strategy holds, what protects it, and whether it runs. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { MarketOfStrategy, StrategyView, View } from '../view.ts';
import { askKill, askPause, askResume } from './dialog.ts';
import { age, direction, exact, money } from './format.ts';
import { Gain, Panel, Pill, type Tone } from './parts.ts';

const held = (quantity: string): string =>
  direction(quantity) === 'down' ? `Short ${exact(quantity.replace('-', ''))}` : `Long ${exact(quantity)}`;

const Fact = ({ name, value }: { name: string; value: string | undefined }): VNode | null =>
  value === undefined ? null : html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const optional = (text: string | undefined): string | undefined => (text === undefined ? undefined : exact(text));

const statuses: Readonly<Record<StrategyView['status'], readonly [Tone, string]>> = {
  running: ['good', 'Running'],
  paused: ['warn', 'Paused'],
  killed: ['bad', 'Killed'],
  stopped: ['bad', 'Stopped'],
  former: ['warn', 'Not configured'],
};

/** Nothing of one that never stood without what it asked for, which may have been no protection at all. */
function bareText({ unprotectedMs, isUnprotected }: StrategyView): string | undefined {
  if (isUnprotected) return 'now';
  if (unprotectedMs === 0) return undefined;
  return `at most ${unprotectedMs < 60_000 ? `${Math.ceil(unprotectedMs / 100) / 10} s` : age(unprotectedMs)}`;
}

/** The markets of a strategy of roles, or the symbols of a list. */
const marketsText = (markets: readonly MarketOfStrategy[]): string =>
  markets
    .map(({ role, symbol, interval, use }) =>
      role === symbol ? symbol : `${role} ${symbol} ${interval}${use === 'data' ? ' (data)' : ''}`,
    )
    .join(', ');

/** What may be done to one strategy; a former one has no name that the daemon takes. */
function Actions({ id, status }: Pick<StrategyView, 'id' | 'status'>): VNode | null {
  if (status === 'former' || status === 'stopped') return null;
  const button = (word: string, ask: (id: string) => void): VNode =>
    html`<button type="button" class="button small" aria-label=${`${word} ${id}`} onClick=${() => ask(id)}>${word} …</button>`;
  return html`<div class="acts">
    ${status === 'running' ? button('Pause', askPause) : button('Resume', askResume)}
    ${status === 'killed' ? null : button('Kill', askKill)}
  </div>`;
}

function Strategy({ strategy, isKilled }: { strategy: StrategyView; isKilled: boolean }): VNode {
  const { id, use, symbol, interval, markets, status, error, position, equity, stop, takeProfit } = strategy;
  const [tone, label] = statuses[isKilled && status === 'running' ? 'killed' : status];
  const flat = position.isDust || direction(position.quantity) === 'even';
  return html`
    <li class="strategy">
      <div class="line">
        <b>${id}</b>
        <span class="muted">${[use, symbol, interval].filter((part) => part !== '').join(' · ')}</span>
        <${Pill} tone=${tone}>${label}<//>
      </div>
      <div class="line position">
        <span class=${`held ${flat ? 'muted' : ''}`}>${flat ? 'Flat' : held(position.quantity)}</span>
        ${flat ? null : html`<span class="profit"><${Gain} text=${position.openProfit} /> <span class="muted">open</span></span>`}
      </div>
      <dl class="facts">
        <${Fact} name="Entry" value=${optional(position.entryPrice)} />
        <${Fact} name="Dust" value=${position.isDust ? exact(position.quantity) : undefined} />
        <${Fact} name="Value" value=${flat ? undefined : money(position.value)} />
        <${Fact} name="Stop" value=${optional(stop)} />
        <${Fact} name="Target" value=${optional(takeProfit)} />
        <${Fact} name="Unprotected" value=${bareText(strategy)} />
        <${Fact} name="Equity" value=${money(equity)} />
        <${Fact} name="Markets" value=${markets === undefined ? undefined : marketsText(markets)} />
      </dl>
      ${error === undefined ? null : html`<p class="error">${error}</p>`}
      <${Actions} id=${id} status=${status} />
    </li>
  `;
}

const none = 'Each strategy appears here with what it holds and what protects it.';

export const Strategies = ({ view: { strategies, state } }: { view: View }): VNode => html`
  <${Panel} id="strategies" title="Positions" empty=${strategies.length === 0 && none}>
    <ul class="list">
      ${strategies.map((strategy) => html`<${Strategy} key=${`${strategy.id} ${strategy.symbol}`} strategy=${strategy} isKilled=${state === 'killed'} />`)}
    </ul>
  <//>
`;
