/**
 * Protection of positions: stops, trailing stops, time exits and take-profits that a target carries. Take-profits rest at the
 * exchange as LIMIT orders; stops and times are watched here (the interface has no stop orders) and kept in the journal, so that they are back in
 * force before anything new is created.
 *
 * A position that protection closed stays closed while the strategy repeats the same target size: only another size enters
 * again. Otherwise the next kline would buy back what the stop has just sold.
 */

import type { Kline } from '../domain/market.ts';
import { type Lots, max, min, noLots, plus, rateOf, type Ticks, ticksOf } from '../domain/money.ts';
import { type Size, sameSize, sizeValue, type Target } from '../domain/order.ts';
import { sameLevel, sameTakeProfit } from '../domain/target-options.ts';
import { ByPosition } from './by-position.ts';
import {
  type ArmedStop,
  arm,
  bestOf,
  exitTime,
  exitTimeText,
  followsBest,
  type Guard,
  type GuardedSubAccount,
  isBefore,
  isUnchanged,
  isWaiting,
  keepAtEntry,
  keepBreakEven,
  move,
  notYet,
  protects,
  reenterTime,
  restored,
  type SavedGuard,
  saved,
  takeProfitsOf,
  unarmed,
  waitText,
} from './guard.ts';
import { noOverride, type ProtectionOverride } from './plan.ts';
import { frozenAs, relativeOf } from './relative-exits.ts';
import { type Levels, narrowedBy, noLevels } from './stop-levels.ts';
import { isLastTaken, noTakeProfits } from './take-profits.ts';

export type { ArmedStop, SavedGuard } from './guard.ts';

/** A position that was held for as long as it may be. */
export interface Overdue {
  readonly strategy: string;
  readonly symbol: string;
  readonly why: string;
}

/** `saved` gives what a journal keeps: null where nothing is protected any more. */
export type ProtectionChanged = (strategy: string, symbol: string, saved: () => SavedGuard | null) => void;

/** Where positions are found. */
interface SubAccounts {
  subAccount(strategy: string, symbol: string): GuardedSubAccount;
}

const noStops: readonly ArmedStop[] = [];
const nobody: readonly string[] = [];
/** True for a target without anything that protects. */
export const isPlain = (target: Target): boolean =>
  target.stop === undefined &&
  target.takeProfit === undefined &&
  target.trailing === undefined &&
  target.exitAfterMs === undefined &&
  target.exitAt === undefined &&
  target.breakEven === undefined &&
  target.reenterAfterMs === undefined;
const noGuard = (): null => null;

const isNothing = (size: Size): boolean => sizeValue(size) === 0;

export class Protection {
  readonly #portfolio: SubAccounts;
  readonly #changed: ProtectionChanged;
  readonly #guards = new ByPosition<Guard>();

  /** `changed` is called with every change that a restart must know. */
  constructor(portfolio: SubAccounts, changed: ProtectionChanged) {
    this.#portfolio = portfolio;
    this.#changed = changed;
  }

  /** Takes a target's levels into force. Levels of the same size may move; a new size starts afresh. */
  follow(strategy: string, symbol: string, target: Target): void {
    const known = this.#guards.get(strategy, symbol);
    const plain = isPlain(target);
    if (known === undefined && plain) return;
    const { size } = target;
    const subAccount = known?.subAccount ?? this.#portfolio.subAccount(strategy, symbol);
    const isSame = known !== undefined && sameSize(known.size, size);
    // Leaving: the old stop stays in force until the position is gone, whatever delays the exit; what was taken is forgotten.
    if (plain && known?.exitedSize === undefined && isNothing(size) && !subAccount.isFlat) {
      if (known !== undefined && !isSame) this.#keep(strategy, symbol, { ...known, size, taken: noLots });
      return;
    }
    const at = subAccount.instrument;
    if (known !== undefined && !subAccount.isFlat) keepBreakEven(known, subAccount.isLong ? 'SELL' : 'BUY');
    const { stop, takeProfit, trailing, exitAfterMs, exitAt, reenterAfterMs } = target;
    // A position that must be left before anything may be entered again is left whatever the target is.
    const isLeft =
      known !== undefined && (sameSize(known.exitedSize, size) || (isWaiting(known) && !subAccount.isFlat));
    const latest = relativeOf(target);
    const levels = {
      stop: typeof stop === 'number' ? ticksOf(stop, at, 'down') : undefined,
      takeProfit: typeof takeProfit === 'number' ? ticksOf(takeProfit, at, 'down') : undefined,
      trailing: typeof trailing === 'number' ? rateOf(trailing) : undefined,
      relative: subAccount.isFlat || known === undefined ? latest : frozenAs(known.relative, latest),
      latest,
      keptFor: subAccount.isFlat ? notYet : subAccount.entryNumber,
      even: subAccount.isFlat ? undefined : known?.even,
      exitAfterMs,
      exitAt,
      reenterAfterMs,
      best: known === undefined ? undefined : bestOf(known),
    };
    // What leaves a position moved, or a take-profit of none: nothing has to be planned anew.
    const isSmall =
      (levels.takeProfit === known?.takeProfit &&
        sameLevel(levels.relative?.takeProfit, known?.relative?.takeProfit) &&
        sameTakeProfit(levels.relative?.parts, known?.relative?.parts)) ||
      subAccount.isEmpty;
    if (isSame && isSmall && isLeft === (known.exitedSize !== undefined)) {
      if (isUnchanged(known, levels)) return;
      if (!plain || known.taken > 0n || isLeft || known.reenterAt !== undefined || !subAccount.isFlat) {
        move(known, levels);
        this.#save(strategy, symbol, known);
        return;
      }
    }
    const guard: Guard = {
      subAccount,
      size,
      taken: isSame ? known.taken : noLots,
      ...levels,
      exitedSize: isLeft ? size : undefined,
      exitedWhy: isLeft ? known.exitedWhy : undefined,
      reenterAt: known?.reenterAt,
      ...unarmed,
    };
    const isOver = !isLeft && guard.taken === 0n && guard.reenterAt === undefined && subAccount.isFlat;
    if (plain && isOver) this.#drop(strategy, symbol);
    else this.#keep(strategy, symbol, guard);
  }

  /** How protection changes a target at this moment. */
  override(strategy: string, symbol: string, target: Target): ProtectionOverride {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return noOverride;
    const { size } = target;
    const left = sameSize(guard.exitedSize, size);
    return {
      takeProfits: left ? noTakeProfits : takeProfitsOf(guard),
      exit: left ? (guard.exitedWhy ?? 'left') : waitText(guard, size),
      taken: sameSize(guard.size, size) ? guard.taken : noLots,
    };
  }

  /** True when something on this symbol may be protected: then each of its prices matters. */
  guards(symbol: string): boolean {
    return this.#guards.on(symbol).length > 0;
  }

  /** Stops in force on a symbol: those of positions that are held. */
  stops(symbol: string): readonly ArmedStop[] {
    let armed: readonly ArmedStop[] = noStops;
    for (const { value } of this.#guards.on(symbol)) {
      arm(value);
      if (value.armed !== undefined) armed = armed === noStops ? [value.armed] : [...armed, value.armed];
    }
    return armed;
  }

  /** Whether a kline reaches a stop in force; recorded klines may open beyond their own extremes. */
  isStopReached(symbol: string, { open, high, low }: Pick<Kline, 'open' | 'high' | 'low'>): boolean {
    for (const { value } of this.#guards.on(symbol)) {
      arm(value);
      const { armed, reach } = value;
      if (armed === undefined) continue;
      if (armed.side === 'SELL' ? low <= reach || open <= reach : high >= reach || open >= reach) return true;
    }
    return false;
  }

  /** Whether anything on a symbol has a stop that prices move. */
  isTrailing(symbol: string): boolean {
    for (const { value } of this.#guards.on(symbol)) if (followsBest(value)) return true;
    return false;
  }

  /** Moves trailing stops by a price that was seen, those that buy by `forBuys`; nothing triggers here. `time` as of `hitBy`. */
  trail(symbol: string, price: number, forBuys = price, time = Number.POSITIVE_INFINITY): void {
    for (const { strategy, value: guard } of this.#guards.on(symbol)) {
      const { subAccount } = guard;
      if (!followsBest(guard) || isBefore(time, subAccount)) continue;
      const { isFlat, isLong, instrument } = subAccount;
      const value = isLong ? price : forBuys;
      keepAtEntry(guard);
      // Most prices are no better than the best.
      if (!isFlat && (isLong ? value <= guard.seen : value >= guard.seen)) continue;
      const seen = ticksOf(value, instrument, isLong ? 'down' : 'up');
      const before = bestOf(guard);
      const further = before === undefined ? seen : isLong ? max(before, seen) : min(before, seen);
      const best = isFlat ? undefined : further;
      guard.seen = best === seen ? value : Number.NaN;
      if (best === guard.best) continue;
      guard.best = best;
      guard.armedAt = notYet;
      if (!isFlat) keepBreakEven(guard, isLong ? 'SELL' : 'BUY');
      this.#save(strategy, symbol, guard);
    }
  }

  /**
   * The stops that a price at or beyond them triggers, those that buy by `forBuys`. `time` is the print's own, UTC ms of the exchange: what
   * was missed in a break comes after it, and a price from before a position was entered is none of its own.
   */
  hitBy(symbol: string, price: number, forBuys = price, time = Number.POSITIVE_INFINITY): readonly ArmedStop[] {
    const armed = this.stops(symbol);
    if (armed.length === 0) return armed;
    return armed.filter((stop) => {
      const subAccount = this.#portfolio.subAccount(stop.strategy, symbol);
      if (isBefore(time, subAccount)) return false;
      const at = subAccount.instrument;
      return stop.side === 'SELL' ? ticksOf(price, at, 'up') <= stop.price : ticksOf(forBuys, at, 'down') >= stop.price;
    });
  }

  /** Positions of a symbol that were held for as long as they may be, at UTC ms. */
  overdue(symbol: string, now: number): readonly Overdue[] {
    return this.#guards.on(symbol).flatMap(({ strategy, value: guard }) => {
      if (!(exitTime(guard) <= now)) return [];
      return [{ strategy, symbol, why: exitTimeText(guard) }];
    });
  }

  /** When the first position on a symbol must be exited, or may be entered again, UTC ms; infinity where no time is set. */
  exitDue(symbol: string): number {
    let due = Number.POSITIVE_INFINITY;
    for (const { value } of this.#guards.on(symbol)) due = Math.min(due, exitTime(value), reenterTime(value));
    return due;
  }

  /** Lets be entered what an exit kept from it, at UTC ms, and returns whose it is. */
  release(symbol: string, now: number): readonly string[] {
    let released: readonly string[] = nobody;
    for (const { strategy, value: guard } of this.#guards.on(symbol)) {
      if (!(reenterTime(guard) <= now)) continue;
      guard.reenterAt = undefined;
      guard.exitedSize = undefined;
      guard.exitedWhy = undefined;
      guard.taken = noLots;
      guard.subAccount.protectionChanges++;
      this.#save(strategy, symbol, guard);
      released = [...released, strategy];
    }
    return released;
  }

  /**
   * The stops in force on a symbol as numbers: fixed ones act at prices at or beyond `below` and `above`, those that trail by their best price
   * so far. undefined before the first price of one that follows the best price.
   */
  levels(symbol: string): Levels | undefined {
    let levels = noLevels;
    for (const { value: guard } of this.#guards.on(symbol)) {
      const narrowed = narrowedBy(guard, levels);
      if (narrowed === undefined) return undefined;
      levels = narrowed;
    }
    return levels;
  }

  /** True where a held position has something that would leave it: a stop, a trailing stop or a time. */
  isGuarded(strategy: string, symbol: string): boolean {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined || guard.subAccount.isFlat) return false;
    return protects(guard);
  }

  /** The position must be closed, and stay closed while the target size stays the same, or until it may be entered again. `now` in UTC ms. */
  exit(strategy: string, symbol: string, size: Size, why: string, now: number): void {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return;
    guard.subAccount.protectionChanges++;
    // A time that is left from an exit before says nothing about this one.
    guard.reenterAt = guard.reenterAfterMs === undefined ? undefined : now + guard.reenterAfterMs;
    guard.exitedSize = size;
    guard.exitedWhy = why;
    guard.best = undefined;
    guard.seen = Number.NaN;
    guard.armedAt = notYet;
    this.#save(strategy, symbol, guard);
  }

  /** Makes a position that nothing protects one that can be exited: an exchange may liquidate it all the same. */
  guard(strategy: string, symbol: string, size: Size): void {
    if (this.#guards.get(strategy, symbol) !== undefined) return;
    const subAccount = this.#portfolio.subAccount(strategy, symbol);
    subAccount.protectionChanges++;
    this.#guards.set(strategy, symbol, {
      subAccount,
      size,
      taken: noLots,
      ...{ stop: undefined, takeProfit: undefined, trailing: undefined, relative: undefined, best: undefined },
      ...{ latest: undefined, keptFor: notYet, even: undefined, exitAfterMs: undefined, exitAt: undefined },
      ...{ reenterAfterMs: undefined, reenterAt: undefined },
      ...{ exitedSize: undefined, exitedWhy: undefined },
      ...unarmed,
    });
  }

  /** The trailing stops on a symbol whose positions were entered later than UTC ms `openTime`, by their strategies. */
  trailingSince(symbol: string, openTime: number): readonly string[] {
    let found: readonly string[] = nobody;
    for (const { strategy, value } of this.#guards.on(symbol)) {
      const { subAccount } = value;
      if (followsBest(value) && subAccount.enteredAt > openTime && !subAccount.isFlat) found = [...found, strategy];
    }
    return found;
  }

  /** A trailing stop begins anew with this price. */
  trailFrom(strategy: string, symbol: string, best: Ticks): void {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return;
    keepAtEntry(guard);
    guard.best = best;
    guard.seen = Number.NaN;
    guard.armedAt = notYet;
  }

  /** A take-profit sold so much. */
  tookProfit(strategy: string, symbol: string, quantity: Lots): void {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return;
    guard.subAccount.protectionChanges++;
    guard.taken = plus(guard.taken, quantity);
    this.#save(strategy, symbol, guard);
  }

  /** Whether the take-profits of a target of so many lots have closed its position, but for a rest that no order can sell. */
  hasTakenAll(strategy: string, symbol: string, targetLots: Lots): boolean {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined || guard.subAccount.isFlat) return true;
    return isLastTaken(takeProfitsOf(guard), targetLots, guard.taken, guard.subAccount.instrument);
  }

  /** True while a position that protection left is still held. */
  isExiting(strategy: string, symbol: string): boolean {
    const guard = this.#guards.get(strategy, symbol);
    return guard?.exitedSize !== undefined && !guard.subAccount.isFlat;
  }

  /** Why protection leaves a position; empty where it does not. */
  exitReason(strategy: string, symbol: string): string {
    return this.#guards.get(strategy, symbol)?.exitedWhy ?? '';
  }

  /** Puts back what a journal kept. */
  restore(strategy: string, symbol: string, saved: SavedGuard): void {
    const subAccount = this.#portfolio.subAccount(strategy, symbol);
    subAccount.protectionChanges++;
    this.#guards.set(strategy, symbol, restored(saved, subAccount));
  }

  #keep(strategy: string, symbol: string, guard: Guard): void {
    guard.subAccount.protectionChanges++;
    this.#guards.set(strategy, symbol, guard);
    this.#save(strategy, symbol, guard);
  }

  #drop(strategy: string, symbol: string): void {
    this.#portfolio.subAccount(strategy, symbol).protectionChanges++;
    this.#guards.delete(strategy, symbol);
    this.#changed(strategy, symbol, noGuard);
  }

  #save(strategy: string, symbol: string, guard: Guard): void {
    this.#changed(strategy, symbol, () => saved(guard));
  }
}
