/**
 * The built-in exchange: the interface of the specification from the other side of the wire, for tests, demos and bad days.
 * A pure core (`core/`, `http/api.ts`) is driven by a clock and stands behind node:http and ws on loopback. Any number of
 * simulators can run side by side. Order of events everywhere: the market moves up to now, the request is carried out, what
 * changed is saved, and only then does an answer or a frame leave.
 */
import { ScaledClock } from '../clock/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import { assemble, type Parts } from './assemble.ts';
import { openControl } from './control/control.ts';
import { faultEvent } from './faults/events.ts';
import { rulesOf } from './faults/plans.ts';
import type { Simulator } from './handle.ts';
import { type Server, startServer } from './http/server.ts';
import { inspection } from './inspection.ts';
import { dataStart } from './market/open-markets.ts';
import { checkedOptions, credentialsOf } from './open-exchange.ts';
import { openOperator } from './operator.ts';
import type { CheckedOptions, SimulatorOptions } from './options.ts';
import { openStore, type Store } from './persist/store.ts';
import { openTruthLog, type TruthLog } from './truth-log.ts';
import { Session } from './ws/session.ts';

export { ScaledClock } from '../clock/clock.ts';
export { type Habits, habitPositions, habitsOf, type Profile } from './core/habits.ts';
export type { FaultEventInput } from './faults/events.ts';
export { planNames, plans, rulesOf as rulesNamed } from './faults/plans.ts';
export type { FaultRule, FaultRuleInput } from './faults/rules.ts';
export { FaultRulesError, faultRules } from './faults/rules.ts';
export type { Simulator } from './handle.ts';
export type { FillRow, LogEntry, OrderRow } from './log.ts';
export type { MinuteColumns } from './market/replayed-rows.ts';
export type { MarketOptions, SimulatorOptions, SimulatorUser } from './options.ts';
export { discardStore } from './persist/store.ts';
export { operations } from './report/operations.ts';
export { type Report, Reporter, wrongs } from './report/report.ts';

/** Starts an exchange; rejects with one clear error when the port is taken or the options contradict each other. */
export async function startSimulator(given: SimulatorOptions): Promise<Simulator> {
  const options = checkedOptions(given);
  const rules = rulesOf(options.faults ?? []);
  const start = options.clock?.now() ?? dataStart(options.markets ?? []) ?? new ScaledClock().now();
  let store: Store | undefined;
  let log: TruthLog | undefined;
  let server: Server | undefined;
  try {
    if (options.persistDir !== undefined) store = openStore(options.persistDir, options.instruments, start);
    log = openTruthLog(options.logFile, options.log, options.control !== undefined);
    const cut = (connections: 'all' | 'sockets'): void => server?.cut(connections);
    const parts = assemble(options, { store, start, rules, log, cut });
    server = await listen(parts, options.port ?? 0);
    return await running(options, parts, server, log, store);
  } catch (error) {
    await server?.close();
    log?.close();
    store?.close();
    throw error;
  }
}

function listen({ driver, answering, outage, ...parts }: Parts, port: number): Promise<Server> {
  const refresh = (): void => {
    driver.advance();
    driver.save();
  };
  const session = { ...parts, openSpoiler: parts.spoiler, refresh, publish: driver.publish };
  return startServer({
    port,
    answer: (request, wire) => answering.answer(request, wire),
    ...outage,
    onSocket: (socket) => void new Session(socket, session),
  });
}

async function running(
  options: CheckedOptions,
  parts: Parts,
  server: Server,
  log: TruthLog,
  store: Store | undefined,
): Promise<Simulator> {
  const { exchange, limits, clock, faults, driver, answering, happens, people, outage } = parts;
  driver.tick();
  const simulator: Omit<Simulator, 'controlUrl'> = {
    ...inspection(exchange, limits, parts.retained),
    restUrl: `http://127.0.0.1:${server.port}`,
    wsUrl: `ws://127.0.0.1:${server.port}/kline-api/ws`,
    port: server.port,
    clock,
    addFault(rule) {
      const ids = driver.act(() => faults.add([rule]));
      return () => {
        for (const id of ids) faults.remove(id);
      };
    },
    removeFaults: () => faults.clear(),
    happen: (event) => happens(faultEvent(event)),
    people: {
      place: (order) => driver.act(() => people.place(order)),
      cancel: (which) => driver.act(() => people.cancel(which)),
      adjust: (amount) => driver.act(() => people.adjust(amount)),
      bust: (which) => driver.act(() => people.bust(which)),
      delist: (symbol) => driver.act(() => people.delist(symbol)),
      changeTerms: (terms) => driver.act(() => people.changeTerms(terms)),
    },
    operator: openOperator(exchange, driver),
    addKey(uid, key) {
      if (!options.users.some((user) => user.uid === uid)) throw new Refusal(`there is no user ${uid}`);
      driver.act(() => exchange.keys.add(key.key, credentialsOf(uid, key)));
    },
    revokeKey: (key) => driver.act(() => exchange.keys.revoke(key)),
    beginOutage: (scope, { how = 'reset', forMs = 864_000_000 } = {}) => happens({ outage: scope, how, forMs }),
    endOutage: () => outage.end(),
    advance(ms) {
      if (options.clock !== undefined || !(clock instanceof ScaledClock))
        throw new Refusal('this exchange has a clock that was given to it: move that one');
      clock.set(clock.now() + ms);
      driver.tick();
    },
    held: (name) => faults.held(name),
    release: (name) => faults.release(name),
    async close() {
      driver.stop();
      answering.close();
      await control?.close();
      await server.close();
      log.close();
      store?.close();
    },
  };
  const control =
    options.control === undefined ? undefined : await openControl(options.control, { simulator, parts, log });
  return { ...simulator, controlUrl: control?.url };
}
