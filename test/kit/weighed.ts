/**
 * Simulated trading whose requests the built-in exchange weighs: the client, the budget and the desk as a session puts them
 * together, on one simulated clock with the exchange's core, no network between them. For the weight plan to be held against.
 */
import { Observable } from 'rxjs';
import { budget, type Meter } from '../../src/budget/budget.ts';
import { sharedWithNobody } from '../../src/budget/shared.ts';
import { type PlanInput, planWeight, type WeightPlan } from '../../src/budget/weight-plan.ts';
import { seededRng } from '../../src/clock/clock.ts';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { type Instrument, instrument } from '../../src/domain/instrument.ts';
import { lots, rate, units } from '../../src/domain/money.ts';
import { type Decision, decisionOf, mainRole, type Signal } from '../../src/domain/order.ts';
import { emptyLoaded } from '../../src/journal/load.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { pricesOf } from '../../src/session/preflight/weight-plan.ts';
import { assemble as assembleExchange, type Parts } from '../../src/simulator/assemble.ts';
import type { LogEntry } from '../../src/simulator/log.ts';
import type { MinuteColumns } from '../../src/simulator/market/klines-market.ts';
import { openTruthLog } from '../../src/simulator/truth-log.ts';
import { trade } from '../../src/trader.ts';
import { type Assembled, assemble } from '../../src/trading/assemble.ts';
import { instruments as knownInstruments } from '../../src/venue/exchange/market/instruments.ts';
import { orders } from '../../src/venue/exchange/orders/orders.ts';
import type { Http } from '../../src/venue/exchange/rest/http.ts';
import { type Rest, rest } from '../../src/venue/exchange/rest/rest.ts';
import { signer } from '../../src/venue/exchange/rest/sign.ts';
import { ExchangeTime } from '../../src/venue/exchange/rest/sync-time.ts';
import { wide } from './builders.ts';

export interface Weighing {
  /** One strategy each, on a symbol of its own. */
  readonly strategies: readonly { readonly ordersPerMinute: number; readonly resting: boolean }[];
  readonly minutes: number;
  readonly pollMs?: number;
  readonly sweepMs?: number;
  /** 12,000 when left out. */
  readonly ipWeightPerMinute?: number;
}

export interface Weighed {
  readonly plan: WeightPlan;
  /** By method and path, over the whole time. */
  readonly counted: ReadonlyMap<string, { readonly calls: number; readonly weight: number }>;
  /** What the exchange counted, per minute. */
  readonly weightPerMinute: number;
  /** Requests that were answered with 410, 418 or 429. */
  readonly refusals: number;
  readonly meter: Meter;
}

const noon = Date.UTC(2026, 0, 1, 12);
const price = 10_000;
const user = { uid: '10001', key: 'key', secret: 'secret' };

export async function weigh({
  strategies,
  minutes,
  pollMs = 1_000,
  sweepMs = 5_000,
  ipWeightPerMinute = 12_000,
}: Weighing): Promise<Weighed> {
  const clock = new SimClock(noon);
  // Time may pass only when everything that can happen without it has happened.
  void clock.track(new Promise(() => {}));
  const symbols = strategies.map((_, index) => instrumentOf(index));
  const ledger = openLedger();
  const limits = { ipWeightPerMinute, uidWeightPerMinute: 60_000 };
  const venue = openVenue(clock, symbols, { minutes, limits, log: ledger.log });
  const purse = budget({ clock, shared: sharedWithNobody(), ...limits });
  const caller = rest({
    restUrl: 'http://exchange',
    http: wireTo(venue),
    clock,
    spend: purse.spend,
    notice: purse.notice,
    signer: signer(user.key, user.secret),
  });
  const time = new ExchangeTime(caller, settable(clock), () => clock.now());
  const assembled = deskOf(clock, caller, symbols, { pollMs, sweepMs });
  const begun = start(assembled, clock, strategies, symbols);
  await clock.advanceTo(noon + 10_000);
  await begun;
  every(clock, 1_000, () => void time.tend());
  await clock.advanceTo(noon + 60_000);
  ledger.clear();
  await clock.advanceTo(noon + (1 + minutes) * 60_000);
  const input: PlanInput = {
    strategies: strategies.map((one, index) => ({ id: `s${index}`, symbol: `S${index}USDT`, warmup: 0, ...one })),
    ...{ pollMs, sweepMs, timeMs: 60_000, ...limits, prices: pricesOf('spot') },
  };
  return { plan: planWeight(input), ...ledger.sums(minutes), meter: purse.meter() };
}

function instrumentOf(index: number): Instrument {
  const shape = { symbol: `S${index}USDT`, base: `S${index}`, quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 };
  return instrument({ ...shape, minQuantity: lots('0.0001', shape), minNotional: units('1') });
}

function openLedger() {
  let counted = new Map<string, { calls: number; weight: number }>();
  let refusals = 0;
  return {
    log: (entry: LogEntry): void => {
      if (entry.kind !== 'request') return;
      const name = `${entry.method} ${entry.target.split('?')[0]}`;
      const { calls, weight } = counted.get(name) ?? { calls: 0, weight: 0 };
      counted.set(name, { calls: calls + 1, weight: weight + entry.weight });
      if ([410, 418, 429].includes(entry.status)) refusals++;
    },
    clear(): void {
      counted = new Map();
    },
    sums(minutes: number) {
      const total = [...counted.values()].reduce((sum, { weight }) => sum + weight, 0);
      return { counted, weightPerMinute: total / minutes, refusals };
    },
  };
}

interface VenueOptions {
  readonly minutes: number;
  readonly limits: { readonly ipWeightPerMinute: number; readonly uidWeightPerMinute: number };
  readonly log: (entry: LogEntry) => void;
}

function openVenue(clock: SimClock, symbols: readonly Instrument[], { minutes, limits, log }: VenueOptions): Parts {
  const klines = steadyMinutes(minutes + 10);
  const parts = assembleExchange(
    {
      clock,
      users: [{ ...user, balances: { USDT: '100000000' } }],
      instruments: symbols,
      limits,
      markets: symbols.map(({ symbol }) => ({ kind: 'klines', symbol, klines, startIndex: 5 })),
    },
    { store: undefined, start: noon, rules: [], log: openTruthLog(undefined, log, false), cut: () => {} },
  );
  parts.driver.tick();
  return parts;
}

/** Minutes that swing a little around one price. */
function steadyMinutes(count: number): MinuteColumns {
  const column = (value: (index: number) => number): Float64Array =>
    Float64Array.from({ length: count }, (_, at) => value(at));
  return {
    openTime: column((index) => noon + (index - 5) * 60_000),
    open: column(() => price),
    high: column(() => price + 10),
    low: column(() => price - 10),
    close: column(() => price),
    volume: column(() => 200),
  };
}

const wireTo = ({ answering }: Parts): Http => ({
  async send({ method, url, headers, body }, gate) {
    const against = await gate;
    if (against !== undefined) return { kind: 'failed', cause: against, written: false };
    return new Promise((resolve) => {
      const request = {
        method,
        target: url.pathname + url.search,
        body: body ?? '',
        ip: '127.0.0.1',
        key: headers['x-ch-apikey'] ?? headers['X-CH-APIKEY'],
        timestamp: headers['x-ch-ts'] ?? headers['X-CH-TS'],
        signature: headers['x-ch-sign'] ?? headers['X-CH-SIGN'],
      };
      const failed = (): void => resolve({ kind: 'failed', cause: 'cut', written: true });
      answering.answer(request, {
        send: (status, text) => resolve({ kind: 'reply', status, retryAfter: undefined, body: text }),
        sendHalf: failed,
        destroy: failed,
      });
    });
  },
  close() {},
});

const settable = (clock: SimClock) => ({
  now: () => clock.now(),
  exact: () => clock.now(),
  monotonic: () => clock.monotonic(),
  machine: (ms: number) => clock.machine(ms),
  // There is one clock here, which nobody sets.
  set: () => {},
});

function deskOf(
  clock: SimClock,
  caller: Rest,
  symbols: readonly Instrument[],
  { pollMs, sweepMs }: { readonly pollMs: number; readonly sweepMs: number },
): Assembled {
  const known = knownInstruments(caller, () => {});
  for (const at of symbols) known.remember(at);
  return assemble({
    clock,
    journal: memoryJournal(() => false),
    identity: undefined,
    loaded: emptyLoaded,
    orders: orders({ rest: caller, clock, account: 'spot', instruments: known, count: () => {} }),
    account: 'spot',
    instruments: new Map(symbols.map((at) => [at.symbol, at])),
    allocations: symbols.map(({ symbol }, index) => ({ strategy: `s${index}`, symbol, amount: units('100000') })),
    limits: wide,
    timing: { pollMs, sweepMs, absentAfterMs: 60_000, sweepGapMs: sweepMs },
    maxSendDelayMs: 10_000,
    marketBuyIn: 'amount',
    feeInBase: rate('0.002'),
    notice: () => {},
  });
}

/** Starts trading; resolves when recovery is through. */
function start(
  assembled: Assembled,
  clock: SimClock,
  strategies: Weighing['strategies'],
  symbols: readonly Instrument[],
): Promise<void> {
  every(clock, 1_000, () => {
    for (const { symbol } of symbols) assembled.portfolio.mark(symbol, price, clock.now());
  });
  return new Promise((resolve, reject) => {
    const trader = {
      ...assembled.trader,
      async recover() {
        await assembled.trader.recover();
        for (const { symbol } of symbols) void assembled.sweeps.watch(symbol).catch(reject);
        resolve();
      },
      decisions: strategies.map((one, index) => signals(clock, `s${index}`, symbols[index]?.symbol ?? '', one, index)),
    };
    trade(trader).subscribe({ error: reject });
  });
}

/** A new emitNext now and then, at the rate of orders: a quote far below that moves, or a position that comes and goes. */
function signals(
  clock: SimClock,
  strategy: string,
  symbol: string,
  { ordersPerMinute, resting }: Weighing['strategies'][number],
  index: number,
): Observable<Decision> {
  return new Observable((out) => {
    let turn = 0;
    const rng = seededRng(index);
    const periodMs = (): number => Math.round((60_000 / ordersPerMinute) * (0.5 + rng()));
    const emitNext = (): void => {
      turn++;
      const signal: Signal = resting
        ? { kind: 'quotes', quotes: [{ side: 'BUY', price: price / 2 + (turn % 2), quantity: 0.1 }], reason: 'test' }
        : { kind: 'target', size: { quantity: (turn % 2) * 0.1 }, reason: 'test' };
      out.next(decisionOf({ strategy, role: mainRole, symbol, at: clock.now(), signal }));
      clock.at(clock.now() + periodMs(), emitNext);
    };
    if (ordersPerMinute > 0) clock.at(clock.now() + periodMs(), emitNext);
  });
}

function every(clock: SimClock, ms: number, work: () => void): void {
  work();
  clock.at(clock.now() + ms, () => every(clock, ms, work));
}

/** Ten kinds of strategies, over so many symbols: quotes and positions that change up to ten times a minute. */
export const busy = (symbols: number): Weighing['strategies'] =>
  Array.from({ length: symbols }, (_, index) => ({ ordersPerMinute: 1 + (index % 10), resting: index % 2 === 0 }));
