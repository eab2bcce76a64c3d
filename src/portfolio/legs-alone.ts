/**
 * Legs that are open alone: of a strategy of several markets one position is open, while another that its last decision asked for is not. It was
 * denied, rejected, or has not filled, its outcome is unknown, or its own protection has closed it. Measured with each fill, decision and
 * second. After the time that the strategy states, the action that it chose is requested.
 */
import type { Account, AlonePolicy, AloneTimes, Decision, Leg, Target } from '../domain/order.ts';
import { sizeValue } from '../domain/order.ts';
import type { Planner } from './planner.ts';
import type { Portfolio } from './portfolio.ts';
import type { Protection } from './protection.ts';

/** The name under which a journal keeps the times. */
export const aloneMemory = 'legsAlone';

/** A strategy that has a policy, and the symbols that it trades. */
export interface AloneRule extends AlonePolicy {
  readonly strategy: string;
  readonly symbols: readonly string[];
}

export interface LegsAloneOptions {
  readonly portfolio: Portfolio;
  readonly planner: Pick<Planner, 'standing'>;
  readonly protection: Protection;
  readonly account: Account;
  readonly rules: readonly AloneRule[];
  /** The times of an earlier run as JSON: what was open alone still is, since then. */
  readonly kept?: string | undefined;
  readonly keep?: (json: string) => void;
}

type Wanted = Leg & { readonly signal: Target };

interface Watched {
  readonly rule: AloneRule;
  times: { -readonly [key in keyof AloneTimes]: AloneTimes[key] };
  /** What is open alone, in quote. */
  value: number;
  /** When the action was requested last, UTC ms. */
  requestedAt: number;
  /** Why the missing legs are being completed; undefined while they are not. */
  completed: string | undefined;
}

/** Between two requests of the same action, ms at least. */
const againMs = 1_000;
const notRequested = { requestedAt: Number.NEGATIVE_INFINITY, completed: undefined };

export class LegsAlone {
  readonly #options: LegsAloneOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: LegsAloneOptions) {
    this.#options = options;
    const kept = new Map(
      (JSON.parse(options.kept ?? '[]') as readonly AloneTimes[]).map((times) => [times.strategy, times]),
    );
    for (const rule of options.rules) {
      const { strategy, afterMs, action, symbols } = rule;
      const [first] = symbols;
      const quote = first === undefined ? '' : options.portfolio.instrument(first).quote;
      const none = {
        since: null,
        open: [],
        missing: [],
        longestMs: 0,
        times: 0,
        beyondMs: 0,
        largest: 0,
        unwound: null,
      };
      const times = { ...none, ...kept.get(strategy), strategy, afterMs, action, quote };
      this.#watched.set(strategy, { rule, times, value: this.#legs(rule).value, ...notRequested });
    }
  }

  /** Measures a strategy at UTC ms, after a fill or a decision. */
  see(strategy: string, now: number): void {
    const watched = this.#watched.get(strategy);
    if (watched === undefined) return;
    const { rule, times } = watched;
    const { wanted, held, missing, isLeft, value } = this.#legs(rule);
    if (times.unwound !== null) this.#keepClosed(wanted, times, now);
    const wasAlone = times.since !== null;
    // One that was alone stays so until it is left.
    const isAlone = isLeft ? wasAlone && held.length > 0 : missing.length > 0;
    if (times.since !== null) {
      const ms = now - times.since;
      times.longestMs = Math.max(times.longestMs, ms);
      if (ms > rule.afterMs) times.largest = Math.max(times.largest, watched.value);
      if (!isAlone && ms > rule.afterMs) {
        times.times++;
        times.beyondMs += ms - rule.afterMs;
      }
    }
    watched.value = value;
    if (isAlone) {
      times.open = held;
      if (missing.length > 0) times.missing = missing.map(({ symbol }) => symbol);
    }
    if (isAlone === wasAlone) return;
    times.since = isAlone ? now : null;
    Object.assign(watched, notRequested);
    this.#keep();
  }

  /** A decision as it is carried out: legs that are being completed are ordered at market, whatever limit it gives them; not those that protection closed. */
  completing(decision: Decision): Decision {
    const watched = this.#watched.get(decision.strategy);
    if (watched?.completed === undefined) return decision;
    const why = watched.completed;
    const [first, ...others] = decision.legs.map((leg) => {
      const { signal } = leg;
      if (signal.kind !== 'target' || !watched.times.missing.includes(leg.symbol)) return leg;
      return this.#isClosed({ ...leg, signal }) ? leg : { ...leg, signal: atMarket(signal, why) };
    });
    return first === undefined ? decision : { ...decision, legs: [first, ...others] };
  }

  /** Measures all at UTC ms; the decisions to carry out, of those whose time is over. */
  look(now: number): readonly Decision[] {
    const due: Decision[] = [];
    for (const [strategy, watched] of this.#watched) {
      this.see(strategy, now);
      if (!(this.#dueAt(watched) <= now)) continue;
      const decision = this.#action(watched, now);
      if (decision === undefined) continue;
      watched.requestedAt = now;
      due.push(decision);
    }
    return due;
  }

  /** When an action is due next, UTC ms; infinity while none is. */
  get dueAt(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const watched of this.#watched.values()) due = Math.min(due, this.#dueAt(watched));
    return due;
  }

  #dueAt({ rule: { afterMs }, times: { since }, requestedAt }: Watched): number {
    if (since === null) return Number.POSITIVE_INFINITY;
    return Math.max(since + afterMs, requestedAt + Math.max(afterMs, againMs));
  }

  /** Of strategies with a policy. Those that are alone at UTC ms count up to then; without it, as they were measured last. */
  times(now?: number): readonly AloneTimes[] {
    return [...this.#watched.values()].map(({ times, value }) => {
      const { since, afterMs } = times;
      const ms = since === null || now === undefined ? 0 : now - since;
      if (ms <= 0) return { ...times };
      const longestMs = Math.max(times.longestMs, ms);
      if (ms <= afterMs) return { ...times, longestMs };
      const beyondMs = times.beyondMs + ms - afterMs;
      return { ...times, longestMs, times: times.times + 1, beyondMs, largest: Math.max(times.largest, value) };
    });
  }

  /** What the strategy chose; undefined while nothing may be sent, and when it is on its way already. */
  #action(watched: Watched, now: number): Decision | undefined {
    const { portfolio, protection } = this.#options;
    const { rule, times } = watched;
    const { strategy, symbols, afterMs } = rule;
    const { wanted, missing, held, isLeft } = this.#legs(rule);
    // Who knows whether a leg of unknown outcome is missing?
    if (isLeft || missing.length === 0 || symbols.some((symbol) => portfolio.isUndecided(symbol))) return undefined;
    const why = `${held.join(', ')} open without ${times.missing.join(', ')} for ${afterMs / 1_000} s`;
    // What a stop, a time or a take-profit has closed is not entered again.
    if (rule.action === 'complete' && !missing.some((leg) => this.#isClosed(leg))) {
      watched.completed ??= `completed, ${why}`;
      return decided(
        missing.map((leg) => ({ ...leg, at: now })),
        now,
      );
    }
    watched.completed = undefined;
    if (held.every((symbol) => protection.isExiting(strategy, symbol))) return undefined;
    times.unwound = `unwound, ${why}`;
    for (const leg of wanted) this.#exit(leg, times.unwound, now);
    this.#keep();
    return decided(
      wanted.map((leg) => ({ ...leg, at: now })),
      now,
    );
  }

  /** After an unwind, all legs stay closed until every target has changed: a leg that enters by itself would be open alone again. */
  #keepClosed(wanted: readonly Wanted[], times: Watched['times'], now: number): void {
    const changed = wanted.filter((leg) => !this.#isClosed(leg));
    if (changed.length === wanted.length) {
      times.unwound = null;
      this.#keep();
    } else for (const leg of changed) this.#exit(leg, times.unwound ?? '', now);
  }

  #isClosed({ strategy, symbol, signal }: Wanted): boolean {
    return this.#options.protection.override(strategy, symbol, signal).exit !== undefined;
  }

  #exit({ strategy, symbol, signal }: Wanted, why: string, now: number): void {
    const { protection } = this.#options;
    protection.guard(strategy, symbol, signal.size);
    protection.exit(strategy, symbol, signal.size, why, now);
  }

  #keep(): void {
    this.#options.keep?.(JSON.stringify(this.times()));
  }

  #legs({ strategy, symbols }: AloneRule): Legs {
    const { portfolio, planner, account } = this.#options;
    const wanted = symbols.flatMap((symbol): Wanted[] => {
      const leg = planner.standing(strategy, symbol);
      return leg?.signal.kind === 'target' && isPosition(leg.signal, account) ? [{ ...leg, signal: leg.signal }] : [];
    });
    const held = symbols.filter((symbol) => !portfolio.isFlat(strategy, symbol));
    const value = held.reduce((sum, symbol) => sum + Math.abs(portfolio.subAccount(strategy, symbol).estimate.cost), 0);
    const missing = wanted.filter(({ symbol }) => !held.includes(symbol));
    return { wanted, held, missing, isLeft: wanted.length === missing.length, value };
  }
}

interface Legs {
  /** The legs that the last decision asks for, and those of them that are flat. */
  readonly wanted: readonly Wanted[];
  readonly missing: readonly Wanted[];
  /** The symbols with positions, and what they cost in quote. */
  readonly held: readonly string[];
  readonly value: number;
  /** The last decision asks for none of these positions. */
  readonly isLeft: boolean;
}

const isPosition = ({ size }: Target, account: Account): boolean =>
  account === 'spot' ? sizeValue(size) > 0 : sizeValue(size) !== 0;

/** The same target without its limit and what belongs to that. */
function atMarket(signal: Target, why: string): Target {
  if (signal.reason.startsWith(why)) return signal;
  const { limit, postOnly, expiresAfterMs, expiresAfterKlines, ...rest } = signal;
  const isAtMarket = [limit, postOnly, expiresAfterMs, expiresAfterKlines].every((option) => option === undefined);
  return { ...(isAtMarket ? signal : rest), reason: `${why}: ${signal.reason}` };
}

const decided = (legs: readonly Wanted[], at: number): Decision | undefined => {
  const [first, ...others] = legs;
  return first === undefined ? undefined : { strategy: first.strategy, at, legs: [first, ...others] };
};
