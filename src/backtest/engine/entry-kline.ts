/** The kline in which a position was entered, by ruleset: when its stop can be hit, and when its take-profit rests. */
import { max, min, ticksOf } from '../../domain/money.ts';
import type { Leg } from '../../domain/order.ts';
import type { Stop } from '../../fill/orders.ts';
import type { Rules } from '../../fill/rules.ts';
import type { Planner } from '../../portfolio/planner.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { ArmedStop, Protection } from '../../portfolio/protection.ts';

/** Positions, their signals and their protection. */
export interface Holders {
  readonly portfolio: Portfolio;
  readonly planner: Planner;
  readonly protection: Protection;
}

/** The stops on a symbol that a kline which opens at UTC ms may set off. */
export function armedStops(
  symbol: string,
  openTime: number,
  { stopsFrom }: Pick<Rules, 'stopsFrom'>,
  { portfolio, planner, protection }: Holders,
): readonly ArmedStop[] {
  let armed: readonly ArmedStop[] = protection.stops(symbol);
  for (const stop of armed)
    if (!isArmed(stop, openTime, stopsFrom, { portfolio, planner })) armed = armed.filter((one) => one !== stop);
  return armed;
}

function isArmed(
  { strategy, symbol }: ArmedStop,
  openTime: number,
  stopsFrom: Rules['stopsFrom'],
  { portfolio, planner }: Pick<Holders, 'portfolio' | 'planner'>,
): boolean {
  const signal = planner.standing(strategy, symbol)?.signal;
  // The stop of a former target leaves nothing while quotes are in force.
  if (signal?.kind !== 'target') return false;
  const enteredAt = portfolio.enteredAt(strategy, symbol);
  return (
    enteredAt < openTime ||
    stopsFrom === 'entry' ||
    (stopsFrom === 'marketEntry' && enteredAt === openTime && signal.limit === undefined)
  );
}

/** A stop, or the liquidation, of a position that this kline entered, with the take-profit that does not rest yet. */
export function withSoon<T extends ArmedStop>(
  stop: T,
  openTime: number,
  { marketAt, targetsFrom }: Pick<Rules, 'marketAt' | 'targetsFrom'>,
  { portfolio, planner, protection }: Holders,
): T & Stop {
  const { strategy, symbol } = stop;
  const enteredAt = portfolio.enteredAt(strategy, symbol);
  // What was entered at the close before has its target by now.
  const isResting = targetsFrom === 'entry' || (marketAt === 'close' && enteredAt === openTime);
  if (enteredAt < openTime || isResting) return stop;
  const signal = planner.standing(strategy, symbol)?.signal;
  if (signal?.kind !== 'target') return stop;
  const [nearest] = protection.override(strategy, symbol, signal).takeProfits;
  return nearest === undefined ? stop : { ...stop, soon: nearest.at };
}

/** The signals of positions that a MARKET order entered at UTC ms `at` and whose take-profit should rest from now on. */
export function withTargets(symbol: string, at: number, { portfolio, planner }: Holders): readonly Leg[] {
  return portfolio.subAccountsOn(symbol).flatMap(({ strategy, value: subAccount }) => {
    if (subAccount.enteredAt !== at || subAccount.isFlat) return [];
    const leg = planner.standing(strategy, symbol);
    if (leg?.signal.kind !== 'target') return [];
    const { takeProfit, limit } = leg.signal;
    return takeProfit !== undefined && limit === undefined ? [leg] : [];
  });
}

/** A kline as far as it moves trailing stops. */
interface Moving {
  readonly openTime: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

/** Positions that are there at the open begin with it: the rest of the kline comes after. */
export const trailOpen = (symbol: string, { open }: Moving, { protection }: Pick<Holders, 'protection'>): void =>
  protection.trail(symbol, open);

/**
 * Positions that a resting order entered inside a kline begin with its price, or with the open where that was better. Each is put back by
 * itself: a price that moves all of a symbol would give the stop of one strategy the entry of another.
 */
export function trailEntry(
  symbol: string,
  { openTime, open }: Moving,
  { portfolio, planner, protection }: Holders,
): void {
  const at = portfolio.instrument(symbol);
  for (const strategy of protection.trailingSince(symbol, openTime)) {
    // What quotes enter is under no stop: one begins where a target asks for it.
    if (planner.standing(strategy, symbol)?.signal.kind !== 'target') continue;
    const isLong = portfolio.position(strategy, symbol).base > 0n;
    const opened = ticksOf(open, at, isLong ? 'down' : 'up');
    const price = portfolio.enteredPrice(strategy, symbol);
    protection.trailFrom(strategy, symbol, isLong ? min(opened, price) : max(opened, price));
  }
}

/** Moves trailing stops by a kline. If the position was entered inside it, only the close counts: the extremes may precede the entry. */
export function trailClose(symbol: string, kline: Moving, { protection }: Pick<Holders, 'protection'>): void {
  const { openTime, high, low, close } = kline;
  protection.trail(symbol, high, high, openTime);
  protection.trail(symbol, low, low, openTime);
  protection.trail(symbol, close);
}
