/**
 * When entries by a resting order expire. The time counts from the moment at which the target was new, over restarts too. Then what still rests
 * is cancelled, and what filled by then is all that the target is to hold.
 */
import { absolute, type Lots, lotsIn, max, min, negate, noLots, plus } from '../domain/money.ts';
import type { Leg, Signal } from '../domain/order.ts';
import { sameExpiry } from '../domain/target-options.ts';
import type { ByPosition } from './by-position.ts';
import type { KeptEntry, Standing } from './standing.ts';

export const never = Number.POSITIVE_INFINITY;

/** True if a signal of the same size continues the entry of the one before: another price or time is another entry. */
export const isSameEntry = (a: Signal, b: Signal): boolean =>
  a.kind === 'target' &&
  b.kind === 'target' &&
  a.limit === b.limit &&
  (a.postOnly ?? false) === (b.postOnly ?? false) &&
  sameExpiry(a, b);

const isPostOnly = (signal: Signal): boolean => signal.kind === 'target' && signal.postOnly === true;

/** How long an entry may take, ms. */
const lifeOf = (signal: Signal): number => (signal.kind === 'target' ? (signal.expiresAfterMs ?? never) : never);

/** Of a target of so many lots, what has been entered: what is held of it, and what a take-profit has sold of that. */
export function enteredOf(targetLots: Lots, taken: Lots, { subAccount }: Pick<Standing, 'subAccount'>): Lots {
  const { position, instrument } = subAccount;
  const isOther = targetLots > 0n !== position.base > 0n;
  const held = isOther ? noLots : lotsIn(absolute(position.base), instrument);
  const entered = max(min(plus(held, taken), absolute(targetLots)), noLots);
  return targetLots > 0n ? entered : negate(entered);
}

export class Expiries {
  readonly #standings: ByPosition<Standing>;
  readonly #kept: (leg: Leg, entry: KeptEntry) => void;

  /** `kept` is called with all that a restart must know of an entry. */
  constructor(standings: ByPosition<Standing>, kept: (leg: Leg, entry: KeptEntry) => void = () => {}) {
    this.#standings = standings;
    this.#kept = kept;
  }

  /** The time of an entry begins, at UTC ms. */
  begin(standing: Standing, now: number): void {
    const ms = lifeOf(standing.leg.signal);
    if (standing.isExpired) standing.settled = undefined;
    standing.isExpired = false;
    standing.expiresAt = now + ms;
    standing.movedTo = undefined;
    if (ms !== never || isPostOnly(standing.leg.signal)) this.keep(standing);
  }

  /** Something of it has changed. */
  keep({ leg, expiresAt, movedTo }: Standing): void {
    this.#kept(leg, {
      ...(expiresAt !== never && { expiresAt }),
      ...(movedTo !== undefined && { movedTo }),
    });
  }

  /** It goes on after a restart; `kept` is from the journal. */
  restore(standing: Standing, { expiresAt, movedTo }: KeptEntry): void {
    const { at, signal } = standing.leg;
    const ms = lifeOf(signal);
    standing.expiresAt = ms === never || expiresAt === undefined ? at + ms : expiresAt;
    standing.movedTo = isPostOnly(signal) ? movedTo : undefined;
  }

  /** Takes note of the time, UTC ms. */
  pass(standing: Standing, now: number): void {
    if (now < standing.expiresAt) return;
    standing.expiresAt = never;
    standing.isExpired = true;
    standing.settled = undefined;
  }

  /** When the first entry on a symbol expires, UTC ms; infinity where none does. */
  due(symbol: string): number {
    let due = never;
    for (const { value } of this.#standings.on(symbol)) due = Math.min(due, value.expiresAt);
    return due;
  }

  /** The legs on a symbol, or of one strategy there, whose entry expires by UTC ms, or did and still rests, as after an unknown outcome. */
  expire(symbol: string, now: number, only?: string): readonly Leg[] {
    return this.#standings.on(symbol).flatMap(({ strategy, value: standing }) => {
      if (only !== undefined && strategy !== only) return [];
      const isNew = standing.expiresAt <= now;
      this.pass(standing, now);
      return isNew || (standing.isExpired && isResting(standing)) ? [{ ...standing.leg, at: now }] : [];
    });
  }
}

const isResting = ({ subAccount }: Standing): boolean =>
  subAccount.orders.some(
    ({ state, cancelRequested, intent }) => state === 'open' && !cancelRequested && intent.purpose === 'enter',
  );
