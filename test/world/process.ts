/** The production code, put together as a session does it, on the ports of a simulated world. */
import Database from 'better-sqlite3';
import { type Budget, budget } from '../../src/budget/budget.ts';
import { type Shared, sharedWithNobody } from '../../src/budget/shared.ts';
import type { Depth, Kline } from '../../src/domain/market.ts';
import { noUnits, rate, units } from '../../src/domain/money.ts';
import type { Account, AlonePolicy } from '../../src/domain/order.ts';
import type { Timing } from '../../src/execution/context.ts';
import { journal, type WriterHost } from '../../src/journal/journal.ts';
import { load } from '../../src/journal/load.ts';
import type { Identity } from '../../src/journal/open.ts';
import type { ArmedStop } from '../../src/portfolio/protection.ts';
import { trade } from '../../src/trader.ts';
import { type Assembled, assemble } from '../../src/trading/assemble.ts';
import { beatMs, freshness } from '../../src/trading/price-freshness.ts';
import { watchPrices } from '../../src/trading/price-updates.ts';
import { feed } from '../../src/venue/exchange/market/feed.ts';
import { instruments as knownInstruments } from '../../src/venue/exchange/market/instruments.ts';
import { klineHistory } from '../../src/venue/exchange/market/kline-history.ts';
import { Sockets } from '../../src/venue/exchange/market/socket.ts';
import type { Ws } from '../../src/venue/exchange/market/ws.ts';
import { orders as exchangeOrders } from '../../src/venue/exchange/orders/orders.ts';
import { accountReader } from '../../src/venue/exchange/orders/queries.ts';
import type { Http } from '../../src/venue/exchange/rest/http.ts';
import { type Rest, rest } from '../../src/venue/exchange/rest/rest.ts';
import { signer } from '../../src/venue/exchange/rest/sign.ts';
import { ExchangeTime } from '../../src/venue/exchange/rest/sync-time.ts';
import { type Answer, ok } from '../../src/venue/venue.ts';
import { btc, eth, instruments, wide } from '../kit/builders.ts';
import type { Chance } from './chance.ts';
import type { Disk } from './disk.ts';
import { type Life, never } from './life.ts';
import type { Bent, Inside } from './mutation-points.ts';
import { type DiskError, diskErrors } from './plan.ts';
import { decisionsFrom, type SignalsBySymbol, type TimedSignal } from './signals.ts';
import { aloneMs, moneyOf, type StrategyId, severalMarkets, strategyIds, symbolsOf } from './strategies.ts';
import { key, secret } from './venue.ts';

/** What a position may be worth, by symbol: below what the strategies signal together, so that it binds now and then. */
export const maxPosition = units('450');
export const idKey = Buffer.alloc(32, 7);
export const strategyNumbers: ReadonlyMap<string, number> = new Map(strategyIds.map((id, index) => [id, index + 1]));
export const symbols: readonly string[] = [btc.symbol, eth.symbol];

export const worldTiming: Timing = { pollMs: 6_000, sweepMs: 15_000, absentAfterMs: 6_000, sweepGapMs: 2_500 };

/** Between two comparisons of the ledger with the account, ms. */
const auditMs = 30_000;

export interface ProcessOptions {
  readonly life: Life;
  readonly disk: Disk;
  readonly http: Http;
  /** What the machine remembers of weight and bans. */
  readonly shared: Shared;
  readonly account: Account;
  readonly limits: { readonly ipWeightPerMinute: number; readonly uidWeightPerMinute: number };
  readonly elapsed: () => number;
  /** Who trades, and what is done about a leg of the pair that is open alone. */
  readonly strategies: readonly StrategyId[];
  readonly alone: AlonePolicy['action'];
  readonly signals: ReadonlyMap<string, readonly TimedSignal[]>;
  readonly mid: (symbol: string) => number | undefined;
  /** The book of a symbol as the exchange shows it now; undefined while nothing is received. */
  readonly book: (symbol: string) => Depth | undefined;
  /** The way to the exchange's sockets; undefined: prices come straight from the exchange. */
  readonly ws: Ws | undefined;
  /** Told of a stop before it is acted on, and of each kline. */
  readonly stopHit: (stop: ArmedStop) => void;
  readonly received: (kline: Kline) => void;
  readonly chance: Chance;
  /** Quotes of one signal leave in one request. */
  /** Nobody else trades on the account. */
  readonly dedicated: boolean;
  readonly batches: boolean;
  readonly bent: Bent;
  readonly say: (what: string) => void;
  readonly fatal: (error: unknown) => void;
  /** The journal's writer broke: the process ends. */
  readonly broke: (error: unknown) => void;
}

export interface Process {
  readonly life: Life;
  readonly assembled: Assembled;
  readonly limits: Budget;
  /** Recovery is through. */
  readonly ready: boolean;
  /** Resolves once everything appended so far is on disk. */
  durable(): Promise<boolean>;
}

/** How old a price may be where nothing goes wrong, ms. */
const freshMs = 5_000;

/** Its clock is the exchange's: a gateway that is far off makes it close klines before they end. */
export const isInTime = ({ clock }: Life, exchangeNow: number): boolean => Math.abs(clock.now() - exchangeNow) < 1_000;

/** Looks at every symbol and writes the journal, again where a look is refused, as after a clock was set back; gives whether it was done. */
export function lastLook(process: Process): () => boolean {
  let state: 'looking' | 'refused' | 'done' = 'refused';
  async function look(): Promise<void> {
    state = 'looking';
    const looks = await Promise.all(symbols.map((symbol) => process.assembled.sweeps.sweep(symbol)));
    await process.durable();
    state = looks.some(({ failed }) => failed) ? 'refused' : 'done';
  }
  return () => {
    if (state === 'refused') void look();
    return state === 'done';
  };
}

/** It has received of every price just now. */
export const isPriced = (running: Process | undefined): boolean =>
  running !== undefined &&
  symbols.every((symbol) => {
    const mark = running.assembled.portfolio.lastMark(symbol);
    return mark !== undefined && running.life.clock.now() - mark.at < freshMs;
  });

/** What of its orders is open, for people. */
export function openText(running: Process | undefined): string {
  const orders = [...(running?.assembled.portfolio.orders() ?? [])];
  return orders.map(({ intent, state }) => `${intent.clientOrderId} is ${state}`).join(', ') || 'no order is open';
}

type Running = Process & { ready: boolean; readonly caller: Rest };

/** Starts a process; what it does from here on happens as the world's time goes on. */
export function startProcess(options: ProcessOptions): Process {
  const { life, disk, bent, limits: most, say } = options;
  const { clock } = life;
  const epoch = disk.nextEpoch();
  const plainIdentity: Identity = { instance: 1, epoch, idKey, strategies: strategyNumbers };
  const identity = bent.identity?.(plainIdentity) ?? plainIdentity;
  const found = load(disk.db);
  const loaded = bent.loaded?.(found) ?? found;
  const inside: Inside = {
    chance: options.chance,
    portfolio: () => assembled.portfolio,
    sleep: (ms) => (life.alive ? clock.sleep(ms) : never()),
    account: options.account,
  };
  const limits = budget({ clock, shared: bent.forgetsLimits === true ? sharedWithNobody() : options.shared, ...most });
  const wire = wireOf(options, limits);
  const plainHost = hostOf(options, epoch);
  const host = bent.host?.(plainHost, inside) ?? plainHost;
  const plainBook = journal(host, clock, loaded.past.fill);
  const book = bent.journal?.(plainBook, inside) ?? plainBook;
  const known = knownInstruments(wire.caller, () => {});
  for (const at of instruments.values()) known.remember(at);
  const plainOrders = exchangeOrders({
    rest: wire.caller,
    clock,
    account: options.account,
    instruments: known,
    count: () => {},
  });
  const account = accountReader(wire.caller);
  const assembled = assemble({
    clock,
    journal: book,
    identity,
    loaded,
    orders: bent.orders?.(plainOrders, inside) ?? plainOrders,
    account: options.account,
    dedicated: options.dedicated,
    instruments,
    ...desksOf(options),
    limits: { ...wide, maxPosition, maxDataAgeMs: 3_000, maxOrdersPerSecond: 20, priceCollar: rate('0.05') },
    timing: { ...worldTiming, ...bent.timing },
    maxSendDelayMs: 5_000,
    batchCreate: options.batches,
    marketBuyIn: 'amount',
    feeInBase: rate('0.002'),
    notice: ({ level, text }) => say(`${life.number} ${level}: ${text}`),
    blocked: () => wire.time.against() ?? forbidden(limits.meter().stoppedUntil),
    ...(options.account === 'spot' && { balances: () => account.balances() }),
    serverTime: async () => {
      const time = await earliestTime(wire.time, clock);
      return bent.serverTime?.(time) ?? time;
    },
  });
  bent.assembled?.(assembled, inside);
  const running: Running = {
    life,
    assembled,
    limits,
    ready: false,
    caller: wire.caller,
    durable: () => book.durable(),
  };
  // A session is put together once the exchange has told its time; what may be wrong before is what the budget and that question see.
  clock.beginOnTheWall();
  void run(options, running, wire.time).catch(options.fatal);
  return running;
}

/** What strategies may use, and how those of several markets trade. */
function desksOf({ strategies, alone }: ProcessOptions) {
  const several = strategies.filter(isSeveral);
  return {
    allocations: strategies.flatMap((strategy) =>
      symbolsOf[strategy].map((symbol, index) => ({
        ...{ strategy, symbol },
        amount: index === 0 || !isSeveral(strategy) ? moneyOf[strategy] : noUnits,
      })),
    ),
    aloneRules: several
      .filter((strategy) => strategy === 'pair')
      .map((strategy) => ({ strategy, symbols: symbolsOf[strategy], afterMs: aloneMs, action: alone })),
    ...(several.length > 0 && { laneOf: () => btc.symbol }),
  };
}

const isSeveral = (strategy: StrategyId): boolean => severalMarkets.some((one) => one === strategy);

/** The journal's writer on the world's disk. */
const hostOf = ({ disk, life, bent, broke }: ProcessOptions, epoch: number): WriterHost =>
  disk.host(life, epoch, (error) => {
    if (bent.ioErrorIsWritten?.some((how) => isDiskError(error, how)) === true) return 'written';
    broke(error);
    return undefined;
  });

const isDiskError = (error: unknown, how: DiskError): boolean =>
  error instanceof Database.SqliteError && error.code === diskErrors[how];

const forbidden = (until: number | undefined): string | undefined =>
  until === undefined ? undefined : `nothing may be sent until ${until}`;

/** The exchange's time at the earliest that it can be. */
async function earliestTime(time: ExchangeTime, clock: Life['clock']): Promise<Answer<number>> {
  const read = await time.sync();
  return read.kind === 'failed' ? read : ok(clock.now() - Math.ceil(read.value.uncertaintyMs));
}

/** What the exchange should not have sent is a count in a session's log; nobody reads it here. */
const uncounted = { count: (): void => {} };

function wireOf(options: ProcessOptions, limits: Budget): { readonly caller: Rest; readonly time: ExchangeTime } {
  const { life, bent, http } = options;
  const caller = rest({
    restUrl: 'http://10.0.0.2',
    http: bent.http?.(http) ?? http,
    clock: life.clock,
    spend: bent.spend?.(limits.spend) ?? limits.spend,
    notice: bent.notice?.(limits.notice) ?? limits.notice,
    signer: signer(key, secret),
    outsideWindow: () => time.doubt('a request was refused for its time'),
    ...uncounted,
  });
  const time = new ExchangeTime(caller, life.clock, () => life.clock.wall());
  return { caller, time };
}

async function run(options: ProcessOptions, running: Running, time: ExchangeTime): Promise<void> {
  const { life, mid, signals, fatal } = options;
  const { clock } = life;
  const { assembled } = running;
  while ((await time.sync()).kind === 'failed') await clock.sleep(1_000);
  const speaking = {
    life,
    elapsed: options.elapsed,
    now: () => clock.now(),
    mid: (symbol: string) => mid(symbol) ?? 100,
  };
  const trader = {
    ...assembled.trader,
    async recover() {
      await assembled.trader.recover();
      running.ready = true;
      options.say(`${life.number} ready`);
      for (const symbol of symbols) void assembled.sweeps.watch(symbol).catch(fatal);
    },
    decisions: options.strategies.flatMap((strategy) => {
      const [first, ...others] = symbolsOf[strategy].map((symbol): SignalsBySymbol[0] => [
        symbol,
        signals.get(`${strategy} ${symbol}`) ?? [],
      ]);
      if (first === undefined) return [];
      return isSeveral(strategy)
        ? [decisionsFrom([first, ...others], strategy, speaking)]
        : [first, ...others].map((one) => decisionsFrom([one], strategy, speaking));
    }),
  };
  trade(trader).subscribe({ error: fatal });
  if (options.ws === undefined) every(life, 1_400, () => hear(options, assembled));
  else listen(options, assembled, running.caller, options.ws);
  every(life, auditMs, () => void assembled.audit().catch(fatal));
  every(life, 1_000, () => {
    assembled.retryPending();
    void time.tend().catch(fatal);
  });
}

function every(life: Life, ms: number, work: () => void): void {
  work();
  life.clock.at(life.clock.now() + ms, () => every(life, ms, work));
}

/** Prices mark the portfolio and trigger stops, as a session's do. */
function hear({ mid, book, life }: ProcessOptions, assembled: Assembled): void {
  const { portfolio, protection, risk } = assembled;
  for (const symbol of symbols) {
    const price = mid(symbol);
    if (price === undefined) continue;
    portfolio.mark(symbol, price, life.clock.now());
    const shown = book(symbol);
    if (shown !== undefined) risk.seeBook(shown, life.clock.now());
    protection.trail(symbol, price);
    for (const stop of protection.hitBy(symbol, price)) assembled.hitStop(stop, `traded at ${price}`);
  }
}

const log = { warn: (): void => {}, info: (): void => {}, debug: (): void => {} };
/** Nobody looks at a screen. */
const screen = { addTrade: (): void => {} };

/** Prices by the code that reads the socket in truth, and by what a session makes of them. */
function listen(options: ProcessOptions, assembled: Assembled, caller: Rest, ws: Ws): void {
  const { life, bent, chance, stopHit } = options;
  const { clock } = life;
  const { count } = uncounted;
  const sockets = new Sockets({ url: 'ws://10.0.0.2', ws: bent.ws?.(ws) ?? ws, clock, rng: chance.next, count, log });
  const plain = feed({ sockets, history: klineHistory(caller, clock, count), clock, count });
  const received = bent.feed?.(plain) ?? plain;
  const fresh = freshness(clock);
  every(life, beatMs, () => fresh.beat());
  const watched = {
    ...assembled,
    hitStop(stop: ArmedStop, why: string): void {
      stopHit(stop);
      assembled.hitStop(stop, why);
    },
  };
  for (const symbol of symbols) {
    watchPrices({ feed: received, assembled: watched, screen }, symbol, fresh);
    received.klines(symbol, '1min').subscribe(options.received);
  }
}
