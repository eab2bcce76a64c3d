/** Profit of each market through time, as a chart whose lines can be hidden, without a script. */
import type { MarketCurve, MarketCurves } from '../research/market-curves.ts';
import { shortMoney, timePlot } from './equity-section.ts';
import { moneyFigure } from './figures.ts';
import { type Content, html, signed } from './html.ts';
import { high, linear, path, rangeOf, roundSteps, wide } from './plot.ts';

/** Lines that can be told apart; the markets that moved least are drawn as their sum. */
const mostLines = 20;
const colours = [
  ...['#4e79a7', '#f28e2b', '#e15759', '#59a14f', '#b07aa1'],
  ...['#edc948', '#76b7b2', '#ff9da7', '#9c755f', '#8d8d8d'],
];

const lastOf = ({ profit }: MarketCurve): number => profit.at(-1) ?? 0;
const rangeSize = ({ profit }: MarketCurve): number => {
  const [low, top] = rangeOf([profit]);
  return Math.max(top, 0) - Math.min(low, 0);
};

/** The greatest profit first, and the rest of many as one line. */
export function drawnMarkets(markets: readonly MarketCurve[]): readonly MarketCurve[] {
  const byProfit = (some: readonly MarketCurve[]): readonly MarketCurve[] =>
    some.toSorted((a, b) => lastOf(b) - lastOf(a));
  if (markets.length <= mostLines) return byProfit(markets);
  const bySize = markets.toSorted((a, b) => rangeSize(b) - rangeSize(a));
  const rest = bySize.slice(mostLines - 1);
  const profit = new Float64Array(rest[0]?.profit.length ?? 0);
  for (const one of rest)
    for (const [point, value] of one.profit.entries()) profit[point] = (profit[point] ?? 0) + value;
  return [...byProfit(bySize.slice(0, mostLines - 1)), { symbol: `${rest.length} others`, profit }];
}

/** Where there are several. */
export function marketPlot({ time, markets }: MarketCurves, asset: string): Content {
  if (markets.length < 2) return undefined;
  const drawn = drawnMarkets(markets);
  const [low, top] = rangeOf([Float64Array.of(0), ...drawn.map(({ profit }) => profit)]);
  const margin = (top - low) * 0.05 || 1;
  const y = linear(low - margin, top + margin, high, true);
  const zero = y.at(0).toFixed(1);
  return html`<h3>Profit through time <span class="muted">closed and open, in ${asset}; untick a market to hide it</span></h3><div class="by-market"><p class="key">${drawn.map(
    (one, index) =>
      html`<label class="m${index}"><input type="checkbox" checked><span class="line"></span> ${one.symbol} ${signed(lastOf(one), moneyFigure(lastOf(one)))}</label>`,
  )}</p>${timePlot(
    { time },
    {
      ...{ size: 'tall', label: `Profit of each market in ${asset}`, y, text: shortMoney },
      steps: roundSteps(y.low, y.high),
      body: (x) => [
        html`<path class="start" d="M0 ${zero}H${wide}"/>`,
        ...drawn.map(
          ({ symbol, profit }, index) =>
            html`<path class="line-market m${index}" d="${path(time, profit, x, y)}"><title>${symbol}</title></path>`,
        ),
      ],
    },
  )}</div>`;
}

/** Colours of the lines, dashed from the eleventh on. A line is drawn while its box is ticked, and stands out while its name is pointed at. */
export const marketRules = (): string =>
  Array.from({ length: mostLines }, (_, at) => {
    const dashes = at < colours.length ? '' : `path.m${at}{stroke-dasharray:5 3}.m${at} .line{border-top-style:dashed}`;
    return `.m${at}{--market:${colours[at % colours.length]}}${dashes}.by-market:has(.m${at} input:not(:checked)) path.m${at}{display:none}.by-market:has(label.m${at}:hover) path.line-market:not(.m${at}){stroke-opacity:.15}`;
  }).join('');
