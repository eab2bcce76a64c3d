/**
 * Protection of positions: stops, trailing stops, time exits and take-profits that a target carries. Take-profits rest at the
 * exchange as LIMIT orders; stops and times are watched here (the interface has no stop orders) and kept in the journal, so that they are back in
 * force before anything new is created.
 *
 * A position that protection closed stays closed while the strategy goes on wishing the same goal: only another goal enters
 * again. Otherwise the next kline would buy back what the stop has just sold.
 */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  type Lots,
  lots,
  noLots,
  plus,
  priceNumber,
  priceText,
  quantityText,
  type Rate,
  rate,
  rateNumber,
  rateOf,
  rateText,
  type Ticks,
  ticks,
  ticksOf,
  worsened,
} from '../domain/money.ts';
import { type Size, sameSize, sizeValue, type Target } from '../domain/order.ts';
import { ByPosition } from './by-position.ts';
import { noOverride, type ProtectionOverride } from './plan.ts';
import type { Portfolio } from './portfolio.ts';

/** A stop in force. */
export interface ArmedStop {
  readonly strategy: string;
  readonly symbol: string;
  /** The side of the order that would leave: SELL for a long position. */
  readonly side: Side;
  readonly price: Ticks;
}

/** A trailing stop as numbers: it lies the fraction `by` behind the best price. */
export interface Trail {
  readonly side: Side;
  best: number;
  readonly by: number;
}

/** A position that was held for as long as it may be. */
export interface Overdue {
  readonly strategy: string;
  readonly symbol: string;
  readonly why: string;
}

interface Guard {
  /** The goal that these levels belong to; undefined where a journal did not say. */
  readonly size: Size | undefined;
  /** What a take-profit has sold of it. */
  taken: Lots;
  stop: Ticks | undefined;
  takeProfit: Ticks | undefined;
  trailing: Rate | undefined;
  /** How long the position may be held, ms. */
  exitAfterMs: number | undefined;
  /** The best price since the position was entered, for a trailing stop, and which position that was: the next one starts anew. */
  best: Ticks | undefined;
  entry: number;
  /** The goal under which the position was left; while the strategy repeats it nothing is entered. */
  leftSize: Size | undefined;
  leftWhy: string | undefined;
}

/** `saved` gives what a journal keeps: null where nothing is protected any more. */
export type ProtectionChanged = (strategy: string, symbol: string, saved: () => SavedGuard | null) => void;

export type SavedGuard = Readonly<Record<string, string | number | boolean>>;

/** Ms by which prints may be dated too early: exchanges give times in whole seconds. */
const roundedMs = 1_000;

const noStops: readonly ArmedStop[] = [];
const noTrails: readonly Trail[] = [];
const noneOverdue: readonly Overdue[] = [];
/** True for a target without anything that protects. */
export const isPlain = ({ stop, takeProfit, trailing, exitAfterMs }: Target): boolean =>
  stop === undefined && takeProfit === undefined && trailing === undefined && exitAfterMs === undefined;
const noGuard = (): null => null;
const sizeOf = (text: string | undefined): Size | undefined =>
  text === undefined || text === '' ? undefined : (JSON.parse(text) as Size);
const isNothing = (size: Size): boolean => sizeValue(size) === 0;

export class Protection {
  /** Grows whenever what protection makes of a target may change; a trailing stop that moves does not. */
  revision = 0;
  readonly #portfolio: Portfolio;
  readonly #changed: ProtectionChanged;
  readonly #guards = new ByPosition<Guard>();

  /** `changed` is called with every change that a restart must know. */
  constructor(portfolio: Portfolio, changed: ProtectionChanged) {
    this.#portfolio = portfolio;
    this.#changed = changed;
  }

  /** Takes a target's levels into force. Levels of the same goal may move; a new goal starts afresh. */
  follow(strategy: string, symbol: string, target: Target): void {
    const known = this.#guards.get(strategy, symbol);
    const plain = isPlain(target);
    if (known === undefined && plain) return;
    const { size } = target;
    // Leaving: the old stop stays in force until the position is gone, whatever delays the exit; what was taken is forgotten.
    if (plain && known?.leftSize === undefined && isNothing(target.size) && !this.#isFlat(strategy, symbol)) {
      if (known !== undefined && !sameSize(known.size, size))
        this.#keep(strategy, symbol, { ...known, size, taken: noLots });
      return;
    }
    const at = this.#portfolio.instrument(symbol);
    const left = known !== undefined && sameSize(known.leftSize, size) ? known : undefined;
    const guard: Guard = {
      size,
      taken: known !== undefined && sameSize(known.size, size) ? known.taken : noLots,
      stop: target.stop === undefined ? undefined : ticksOf(target.stop, at, 'down'),
      takeProfit: target.takeProfit === undefined ? undefined : ticksOf(target.takeProfit, at, 'down'),
      trailing: target.trailing === undefined ? undefined : rateOf(target.trailing),
      exitAfterMs: target.exitAfterMs,
      best: this.#best(strategy, symbol, known),
      entry: this.#portfolio.entries(strategy, symbol),
      leftSize: left?.leftSize,
      leftWhy: left?.leftWhy,
    };
    if (known !== undefined && same(known, guard)) return;
    const isOver = left === undefined && guard.taken === 0n && this.#isFlat(strategy, symbol);
    if (plain && isOver) this.#drop(strategy, symbol);
    else this.#keep(strategy, symbol, guard);
  }

  /** How a target is bent at this moment. */
  override(strategy: string, symbol: string, target: Target): ProtectionOverride {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return noOverride;
    const { size } = target;
    const left = sameSize(guard.leftSize, size);
    return {
      takeProfit: left ? undefined : guard.takeProfit,
      leave: left ? (guard.leftWhy ?? 'left') : undefined,
      taken: sameSize(guard.size, size) ? guard.taken : noLots,
    };
  }

  /** True when something on this symbol may be protected: then its prices must be looked at. */
  guards(symbol: string): boolean {
    return this.#guards.on(symbol).size > 0;
  }

  /** Stops in force on a symbol: those of positions that are held. */
  stops(symbol: string): readonly ArmedStop[] {
    const guards = this.#guards.on(symbol);
    if (guards.size === 0) return noStops;
    const armed: ArmedStop[] = [];
    for (const [strategy, guard] of guards) {
      if (guard.leftSize !== undefined || this.#isFlat(strategy, symbol)) continue;
      const side: Side = this.#portfolio.position(strategy, symbol).base > 0n ? 'SELL' : 'BUY';
      const price = levelOf(guard, this.#best(strategy, symbol, guard), side);
      if (price !== undefined) armed.push({ strategy, symbol, side, price });
    }
    return armed;
  }

  /** Moves trailing stops by a price that was seen, those that buy by `forBuys`; nothing triggers here. `time` as of `hitBy`. */
  trail(symbol: string, price: number, forBuys = price, time = Number.POSITIVE_INFINITY): void {
    for (const [strategy, guard] of this.#guards.on(symbol)) {
      if (guard.trailing === undefined || this.#isBefore(time, strategy, symbol)) continue;
      const isLong = this.#portfolio.position(strategy, symbol).base > 0n;
      const seen = ticksOf(isLong ? price : forBuys, this.#portfolio.instrument(symbol), isLong ? 'down' : 'up');
      const before = this.#best(strategy, symbol, guard);
      const further = before === undefined ? seen : isLong ? max(before, seen) : min(before, seen);
      const best = this.#isFlat(strategy, symbol) ? undefined : further;
      guard.entry = this.#portfolio.entries(strategy, symbol);
      if (best === guard.best) continue;
      guard.best = best;
      this.#save(strategy, symbol, guard);
    }
  }

  /**
   * The stops that a price at or beyond them triggers, those that buy by `forBuys`. `time` is the print's own, UTC ms of the exchange: what
   * was missed in a break is told after it, and a price from before a position was entered is none of its own.
   */
  hitBy(symbol: string, price: number, forBuys = price, time = Number.POSITIVE_INFINITY): readonly ArmedStop[] {
    const armed = this.stops(symbol);
    if (armed.length === 0) return armed;
    const at = this.#portfolio.instrument(symbol);
    return armed.filter(
      (stop) =>
        !this.#isBefore(time, stop.strategy, symbol) &&
        (stop.side === 'SELL' ? ticksOf(price, at, 'up') <= stop.price : ticksOf(forBuys, at, 'down') >= stop.price),
    );
  }

  /** Positions of a symbol that were held for as long as they may be, at UTC ms. */
  overdue(symbol: string, now: number): readonly Overdue[] {
    const guards = this.#guards.on(symbol);
    if (guards.size === 0) return noneOverdue;
    const overdue: Overdue[] = [];
    for (const [strategy, { exitAfterMs, leftSize }] of guards) {
      if (exitAfterMs === undefined || leftSize !== undefined || this.#isFlat(strategy, symbol)) continue;
      if (now - this.#portfolio.enteredAt(strategy, symbol) < exitAfterMs) continue;
      overdue.push({ strategy, symbol, why: `time exit: held for ${exitAfterMs / 1_000} s` });
    }
    return overdue;
  }

  /** When the first position on a symbol will have been held for as long as it may be, UTC ms; infinity where none is limited. */
  exitDue(symbol: string): number {
    let due = Number.POSITIVE_INFINITY;
    for (const [strategy, { exitAfterMs, leftSize }] of this.#guards.on(symbol))
      if (exitAfterMs !== undefined && leftSize === undefined && !this.#isFlat(strategy, symbol))
        due = Math.min(due, this.#portfolio.enteredAt(strategy, symbol) + exitAfterMs);
    return due;
  }

  /** The trailing stops of held positions on a symbol: the best price so far, and how far they stay behind it; undefined before the first price. */
  trails(symbol: string): readonly Trail[] | undefined {
    const guards = this.#guards.on(symbol);
    if (guards.size === 0) return noTrails;
    const trails: Trail[] = [];
    for (const [strategy, guard] of guards) {
      if (guard.trailing === undefined || guard.leftSize !== undefined || this.#isFlat(strategy, symbol)) continue;
      const best = this.#best(strategy, symbol, guard);
      if (best === undefined) return undefined;
      const side: Side = this.#portfolio.position(strategy, symbol).base > 0n ? 'SELL' : 'BUY';
      trails.push({
        side,
        best: priceNumber(best, this.#portfolio.instrument(symbol)),
        by: rateNumber(guard.trailing),
      });
    }
    return trails;
  }

  /** True where a held position has something that would leave it: a stop, a trailing stop or a time. */
  isGuarded(strategy: string, symbol: string): boolean {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined || this.#isFlat(strategy, symbol)) return false;
    return (
      guard.leftSize !== undefined ||
      guard.stop !== undefined ||
      guard.trailing !== undefined ||
      guard.exitAfterMs !== undefined
    );
  }

  /** The position must go, and stay gone while the goal stays the same. */
  leave(strategy: string, symbol: string, size: Size, why: string): void {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return;
    this.revision++;
    guard.leftSize = size;
    guard.leftWhy = why;
    guard.best = undefined;
    this.#save(strategy, symbol, guard);
  }

  /** Makes a position that nothing protects one that can be left: an exchange may leave it all the same. */
  guard(strategy: string, symbol: string, size: Size): void {
    if (this.#guards.get(strategy, symbol) !== undefined) return;
    this.revision++;
    this.#guards.set(strategy, symbol, {
      size,
      taken: noLots,
      ...{ stop: undefined, takeProfit: undefined, trailing: undefined, exitAfterMs: undefined, best: undefined },
      entry: this.#portfolio.entries(strategy, symbol),
      ...{ leftSize: undefined, leftWhy: undefined },
    });
  }

  /** The trailing stops on a symbol whose positions were entered later than UTC ms `openTime`, by their strategies. */
  trailingSince(symbol: string, openTime: number): readonly string[] {
    return [...this.#guards.on(symbol)].flatMap(([strategy, { trailing }]) =>
      trailing !== undefined &&
      this.#portfolio.enteredAt(strategy, symbol) > openTime &&
      !this.#isFlat(strategy, symbol)
        ? [strategy]
        : [],
    );
  }

  /** A trailing stop begins anew with this price. */
  trailFrom(strategy: string, symbol: string, best: Ticks): void {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return;
    guard.best = best;
    guard.entry = this.#portfolio.entries(strategy, symbol);
  }

  /** A take-profit sold so much. */
  tookProfit(strategy: string, symbol: string, quantity: Lots): void {
    const guard = this.#guards.get(strategy, symbol);
    if (guard === undefined) return;
    this.revision++;
    guard.taken = plus(guard.taken, quantity);
    this.#save(strategy, symbol, guard);
  }

  /** True while a position that protection left is still held. */
  isLeaving(strategy: string, symbol: string): boolean {
    return this.#guards.get(strategy, symbol)?.leftSize !== undefined && !this.#isFlat(strategy, symbol);
  }

  /** Puts back what a journal kept; levels that are finer than the exchange takes now are rounded down. */
  restore(strategy: string, symbol: string, saved: SavedGuard): void {
    const at = this.#portfolio.instrument(symbol);
    const level = (name: string): Ticks | undefined =>
      saved[name] === undefined ? undefined : ticks(String(saved[name]), at, 'down');
    const text = (name: string): string | undefined => (saved[name] === undefined ? undefined : String(saved[name]));
    const trailing = text('trailing');
    const taken = text('taken');
    this.revision++;
    this.#guards.set(strategy, symbol, {
      size: sizeOf(text('size')),
      taken: taken === undefined ? noLots : lots(taken, at, 'down'),
      stop: level('stop'),
      takeProfit: level('takeProfit'),
      best: level('best'),
      entry: this.#portfolio.entries(strategy, symbol),
      trailing: trailing === undefined ? undefined : rate(trailing),
      exitAfterMs: saved['exitAfterMs'] === undefined ? undefined : Number(saved['exitAfterMs']),
      leftSize: sizeOf(text('leftSize')),
      leftWhy: text('leftWhy'),
    });
  }

  /** True of a print from before the position was entered; both times are the exchange's. */
  #isBefore(time: number, strategy: string, symbol: string): boolean {
    return time + roundedMs < this.#portfolio.enteredAt(strategy, symbol);
  }

  /** Dust that a fee in the bought asset leaves is not held: nobody can sell it, so it must neither arm a stop nor move one. */
  #isFlat(strategy: string, symbol: string): boolean {
    return this.#portfolio.isFlat(strategy, symbol);
  }

  /** The best price that was seen of the position held now. */
  #best(strategy: string, symbol: string, guard: Guard | undefined): Ticks | undefined {
    if (guard?.best === undefined || this.#isFlat(strategy, symbol)) return undefined;
    return guard.entry === this.#portfolio.entries(strategy, symbol) ? guard.best : undefined;
  }

  #keep(strategy: string, symbol: string, guard: Guard): void {
    this.revision++;
    this.#guards.set(strategy, symbol, guard);
    this.#save(strategy, symbol, guard);
  }

  #drop(strategy: string, symbol: string): void {
    this.revision++;
    this.#guards.delete(strategy, symbol);
    this.#changed(strategy, symbol, noGuard);
  }

  #save(strategy: string, symbol: string, guard: Guard): void {
    this.#changed(strategy, symbol, () => saved(guard, this.#portfolio.instrument(symbol)));
  }
}

const max = (a: Ticks, b: Ticks): Ticks => (a > b ? a : b);
const min = (a: Ticks, b: Ticks): Ticks => (a < b ? a : b);

/** The nearer of the fixed and the trailing level. */
function levelOf(guard: Guard, best: Ticks | undefined, side: Side): Ticks | undefined {
  const trailed = guard.trailing === undefined || best === undefined ? undefined : worsened(side, best, guard.trailing);
  if (guard.stop === undefined || trailed === undefined) return guard.stop ?? trailed;
  return side === 'SELL' ? max(guard.stop, trailed) : min(guard.stop, trailed);
}

const same = (a: Guard, b: Guard): boolean =>
  sameSize(a.size, b.size) &&
  a.stop === b.stop &&
  a.takeProfit === b.takeProfit &&
  a.trailing === b.trailing &&
  a.exitAfterMs === b.exitAfterMs &&
  a.best === b.best &&
  sameSize(a.leftSize, b.leftSize);

function saved(guard: Guard, at: Instrument): SavedGuard {
  const out: Record<string, string> = { size: guard.size === undefined ? '' : JSON.stringify(guard.size) };
  if (guard.taken > 0n) out['taken'] = quantityText(guard.taken, at);
  if (guard.stop !== undefined) out['stop'] = priceText(guard.stop, at);
  if (guard.takeProfit !== undefined) out['takeProfit'] = priceText(guard.takeProfit, at);
  if (guard.best !== undefined) out['best'] = priceText(guard.best, at);
  if (guard.trailing !== undefined) out['trailing'] = rateText(guard.trailing);
  if (guard.exitAfterMs !== undefined) out['exitAfterMs'] = String(guard.exitAfterMs);
  if (guard.leftSize !== undefined) out['leftSize'] = JSON.stringify(guard.leftSize);
  if (guard.leftWhy !== undefined) out['leftWhy'] = guard.leftWhy;
  return out;
}
