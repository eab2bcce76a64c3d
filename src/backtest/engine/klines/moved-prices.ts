/**
 * Signals of which only prices move, such as a stop by average true range: where nothing is to be done about them they are recorded, and their klines are
 * passed over until one reaches a price that matters or the strategy says something else.
 */
import type { Columns } from '../../../domain/market.ts';
import { type Signal, sameSize, type Target } from '../../../domain/order.ts';
import type { Settled } from '../../../portfolio/standing.ts';
import { isSeveral } from '../../../strategy/signals.ts';
import { hasOnlyNumbers } from '../../../strategy/target-options.ts';
import { bottomOf, levelsOf, topOf } from './levels.ts';
import type { SeriesState } from './series-state.ts';
import type { Prices, SignalColumn } from './signal-column.ts';
import { StrategyCursor } from './strategy-cursor.ts';
import type { KlineTrader } from './trader.ts';

/**
 * Passes over the klines at which the only strategy of the only series of a run moves nothing but prices; false where there is none. Rows from `end` on,
 * and klines that open at `horizon` (UTC ms) or later, stay.
 */
export function skipPriceMoves(
  state: SeriesState,
  trader: KlineTrader,
  { end, horizon }: Pick<Bounds, 'end' | 'horizon'>,
): boolean {
  const { series, symbol, strategies, cursor } = state;
  const [strategy] = strategies;
  if (!(strategy instanceof StrategyCursor) || strategies.length > 1 || !strategy.isOwn || strategy.hasMemory)
    return false;
  const { hosted, lastSignal: target } = strategy;
  if (!hasOnlyPrices(target)) return false;
  const { planner, log } = trader;
  const standing = planner.at(hosted.id, symbol);
  const settled = planner.settled(hosted.id, symbol);
  const levels = levelsOf(state, trader);
  if (settled === undefined || standing?.leg.signal !== target || levels === undefined || levels.trails.length > 0)
    return false;
  const { subAccount } = standing;
  const bounds: Bounds = {
    ...{ ...settled, ...levels, end, horizon, mayMoveTakeProfit: subAccount.isEmpty },
    ...{ stopOf: subAccount.isFlat ? 'nothing' : subAccount.isLong ? 'long' : 'short' },
    tick: 10 ** -subAccount.instrument.pricePrecision,
  };
  const { row } = cursor;
  const record = { signals: log.signals, decision: planner.decisions, closesAt: (at: number) => cursor.closeOf(at) };
  const { to, moved } = followPrices(strategy, target, series.columns, state.row, bounds, record);
  cursor.row = to === state.row ? row : to - 1;
  if (to === state.row) return false;
  state.row = to;
  if (moved === undefined) return true;
  const { signal, at, times } = moved;
  planner.moved(standing, { ...standing.leg, at, signal }, signal, times);
  return true;
}

/** Where prices of a target may move without anything to be done about it. */
export interface Bounds extends Pick<Settled, 'mayMoveExits' | 'mayMoveLimit'> {
  readonly mayMoveTakeProfit: boolean;
  /** A kline that reaches one of these is not passed over. */
  readonly below: number;
  readonly above: number;
  /** What the stop in force protects. */
  readonly stopOf: 'long' | 'short' | 'nothing';
  /** The step of prices, to which a stop is rounded. */
  readonly tick: number;
  /** Rows up to this one, and klines that open before this, UTC ms. */
  readonly end: number;
  readonly horizon: number;
}

/** Klines without a move after which a strategy is one that moves its prices now and then. */
const maxUnmovedRows = 4;

/** True for a target of which nothing but prices can move a stop. */
export const hasOnlyPrices = (signal: Signal | undefined): signal is Target =>
  signal?.kind === 'target' &&
  (signal.stop !== undefined || signal.takeProfit !== undefined) &&
  typeof signal.trailing !== 'object' &&
  hasOnlyNumbers(signal);

/** Where the signals of rows are recorded: after the decision of this number. */
interface Recording {
  readonly signals: SignalColumn;
  readonly decision: number;
  /** UTC ms. */
  readonly closesAt: (row: number) => number;
}

/** The first row that is not done; and the last target, how often it has moved since, and when it did last (UTC ms). */
interface Followed {
  readonly to: number;
  readonly moved: { readonly signal: Target; readonly at: number; readonly times: number } | undefined;
}

/**
 * Asks at the rows from `from` on while nothing but prices moves of a target, the last signal of a strategy, and records it. The strategy may have been
 * asked at the first row that is not done, and remembers its answer.
 */
export function followPrices(
  strategy: StrategyCursor,
  target: Target,
  columns: Columns,
  from: number,
  bounds: Bounds,
  { signals, decision, closesAt }: Recording,
): Followed {
  const prices = pricesOf(target);
  let [row, last, times] = [from, from - 1, 0];
  while (row < bounds.end && row - last <= maxUnmovedRows && !isReached(columns, row, bounds, prices)) {
    const said = strategy.ask(row);
    if (said !== undefined && !differsOnlyInPrices(said, target)) break;
    const has = said === undefined ? 'nothing new' : moveTo(said as Target, prices, bounds);
    if (has === 'something to do') break;
    if (has === 'moved') {
      signals.pushMoved(closesAt(row), decision + ++times, prices);
      last = row;
    }
    row++;
  }
  if (times === 0) return { to: row, moved: undefined };
  const signal = withPrices(target, prices);
  strategy.lastSignal = signal;
  return { to: row, moved: { signal, at: closesAt(last), times } };
}

/** Whether a kline opens at the horizon or later, or reaches a price at which something happens. */
function isReached(columns: Columns, row: number, bounds: Bounds, { stop }: Prices): boolean {
  const { below, above, stopOf, tick, horizon } = bounds;
  if ((columns.openTime[row] as number) >= horizon) return true;
  const bottom = bottomOf(columns, row);
  const top = topOf(columns, row);
  return (
    bottom <= below ||
    top >= above ||
    (stopOf === 'long' && bottom <= stop) ||
    (stopOf === 'short' && top >= stop - tick)
  );
}

/** Takes the prices of a target that differs in nothing else, where nothing has to be done for it. */
function moveTo(said: Target, prices: Prices, bounds: Bounds): 'moved' | 'nothing new' | 'something to do' {
  const [limit, stop, takeProfit] = [said.limit, said.stop, said.takeProfit] as (number | undefined)[];
  const isLimitMoved = limit !== undefined && limit !== prices.limit;
  const isTakeProfitMoved = takeProfit !== undefined && takeProfit !== prices.takeProfit;
  const isStopMoved = stop !== undefined && stop !== prices.stop;
  if (!isLimitMoved && !isTakeProfitMoved && !isStopMoved) return 'nothing new';
  if (!(isLimitMoved ? bounds.mayMoveLimit : bounds.mayMoveExits)) return 'something to do';
  if (isTakeProfitMoved && !bounds.mayMoveTakeProfit) return 'something to do';
  if (limit !== undefined) prices.limit = limit;
  if (stop !== undefined) prices.stop = stop;
  if (takeProfit !== undefined) prices.takeProfit = takeProfit;
  return 'moved';
}

/** Whether a target differs in nothing but prices from one that was checked; invalid prices are left to the check. */
const differsOnlyInPrices = (said: Signal, target: Target): boolean =>
  said.kind === 'target' &&
  said.reason === target.reason &&
  sameSize(said.size, target.size) &&
  !isSeveral(said.size) &&
  isSamePrice(said.limit, target.limit) &&
  isSamePrice(said.stop, target.stop) &&
  isSamePrice(said.takeProfit, target.takeProfit) &&
  said.trailing === target.trailing &&
  said.exitAfterMs === target.exitAfterMs &&
  said.clip === target.clip &&
  hasOnlyNumbers(said);

const isSamePrice = (price: unknown, known: unknown): boolean =>
  known === undefined
    ? price === undefined
    : typeof price === 'number' && price >= 0 && price < Number.POSITIVE_INFINITY;

const pricesOf = ({ limit, stop, takeProfit }: Target): Prices => ({
  limit: limit ?? Number.NaN,
  stop: typeof stop === 'number' ? stop : Number.NaN,
  takeProfit: typeof takeProfit === 'number' ? takeProfit : Number.NaN,
});

/** A target with other prices. */
const withPrices = (target: Target, { limit, stop, takeProfit }: Prices): Target => ({
  ...target,
  ...(target.limit !== undefined && { limit }),
  ...(target.stop !== undefined && { stop }),
  ...(target.takeProfit !== undefined && { takeProfit }),
});
