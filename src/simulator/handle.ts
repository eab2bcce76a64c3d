/** The interface of a running exchange for its owner. */
import type { Clock } from '../clock/clock.ts';
import type { FaultEventInput, OutageHow, OutageScope } from './faults/events.ts';
import type { People } from './faults/people.ts';
import type { FaultRuleInput, TimedRuleInput } from './faults/rules.ts';
import type { Inspection } from './inspection.ts';
import type { Operator } from './operator.ts';
import type { SimulatorKey } from './options.ts';

/** A running exchange. */
export interface Simulator extends Inspection {
  /** `http://127.0.0.1:PORT` */
  readonly restUrl: string;
  /** `ws://127.0.0.1:PORT/kline-api/ws` */
  readonly wsUrl: string;
  readonly port: number;
  /** Of the control address; undefined when it is not open. */
  readonly controlUrl: string | undefined;
  /** The exchange's time. */
  readonly clock: Clock;
  /** Adds a fault rule behind the others; returns what takes it away again. */
  addFault(rule: FaultRuleInput | TimedRuleInput): () => void;
  removeFaults(): void;
  /** Carries out an event of a timed rule now; throws a `Refusal` when it cannot, for example for lack of funds. */
  happen(event: FaultEventInput): void;
  /** People on a user's account, who do not use the interface. */
  readonly people: People;
  /** Who decides about withdrawals. */
  readonly operator: Operator;
  /** Gives a user another key, which is kept over restarts; one that is known already is replaced. */
  addKey(uid: string, key: SimulatorKey): void;
  /** Takes a key away, also one of the options, and over restarts; false when there is no such key. */
  revokeKey(key: string): boolean;
  /** Makes the exchange, REST or the socket unreachable for `forMs` of exchange time, or until `endOutage`. */
  beginOutage(scope: OutageScope, options?: { readonly how?: OutageHow; readonly forMs?: number }): void;
  endOutage(): void;
  /** Advances exchange time by this many ms; only possible with the exchange's own clock. */
  advance(ms: number): void;
  /** Resolves when a request is being held under this name. */
  held(name: string): Promise<void>;
  /** Lets every request held under this name go on; how many there were. */
  release(name: string): number;
  /** Cuts every connection and stops; resolves when nothing is left open. */
  close(): Promise<void>;
}
