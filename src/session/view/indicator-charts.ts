/**
 * The values of indicators for the charts: those that strategies decided on, of the newest klines. Nothing is calculated here. After a kline the
 * values are copied into memory that was reserved at the warm-up, whether or not a page is open; a page asks for them.
 */
import type { IndicatorsAsked, IndicatorsView, IndicatorValues } from '../../dashboard/indicators.ts';
import { maxKlines } from '../../dashboard/view.ts';
import { closeTime, type Interval, openTimeOf } from '../../domain/interval.ts';
import type { Hosted, HostedMarket } from '../../strategy/host.ts';
import type { NamedIndicator } from '../../strategy/named-indicators.ts';
import type { ValuesWatcher } from '../../strategy/values-watcher.ts';
import { marketsOf } from '../../trading/lanes.ts';

/** Values that are kept of one strategy, 8 bytes each: with more indicators than 200, fewer klines each. */
const maxValues = 200_000;
/** Lines that are answered for one chart; further ones are counted. */
const maxLines = 24;
/** Values of one answer: writing more would keep the daemon from trading for too long. With more lines, the newest klines are answered. */
const maxAnswered = 12_000;

/** The newest values of some indicators, by the open time of the klines of one chart. */
class Rows {
  readonly #from: readonly number[];
  readonly #max: number;
  readonly #openTimes: Float64Array;
  readonly #values: Float64Array;
  #written = 0;

  /** `from`: the places of the indicators among all of the strategy. */
  constructor(from: readonly number[], max: number) {
    this.#from = from;
    this.#max = max;
    this.#openTimes = new Float64Array(max);
    this.#values = new Float64Array(max * from.length);
  }

  add(openTime: number, values: Float64Array): void {
    const row = this.#written++ % this.#max;
    this.#openTimes[row] = openTime;
    const at = row * this.#from.length;
    for (let index = 0; index < this.#from.length; index++)
      this.#values[at + index] = values[this.#from[index] as number] as number;
  }

  /** At most the newest `most`, oldest first, from an open time on; of the first `width` indicators. */
  since(from: number, width: number, max: number): IndicatorValues['rows'] {
    const rows: [number, ...(number | null)[]][] = [];
    const oldest = Math.max(0, this.#written - Math.min(max, this.#max));
    for (let count = this.#written - 1; count >= oldest; count--) {
      const place = count % this.#max;
      const openTime = this.#openTimes[place] as number;
      if (openTime < from) break;
      const row: [number, ...(number | null)[]] = [openTime];
      const at = place * this.#from.length;
      for (let index = 0; index < width; index++) row.push(numberOrNull(this.#values[at + index] as number));
      rows.push(row);
    }
    return rows.reverse();
  }
}

/** JSON has no NaN, which an indicator has before it is warm. */
const numberOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** A chart on which a strategy shows indicators. */
interface Chart {
  readonly symbol: string;
  readonly interval: Interval;
  readonly role: string | undefined;
  readonly names: readonly string[];
  readonly rows: Rows;
}

/** Its charts by market: that of its own interval, and one for each larger interval that an indicator is over. */
type Charts = readonly { readonly own: Interval; readonly charts: readonly Chart[] }[];

function chartsOf(one: Hosted, indicators: readonly NamedIndicator[]): Charts {
  const max = Math.max(1, Math.min(maxKlines, Math.floor(maxValues / Math.max(1, indicators.length))));
  const all = indicators.map(({ name, indicator }, place) => ({ name, indicator, place }));
  return marketsOf(one).map(({ role, symbol, interval }: HostedMarket, index) => {
    // What is made of several markets is drawn in the first.
    const its = all.filter(({ indicator: { market } }) =>
      market === undefined ? index === 0 : one.markets === undefined || market === role,
    );
    const larger = new Set(its.flatMap(({ indicator: { of } }) => (of === undefined || of === interval ? [] : [of])));
    const chart = (shown: typeof its, of: Interval): Chart => ({
      ...{ symbol, interval: of, role: one.markets === undefined || role === symbol ? undefined : role },
      names: shown.map(({ name }) => name),
      rows: new Rows(
        shown.map(({ place }) => place),
        max,
      ),
    });
    return {
      own: interval,
      charts: [
        chart(its, interval),
        ...Array.from(larger, (of) =>
          chart(
            its.filter(({ indicator }) => indicator.of === of),
            of,
          ),
        ),
      ],
    };
  });
}

/** The open time of the kline of a larger interval that a kline closes; undefined where it closes none. */
function closing(own: Interval, openTime: number, larger: Interval): number | undefined {
  if (own === larger) return openTime;
  const opened = openTimeOf(larger, openTime);
  return closeTime(larger, opened) === closeTime(own, openTime) ? opened : undefined;
}

export class IndicatorCharts {
  /** By strategy. */
  readonly #charts = new Map<string, Charts>();
  #run = 0;

  /** What a strategy hands its values to; new code of it replaces the old values. */
  watch(one: Hosted): ValuesWatcher {
    let charts: Charts = [];
    return {
      begin: (indicators) => {
        charts = chartsOf(one, indicators);
        this.#charts.set(one.id, charts);
        this.#run++;
      },
      after(market, openTime, values) {
        const at = charts[market];
        if (at === undefined) return;
        for (const { interval, rows } of at.charts) {
          const opened = closing(at.own, openTime, interval);
          if (opened !== undefined) rows.add(opened, values);
        }
      },
    };
  }

  /** The values on one chart; those before `from` are left out where the page has them already. */
  view({ symbol, interval, run, from }: IndicatorsAsked): IndicatorsView {
    const first = run === this.#run && from !== undefined ? from : Number.NEGATIVE_INFINITY;
    const here = [...this.#charts].flatMap(([strategy, markets]) =>
      markets
        .flatMap(({ charts }) => charts)
        .filter((chart) => chart.symbol === symbol && chart.interval === interval && chart.names.length > 0)
        .map((chart) => ({ strategy, ...chart })),
    );
    let room = maxLines;
    const shown = here.flatMap(({ names, ...chart }) => {
      const its = names.slice(0, room);
      room -= its.length;
      return its.length === 0 ? [] : [{ ...chart, names: its }];
    });
    const count = (charts: readonly { readonly names: readonly string[] }[]): number =>
      charts.reduce((sum, { names }) => sum + names.length, 0);
    const max = Math.floor(maxAnswered / Math.max(1, count(shown)));
    return {
      run: this.#run,
      values: shown.map(({ strategy, role, names, rows }) => ({
        ...{ strategy, names, rows: rows.since(first, names.length, max) },
        ...(role !== undefined && { role }),
      })),
      leftOut: count(here) - count(shown),
    };
  }
}
