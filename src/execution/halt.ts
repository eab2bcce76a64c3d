/**
 * HALT: something is wrong, so no order is created until a human resumes; sweeps and cancels go on. A halt is durable and independent of
 * kills. `sluice resume` without a strategy lifts it.
 */
import type { Clock } from '../clock/clock.ts';
import type { Journal } from '../journal/journal.ts';

/** Each cause of a halt, with its meaning and what to do. */
export const haltCauses = {
  futureId:
    'an order at the exchange has an id of this journal, but the journal lacks the order. The journal was restored from a backup or copied. Resume only when no other daemon trades with a copy',
  foundAfterAll:
    'an order that counted as rejected or never sent is at the exchange: an answer was misread. Its fills are booked and its rest is cancelled. Report it, then resume',
  ledger:
    'the account holds less than the journal expects. Find the cause. If you moved the money, record it with sluice adjust. Then resume',
  keyRefused:
    'the exchange refuses the key. It was revoked, its permissions or addresses were changed, or the secret is wrong. The state of orders is unknown meanwhile. Correct the key, restart, then resume',
  noEcho:
    'the exchange does not return client order ids, and other orders exist on this account. An order of unknown outcome could belong to someone else. Use a dedicated account and set dedicatedAccount: true',
  notDedicated:
    'the configuration says that nobody else trades on this account (dedicatedAccount: true), but the exchange shows an order that is not in this journal. Find out who placed it. If it is one of ours, adopt it with sluice resolve ORDER --adopt ID. Then resume',
  changedFill:
    "the exchange shows a booked trade with other numbers: it reversed the trade, or an answer was wrong. Compare sluice why with the exchange's website. Correct the balances with sluice adjust if needed, then resume",
  fullList:
    'a list of the exchange is truncated, so orders or trades may be hidden. Cancel the orders that fill it, then resume',
} as const;
export type HaltCause = keyof typeof haltCauses;

/** The cause in a journalled halt. One of a later version is kept as what it did: it halts. */
export const haltCauseOf = (by: string): HaltCause => (Object.hasOwn(haltCauses, by) ? (by as HaltCause) : 'ledger');

/** A halt in force. */
export interface Halted {
  /** UTC ms. */
  readonly at: number;
  readonly cause: HaltCause;
  /** The evidence as a sentence. */
  readonly text: string;
}

export interface HaltParts {
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'append'>;
  /** Halts in force from an earlier run. */
  readonly standing: readonly Halted[];
}

/** Halts of one cause kept at once; further ones are ignored. */
const maxOfCause = 20;

export class Halts {
  readonly #parts: HaltParts;
  readonly #temporary: (() => string | undefined)[] = [];
  #inForce: readonly Halted[];

  constructor(parts: HaltParts) {
    this.#parts = parts;
    this.#inForce = parts.standing;
  }

  get inForce(): readonly Halted[] {
    return this.#inForce;
  }

  /** Why nothing may be created; undefined while nothing halts. */
  against(): string | undefined {
    const first = this.#inForce[0];
    if (first !== undefined) return `halted: ${first.text}`;
    for (const reason of this.#temporary) {
      const text = reason();
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** Adds a check for a temporary reason, which is not journalled and needs no human. */
  also(reason: () => string | undefined): void {
    this.#temporary.push(reason);
  }

  /** Whether this cause with this text is in force. */
  has(cause: HaltCause, text: string): boolean {
    return this.#inForce.some((one) => one.cause === cause && one.text === text);
  }

  /** Halts, on disk with the next batch; the same halt again adds nothing. */
  halt(cause: HaltCause, text: string): void {
    const { clock, journal } = this.#parts;
    const same = this.#inForce.filter((one) => one.cause === cause);
    if (same.length >= maxOfCause || this.has(cause, text)) return;
    const at = clock.now();
    this.#inForce = [...this.#inForce, { at, cause, text }];
    journal.append({ kind: 'halt', everything: false, at, strategy: null, by: cause, reason: text });
  }

  /** Lifts every halt; a cause that remains halts again. */
  resume(): void {
    this.#inForce = [];
  }
}
