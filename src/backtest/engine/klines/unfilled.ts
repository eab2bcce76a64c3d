/**
 * MARKET orders in klines without volume. By rules that give takers no more than a kline's volume such an order ends unfilled at the open,
 * and what stands orders the same again at the close. While the price stays and nobody says anything else, only ids and times of these orders
 * differ. So their klines are passed over: all but the first and the last of them become rows at once.
 */
import type { SimClock } from '../../../clock/sim-clock.ts';
import { intervalMs } from '../../../domain/interval.ts';
import type { Columns } from '../../../domain/market.ts';
import { onlyOnItsWay } from '../../../fill/kline-order.ts';
import { delayOf } from '../../../fill/order-arrival.ts';
import type { WorkingOrder } from '../../../portfolio/portfolio.ts';
import type { Standing } from '../../../portfolio/standing.ts';
import type { RunInput } from '../../run.ts';
import { trailOver } from './levels.ts';
import { closesAt, opensAt, type SeriesState, unknown } from './series-state.ts';
import type { StrategyCursor } from './strategy-cursor.ts';
import type { KlineTrader } from './trader.ts';

/** What waits for a kline with volume. */
interface Waiting {
  readonly order: WorkingOrder;
  readonly standing: Standing;
  readonly strategy: StrategyCursor;
}

export class UnfilledOrders {
  readonly #trader: KlineTrader;
  readonly #clock: SimClock;
  readonly #isPossible: boolean;

  constructor({ hosted, series, rules, limits, margin }: RunInput, trader: KlineTrader, clock: SimClock) {
    this.#trader = trader;
    this.#clock = clock;
    const [one, another] = series;
    this.#isPossible =
      rules.marketParticipation !== undefined &&
      rules.marketAt === 'open' &&
      rules.targetsFrom === 'next' &&
      margin === undefined &&
      hosted.length === 1 &&
      one !== undefined &&
      another === undefined &&
      delayOf(rules, one.interval) === 0 &&
      // What is ordered at one close says nothing about the next: no limit looks back so far.
      intervalMs(one.interval, 0) >= Math.max(1_000, limits.duplicateWindowMs);
  }

  /** Goes on over such klines of the only series before row `to` and before UTC ms `until`; false where the next is none. */
  passOver(state: SeriesState, to: () => number, until: number): boolean {
    const { series, row, cursor } = state;
    if (!this.#isPossible || row >= series.end || series.columns.volume[row] !== 0) return false;
    const waiting = this.#waiting(state);
    if (waiting === undefined) return false;
    const price = cursor.close;
    const still = { open: price, high: price, low: price };
    if (this.#trader.protection.isStopReached(state.symbol, still)) return false;
    const last = Math.min(to(), series.end);
    let end = row;
    while (end < last && isStill(series.columns, end, price) && opensAt(state, end) < until) {
      if (!waiting.strategy.repeats(end)) break;
      end++;
    }
    cursor.row = row - 1;
    if (end === row) return false;
    this.#sendAgain(state, waiting, end);
    return true;
  }

  /** The only order, where a MARKET order that was sent at the last close for what stands unchanged is all there is. */
  #waiting({ symbol, market, cursor, deciding: [strategy], larger }: SeriesState): Waiting | undefined {
    if (strategy === undefined || !strategy.isOwn || strategy.hasMemory || larger.length > 0) return undefined;
    if (onlyOnItsWay(market.fills.working)?.type !== 'MARKET') return undefined;
    const { id } = strategy.hosted;
    const { portfolio, planner } = this.#trader;
    const [order, other] = portfolio.ordersOf(id, symbol);
    const standing = planner.at(id, symbol);
    const mark = portfolio.lastMark(symbol);
    if (order === undefined || other !== undefined || standing === undefined) return undefined;
    const { signal } = standing.leg;
    const isOfStanding =
      order.intent.createdAt === cursor.seenAt &&
      order.intent.decision === standing.decision &&
      signal === strategy.lastSignal &&
      signal.kind === 'target' &&
      // A limit may have reduced it, and asks again.
      signal.clip !== true;
    return isOfStanding && mark?.price === cursor.close ? { order, standing, strategy } : undefined;
  }

  /** The rows before `end` are done: the order ended unfilled in each of them, and was sent again. */
  #sendAgain(state: SeriesState, { order, standing }: Waiting, end: number): void {
    const { symbol, series, row, cursor } = state;
    this.#clock.skipTo(opensAt(state, row));
    this.#trader.endUnfilled(order);
    for (let at = row + 1; at < end; at++) this.#trader.endAnother(closesAt(state, at - 1), opensAt(state, at));
    trailOver(this.#trader.protection, series, row, end);
    state.row = end;
    state.opened = end - 1;
    state.quietTo = unknown;
    cursor.row = end - 1;
    this.#clock.skipTo(cursor.seenAt);
    this.#trader.portfolio.mark(symbol, cursor.close, cursor.seenAt);
    standing.leg = { ...standing.leg, at: cursor.seenAt };
    this.#trader.send(order.intent);
  }
}

/** A kline without volume at a price. */
const isStill = ({ open, high, low, close, volume }: Columns, row: number, price: number): boolean =>
  volume[row] === 0 && close[row] === price && open[row] === price && high[row] === price && low[row] === price;
