/** Draws indicators: over the prices where they are about as high, otherwise below in a pane for each indicator. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { type IChartApi, type ISeriesApi, LineSeries } from 'lightweight-charts';
import type { VNode } from 'preact';
import type { KlineView, MarketView } from '../../view.ts';
import { money } from '../format.ts';
import { chartOf } from '../store.ts';
import { isDark } from '../theme.ts';
import { type IndicatorLine, indicatorsOn } from './indicators.ts';
import { colour, seconds } from './kline-chart.ts';
import { isPriceLike } from './price-like.ts';

/** A line with its place. */
interface Placed {
  readonly line: IndicatorLine;
  /** Its group has a pane of its own. */
  readonly isBelow: boolean;
  readonly isShown: boolean;
  /** A colour of the style sheet. */
  readonly colour: string;
}

export interface Placement {
  /** What is drawn anew where it changes. */
  readonly key: string;
  readonly placed: readonly Placed[];
  /** Groups that are shown below the prices, in their order. */
  readonly below: readonly string[];
  readonly leftOut: number;
}

const colours = 8;
/** What is shown before somebody chooses: more lines look alike, and more panes leave no room. */
const maxLines = 8;
const maxPanes = 3;
/** Choices that are remembered, the latest. */
const maxChoices = 200;
const name = 'sluice-indicators';

function stored(): ReadonlyMap<string, boolean> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    if (!Array.isArray(kept)) return new Map();
    return new Map(kept.map((one): [string, boolean] => [String(one?.[0]), one?.[1] === true]));
  } catch {
    return new Map();
  }
}
/** Whether a line is shown, by its key, where somebody chose. */
const choices = signal(stored());

function choose(key: string, isShown: boolean): void {
  const others = [...choices.value].filter(([other]) => other !== key);
  choices.value = new Map([...others, [key, isShown] as const].slice(-maxChoices));
  try {
    localStorage.setItem(name, JSON.stringify([...choices.value]));
  } catch {
    // Storage may be full or forbidden; the choice then lasts as long as the page.
  }
}

/** Where a line was placed first: it must not jump when the market moves away from it. */
const places = new Map<string, boolean>();

function isBelow(run: string, line: IndicatorLine, all: readonly KlineView[]): boolean {
  const key = `${run} ${line.key}`;
  const known = places.get(key);
  if (known !== undefined) return known;
  const values = line.points.flatMap(([, value]) => value ?? []);
  const below = !isPriceLike(values, all);
  // Before the first value nothing can be said.
  if (all.length > 0 && values.length > 0) {
    if (places.size >= maxChoices) places.clear();
    places.set(key, below);
  }
  return below;
}

/** Where the indicators of a chart are drawn. */
export function placementOf(market: MarketView, all: readonly KlineView[]): Placement {
  const { run = 0, lines = [], leftOut = 0 } = indicatorsOn(market) ?? {};
  const chart = `${chartOf(market)} ${run}`;
  const groups = new Set<string>();
  const placed = lines.map((line, index): Placed => {
    const below = isBelow(chart, line, all);
    const isRoom = index < maxLines && (!below || groups.has(line.group) || groups.size < maxPanes);
    const isShown = choices.value.get(line.key) ?? isRoom;
    if (below && isShown) groups.add(line.group);
    return { line, isBelow: below, isShown, colour: `line-${(index % colours) + 1}` };
  });
  const shape = placed.map((one) => `${one.line.key} ${one.isShown} ${one.isBelow}`);
  return { key: [chart, isDark(), ...shape].join('|'), placed, below: [...groups], leftOut };
}

export interface DrawnIndicators {
  key: string;
  series: readonly { readonly key: string; readonly line: ISeriesApi<'Line'> }[];
  /** The open time up to which each is drawn, by key. */
  readonly until: Map<string, number>;
}
export const nothingDrawn = (): DrawnIndicators => ({ key: '', series: [], until: new Map() });

/** The points on klines that are drawn: others would widen the time axis. */
const pointsWithin = ({ points }: Pick<IndicatorLine, 'points'>, all: readonly KlineView[]) => {
  const first = all[0]?.openTime ?? Number.POSITIVE_INFINITY;
  return points.filter(([openTime]) => openTime >= first);
};

const dataOf = ([openTime, value]: IndicatorLine['points'][number]) => {
  const time = seconds(openTime);
  return value === null ? { time } : { time, value };
};

/** Height of a pane compared with that of the prices. */
const paneShare = 0.28;

/** Draws only what is new, as long as nothing is shown, hidden or painted otherwise. */
export function drawIndicators(
  chart: IChartApi,
  drawn: DrawnIndicators,
  { key, placed, below }: Placement,
  all: readonly KlineView[],
): void {
  const shown = placed.filter(({ isShown }) => isShown);
  if (all.length === 0) return;
  if (key !== drawn.key) {
    for (const { line } of drawn.series) chart.removeSeries(line);
    drawn.until.clear();
    drawn.series = shown.map(({ line, isBelow: isApart, colour: its }) => ({
      key: line.key,
      line: chart.addSeries(
        LineSeries,
        {
          ...{ color: colour(its), lineWidth: 1, priceLineVisible: false, lastValueVisible: false },
          crosshairMarkerRadius: 3,
        },
        isApart ? below.indexOf(line.group) + 1 : 0,
      ),
    }));
    for (const pane of chart.panes().slice(1)) pane.setStretchFactor(paneShare);
    chart.panes()[0]?.setStretchFactor(1);
    drawn.key = key;
  }
  for (const { key: its, line: series } of drawn.series) {
    const points = pointsWithin(shown.find(({ line }) => line.key === its)?.line ?? { points: [] }, all);
    const until = drawn.until.get(its);
    if (until === undefined) series.setData(points.map(dataOf));
    else for (const point of points) if (point[0] > until) series.update(dataOf(point));
    const last = points.at(-1);
    if (last !== undefined) drawn.until.set(its, last[0]);
  }
}

const valueText = (value: number | null | undefined, isBelowPrices: boolean, decimals: number): string => {
  if (value === null || value === undefined) return '–';
  return isBelowPrices
    ? value.toLocaleString('en', { maximumSignificantDigits: 6 }).replace('-', '−')
    : money(value.toFixed(decimals + 1), decimals);
};

interface LegendProps {
  readonly placement: Placement;
  /** Open time of the kline under the pointer. */
  readonly pointedAt: number | undefined;
  readonly decimals: number;
}

/** Each line with its value at the pointer, or its last one; a click hides or shows it. */
export function IndicatorLegend({ placement: { placed, leftOut }, pointedAt, decimals }: LegendProps): VNode | null {
  if (placed.length === 0) return null;
  const owners = Map.groupBy(placed, ({ line }) => line.owner);
  const item = ({ line, isBelow: isApart, isShown, colour: its }: Placed): VNode => {
    const point = line.points.findLast(([openTime]) => pointedAt === undefined || openTime === pointedAt);
    return html`<button
      type="button"
      key=${line.key}
      class=${`indicator ${its}`}
      aria-pressed=${isShown}
      title=${`${isShown ? 'Hide' : 'Show'} ${line.name}`}
      onClick=${() => choose(line.key, !isShown)}
    ><i></i>${line.name} <b>${valueText(point?.[1], isApart, decimals)}</b></button>`;
  };
  return html`
    <div class="indicators" role="group" aria-label="Indicators">
      ${[...owners].map(([owner, all]) => html`<div key=${owner} class="owned"><span class="muted">${owner}</span>${all.map(item)}</div>`)}
      ${leftOut === 0 ? null : html`<span class="muted">and ${leftOut} more, not drawn</span>`}
    </div>
  `;
}
