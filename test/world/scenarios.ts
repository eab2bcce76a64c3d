/** Short courses of events, each about one step of the protocol, that are gone through with a crash at every point. */
import type { AlonePolicy, Signal } from '../../src/domain/order.ts';
import type { HttpRequest } from '../../src/venue/exchange/rest/http.ts';
import { btc, eth } from '../kit/builders.ts';
import type { PlannedEvent } from './plan.ts';
import type { TimedSignal } from './signals.ts';
import type { StrategyId } from './strategies.ts';

export interface Scenario {
  readonly about: string;
  /** Crash points are counted from here, ms after the start, until `toMs`; then everything is ended and compared. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Several quotes leave in one request. */
  readonly batches?: boolean;
  /** What is done about a leg of the pair that is open alone. */
  readonly alone?: AlonePolicy['action'];
  /** What the strategies hold, by `strategy symbol`, once nothing has gone wrong for `settleMs`. */
  readonly ends?: Readonly<Record<string, number>>;
  /** What the strategies signal, by `strategy symbol`. */
  readonly signals: Readonly<Record<string, readonly TimedSignal[]>>;
  readonly events?: readonly PlannedEvent[];
  /** Which request the fault strikes: the first that this names. */
  readonly strikes: (request: HttpRequest, elapsedMs: number) => boolean;
  /** The price of BTC at a time; it walks by itself where this is left out. */
  readonly price?: (elapsedMs: number) => number;
}

const at = (ms: number, signal: (mid: number) => Signal): TimedSignal => ({ at: ms, signal });
const of = (strategy: StrategyId, symbol: string, ...signals: readonly TimedSignal[]): Scenario['signals'] => ({
  [`${strategy} ${symbol}`]: signals,
});
const reason = 'signalled by the scenario';
const rounded = (price: number): number => Math.round(price * 100) / 100;

/** A target that is bought at a limit above the price. */
const target =
  (quantity: number, more: { readonly stop?: number; readonly off?: number; readonly expiresAfterMs?: number } = {}) =>
  (mid: number): Signal => ({
    kind: 'target',
    size: { quantity },
    reason,
    limit: rounded(mid * (1 + (more.off ?? 0.006))),
    ...(more.stop !== undefined && { stop: more.stop }),
    ...(more.expiresAfterMs !== undefined && { expiresAfterMs: more.expiresAfterMs }),
  });

/** Bids far below the price, which rest. */
const bids =
  (count: number) =>
  (mid: number): Signal => ({
    kind: 'quotes',
    reason,
    quotes: Array.from({ length: count }, (_, step) => ({
      side: 'BUY' as const,
      price: rounded(mid - 1 - step * 0.1),
      quantity: 0.5,
    })),
  });

const posts =
  (path: RegExp) =>
  ({ method, url }: HttpRequest): boolean =>
    method === 'POST' && path.test(url.pathname);
const gets =
  (path: RegExp, fromMs: number) =>
  ({ method, url }: HttpRequest, elapsedMs: number): boolean =>
    method === 'GET' && path.test(url.pathname) && elapsedMs >= fromMs;

/** What two legs hold: bought at market, or by a bid that nobody meets. */
const holds = (quantity: number, limit?: number) => (): Signal => ({
  kind: 'target',
  size: { quantity },
  reason,
  ...(limit !== undefined && { limit }),
});

/** Between two times that a strategy of two legs decides, and for how long it goes on, ms: like one that decides at each close. */
const decidesMs = 4_000;
const decidesForMs = 200_000;

/** The same decision again and again from a time on. */
const again = (from: number, signal: TimedSignal['signal']): readonly TimedSignal[] =>
  Array.from({ length: decidesForMs / decidesMs }, (_, index) => at(from + index * decidesMs, signal));

const [near, far] = [btc.symbol, eth.symbol];
/** How long scenarios with an end have for it, ms: an unknown outcome is resolved, and a leg alone has its time. */
export const settleMs = 40_000;
/** Far below what the market comes to. */
const unmet = 80;

const creates = posts(/\/(order|batchOrders)$/);
const cancels = posts(/\/(cancel|batchCancel)$/);
/** Recovery of the first start is over by then. */
const readyMs = 2_000;
const quotesAt = eth.symbol;

export const scenarios = {
  create: {
    about: 'one order that fills at once, in parts where the book is thin',
    fromMs: readyMs,
    toMs: 15_000,
    signals: of('steps', btc.symbol, at(readyMs, target(2))),
    strikes: creates,
  },
  cancel: {
    about: 'an order that rests, and is cancelled',
    fromMs: 3_000,
    toMs: 13_000,
    signals: of('quotes', quotesAt, at(readyMs, bids(1)), at(3_200, bids(0))),
    strikes: cancels,
  },
  expire: {
    about: 'an entry that rests until its time is over',
    fromMs: 3_500,
    toMs: 14_000,
    signals: of('steps', btc.symbol, at(readyMs, target(1, { off: -0.02, expiresAfterMs: 3_000 }))),
    ends: { [`steps ${near}`]: 0 },
    strikes: cancels,
    price: () => 100,
  },
  batch: {
    about: 'three orders of one symbol that leave in one request, and are cancelled in one',
    batches: true,
    fromMs: readyMs,
    toMs: 14_000,
    signals: of('quotes', quotesAt, at(readyMs, bids(3)), at(3_500, bids(0))),
    strikes: posts(/\/(order|cancel|batchOrders|batchCancel)$/),
  },
  sweep: {
    about: 'an order that rests and is filled while nobody asks; looks find it',
    fromMs: 3_500,
    toMs: 11_000,
    signals: of('steps', btc.symbol, at(readyMs, target(1, { off: -0.005 }))),
    strikes: gets(/myTrades$/, 3_500),
    price: (ms) => (ms < 3_000 ? 100 : 99.3),
  },
  boot: {
    about: 'a start on a journal with an order on its way, one that rests and fills of the meantime',
    fromMs: 3_400,
    toMs: 12_000,
    signals: {
      ...of('quotes', quotesAt, at(readyMs, bids(1))),
      ...of('steps', btc.symbol, at(3_200, target(1))),
    },
    events: [{ kind: 'crash', at: 3_240, point: 'beforeAnswer', power: false, downMs: 300 }],
    strikes: gets(/(openOrders|myTrades|order|account)$/, 3_540),
  },
  protect: {
    about: 'a position whose stop is reached',
    fromMs: 3_400,
    toMs: 15_000,
    signals: of('steps', btc.symbol, at(readyMs, target(1, { stop: 99 }))),
    strikes: (request, elapsedMs) => elapsedMs >= 3_400 && creates(request),
    price: (ms) => (ms < 4_000 ? 100 : 98.4),
  },
  kill: {
    about: 'a kill while orders rest and a strategy goes on emitting',
    fromMs: 3_000,
    toMs: 13_000,
    signals: {
      ...of('quotes', quotesAt, at(readyMs, bids(2)), at(4_000, bids(1))),
      ...of('steps', btc.symbol, at(3_300, target(1)), at(4_500, target(2))),
    },
    events: [{ kind: 'stop', how: 'killEverything', at: 3_350, strategy: undefined, forMs: 60_000 }],
    strikes: cancels,
  },
  flatten: {
    about: 'a position that is closed by hand, while its strategy goes on emitting',
    fromMs: 4_000,
    toMs: 14_000,
    signals: of('steps', btc.symbol, at(readyMs, target(1)), ...again(6_000, target(2))),
    events: [{ kind: 'flatten', at: 4_000, forMs: 200_000, strategy: 'steps', symbol: undefined, maxSlippage: '0.01' }],
    ends: { [`steps ${near}`]: 0 },
    strikes: (request, elapsedMs) => elapsedMs >= 4_000 && creates(request),
    price: () => 100,
  },
  legs: {
    about: 'a pair that enters both legs, and leaves both',
    fromMs: readyMs,
    toMs: 12_000,
    signals: {
      ...of('pair', near, at(readyMs, holds(1)), ...again(6_000, holds(0))),
      ...of('pair', far, at(readyMs, holds(1)), ...again(6_000, holds(0))),
    },
    alone: 'complete',
    ends: { [`pair ${near}`]: 0, [`pair ${far}`]: 0 },
    strikes: creates,
  },
  unwind: {
    about: 'a pair of which one leg does not fill: the other is left',
    fromMs: readyMs,
    toMs: 12_000,
    signals: {
      ...of('pair', near, ...again(readyMs, holds(1))),
      ...of('pair', far, ...again(readyMs, holds(1, unmet))),
    },
    alone: 'unwind',
    ends: { [`pair ${near}`]: 0, [`pair ${far}`]: 0 },
    strikes: creates,
  },
  complete: {
    about: 'a pair of which one leg does not fill: it is completed at market',
    fromMs: readyMs,
    toMs: 12_000,
    signals: {
      ...of('pair', near, ...again(readyMs, holds(1))),
      ...of('pair', far, ...again(readyMs, holds(1, unmet))),
    },
    alone: 'complete',
    ends: { [`pair ${near}`]: 1, [`pair ${far}`]: 1 },
    strikes: creates,
  },
  rotate: {
    about: 'a list that sells one market and buys another for the money',
    fromMs: readyMs,
    toMs: 12_000,
    signals: {
      ...of('rotation', near, at(readyMs, holds(1.7)), ...again(6_000, holds(0))),
      ...of('rotation', far, at(readyMs, holds(0)), ...again(6_000, holds(1.7))),
    },
    ends: { [`rotation ${near}`]: 0, [`rotation ${far}`]: 1.7 },
    strikes: creates,
  },
} as const satisfies Readonly<Record<string, Scenario>>;
export type ScenarioName = keyof typeof scenarios;

export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[];
const byName: Readonly<Record<string, Scenario>> = scenarios;

export function scenarioOf(name: string): Scenario {
  const found = byName[name];
  if (found === undefined) throw new Error(`unknown scenario ${name}; there are ${scenarioNames.join(', ')}`);
  return found;
}
