/** The page: connects, and shows what the daemon says. */
import { html, render } from 'htm/preact';
import type { VNode } from 'preact';
import type { View } from '../view.ts';
import { EquityChart, EquityReadout } from './charts/equity-chart.ts';
import { hasNoKlines } from './charts/klines.ts';
import { PriceChart } from './charts/price-chart.ts';
import { connect, takeToken } from './daemon.ts';
import { Dialog } from './dialog.ts';
import { exact } from './format.ts';
import { ConnectionBanner, Header, ThemeSwitch } from './header.ts';
import { Keys, listenToKeys, showKeys } from './keys.ts';
import { Decisions } from './panels/decisions.ts';
import { Notices } from './panels/notices.ts';
import { Strategies } from './panels/strategies.ts';
import { Summary } from './panels/summary.ts';
import { Fills, OpenOrders } from './panels/tables.ts';
import { Timeline } from './panels/timeline.ts';
import { Unknowns } from './panels/unknowns.ts';
import { Choice, Panel } from './parts.ts';
import { equitySeries, showInterval, shownMarket, showSymbol, view } from './store.ts';
import { Toast } from './toast.ts';
import { Workspace } from './workspace.ts';

function Market({ shown }: { shown: View }): VNode {
  const market = shownMarket.value;
  if (market === undefined) {
    return html`<${Panel} id="market" title="Market" empty="The klines of each traded symbol appear here." />`;
  }
  const pairs = (all: readonly string[]) => all.map((one) => [one, one] as const);
  const { symbol, interval, intervals, last } = market;
  const aside = html`
    <${Choice} label="Symbol" options=${pairs(shown.markets.map((one) => one.symbol))} chosen=${symbol} choose=${showSymbol} />
    <${Choice} label="Interval" options=${pairs(intervals)} chosen=${interval} choose=${showInterval} />
    <b class="last">${last === undefined ? '' : exact(last)}</b>
  `;
  return html`
    <${Panel} id="market" title=${`${market.symbol} · ${market.interval}`} aside=${aside}>
      <${PriceChart} shown=${shown} market=${market} />
      ${hasNoKlines(market) ? html`<p class="empty">Klines appear here as soon as the exchange has sent some.</p>` : null}
    <//>
  `;
}

const Equity = ({ shown }: { shown: View }): VNode => html`
  <${Panel}
    id="equity"
    title="Equity"
    aside=${html`<span><${EquityReadout} asset=${shown.equity.asset} /></span>`}
    empty=${equitySeries.value.length < 2 && 'The equity curve begins with the second point.'}
  >
    <${EquityChart} asset=${shown.equity.asset} />
  <//>
`;

const Footer = ({ shown }: { shown: View }): VNode => html`
  <footer class="foot">
    <${ThemeSwitch} />
    <span>Times are UTC, by the exchange's clock.</span>
    <button type="button" class="link" onClick=${showKeys}>Keys (?)</button>
    <span class="exchange">${shown.account} account at ${shown.exchangeUrl}</span>
    <span>
      Charts by <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer">TradingView Lightweight Charts™</a>,
      © 2026 TradingView, Inc.
    </span>
  </footer>
`;

function App(): VNode {
  const shown = view.value;
  if (shown === undefined) return html`<${ConnectionBanner} /><p class="boot">Connecting to the daemon …</p>`;
  document.title = `Sluice · ${shown.mode} · ${shown.state}`;
  return html`
    <${ConnectionBanner} />
    <${Header} view=${shown} />
    <main>
      <${Notices} shown=${shown} />
      <${Summary} view=${shown} />
      <div class="columns">
        <div class="column">
          <${Market} shown=${shown} />
          <${Equity} shown=${shown} />
          <${OpenOrders} view=${shown} />
          <${Fills} fills=${shown.fills} />
        </div>
        <div class="column">
          <${Strategies} view=${shown} />
          <${Decisions} decisions=${shown.decisions} />
          <${Unknowns} unknowns=${shown.unknowns} now=${shown.marketTime} />
        </div>
      </div>
      <${Workspace} />
    </main>
    <${Footer} shown=${shown} />
    <${Dialog} />
    <${Timeline} />
    <${Keys} />
    <${Toast} />
  `;
}

takeToken();
// The printed address, opened in a tab that shows the page already, loads nothing by itself.
addEventListener('hashchange', () => takeToken() && location.reload());
const root = document.querySelector('#app');
if (root !== null) {
  root.replaceChildren();
  render(html`<${App} />`, root as HTMLElement);
}
listenToKeys();
connect();
