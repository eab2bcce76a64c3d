/**
 * The state shared by all processes behind one address: spent weight and bans. The exchange counts by address (specification §8), so no
 * process may count only its own requests.
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
  /** Requests of others since the last read, the oldest first; each is given once. */
  readonly news: readonly SpentBefore[];
  readonly bans: Bans;
  spend(spent: Spent): void;
}

export interface Shared {
  /** Runs `work` while every other process waits: what it spends is counted before another one reads. */
  alone<T>(work: (tally: Tally) => T): T;
  /** What others did since the last read, without making them wait. */
  read(): Pick<Tally, 'news' | 'bans'>;
  /** Whether others did anything since the last read. */
  isNews(): boolean;
  /** The bans of the last read, for callers that cannot wait. */
  readonly bans: Bans;
  /** The account that the exchange said a user's key belongs to, by any name; undefined where it said none. */
  accountOf?(user: string): string | undefined;
  /** Writes that down, for every process. */
  belongs?(user: string, account: string): void;
  /** Writes down what the exchange forbids; joined with what others wrote. */
  forbid(bans: Bans): void;
  close(): void;
}

/** For backtests, simulations and tests: not shared. */
export function sharedWithNobody(): Shared {
  let bans = noBans;
  const read = (): Pick<Tally, 'news' | 'bans'> => ({ news: [], bans });
  return {
    alone: (work) => work({ ...read(), spend: () => {} }),
    read,
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
