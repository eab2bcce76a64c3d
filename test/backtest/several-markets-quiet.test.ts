/** Strategies of several markets are asked ahead over klines at which nothing happens: with the same rows as where every kline is looked at. */
import { NEVER } from 'rxjs';
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { runBacktest } from '../../src/backtest/engines.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import type { Columns } from '../../src/domain/market.ts';
import { noUnits } from '../../src/domain/money.ts';
import { ema, flat, hold, of, roc, sma, weights } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import type { Rebalance } from '../../src/strategy/markets/schedule.ts';
import { minute, klines as minuteKlines, severalInput } from '../kit/several-markets.ts';
import { draws } from '../reference/generated.ts';

/** Hears every kline of a symbol and says nothing: then no kline is passed over. */
const listener = defineStrategy({ name: 'listener', about: 'Hears', params: {}, signals: () => NEVER });

const watched = (input: RunInput): RunInput => ({
  ...input,
  hosted: [
    ...input.hosted,
    ...input.series.map(({ symbol, interval }) => {
      const instrument = input.instruments.get(symbol);
      if (instrument === undefined) throw new Error('there is no instrument');
      return {
        id: `hears-${symbol.toLowerCase()}`,
        use: 'hears',
        strategy: listener,
        params: {},
        symbol,
        interval,
        instrument,
      };
    }),
  ],
  allocations: [
    ...input.allocations,
    ...input.series.map(({ symbol }) => ({ strategy: `hears-${symbol.toLowerCase()}`, symbol, amount: noUnits })),
  ],
});

const rowsOf = (result: RunResult) => {
  const db = result.journal();
  const all = (sql: string) => db.prepare(sql).all();
  return {
    signals: all("SELECT at, role, symbol, signal, quantity FROM signals WHERE strategy = 'one' ORDER BY seq"),
    orders: all(
      "SELECT created_at, symbol, side, type, quantity, amount, purpose, state FROM orders WHERE strategy = 'one'",
    ),
    fills: result.fills,
    equity: result.finalEquity,
    charges: result.margin?.charges ?? [],
  };
};

/** What happens at one moment in no order, and without the ids that count it. */
const withoutOrder = ({ orders, fills, ...rest }: ReturnType<typeof rowsOf>) => ({
  ...rest,
  orders: orders.map((order) => JSON.stringify(order)).toSorted(),
  fills: fills
    .map(({ time, symbol, side, price, quantity, fee, purpose, evidence }) =>
      [time, symbol, side, price, quantity, fee, purpose, evidence?.rule].join(' '),
    )
    .toSorted(),
});

/** Markets of some hundred minutes, with holes; one that appears late and one that ends early. */
function marketsFrom(seed: number, rows: number): Readonly<Record<string, Columns>> {
  const chance = draws(seed);
  const series = (from: number, to: number, holes: number): Columns => {
    let price = 50 + chance() * 100;
    return minuteKlines(
      Array.from({ length: rows }, (_, row) => {
        price = Math.max(5, price * (1 + (chance() - 0.5) * 0.02));
        const isThere = row === from || (row > from && row < to && chance() >= holes);
        return isThere ? Math.round(price * 100) / 100 : undefined;
      }),
    );
  };
  return {
    AAAUSD: series(0, rows, 0),
    BBBUSD: series(0, rows, 0.1),
    CCCUSD: series(60, rows, 0),
    DDDUSD: series(0, 150, 0.02),
  };
}

const pair = (trailing: boolean): Strategy =>
  defineStrategy({
    name: 'pair',
    about: 'Holds two markets by a third, with stops',
    params: {},
    allowMissing: true,
    markets: { first: 'traded', second: 'traded', trend: 'data' },
    indicators: () => ({
      last: of('trend', 'close'),
      average: of('trend', ema('close', 4)),
      own: of('first', sma('close', 7)),
    }),
    decide({ last, average, own }, { klines, holdings }) {
      const { first, second } = klines;
      return {
        ...(first !== undefined && {
          first:
            first.close > own
              ? hold({ quantity: 3 }, 'above', trailing ? { trailing: 0.01 } : { stop: Math.round(own * 98) / 100 })
              : flat('below'),
        }),
        ...(second !== undefined && last > average
          ? { second: hold({ share: 0.4 }, 'up', { exitAfterMs: 11 * minute }) }
          : holdings.second.quantity > 0 && last < average * 0.995 && { second: flat('down') }),
      };
    },
  });

/** Long of one market and short of the other, with so much borrowed that both are liquidated now and then. */
const opposed: Strategy = defineStrategy({
  name: 'opposed',
  about: 'Is long of one market and short of another by a third',
  params: {},
  allowMissing: true,
  markets: { first: 'traded', second: 'traded', trend: 'data' },
  indicators: () => ({ last: of('trend', 'close'), average: of('trend', ema('close', 4)) }),
  decide({ last, average }) {
    const side = last > average ? 1 : -1;
    return Number.isNaN(average)
      ? undefined
      : {
          first: hold({ share: 1.9 * side }, 'by the trend', { exitAfterMs: 40 * minute }),
          second: hold({ share: -1.9 * side }, 'against the trend'),
        };
  },
});
/** Both markets of five minutes, whose orders fill by minutes: a take-profit is placed at the next minute. */
const taking: Strategy = defineStrategy({
  name: 'taking',
  about: 'Enters two markets now and then, with take-profits',
  params: {},
  markets: { first: 'traded', second: 'traded', trend: 'data' },
  indicators: () => ({
    ...{ last: of('trend', 'close'), average: of('trend', ema('close', 4)) },
    ...{ first: of('first', 'close'), second: of('second', 'close') },
  }),
  decide({ last, average, first, second }) {
    const enter = (close: number) => hold({ share: 0.4 }, 'up', { takeProfit: Math.round(close * 100.6) / 100 });
    return last > average
      ? { first: enter(first), second: enter(second) }
      : { first: flat('down'), second: flat('down') };
  },
});

const margin =
  'account: margin\nmargin: { maxLeverage: "4", maintenanceRatio: "0.24", liquidationFee: "0.01", interest: { AAA: "0.0001", BBB: "0", DDD: "0.0002", USD: "0.0001" }, interestEveryHours: 1 }\n';

const rotation = (threshold: number, rebalance: Rebalance | undefined): Strategy =>
  defineStrategy({
    name: 'rotation',
    about: 'Holds the two that rose the most',
    params: {},
    ...(rebalance !== undefined && { rebalance }),
    indicators: () => ({ rise: roc('close', 9) }),
    choose(markets) {
      const best = markets.toSorted((a, b) => b.values.rise - a.values.rise).slice(0, 2);
      return weights(Object.fromEntries(best.map(({ symbol }) => [symbol, 0.45])), 'the strongest', { threshold });
    },
  });

const roles =
  'markets: { first: { symbol: AAAUSD }, second: { symbol: DDDUSD }, trend: { symbol: BBBUSD, interval: 5min } }';
const slow =
  'markets: { first: { symbol: AAAUSD, interval: 5min }, second: { symbol: DDDUSD, interval: 5min }, trend: { symbol: BBBUSD, interval: 5min } }';
const list = 'symbols: [AAAUSD, BBBUSD, CCCUSD, DDDUSD]';
const cases: readonly (readonly [name: string, Strategy, binding: string, more?: string])[] = [
  ['roles with a stop', pair(false), roles],
  ['roles with a trailing stop', pair(true), roles],
  ['take-profits of a larger interval', taking, slow],
  ['long and short on margin', opposed, roles, margin],
  ['weights at each close', rotation(0.2, undefined), list],
  ['weights at each close without a threshold', rotation(0, undefined), list],
  ['weights each five minutes', rotation(0.05, '5min'), list],
  ['weights by a cron expression', rotation(0.05, '3-59/7 * * * *'), list],
];

test.for(cases)('%s: the same rows', async ([, strategy, binding, more = '']) => {
  let [fills, liquidations] = [0, 0];
  for (let seed = 1; seed <= 12; seed++) {
    const all = marketsFrom(seed, 240);
    const used =
      binding !== list ? Object.fromEntries(Object.entries(all).filter(([symbol]) => symbol !== 'CCCUSD')) : all;
    const input = await severalInput(strategy, binding, used, { more, fees: { maker: '0.001', taker: '0.002' } });
    const quick = rowsOf(await runBacktest(input));
    expect(quick).toEqual(rowsOf(await runBacktest(watched(input))));
    expect(withoutOrder(rowsOf(await runTape(input)))).toEqual(withoutOrder(quick));
    fills += quick.fills.length;
    liquidations += quick.charges.filter(({ kind }) => kind === 'liquidation').length;
  }
  expect(liquidations > 5).toBe(more !== '');
  expect(fills).toBeGreaterThan(100);
});
