/**
 * Legs that are open alone, written from docs/reference/several-markets.md: a leg has a position while another that is wanted has none. After the
 * time that the strategy states, the missing legs are ordered at market, or the open ones are left.
 */
import { isFlat, type State } from './account.ts';
import { leave } from './exits.ts';
import { sizeOf } from './plan.ts';
import type { Signal, Target } from './types.ts';

export interface AlonePolicy {
  readonly afterMs: number;
  readonly action: 'complete' | 'unwind';
}

/** Between two requests of the same action, ms at least. */
const againMs = 1_000;
const never = Number.NEGATIVE_INFINITY;

export class Alone {
  readonly #policy: AlonePolicy;
  readonly #states: readonly State[];
  #since: number | undefined;
  #requestedAt = never;
  /** Its missing legs are ordered at market. */
  #isCompleting = false;
  #missing: readonly State[] = [];
  /** All legs stay closed until all their targets have changed. */
  #isUnwound = false;

  constructor(policy: AlonePolicy, states: readonly State[]) {
    this.#policy = policy;
    this.#states = states;
  }

  /** After each fill and decision. */
  see(time: number): void {
    const { wanted, held, missing } = this.#legs();
    if (this.#isUnwound) this.#keepClosed(wanted, time);
    const isLeft = wanted.length === missing.length;
    const wasAlone = this.#since !== undefined;
    const isAlone = isLeft ? wasAlone && held.length > 0 : missing.length > 0;
    if (isAlone && missing.length > 0) this.#missing = missing;
    if (isAlone === wasAlone) return;
    this.#since = isAlone ? time : undefined;
    this.#requestedAt = never;
    this.#isCompleting = false;
  }

  /** What a leg is asked for in place of its signal. */
  asked(state: State, signal: Signal): Signal {
    if (!this.#isCompleting || !this.#missing.includes(state) || 'quotes' in signal) return signal;
    return isClosed(state, signal) ? signal : atMarket(signal);
  }

  /** The legs about which something is to be done at a close: their signals, as they are asked for from now on. */
  look(time: number): readonly State[] {
    this.see(time);
    const { afterMs, action } = this.#policy;
    const dueAt = Math.max(
      (this.#since ?? Number.POSITIVE_INFINITY) + afterMs,
      this.#requestedAt + Math.max(afterMs, againMs),
    );
    if (time < dueAt) return [];
    const { wanted, held, missing } = this.#legs();
    if (missing.length === 0 || wanted.length === missing.length) return [];
    if (action === 'complete' && !missing.some((state) => isClosed(state))) {
      this.#isCompleting = true;
      this.#requestedAt = time;
      return missing;
    }
    this.#isCompleting = false;
    if (held.every(({ leftAt }) => leftAt !== undefined)) return [];
    this.#isUnwound = true;
    this.#requestedAt = time;
    for (const state of wanted) close(state, time);
    return wanted;
  }

  /** One whose target changed without those of the others stays closed. */
  #keepClosed(wanted: readonly State[], time: number): void {
    const changed = wanted.filter((state) => !isClosed(state));
    if (changed.length === wanted.length) this.#isUnwound = false;
    else for (const state of changed) close(state, time);
  }

  #legs() {
    const wanted = this.#states.filter(({ standing }) => standing !== undefined && isPosition(standing));
    const held = this.#states.filter((state) => !isFlat(state));
    return { wanted, held, missing: wanted.filter((state) => !held.includes(state)) };
  }
}

const isPosition = (signal: Signal): boolean => {
  if ('quotes' in signal) return false;
  return Number('quantity' in signal ? signal.quantity : 'share' in signal ? signal.share : signal.amount) !== 0;
};

/** Protection keeps it closed, or leaves it: during a pause nothing is entered, and what is being left is left. */
function isClosed(state: State, signal = state.standing): boolean {
  const { leftAt, pausesUntil } = state;
  if (signal === undefined) return false;
  return leftAt === sizeOf(signal) || (pausesUntil !== undefined && (isFlat(state) || leftAt !== undefined));
}

const close = (state: State, time: number): void => {
  leave(state, sizeOf(state.standing as Signal), time);
  state.leavesInTime = false;
};

/** Without its limit and what belongs to that. */
function atMarket(target: Target): Target {
  const { limit: _, postOnly: __, expiresAfterMs: ___, expiresAfterKlines: ____, ...rest } = target;
  return rest as Target;
}
