/** The protection of one position: the levels of a target, the resulting stop, and their form in the journal. */

import { closeTime, openTimeOf } from '../domain/interval.ts';
import type { Side } from '../domain/market.ts';
import {
  type Lots,
  lots,
  max,
  min,
  noLots,
  priceNumber,
  priceText,
  quantityText,
  type Rate,
  rate,
  rateText,
  type Ticks,
  ticks,
  ticksOf,
  worsened,
} from '../domain/money.ts';
import { type Size, sizeValue } from '../domain/order.ts';
import { timeExit } from '../domain/position.ts';
import { type ExitLevel, minuteOfDay } from '../domain/target-options.ts';
import { breakEvenOf, onLossSide, onProfitSide, type RelativeExits, sameRelative } from './relative-exits.ts';
import type { SubAccount } from './sub-account.ts';
import { noTakeProfits, partsOf, type TakeProfit } from './take-profits.ts';

/** A stop in force. */
export interface ArmedStop {
  readonly strategy: string;
  readonly symbol: string;
  /** The side of the order that would leave: SELL for a long position. */
  readonly side: Side;
  readonly price: Ticks;
}

/** A position as far as protection has to know it. */
export type GuardedSubAccount = Pick<
  SubAccount,
  | 'strategy'
  | 'instrument'
  | 'version'
  | 'entryNumber'
  | 'enteredAt'
  | 'entryTicks'
  | 'isFlat'
  | 'isEmpty'
  | 'isLong'
  | 'protectionChanges'
>;

export interface Guard {
  readonly subAccount: GuardedSubAccount;
  /** The target's size that these levels belong to; undefined where a journal has none. */
  size: Size | undefined;
  /** What a take-profit has sold of it. */
  taken: Lots;
  stop: Ticks | undefined;
  takeProfit: Ticks | undefined;
  trailing: Rate | undefined;
  /** Exits that are measured from the entry or the best price, as in force; distances that do not move are those of the entry. */
  relative: RelativeExits | undefined;
  /** Those of the latest signal, which are in force from the next entry on. */
  latest: RelativeExits | undefined;
  /** The position that `relative`, `even` and `best` are of, by its number; another one has those of `latest`, and begins anew. */
  keptFor: number;
  /** The best stop at break-even that was in force: it stays when the entry price moves away. */
  even: Ticks | undefined;
  /** How long the position may be held, ms. */
  exitAfterMs: number | undefined;
  /** The time of day at which it is left, such as `16:00`, UTC. */
  exitAt: string | undefined;
  /** How long after an exit nothing is entered, ms; and until when, UTC ms, after one that was. */
  reenterAfterMs: number | undefined;
  reenterAt: number | undefined;
  /** The best price since the position was entered, for a trailing stop and break-even. */
  best: Ticks | undefined;
  /** The price that gave `best`, as it was seen; NaN where nobody knows it. */
  seen: number;
  /** The size under which the position was left; while the strategy repeats it nothing is entered. */
  exitedSize: Size | undefined;
  exitedWhy: string | undefined;
  /** The stop in force at a version of its sub-account, worked out once; `reach` is its price as a number, NaN where there is none. */
  armed: ArmedStop | undefined;
  reach: number;
  armedAt: number;
}

/** Keeps the relative exits of the latest signal for a position that was entered since they were kept for one. */
export function keepAtEntry(guard: Guard): void {
  const { subAccount, latest } = guard;
  if (guard.keptFor === subAccount.entryNumber || subAccount.isFlat) return;
  guard.keptFor = subAccount.entryNumber;
  guard.relative = latest;
  guard.even = undefined;
  guard.best = undefined;
  guard.seen = Number.NaN;
}

export type SavedGuard = Readonly<Record<string, string | number | boolean>>;

/** Ms by which prints may be dated too early: exchanges give times in whole seconds. */
const roundedMs = 1_000;

/** No version of a sub-account. */
export const notYet = -1;
export const unarmed = { seen: Number.NaN, armed: undefined, reach: Number.NaN, armedAt: notYet };

/** Works out the stop of a guard, unless it is known: the nearer of the fixed and the trailing level. */
export function arm(guard: Guard): void {
  const { subAccount } = guard;
  if (guard.armedAt === subAccount.version) return;
  guard.armedAt = subAccount.version;
  keepAtEntry(guard);
  guard.armed = undefined;
  guard.reach = Number.NaN;
  if (guard.exitedSize !== undefined || subAccount.isFlat) return;
  const side: Side = subAccount.isLong ? 'SELL' : 'BUY';
  keepBreakEven(guard, side);
  const price = nearerOf(side, fixedStop(guard, side), trailedStop(guard, side));
  if (price === undefined) return;
  guard.armed = { strategy: subAccount.strategy, symbol: subAccount.instrument.symbol, side, price };
  guard.reach = priceNumber(price, subAccount.instrument);
}

function trailedStop(guard: Guard, side: Side): Ticks | undefined {
  const { trailing, relative, subAccount } = guard;
  const best = bestOf(guard);
  if (best === undefined) return undefined;
  if (relative?.trailing !== undefined) return onLossSide(side, best, relative.trailing, subAccount.instrument);
  return trailing === undefined ? undefined : worsened(side, best, trailing);
}

/** The stop of a held position that prices do not move: a price, one measured from the entry, or break-even once that was reached. */
export function fixedStop(guard: Guard, side: Side): Ticks | undefined {
  const { stop, relative, subAccount } = guard;
  if (relative === undefined) return stop;
  const at = subAccount.instrument;
  const own = relative.stop === undefined ? undefined : onLossSide(side, subAccount.entryTicks, relative.stop, at);
  return nearerOf(side, nearerOf(side, stop, own), relative.breakEven === undefined ? undefined : guard.even);
}

/** Keeps the stop of a break-even that is reached. An order that adds to the position can move its entry price beyond the best price again. */
export function keepBreakEven(guard: Guard, side: Side): void {
  keepAtEntry(guard);
  // While the position is being left no stop is in force.
  const even = guard.exitedSize === undefined ? pendingBreakEven(guard, side) : undefined;
  if (even?.isReached === true) guard.even = nearerOf(side, guard.even, even.stop);
}

/** The break-even of a held position; undefined where it has none. */
export function pendingBreakEven(guard: Guard, side: Side) {
  const { relative, subAccount } = guard;
  if (relative?.breakEven === undefined) return undefined;
  const { reached, stop } = breakEvenOf(side, subAccount.entryTicks, relative.breakEven, subAccount.instrument);
  const best = bestOf(guard);
  return { reached, stop, isReached: best !== undefined && (side === 'SELL' ? best >= reached : best <= reached) };
}

const nearerOf = (side: Side, a: Ticks | undefined, b: Ticks | undefined): Ticks | undefined =>
  a === undefined || b === undefined ? (a ?? b) : side === 'SELL' ? max(a, b) : min(a, b);

/** The prices at which a held position takes its profit, the nearest first. */
export function takeProfitsOf(guard: Guard): readonly TakeProfit[] {
  keepAtEntry(guard);
  const { takeProfit, relative, subAccount } = guard;
  if (subAccount.isEmpty) return noTakeProfits;
  if (relative?.parts === undefined && relative?.takeProfit === undefined)
    return takeProfit === undefined ? noTakeProfits : [{ at: takeProfit, share: undefined }];
  const side: Side = subAccount.isLong ? 'SELL' : 'BUY';
  const priceOf = (level: ExitLevel): Ticks =>
    typeof level === 'number'
      ? ticksOf(level, subAccount.instrument, 'down')
      : onProfitSide(side, subAccount.entryTicks, level, subAccount.instrument);
  const { takeProfit: only, parts } = relative;
  if (only !== undefined) return [{ at: priceOf(only), share: undefined }];
  return partsOf(
    side,
    (parts ?? []).map(({ at, share }) => ({ at: priceOf(at), share })),
  );
}

/** True where the best price since the entry matters. */
export const followsBest = ({ trailing, relative }: Guard): boolean =>
  trailing !== undefined || relative?.trailing !== undefined || relative?.breakEven !== undefined;

/** True where something would leave the position. */
export const protects = ({ exitedSize, stop, trailing, relative, exitAfterMs, exitAt }: Guard): boolean =>
  exitedSize !== undefined ||
  stop !== undefined ||
  trailing !== undefined ||
  relative?.stop !== undefined ||
  relative?.trailing !== undefined ||
  relative?.breakEven !== undefined ||
  exitAfterMs !== undefined ||
  exitAt !== undefined;

/** The best price that was seen of the position held now; that of a position before it counts no more. */
export const bestOf = ({ best, subAccount, keptFor }: Guard): Ticks | undefined =>
  best === undefined || keptFor !== subAccount.entryNumber || subAccount.isFlat ? undefined : best;

/** An exit keeps it from being entered again, or still leaves it. */
export const isWaiting = ({ exitedSize, reenterAt }: Guard): boolean =>
  exitedSize !== undefined && reenterAt !== undefined;

/** When it may be entered again after an exit, UTC ms; infinity where it may already, or is still being left. */
export const reenterTime = ({ reenterAt, subAccount }: Guard): number =>
  reenterAt === undefined || !subAccount.isFlat ? Number.POSITIVE_INFINITY : reenterAt;

/** When a position must be left whatever its price, UTC ms; infinity where no time is set. */
export function exitTime({ exitAfterMs, exitAt, exitedSize, subAccount }: Guard): number {
  if ((exitAfterMs === undefined && exitAt === undefined) || exitedSize !== undefined || subAccount.isFlat)
    return Number.POSITIVE_INFINITY;
  return Math.min(
    subAccount.enteredAt + (exitAfterMs ?? Number.POSITIVE_INFINITY),
    nextTimeOfDay(exitAt, subAccount.enteredAt),
  );
}

/** The first time of day after UTC ms. */
function nextTimeOfDay(text: string | undefined, after: number): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const midnight = openTimeOf('1day', after);
  const afterMidnightMs = minuteOfDay(text) * 60_000;
  return (midnight + afterMidnightMs > after ? midnight : closeTime('1day', midnight)) + afterMidnightMs;
}

/** Why a position is left at its exit time. */
export const exitTimeText = ({ exitAfterMs, exitAt, subAccount }: Guard): string =>
  exitAfterMs !== undefined && subAccount.enteredAt + exitAfterMs <= nextTimeOfDay(exitAt, subAccount.enteredAt)
    ? `${timeExit}: held for ${exitAfterMs / 1_000} s`
    : `${timeExit}: ${exitAt} UTC`;

/** True of a print from before the position was entered; both times are the exchange's. */
export const isBefore = (time: number, { enteredAt }: GuardedSubAccount): boolean => time + roundedMs < enteredAt;

export function saved(guard: Guard): SavedGuard {
  const at = guard.subAccount.instrument;
  const out: Record<string, string> = { size: guard.size === undefined ? '' : JSON.stringify(guard.size) };
  if (guard.taken > 0n) out['taken'] = quantityText(guard.taken, at);
  if (guard.stop !== undefined) out['stop'] = priceText(guard.stop, at);
  if (guard.takeProfit !== undefined) out['takeProfit'] = priceText(guard.takeProfit, at);
  if (guard.best !== undefined) out['best'] = priceText(guard.best, at);
  if (guard.trailing !== undefined) out['trailing'] = rateText(guard.trailing);
  if (guard.latest !== undefined) {
    out['latest'] = JSON.stringify(guard.latest);
    out['relative'] = JSON.stringify(guard.relative);
  }
  if (guard.even !== undefined) out['even'] = priceText(guard.even, at);
  // By the time of its entry: the numbers of positions begin anew with each start.
  const isOfOne = guard.best !== undefined || guard.even !== undefined || guard.latest !== undefined;
  if (isOfOne && guard.keptFor === guard.subAccount.entryNumber) out['keptFor'] = String(guard.subAccount.enteredAt);
  if (guard.exitAfterMs !== undefined) out['exitAfterMs'] = String(guard.exitAfterMs);
  if (guard.exitAt !== undefined) out['exitAt'] = guard.exitAt;
  if (guard.reenterAfterMs !== undefined) out['reenterAfterMs'] = String(guard.reenterAfterMs);
  if (guard.reenterAt !== undefined) out['reenterAt'] = String(guard.reenterAt);
  if (guard.exitedSize !== undefined) out['exitedSize'] = JSON.stringify(guard.exitedSize);
  if (guard.exitedWhy !== undefined) out['exitedWhy'] = guard.exitedWhy;
  return out;
}

const sizeOf = (text: string | undefined): Size | undefined =>
  text === undefined || text === '' ? undefined : (JSON.parse(text) as Size);

/** A guard from a journal; levels that are finer than the exchange takes now are rounded down. */
export function restored(saved: SavedGuard, subAccount: GuardedSubAccount): Guard {
  const at = subAccount.instrument;
  const text = (name: string): string | undefined => (saved[name] === undefined ? undefined : String(saved[name]));
  const level = (name: string): Ticks | undefined => {
    const price = text(name);
    return price === undefined ? undefined : ticks(price, at, 'down');
  };
  const [trailing, taken] = [text('trailing'), text('taken')];
  const exits = (name: string): RelativeExits | undefined => {
    const json = text(name);
    return json === undefined ? undefined : (JSON.parse(json) as RelativeExits);
  };
  const number = (name: string): number | undefined => (saved[name] === undefined ? undefined : Number(saved[name]));
  return {
    subAccount,
    size: sizeOf(text('size')),
    taken: taken === undefined ? noLots : lots(taken, at, 'down'),
    ...{ stop: level('stop'), takeProfit: level('takeProfit'), best: level('best'), even: level('even') },
    trailing: trailing === undefined ? undefined : rate(trailing),
    relative: exits('relative'),
    latest: exits('latest'),
    keptFor: number('keptFor') === subAccount.enteredAt ? subAccount.entryNumber : notYet,
    ...{ exitAfterMs: number('exitAfterMs'), exitAt: text('exitAt') },
    ...{ reenterAfterMs: number('reenterAfterMs'), reenterAt: number('reenterAt') },
    ...{ exitedSize: sizeOf(text('exitedSize')), exitedWhy: text('exitedWhy') },
    ...unarmed,
  };
}

/** The levels of a guard that a signal sets. */
export type GuardLevels = Pick<
  Guard,
  | 'stop'
  | 'takeProfit'
  | 'trailing'
  | 'relative'
  | 'latest'
  | 'keptFor'
  | 'even'
  | 'exitAfterMs'
  | 'exitAt'
  | 'reenterAfterMs'
  | 'best'
>;

/** True if a signal changes nothing. */
export const isUnchanged = (known: Guard, levels: GuardLevels): boolean =>
  levels.stop === known.stop &&
  levels.takeProfit === known.takeProfit &&
  levels.trailing === known.trailing &&
  sameRelative(levels.relative, known.relative) &&
  sameRelative(levels.latest, known.latest) &&
  levels.exitAfterMs === known.exitAfterMs &&
  levels.exitAt === known.exitAt &&
  levels.reenterAfterMs === known.reenterAfterMs &&
  levels.best === known.best;

/** Takes the levels of a signal over. */
export function move(known: Guard, levels: GuardLevels): void {
  // Spelt out: a stop that moves with each of a million klines comes through here.
  known.stop = levels.stop;
  known.takeProfit = levels.takeProfit;
  known.trailing = levels.trailing;
  known.relative = levels.relative;
  known.latest = levels.latest;
  known.keptFor = levels.keptFor;
  known.even = levels.even;
  known.exitAfterMs = levels.exitAfterMs;
  known.exitAt = levels.exitAt;
  known.reenterAfterMs = levels.reenterAfterMs;
  known.best = levels.best;
  known.seen = Number.NaN;
  known.armedAt = notYet;
}

/** Why nothing may be entered yet after an exit; undefined where it may. */
export const waitText = ({ reenterAt, subAccount }: Guard, size: Size): string | undefined =>
  reenterAt === undefined || !subAccount.isFlat || sizeValue(size) === 0
    ? undefined
    : `no entry before ${new Date(reenterAt).toISOString()}: time after an exit`;
