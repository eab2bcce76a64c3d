/** Joins the components of an exchange: everything but the port that it listens on. */
import { ScaledClock, seededRng } from '../clock/clock.ts';
import { rate } from '../domain/money.ts';
import { Exchange } from './core/exchange.ts';
import { Limits, specifiedLimits } from './core/limits.ts';
import { quirksOf } from './core/quirks.ts';
import { openDriver } from './driver.ts';
import { Answering } from './faults/answering.ts';
import { Faults } from './faults/engine.ts';
import { openSpoiler, type Spoiler } from './faults/frame-faults.ts';
import { openGatewayClock, openOutage } from './faults/gateway.ts';
import { openPeople } from './faults/manual-actions.ts';
import { Replicas } from './faults/replica.ts';
import type { FaultEvent, FaultRule } from './faults/rules.ts';
import { failureOf, happen, schedule } from './faults/timed-events.ts';
import { createApi } from './http/api.ts';
import { emptyMarket } from './market/empty-market.ts';
import { dataStart } from './market/open-markets.ts';
import { startCrowd } from './market/participants.ts';
import { openExchange } from './open-exchange.ts';
import type { CheckedOptions } from './options.ts';
import type { Store } from './persist/store.ts';
import { openRecorder } from './recorder.ts';
import type { TruthLog } from './truth-log.ts';
import { Feed } from './ws/feed.ts';

export interface Opening {
  readonly store: Store | undefined;
  /** Exchange time at which a new exchange opens. */
  readonly start: number;
  readonly rules: readonly FaultRule[];
  readonly log: TruthLog;
  /** Cuts open connections, once there is a server. */
  readonly cut: (connections: 'all' | 'sockets') => void;
}

type Core = ReturnType<typeof openCore>;
export type Parts = ReturnType<typeof assemble>;

/** The exchange without faults. */
function openCore(options: CheckedOptions, { store, start, log: truthLog }: Opening) {
  const log = truthLog.write;
  const { profile = 'documented', seed = 1, markets = [] } = options;
  const resume = resumesAt(options, store?.savedAt, start);
  const clock = options.clock ?? new ScaledClock(options.speed ?? 1, resume);
  const quirks = quirksOf(profile, options.quirks);
  const users = options.users.map(({ uid }) => uid);
  const exchange = openExchange(options, store, start, resume, quirks, log);
  startCrowd(
    exchange,
    markets.filter((market) => market.kind === 'synthetic'),
    seed,
  );
  const limitsInForce = { ...specifiedLimits, ...options.limits };
  const speed = options.clock === undefined ? { speed: options.speed ?? 1 } : {};
  log({ at: exchange.now, kind: 'start', profile, seed, limits: limitsInForce, ...speed });
  const limits = new Limits(limitsInForce, (ip, until) => log({ at: exchange.now, kind: 'ban', ip, until }));
  const gateway = openGatewayClock(() => clock.now());
  const feed = new Feed(exchange, quirks, () => exchange.now + gateway.skew());
  const { keys } = exchange;
  const serve = (served: Exchange) => createApi({ exchange: served, limits, quirks, clock, keys });
  const replicas = new Replicas({
    exchange,
    users,
    serve,
    empty: () => emptyCopy(exchange, options.keptOrders),
    lengthOf: (lagMs) => clock.machine(lagMs),
  });
  const record = openRecorder(exchange, users, replicas, truthLog);
  const driver = openDriver(exchange, feed, clock, store, record);
  return { seed, clock, quirks, users, exchange, limits, feed, gateway, api: serve(exchange), replicas, driver };
}

/** A recording continues where it stood. Anything else continues today, or clients would find the clock days behind. */
function resumesAt({ clock, markets = [] }: CheckedOptions, savedAt: number | undefined, start: number): number {
  if (savedAt === undefined) return start;
  return clock === undefined && dataStart(markets) === undefined ? Math.max(savedAt, start) : savedAt;
}

export function assemble(options: CheckedOptions, opening: Opening) {
  const core = openCore(options, opening);
  const { seed, clock, users, exchange, limits, gateway, replicas, driver } = core;
  const { rules, cut } = opening;
  const log = opening.log.write;
  const people = openPeople(exchange, users, seededRng(seed + 104_729));
  // When a connection or a request comes, the exchange may not have reached the clock's time yet.
  const now = (): number => clock.now();
  const outage = openOutage(now, cut);
  /** Carries an event out and logs it. */
  const run = (event: FaultEvent): void => happen(event, { exchange, limits, people, outage, gateway, cut });
  const logEvent = (event: FaultEvent, failed: string | undefined): void =>
    log({ at: exchange.now, kind: 'event', event, failed });
  const faults = new Faults(rules, {
    seed,
    now,
    onTimed: (one, isRemoved) =>
      schedule(one, isRemoved, exchange, (event) => {
        const failed = failureOf(() => run(event));
        logEvent(event, failed);
      }),
    onLag: (lagMs) => replicas.open(lagMs),
  });
  const spoiler = (): Spoiler =>
    openSpoiler(faults, clock, ({ rule, action }, channel) =>
      log({ at: exchange.now, kind: 'fault', rule, method: 'WS', path: channel, action }),
    );
  return {
    ...core,
    people,
    outage,
    faults,
    answering: new Answering({ ...core, faults, outage, log }),
    /** Opens the frame faults of a socket. */
    spoiler,
    /** How many objects of each kind are in memory. */
    retained: () => retainedOf(core, faults, opening),
    /** Carries an event out now and logs it; throws a `Refusal` when it cannot. */
    happens: (event: FaultEvent): void =>
      driver.act(() => {
        run(event);
        logEvent(event, undefined);
      }),
  };
}

function retainedOf(
  { exchange, users, replicas }: Core,
  faults: Faults,
  { log }: Opening,
): Readonly<Record<string, number>> {
  const { orders, instruments } = exchange;
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  return {
    orders: [...orders.all()].length,
    trades: sum(users.flatMap((uid) => [...instruments.keys()].map((symbol) => orders.trades(uid, symbol).length))),
    openOrders: sum(users.map((uid) => orders.open(uid).size)),
    waitingForReplicas: replicas.waiting(),
    logEntries: log.size(),
    rules: faults.list().length,
    held: sum(Object.values(faults.holding())),
  };
}

/** The same instruments without users and orders. */
function emptyCopy({ instruments, now }: Exchange, keptOrders: number | undefined): Exchange {
  const listed = [...instruments.values()];
  const none = rate('0');
  return new Exchange({
    instruments: listed,
    markets: listed.map((instrument) => emptyMarket(instrument)),
    fees: { maker: none, taker: none },
    startAt: now,
    keptOrders,
    cancelDelayMs: undefined,
    onLooped: () => undefined,
  });
}
