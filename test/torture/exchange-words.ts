/** What a torture says to its exchange, a process of its own, and what it hears: plain data over the channel between them. */
import type {
  FaultEventInput,
  FaultRuleInput,
  FillRow,
  OrderRow,
  SimulatorOptions,
} from '../../src/simulator/simulator.ts';

/** How the exchange differs from the usual one. */
export type Terms = Pick<SimulatorOptions, 'seed' | 'profile' | 'quirks' | 'speed'> & {
  /** Takers who trade in each symbol in a second of exchange time; replayed minutes when left out. */
  readonly takersPerSecond?: number;
};

/** A create or a cancel as it came, whatever was answered. */
export interface Arrival {
  readonly what: 'create' | 'cancel';
  /** Exchange time, UTC ms. */
  readonly at: number;
  /** How long ago it says that it was signed, ms of exchange time; undefined without a timestamp. */
  readonly ageMs: number | undefined;
  readonly status: number;
  readonly code: number | undefined;
  /** Empty where it bears none. */
  readonly clientOrderId: string;
}

/** All that is true of the account. */
export interface Truth {
  readonly orders: readonly OrderRow[];
  readonly fills: readonly FillRow[];
  readonly balances: Readonly<Record<string, { readonly free: string; readonly locked: string }>>;
  /** How the exchange's own ledger is wrong; undefined when it is sound. */
  readonly unsound: string | undefined;
}

export type Ask =
  | { readonly ask: 'open'; readonly terms: Terms }
  | { readonly ask: 'truth' }
  | { readonly ask: 'arrivals'; readonly after: number }
  | { readonly ask: 'counts' }
  | { readonly ask: 'faults'; readonly rules: readonly FaultRuleInput[] }
  | { readonly ask: 'happen'; readonly event: FaultEventInput }
  | { readonly ask: 'advance'; readonly ms: number };

export interface Opened {
  readonly restUrl: string;
  readonly wsUrl: string;
}

export interface Counts {
  readonly now: number;
  readonly arrivals: number;
  readonly fills: number;
  readonly open: number;
  /** Requests of any kind so far. */
  readonly requests: number;
}

export interface Question {
  readonly id: number;
  readonly ask: Ask;
}
export interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}
