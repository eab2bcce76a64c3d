/**
 * The built-in exchange: the interface of the specification from the other side of the wire, for tests, demos and bad days.
 * A pure core (`core/`, `http/api.ts`) is driven by a clock and stands behind node:http and ws on loopback. Any number of
 * simulators can run side by side. Order of events everywhere: the market moves up to now, the request is carried out, what
 * changed is saved, and only then does an answer or a frame leave.
 */
import { type Clock, ScaledClock } from '../clock/clock.ts';
import { habitsOf } from './core/habits.ts';
import { Limits, specifiedLimits } from './core/limits.ts';
import { type Driver, drive } from './drive.ts';
import { Faults } from './faults/engine.ts';
import { type FaultAction, type FaultRuleInput, faultRules } from './faults/rules.ts';
import { type ApiReply, type ApiRequest, createApi } from './http/api.ts';
import { type Server, startServer } from './http/server.ts';
import { type Inspection, inspection } from './inspect.ts';
import type { LogEntry } from './log.ts';
import { dataStart } from './market/open-markets.ts';
import type { SimulatorOptions } from './options.ts';
import { openStore, type Store } from './persist/store.ts';
import { keysOf, openExchange } from './setup.ts';
import { Feed } from './ws/feed.ts';
import { Session } from './ws/session.ts';

export type { Habits, Profile } from './core/habits.ts';
export type { FaultRule, FaultRuleInput } from './faults/rules.ts';
export { FaultRulesError, faultRules } from './faults/rules.ts';
export type { FillRow, LogEntry, OrderRow } from './log.ts';
export type { MinuteColumns } from './market/replayed-rows.ts';
export type { Tape } from './market/tape-market.ts';
export type { MarketOptions, SimulatorOptions, SimulatorUser } from './options.ts';
export { discardStore } from './persist/store.ts';

/** A running exchange. */
export interface Simulator extends Inspection {
  /** `http://127.0.0.1:PORT` */
  readonly restUrl: string;
  /** `ws://127.0.0.1:PORT/kline-api/ws` */
  readonly wsUrl: string;
  readonly port: number;
  /** The exchange's time. */
  readonly clock: Clock;
  /** Adds a fault rule behind the others; returns what takes it away again. */
  addFault(rule: FaultRuleInput): () => void;
  removeFaults(): void;
  /** Resolves when a request is being held under this name. */
  held(name: string): Promise<void>;
  /** Lets every request held under this name go on; how many there were. */
  release(name: string): number;
  /** Cuts every connection and stops; resolves when nothing is left open. */
  close(): Promise<void>;
}

/** Starts an exchange; rejects with one clear error when the port is taken or the options contradict each other. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const faults = new Faults(faultRules(options.faults ?? []), options.seed ?? 1);
  const start = options.clock?.now() ?? dataStart(options.markets ?? []) ?? new ScaledClock().now();
  const store =
    options.persistDir === undefined ? undefined : openStore(options.persistDir, options.instruments, start);
  try {
    const parts = assemble(options, faults, store, start);
    return simulator(parts, await listen(parts, options.port ?? 0));
  } catch (error) {
    store?.close();
    throw error;
  }
}

type Parts = ReturnType<typeof assemble>;

/** Everything but the server. */
function assemble(options: SimulatorOptions, faults: Faults, store: Store | undefined, start: number) {
  const { log = () => undefined, profile = 'documented' } = options;
  const clock = options.clock ?? new ScaledClock(options.speed ?? 1, store?.savedAt ?? start);
  const habits = habitsOf(profile, {
    ...(options.requireOrderIdInQuery !== undefined && { queryNeedsOrderId: options.requireOrderIdInQuery }),
    ...options.habits,
  });
  const exchange = openExchange(options, { store, start, log, cancelLater: habits.cancel === 'later' });
  const onBan = (ip: string, until: number): void => log({ at: exchange.now, kind: 'ban', ip, until });
  const limits = new Limits({ ...specifiedLimits, ...options.limits }, onBan);
  const feed = new Feed(exchange, habits);
  const api = createApi({ exchange, limits, habits, clock, keys: keysOf(options) });
  const driver = drive({ exchange, feed, clock, store, log });
  return { log, clock, habits, exchange, limits, feed, api, driver, faults, store };
}

function listen(parts: Parts, port: number): Promise<Server> {
  const { log, clock, habits, exchange, feed, api, driver, faults } = parts;
  const onFault = (method: string, path: string, action: FaultAction): void =>
    log({ at: exchange.now, kind: 'fault', method, path, action });
  const fault = (channel: string): FaultAction | undefined => {
    if (faults.socketQuiet) return undefined;
    const action = faults.pick({ method: 'WS', path: channel }, exchange.now);
    if (action !== undefined) onFault('WS', channel, action);
    return action;
  };
  const { publish } = driver;
  const refresh = (): void => {
    driver.advance();
    driver.save();
  };
  return startServer({
    port,
    clock,
    faults,
    onFault,
    publish,
    process: (request) => processed(request, api, driver, (entry) => log({ at: exchange.now, ...entry })),
    onSocket: (socket) => void new Session(socket, { exchange, feed, habits, clock, fault, refresh, publish }),
  });
}

type RequestEntry = Omit<Extract<LogEntry, { kind: 'request' }>, 'at'>;

function processed(
  request: ApiRequest,
  api: (request: ApiRequest) => ApiReply,
  driver: Driver,
  log: (entry: RequestEntry) => void,
): ApiReply {
  driver.advance();
  const reply = api(request);
  driver.save();
  const { method, target } = request;
  const { status, uid, weight, code } = reply;
  log({ kind: 'request', method, target, status, uid, weight, code });
  return reply;
}

function simulator({ exchange, limits, clock, faults, driver, store }: Parts, server: Server): Simulator {
  driver.tick();
  return {
    ...inspection(exchange, limits),
    restUrl: `http://127.0.0.1:${server.port}`,
    wsUrl: `ws://127.0.0.1:${server.port}/kline-api/ws`,
    port: server.port,
    clock,
    addFault: (rule) => faults.add(rule),
    removeFaults: () => faults.clear(),
    held: (name) => faults.held(name),
    release: (name) => faults.release(name),
    async close() {
      driver.stop();
      await server.close();
      store?.close();
    },
  };
}
