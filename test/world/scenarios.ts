/** Short courses of events, each about one step of the protocol, that are gone through with a crash at every point. */
import type { Signal } from '../../src/domain/order.ts';
import type { HttpRequest } from '../../src/venue/exchange/rest/http.ts';
import { btc } from '../kit/builders.ts';
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
  (quantity: number, more: { readonly stop?: number; readonly off?: number } = {}) =>
  (mid: number): Signal => ({
    kind: 'target',
    size: { quantity },
    reason,
    limit: rounded(mid * (1 + (more.off ?? 0.006))),
    ...(more.stop !== undefined && { stop: more.stop }),
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

const creates = posts(/\/(order|batchOrders)$/);
const cancels = posts(/\/(cancel|batchCancel)$/);
/** Recovery of the first start is over by then. */
const readyMs = 2_000;
const quotesAt = 'ETHUSDT';

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
    events: [{ kind: 'kill', at: 3_350, strategy: undefined, forMs: 60_000 }],
    strikes: cancels,
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
