/** The interface of a running exchange for its owner. */
import { ScaledClock } from '../clock/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Parts } from './assemble.ts';
import type { Exchange } from './core/exchange.ts';
import { type WithdrawalRow, type WithdrawalStep, withdrawalRow } from './core/withdrawals.ts';
import type { Driver } from './driver.ts';
import { type FaultEventInput, faultEvent, longestMs, type OutageHow, type OutageScope } from './faults/events.ts';
import type { People } from './faults/manual-actions.ts';
import type { FaultRuleInput, TimedRuleInput } from './faults/rules.ts';
import { inspection } from './inspection.ts';
import { credentialsOf } from './open-exchange.ts';
import type { CheckedOptions, SimulatorKey } from './options.ts';

/** A running exchange. */
export interface Simulator extends Handle {
  /** Of the control address; undefined when it is not open. */
  readonly controlUrl: string | undefined;
  /** Cuts every connection and stops; resolves when nothing is left open. */
  close(): Promise<void>;
}

/** What it can do beside opening and closing. */
export type Handle = ReturnType<typeof handleOf>;

export function handleOf(options: CheckedOptions, parts: Parts, port: number) {
  const { exchange, limits, clock, faults, driver, happens, people, outage } = parts;
  return {
    ...inspection(exchange, limits, parts.retained),
    /** `http://127.0.0.1:PORT` */
    restUrl: `http://127.0.0.1:${port}`,
    /** `ws://127.0.0.1:PORT/kline-api/ws` */
    wsUrl: `ws://127.0.0.1:${port}/kline-api/ws`,
    port,
    /** The exchange's time. */
    clock,
    /** Adds a fault rule behind the others; returns what takes it away again. */
    addFault(rule: FaultRuleInput | TimedRuleInput): () => void {
      const ids = driver.act(() => faults.add([rule]));
      return () => {
        for (const id of ids) faults.remove(id);
      };
    },
    removeFaults: (): void => faults.clear(),
    /** Carries out an event of a timed rule now; throws a `Refusal` when it cannot, for example for lack of funds. */
    happen: (event: FaultEventInput): void => happens(faultEvent(event)),
    /** People on a user's account, who do not use the interface. */
    people: {
      place: (order) => driver.act(() => people.place(order)),
      cancel: (which) => driver.act(() => people.cancel(which)),
      adjust: (amount) => driver.act(() => people.adjust(amount)),
      bust: (which) => driver.act(() => people.bust(which)),
      delist: (symbol) => driver.act(() => people.delist(symbol)),
      changeTerms: (terms) => driver.act(() => people.changeTerms(terms)),
    } satisfies People as People,
    /** Who decides about withdrawals. */
    operator: openOperator(exchange, driver),
    /** Gives a user another key, which is kept over restarts; one that is known already is replaced. */
    addKey(uid: string, key: SimulatorKey): void {
      if (!options.users.some((user) => user.uid === uid)) throw new Refusal(`there is no user ${uid}`);
      driver.act(() => exchange.keys.add(key.key, credentialsOf(uid, key)));
    },
    /** Takes a key away, also one of the options, and over restarts; false when there is no such key. */
    revokeKey: (key: string): boolean => driver.act(() => exchange.keys.revoke(key)),
    /** Makes the exchange, REST or the socket unreachable for `forMs` of exchange time, or until `endOutage`. */
    beginOutage(scope: OutageScope, during: { readonly how?: OutageHow; readonly forMs?: number } = {}): void {
      happens({ outage: scope, how: during.how ?? 'reset', forMs: during.forMs ?? longestMs });
    },
    endOutage: (): void => outage.end(),
    /** Advances exchange time by this many ms; only possible with the exchange's own clock. */
    advance(ms: number): void {
      if (options.clock !== undefined || !(clock instanceof ScaledClock))
        throw new Refusal('this exchange has a clock that was given to it: move that one');
      clock.set(clock.now() + ms);
      driver.tick();
    },
    /** Resolves when a request is being held under this name. */
    held: (name: string): Promise<void> => faults.held(name),
    /** Lets every request held under this name go on; how many there were. */
    release: (name: string): number => faults.release(name),
  };
}

/** The exchange's operator, who decides about withdrawals (specification §3.2, §4.5). Each step throws a `Refusal` for an unknown one, or where its state does not allow it. */
function openOperator(exchange: Exchange, driver: Driver) {
  const { withdrawals } = exchange;
  const move = (id: number, to: WithdrawalStep, info?: string, txId?: string): WithdrawalRow =>
    driver.act(() => withdrawalRow(withdrawals.move(id, to, { info, txId }, exchange.now)));
  return {
    /** Every withdrawal, or those of a user, the oldest first. */
    withdrawals: (uid?: string): WithdrawalRow[] => withdrawals.list(uid).map(withdrawalRow),
    approve: (id: number) => move(id, 'approved'),
    /** The user reads the reason in `info`. */
    reject: (id: number, info?: string) => move(id, 'rejected', info),
    /** Begins the payment. */
    pay: (id: number, txId?: string) => move(id, 'paying', undefined, txId),
    fail: (id: number) => move(id, 'failed'),
    complete: (id: number) => move(id, 'completed'),
    revoke: (id: number) => move(id, 'revoked'),
  };
}
