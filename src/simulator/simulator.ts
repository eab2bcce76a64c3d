/**
 * The built-in exchange: the interface of the specification from the other side of the wire, for tests, demos and bad days.
 * A pure core (`core/`, `http/api.ts`) is driven by a clock and stands behind node:http and ws on loopback. Any number of
 * simulators can run side by side. Order of events everywhere: the market moves up to now, the request is carried out, what
 * changed is saved, and only then does an answer or a frame leave.
 */
import { type Clock, ScaledClock } from '../clock/clock.ts';
import { rate, units, unitsText } from '../domain/money.ts';
import { Exchange } from './core/exchange.ts';
import { habitsOf } from './core/habits.ts';
import { Limits, specifiedLimits } from './core/limits.ts';
import { isOpen } from './core/order.ts';
import { drive } from './drive.ts';
import { type Faults, openFaults } from './faults/engine.ts';
import { type FaultRuleInput, faultRules } from './faults/rules.ts';
import { type Credentials, createApi } from './http/api.ts';
import { startServer } from './http/server.ts';
import { type FillRow, fillRows, type LogEntry, type OrderRow, orderRow } from './log.ts';
import { dataStart, openMarkets } from './market/open-markets.ts';
import type { SimulatorOptions } from './options.ts';
import { openStore, type Store } from './persist/store.ts';
import { openFeed } from './ws/feed.ts';
import { serveSocket } from './ws/session.ts';

export type { Habits, Profile } from './core/habits.ts';
export { FaultRulesError, faultRules } from './faults/rules.ts';
export type { FillRow, LogEntry, OrderRow } from './log.ts';
export type { MinuteColumns } from './market/klines-market.ts';
export type { Tape } from './market/tape-market.ts';
export type { MarketOptions, SimulatorOptions, SimulatorUser } from './options.ts';

/** A running exchange. What it tells here is the truth, not what a reply says. */
export interface Simulator {
  /** `http://127.0.0.1:PORT` */
  readonly restUrl: string;
  /** `ws://127.0.0.1:PORT/kline-api/ws` */
  readonly wsUrl: string;
  readonly port: number;
  /** The exchange's time. */
  readonly clock: Clock;
  /** Every fill of a user, the oldest first. */
  allTrades(uid: string): FillRow[];
  openOrders(uid: string): OrderRow[];
  /** Orders that carry a client id, the oldest first. */
  ordersByClientId(uid: string, clientOrderId: string): OrderRow[];
  allOrders(uid: string): OrderRow[];
  /** Decimal text by asset. */
  balances(uid: string): Record<string, { free: string; locked: string }>;
  /** Weight that counts at this moment against an address and a user. */
  weightUsed(uid: string, ip?: string): { ip: number; uid: number };
  /** Throws when money was made or lost, or a book is crossed. */
  checkLedger(): void;
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
  const { seed = 1, persistDir, instruments, log = () => undefined } = options;
  const faults = openFaults(faultRules(options.faults ?? []), seed);
  const start = options.clock?.now() ?? dataStart(options.markets ?? []) ?? new ScaledClock().now();
  const store = persistDir === undefined ? undefined : openStore(persistDir, instruments, start);
  try {
    return await run(options, { faults, store, start, log });
  } catch (error) {
    store?.close();
    throw error;
  }
}

interface Parts {
  readonly faults: Faults;
  readonly store: Store | undefined;
  readonly start: number;
  readonly log: (entry: LogEntry) => void;
}

async function run(options: SimulatorOptions, { faults, store, start, log }: Parts): Promise<Simulator> {
  const { clock = new ScaledClock(options.speed ?? 1, store?.savedAt ?? start), profile = 'documented' } = options;
  const habits = habitsOf(profile, {
    ...(options.requireOrderIdInQuery !== undefined && { queryNeedsOrderId: options.requireOrderIdInQuery }),
    ...options.habits,
  });
  const exchange = openExchange(options, { store, start, log, cancelLater: habits.cancel === 'later' });
  const limits = new Limits({ ...specifiedLimits, ...options.limits }, (ip, until) =>
    log({ at: exchange.now, kind: 'ban', ip, until }),
  );
  const feed = openFeed(exchange, habits);
  const keys = keysOf(options);
  const api = createApi({ exchange, limits, habits, clock, keys });
  const driver = drive({ exchange, feed, clock, store, log });
  const onFault = (method: string, path: string, action: LogEntryAction): void =>
    log({ at: exchange.now, kind: 'fault', method, path, action });

  const server = await startServer({
    port: options.port ?? 0,
    clock,
    faults,
    onFault,
    publish: driver.publish,
    process(request) {
      driver.advance();
      const reply = api(request);
      driver.save();
      const { method, target } = request;
      const { status, uid, weight, code } = reply;
      log({ at: exchange.now, kind: 'request', method, target, status, uid, weight, code });
      return reply;
    },
    onSocket: (socket) =>
      serveSocket(socket, {
        exchange,
        feed,
        habits,
        clock,
        refresh() {
          driver.advance();
          driver.save();
        },
        publish: driver.publish,
        fault(channel) {
          if (faults.socketQuiet) return undefined;
          const action = faults.pick({ method: 'WS', path: channel }, exchange.now);
          if (action !== undefined) onFault('WS', channel, action);
          return action;
        },
      }),
  });
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

type LogEntryAction = Extract<LogEntry, { kind: 'fault' }>['action'];

/** How long a cancel takes where it does not happen at once, ms of exchange time. */
const cancelDelayMs = 500;

interface Opening {
  readonly store: Store | undefined;
  readonly start: number;
  readonly log: (entry: LogEntry) => void;
  readonly cancelLater: boolean;
}

function openExchange(options: SimulatorOptions, { store, start, log, cancelLater }: Opening): Exchange {
  const { instruments, seed = 1, fees = { maker: '0.002', taker: '0.002' } } = options;
  const now = store?.savedAt ?? start;
  if (options.clock !== undefined && options.clock.now() < now)
    throw new Error(`the clock says ${start}, but the saved exchange has reached ${now}: start the clock there`);
  const saved = store?.trades() ?? [];
  const exchange = new Exchange({
    instruments,
    markets: openMarkets({
      instruments,
      markets: options.markets ?? [],
      anchor: store?.anchor ?? start,
      now,
      seed,
      tradesBefore: (symbol) => saved.filter((trade) => trade.symbol === symbol),
    }),
    fees: { maker: rate(fees.maker), taker: rate(fees.taker) },
    startAt: now,
    cancelDelayMs: cancelLater ? cancelDelayMs : undefined,
    onLooped(symbol, times) {
      log({ at: exchange.now, kind: 'looped', symbol, times });
      options.onLooped?.(symbol, times);
    },
  });
  store?.restore(exchange);
  for (const { uid, balances } of options.users) {
    if (exchange.accounts.has(uid)) continue;
    for (const [asset, amount] of Object.entries(balances)) exchange.accounts.deposit(uid, asset, units(amount));
  }
  return exchange;
}

function keysOf({ users }: SimulatorOptions): Map<string, Credentials> {
  const keys = new Map<string, Credentials>();
  for (const { uid, key, secret } of users) {
    if (!/^\d{1,18}$/.test(uid)) throw new Error(`the uid ${JSON.stringify(uid)} is not a whole number`);
    if (keys.has(key)) throw new Error(`two users have the key ${key}`);
    keys.set(key, { uid, secret });
  }
  return keys;
}

type Inspection = Pick<
  Simulator,
  'allTrades' | 'allOrders' | 'openOrders' | 'ordersByClientId' | 'balances' | 'weightUsed' | 'checkLedger'
>;

function inspection(exchange: Exchange, limits: Limits): Inspection {
  const { orders, accounts, instruments } = exchange;
  const allOrders = (uid: string): OrderRow[] =>
    [...orders.all()]
      .filter((order) => order.uid === uid)
      .map((order) => orderRow(order, exchange.matching(order.symbol).instrument));
  return {
    allTrades(uid) {
      const own = [...instruments.values()].flatMap((at) =>
        [...new Set(orders.trades(uid, at.symbol).map(({ trade }) => trade))].flatMap((trade) =>
          fillRows(trade, at, (id) => orders.byId(id)),
        ),
      );
      return own.filter((row) => row.uid === uid).sort((a, b) => (BigInt(a.tradeId) < BigInt(b.tradeId) ? -1 : 1));
    },
    allOrders,
    openOrders: (uid) =>
      [...orders.open(uid)].filter(isOpen).map((order) => orderRow(order, exchange.matching(order.symbol).instrument)),
    ordersByClientId: (uid, clientOrderId) => allOrders(uid).filter((order) => order.clientOrderId === clientOrderId),
    balances: (uid) =>
      Object.fromEntries(
        [...accounts.holdings(uid)].map(([asset, { free, locked }]) => [
          asset,
          { free: unitsText(free), locked: unitsText(locked) },
        ]),
      ),
    weightUsed: (uid, ip = '127.0.0.1') => limits.used(ip, uid, exchange.now),
    checkLedger: () => exchange.checkLedger(),
  };
}
