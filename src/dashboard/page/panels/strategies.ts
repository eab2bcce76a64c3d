/** What each strategy holds, what protects it, and whether it runs. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { MarketOfStrategy, StrategyView, View } from '../../view.ts';
import { askFlatten, askKill, askPause, askResume } from '../dialog.ts';
import { age, direction, exact, money } from '../format.ts';
import { Gain, Panel, Pill, type Tone } from '../parts.ts';
import { isOffline } from '../store.ts';

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

/** Nothing while flat, and of one that never stood without what it asked for, which may have been no protection at all. */
function bareText({ unprotectedMs, isUnprotected }: StrategyView, isFlat: boolean): string | undefined {
  if (isUnprotected) return 'now';
  if (isFlat || unprotectedMs === 0) return undefined;
  return `at most ${unprotectedMs < 60_000 ? `${Math.ceil(unprotectedMs / 100) / 10} s` : age(unprotectedMs)} so far`;
}

/** The markets of a strategy of roles, or the symbols of a list. */
const marketsText = (markets: readonly MarketOfStrategy[]): string =>
  markets
    .map(({ role, symbol, interval, use }) =>
      role === symbol ? symbol : `${role} ${symbol} ${interval}${use === 'data' ? ' (data)' : ''}`,
    )
    .join(', ');

/** What may be done to one strategy. One that does not run any more can only be closed. */
function Actions({
  id,
  symbol,
  status,
  isFlat,
}: Pick<StrategyView, 'id' | 'symbol' | 'status'> & { isFlat: boolean }): VNode | null {
  const isOver = status === 'former' || status === 'stopped';
  if (isOver && isFlat) return null;
  const button = (word: string, ask: () => void, whom = id): VNode =>
    html`<button type="button" class="button small" disabled=${isOffline.value} aria-label=${`${word} ${whom}`} onClick=${ask}>${word} …</button>`;
  const switches = html`
    ${status === 'running' ? button('Pause', () => askPause(id)) : button('Resume', () => askResume(id))}
    ${status === 'killed' ? null : button('Kill', () => askKill(id))}
  `;
  return html`<div class="acts">
    ${isOver ? null : switches}
    ${isFlat ? null : button('Flatten', () => askFlatten(id, symbol), `${id} on ${symbol}`)}
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
        <${Fact} name="Unprotected" value=${bareText(strategy, flat)} />
        <${Fact} name="Equity" value=${money(equity)} />
        <${Fact} name="Markets" value=${markets === undefined ? undefined : marketsText(markets)} />
      </dl>
      ${error === undefined ? null : html`<p class="error">${error}</p>`}
      <${Actions} id=${id} symbol=${symbol} status=${status} isFlat=${flat} />
    </li>
  `;
}

const none = 'Each strategy appears here with what it holds and what protects it.';

export const Strategies = ({ view: { strategies, state } }: { view: View }): VNode => html`
  <${Panel}
    id="strategies"
    title="Positions"
    aside=${strategies.length === 0 ? null : html`<button type="button" class="button small" disabled=${isOffline.value} onClick=${() => askFlatten()}>Flatten all …</button>`}
    empty=${strategies.length === 0 && none}
  >
    <ul class="list">
      ${strategies.map((strategy) => html`<${Strategy} key=${`${strategy.id} ${strategy.symbol}`} strategy=${strategy} isKilled=${state === 'killed'} />`)}
    </ul>
  <//>
`;
