/**
 * What one page says of all daemons of a machine. Money is decimal text, times are UTC ms of the machine. What a daemon said is old unless
 * `contact` is `answers`.
 */
import type { DaemonState, EquityView } from '../view.ts';

/** `stopped`: no daemon runs there. `starting`: it takes no calls yet, or no more. `silent`: it does not answer. `refused`: its `daemon.json` is unsafe or cannot be read. */
export type Contact = 'answers' | 'stopped' | 'starting' | 'silent' | 'refused';

export interface DaemonSummary {
  /** `live`, `paper`, `demo`. */
  readonly mode: string;
  readonly isRealMoney: boolean;
  readonly exchangeUrl: string;
  readonly state: DaemonState;
  readonly stateText: string;
  readonly noMarketData?: string | undefined;
  readonly blocked?: string | undefined;
  readonly equity: Pick<EquityView, 'asset' | 'now' | 'dayStart'>;
  readonly openOrders: number;
  /** Orders whose outcome is not known. */
  readonly unknowns: number;
  readonly strategies: number;
  readonly runningStrategies: number;
  /** Kills, pauses and HALTs in force, in sentences; empty while there is none. */
  readonly inForce: string;
  /** Strategies that were stopped because they threw. */
  readonly threw: readonly string[];
  /** Alarms that nobody has acknowledged. */
  readonly alarms: readonly string[];
}

export interface DaemonRow {
  /** Stands in the address of its page. */
  readonly name: string;
  /** Its state directory. */
  readonly dir: string;
  readonly contact: Contact;
  /** Why nothing new is known, in a sentence. */
  readonly problem: string | undefined;
  /** When it answered last; undefined where it never did. */
  readonly lastContact: number | undefined;
  readonly said: DaemonSummary | undefined;
}

export interface Overview {
  readonly at: number;
  readonly daemons: readonly DaemonRow[];
}
