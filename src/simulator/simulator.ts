/**
 * The built-in exchange: the interface of the specification from the other side of the wire, for tests, demos and bad days.
 * A pure core (`core/`, `http/api.ts`) is driven by a clock and stands behind node:http and ws on loopback. Any number of
 * simulators can run side by side. Order of events everywhere: the market moves up to now, the request is carried out, what
 * changed is saved, and only then does an answer or a frame leave.
 */
import { ScaledClock } from '../clock/clock.ts';
import { assemble, type Parts } from './assemble.ts';
import { openControl } from './control/control.ts';
import { rulesOf } from './faults/plans.ts';
import { handleOf, type Simulator } from './handle.ts';
import { type Server, startServer } from './http/server.ts';
import { dataStart } from './market/open-markets.ts';
import { checkedOptions } from './open-exchange.ts';
import type { SimulatorOptions } from './options.ts';
import { openStore } from './persist/store.ts';
import { openTruthLog } from './truth-log.ts';
import { Session } from './ws/session.ts';

export { ScaledClock } from '../clock/clock.ts';
export { type Profile, type Quirks, quirkPositions, quirksOf } from './core/quirks.ts';
export type { FaultEventInput } from './faults/events.ts';
export { planNames, plans, rulesOf as rulesNamed } from './faults/plans.ts';
export type { FaultRule, FaultRuleInput } from './faults/rules.ts';
export { FaultRulesError, faultRules } from './faults/rules.ts';
export type { Simulator } from './handle.ts';
export type { FillRow, LogEntry, OrderRow } from './log.ts';
export type { MinuteColumns } from './market/klines-market.ts';
export type { MarketOptions, SimulatorOptions, SimulatorUser } from './options.ts';
export { discardStore } from './persist/store.ts';
export { operations } from './report/operations.ts';
export { type Report, Reporter, wrongs } from './report/report.ts';

/** Starts an exchange; rejects with one clear error when the port is taken or the options contradict each other. */
export async function startSimulator(given: SimulatorOptions): Promise<Simulator> {
  const options = checkedOptions(given);
  const rules = rulesOf(options.faults ?? []);
  const start = options.clock?.now() ?? dataStart(options.markets ?? []) ?? new ScaledClock().now();
  const closing: (() => void | Promise<void>)[] = [];
  async function close(): Promise<void> {
    for (const step of closing.splice(0).reverse()) await step();
  }
  let server: Server | undefined;
  try {
    const { persistDir, instruments, logFile, control } = options;
    const store = persistDir === undefined ? undefined : openStore(persistDir, instruments, start);
    closing.push(() => store?.close());
    const log = openTruthLog(logFile, options.log, control !== undefined);
    closing.push(() => log.close());
    const cut = (connections: 'all' | 'sockets'): void => server?.cut(connections);
    const parts = assemble(options, { store, start, rules, log, cut });
    closing.push(() => server?.close());
    server = await listen(parts, options.port ?? 0);
    const handle = handleOf(options, parts, server.port);
    const steering = control && (await openControl(control, { simulator: handle, parts, log }));
    closing.push(
      () => steering?.close(),
      () => {
        parts.driver.stop();
        parts.answering.close();
      },
    );
    parts.driver.tick();
    return { ...handle, controlUrl: steering?.url, close };
  } catch (error) {
    await close();
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
