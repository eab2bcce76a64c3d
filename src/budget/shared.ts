/**
 * What every process that reaches the exchange from one address has in common: the weight that was spent, and what the exchange
 * forbids. Its limits count by address (specification §8), so no process may reckon with its own requests alone.
 */
import { type Bans, later, noBans } from './bans.ts';

/** One request. */
export interface Spent {
  /** Whose: the second window and the frequencies count by user. */
  readonly user: string;
  readonly weight: number;
  /** Of an endpoint with a frequency limit. */
  readonly endpoint: string | undefined;
}

/** A request of another process, or of one before this. */
export type SpentBefore = Spent & {
  /** Real ms ago. */
  readonly agoMs: number;
};

/** What is known while no other process can change it. */
export interface Tally {
  /** What others spent since the last look, the oldest first; each is told of once. */
  readonly news: readonly SpentBefore[];
  readonly bans: Bans;
  spend(spent: Spent): void;
}

export interface Shared {
  /** Works with the tally while every other process waits: what it spends is counted before another one looks. */
  alone<T>(work: (tally: Tally) => T): T;
  /** What others did since the last look, without keeping anybody waiting. */
  look(): Pick<Tally, 'news' | 'bans'>;
  /** Whether others did anything since the last look, without looking what. */
  isNews(): boolean;
  /** What was forbidden at the last look: for whoever cannot wait for another one. */
  readonly bans: Bans;
  /** The account that the exchange said a user's key belongs to, by any name; undefined where it said none. */
  accountOf?(user: string): string | undefined;
  /** Writes that down, for every process. */
  belongs?(user: string, account: string): void;
  /** Writes down what the exchange forbids; joined with what others wrote. */
  forbid(bans: Bans): void;
  close(): void;
}

/** For backtests, simulations and tests: shared with nobody. */
export function sharedWithNobody(): Shared {
  let bans = noBans;
  const look = (): Pick<Tally, 'news' | 'bans'> => ({ news: [], bans });
  return {
    alone: (work) => work({ ...look(), spend: () => {} }),
    look,
    isNews: () => false,
    get bans() {
      return bans;
    },
    forbid(more) {
      bans = later(bans, more);
    },
    close() {},
  };
}
