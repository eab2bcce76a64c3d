/** Joins the parts of an exchange: everything but the port that it listens on. */
import { type Clock, ScaledClock, seededRng } from '../clock/clock.ts';
import { rate } from '../domain/money.ts';
import { openRecorder } from './changes.ts';
import { Exchange } from './core/exchange.ts';
import { habitsOf } from './core/habits.ts';
import { Limits, specifiedLimits } from './core/limits.ts';
import { type Answering, openAnswering } from './faults/answer.ts';
import { Faults, type Hit } from './faults/engine.ts';
import { openSpoiler, type Spoiler } from './faults/frames.ts';
import { type GatewayClock, openGatewayClock } from './faults/gateway-clock.ts';
import { openPeople, type People } from './faults/human.ts';
import { type Outage, openOutage } from './faults/outage.ts';
import { openReplicas } from './faults/replica.ts';
import type { FaultEvent, FaultRule } from './faults/rules.ts';
import { happen, schedule } from './faults/timed.ts';
import { type ApiReply, type ApiRequest, createApi } from './http/api.ts';
import type { LogEntry } from './log.ts';
import { startCrowd } from './market/crowd.ts';
import { emptyMarket } from './market/empty-market.ts';
import { dataStart } from './market/open-markets.ts';
import type { CheckedOptions, SyntheticMarket } from './options.ts';
import type { Store } from './persist/store.ts';
import { openExchange } from './setup.ts';
import { type Driver, drive } from './timer.ts';
import { Feed } from './ws/feed.ts';

export interface Opening {
  readonly store: Store | undefined;
  /** Exchange time at which a new exchange opens. */
  readonly start: number;
  readonly rules: readonly FaultRule[];
  readonly log: (entry: LogEntry) => void;
  /** Whether anybody reads the log. */
  readonly isHeard: boolean;
  /** Entries of the log that are in memory. */
  readonly logSize: () => number;
  /** Cuts what is open, once there is a server. */
  readonly cut: (what: 'all' | 'sockets') => void;
}

export interface Parts {
  readonly clock: Clock;
  readonly exchange: Exchange;
  readonly limits: Limits;
  readonly feed: Feed;
  readonly habits: ReturnType<typeof habitsOf>;
  readonly driver: Driver;
  readonly faults: Faults;
  readonly outage: Outage;
  readonly gateway: GatewayClock;
  readonly people: People;
  readonly answering: Answering;
  readonly spoiler: () => Spoiler;
  /** How many things of each kind are kept in memory. */
  readonly retained: () => Readonly<Record<string, number>>;
  /** Carries an event out and logs it. */
  readonly happens: (event: FaultEvent) => void;
}

type Core = ReturnType<typeof openCore>;

/** The exchange as it would be on a good day. */
function openCore(options: CheckedOptions, { store, start, log, isHeard }: Opening) {
  const { profile = 'documented', seed = 1 } = options;
  const resume = resumesAt(options, store?.savedAt, start);
  const clock = options.clock ?? new ScaledClock(options.speed ?? 1, resume);
  const habits = habitsOf(profile, {
    ...(options.requireOrderIdInQuery !== undefined && { queryNeedsOrderId: options.requireOrderIdInQuery }),
    ...options.habits,
  });
  const users = options.users.map(({ uid }) => uid);
  const exchange = openExchange(options, { store, start, resume, log, cancelLater: habits.cancel === 'later' });
  startCrowd({ exchange, markets: syntheticOf(options), seed });
  const settings = { ...specifiedLimits, ...options.limits };
  const speed = options.clock === undefined ? { speed: options.speed ?? 1 } : {};
  log({ at: exchange.now, kind: 'start', profile, seed, limits: settings, ...speed });
  const limits = new Limits(settings, (ip, until) => log({ at: exchange.now, kind: 'ban', ip, until }));
  const gateway = openGatewayClock(() => clock.now());
  const feed = new Feed(exchange, habits, () => exchange.now + gateway.skew());
  const { keys } = exchange;
  const serve = (served: Exchange) => createApi({ exchange: served, limits, habits, clock, keys });
  const replicas = openReplicas({
    exchange,
    users,
    serve,
    empty: () => emptyCopy(exchange, options.keptOrders),
    lengthOf: (lagMs) => clock.machine(lagMs),
  });
  const record = openRecorder({
    exchange,
    users,
    log,
    isHeard: () => isHeard || replicas.areOpen(),
    replicate: (changes, balances) => replicas.record(changes, balances),
  });
  const driver = drive({ exchange, feed, clock, store, record });
  return { seed, clock, habits, users, exchange, limits, feed, gateway, api: serve(exchange), replicas, driver };
}

/** A recording goes on where it stood. Without one it is today again, or every client would find the clock days behind. */
function resumesAt({ clock, markets = [] }: CheckedOptions, savedAt: number | undefined, start: number): number {
  if (savedAt === undefined) return start;
  return clock === undefined && dataStart(markets) === undefined ? Math.max(savedAt, start) : savedAt;
}

/** Everything that can go wrong with it. */
function openBadDay({ seed, clock, users, exchange, limits, gateway, replicas }: Core, { rules, log, cut }: Opening) {
  const people = openPeople(exchange, users, seededRng(seed + 104_729));
  // The exchange may not have reached the clock's time yet when a connection or a request comes.
  const present = (): number => clock.now();
  const outage = openOutage(present, cut);
  const happens = (event: FaultEvent): void => happen(event, { exchange, limits, people, outage, gateway, cut });
  const onEvent = (event: FaultEvent, failed: string | undefined): void =>
    log({ at: exchange.now, kind: 'event', event, failed });
  const faults = new Faults(rules, {
    seed,
    now: present,
    onTimed: (one, isGone) => schedule(one, isGone, { exchange, rng: one.rng, happens, onEvent }),
    onLag: (lagMs) => replicas.open(lagMs),
  });
  return { people, outage, faults, happens, onEvent };
}

export function assemble(options: CheckedOptions, opening: Opening): Parts {
  const core = openCore(options, opening);
  const { clock, habits, exchange, limits, feed, gateway, api, replicas, driver } = core;
  const { people, outage, faults, happens, onEvent } = openBadDay(core, opening);
  const { log } = opening;
  const onFault = ({ rule, action }: Hit, method: string, path: string): void =>
    log({ at: exchange.now, kind: 'fault', rule, method, path, action });
  const carried = (request: ApiRequest, ask: (request: ApiRequest) => ApiReply, isAgain = false): ApiReply => {
    driver.advance();
    const reply = ask(request);
    driver.save();
    const entry = requestEntry(request, reply, exchange.now);
    log(isAgain ? { ...entry, again: true } : entry);
    return reply;
  };
  const again = (request: ApiRequest): ApiReply => exchange.madeBy('fault', () => api(request));
  const uidOf = (key: string | undefined): string | undefined =>
    key === undefined ? undefined : exchange.keys.get(key)?.uid;
  const answering = openAnswering({
    ...{ faults, outage, gateway, clock, habits, onFault },
    advance: driver.advance,
    process: (request) => carried(request, api),
    processAgain: (request) => carried(request, again, true),
    processBehind: (request, lagMs) => carried(request, isPublic(request) ? api : replicas.ask(lagMs)),
    endOrder(orderId) {
      driver.advance();
      const order = exchange.orders.byId(orderId);
      if (order !== undefined) exchange.cancel(order);
      driver.save();
      driver.publish();
    },
    publish: driver.publish,
    uidOf,
    onUnseen(request, { rule: fault }, answer) {
      const seen = { ...answer, uid: uidOf(request.key), weight: 0 };
      log({ ...requestEntry(request, seen, exchange.now), fault });
    },
    onAway: (method, path, how) => log({ at: exchange.now, kind: 'away', method, path, how }),
  });
  const spoiler = (): Spoiler => openSpoiler({ faults, clock, onFault: (hit, channel) => onFault(hit, 'WS', channel) });
  return {
    ...{ clock, exchange, limits, feed, habits, driver, faults, outage, gateway, people, answering, spoiler },
    retained: () => retainedOf(core, faults, opening),
    happens(event) {
      driver.advance();
      happens(event);
      onEvent(event, undefined);
      driver.save();
      driver.publish();
    },
  };
}

function retainedOf({ exchange, users, replicas }: Core, faults: Faults, { logSize }: Opening) {
  const { orders, instruments } = exchange;
  const tradesOf = (uid: string): number =>
    [...instruments.keys()].reduce((sum, symbol) => sum + orders.trades(uid, symbol).length, 0);
  return {
    orders: [...orders.all()].length,
    trades: users.reduce((sum, uid) => sum + tradesOf(uid), 0),
    openOrders: users.reduce((sum, uid) => sum + orders.open(uid).size, 0),
    waitingForReplicas: replicas.waiting(),
    logEntries: logSize(),
    rules: faults.list().length,
    held: Object.values(faults.holding()).reduce((sum, held) => sum + held, 0),
  };
}

/** Replicas know orders, own trades and balances; what needs no key comes from the exchange itself. */
const isPublic = ({ key, method }: ApiRequest): boolean => key === undefined || method !== 'GET';

/** Kept of a body in the log, characters. */
const bodyLimit = 2_048;

function requestEntry(
  { ip, method, target, body, timestamp }: ApiRequest,
  reply: Omit<ApiReply, 'body'>,
  at: number,
): Extract<LogEntry, { kind: 'request' }> {
  const { status, uid, weight, code } = reply;
  const sent = timestamp !== undefined && /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : undefined;
  const ageMs = sent === undefined ? undefined : at - sent;
  return { at, kind: 'request', ip, method, target, body: body.slice(0, bodyLimit), ageMs, status, uid, weight, code };
}

const syntheticOf = ({ markets = [] }: CheckedOptions): SyntheticMarket[] =>
  markets.filter((market): market is SyntheticMarket => market.kind === 'synthetic');

/** The same instruments, nobody and nothing in them. */
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
