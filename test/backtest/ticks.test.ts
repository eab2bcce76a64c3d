/** Backtests on recorded trades and books: what fills, by what evidence, and when it is known. */
import { fileURLToPath } from 'node:url';
import { ignoreElements, map, merge, tap } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { recordedIn } from '../../src/backtest/prepare/fill-rules.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { seededRng } from '../../src/clock/clock.ts';
import { resampleKlines, resampleTrades } from '../../src/data/resample.ts';
import { booksOf, type Tape } from '../../src/data/tape.ts';
import { loadDepth, loadTrades, silencesOf } from '../../src/data/tape-files.ts';
import type { Depth, Level, Trade } from '../../src/domain/market.ts';
import { priceText, quantityText } from '../../src/domain/money.ts';
import type { Signal } from '../../src/domain/order.ts';
import { refusedText } from '../../src/report/notes.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import maker from '../../strategies/maker/index.ts';
import { runNow } from '../kit/run-now.ts';
import { bookColumns, tradeColumns } from '../kit/tape-columns.ts';
import { generated } from '../reference/generated.ts';
import { type Case, caseOfXz, columnsOf, inputOf, rowsOf, runStreams, scripted, xz } from './agreement.ts';

const minute = 60_000;

/** Minutes that open at 0, 1, 2…, all at 100 with 50 traded. */
const flatKlines = (count: number) =>
  columnsOf(
    Array.from({ length: count }, (_, row) => ({
      time: row * minute,
      open: 100,
      high: 100,
      low: 100,
      close: 100,
      volume: 50,
    })),
  );

/** Says the wants one after another, after each kline. */
function input(signals: readonly (Signal | undefined)[], tape: Tape | undefined, count = signals.length): RunInput {
  const given = caseOfXz({
    columns: flatKlines(count),
    rules: 'sluice',
    cash: '1000000',
    strategy: defineStrategy({
      name: 'scripted',
      about: 'Says what a test wrote down',
      params: {},
      indicators: () => ({}),
      decide: (_, { kline }) => signals[kline.openTime / minute],
    }),
  });
  const plain = inputOf(given);
  return tape === undefined ? plain : { ...plain, tapes: new Map([['XZ', tape]]) };
}

const trade = (time: number, side: Trade['side'], price: number, quantity: number): Trade => ({
  symbol: 'XZ',
  time,
  seenAt: time,
  side,
  price,
  quantity,
});
const book = (time: number, bid: Level, ask: Level): Depth => ({
  symbol: 'XZ',
  time,
  seenAt: time,
  bids: [bid],
  asks: [ask],
});
/** One small print each way every second, around 100, up to `to`. */
const quiet = (to: number): Trade[] =>
  Array.from({ length: to / 1_000 + 1 }, (_, at) => trade(at * 1_000, at % 2 === 0 ? 'BUY' : 'SELL', 100, 0.1));
const tapeOf = (trades: readonly Trade[], books: readonly Depth[] = [], gaps: Tape['gaps'] = []): Tape => ({
  trades: tradeColumns(trades.toSorted((a, b) => a.time - b.time)),
  ...(books.length > 0 && { books: bookColumns(books) }),
  gaps,
});
const shown = ({ fills }: RunResult): string[] =>
  fills.map(({ side, quantity, price, time, evidence }) =>
    [side, quantityText(quantity, xz), '@', priceText(price, xz), 'at', time, evidence?.rule].join(' '),
  );

test('without trades or books it gives the rows of the stream driver', async () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const { klines, signals } = generated(seed, 200);
    const given = caseOfXz({
      columns: columnsOf(klines),
      rules: 'sluice',
      cash: '1000000',
      strategy: scripted(signals),
    });
    expect(rowsOf(await runTape(inputOf(given)))).toEqual(rowsOf(await runStreams(inputOf(given))));
  }
});

test('finer klines and paths give the same rows by columns, by streams and by events', async () => {
  let decided = 0;
  for (const path of ['pessimistic', 'nearest'] as const)
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const { klines, signals } = generated(seed, 400);
      const fine = columnsOf(klines);
      const coarse = resampleKlines('1min', fine, { interval: '5min' });
      const given = caseOfXz({
        interval: '5min',
        columns: coarse,
        rules: 'sluice',
        cash: '1000000',
        strategy: scripted(
          signals.filter((_, row) => row % 5 === 0),
          5 * minute,
        ),
      });
      const plain = inputOf(given);
      const run = {
        ...plain,
        rules: { ...plain.rules, path },
        series: plain.series.map((series) => ({ ...series, finer: fine })),
      };
      const rows = rowsOf(runNow(run));
      expect(rowsOf(await runStreams(run))).toEqual(rows);
      expect(rowsOf(await runTape(run))).toEqual(rows);
      if (path === 'pessimistic') decided += runNow(plain).ambiguousKlines - rows.ambiguousKlines;
    }
  expect(decided).toBeGreaterThan(0);
});

describe('a MARKET order', () => {
  test('sees the kline 100 ms late, travels 150 ms, and fills by the next print of its side', async () => {
    const tape = tapeOf([...quiet(4 * minute), trade(60_249, 'BUY', 90, 1), trade(60_251, 'BUY', 100.05, 1)]);
    const run = await runTape(input([hold({ quantity: 1 }, ''), undefined, undefined], tape));
    expect(shown(run)).toEqual(['BUY 0.9992 @ 100.08 at 60251 trade-next']);
  });

  test('walks the book of the moment at which it arrives', async () => {
    const books = [book(0, [99, 5], [101, 5]), book(60_250, [98, 5], [102, 0.4]), book(60_251, [97, 5], [103, 5])];
    const run = await runTape(
      input([hold({ quantity: 1 }, ''), undefined, undefined], tapeOf(quiet(4 * minute), books)),
    );
    // A MARKET BUY is an amount of quote: the last price × 1.
    expect(shown(run)[0]).toBe('BUY 0.4 @ 102 at 60250 depth-walk');
    expect(shown(run)[1]).toMatch(/^BUY 0\.\d+ @ 102\.51 at 60250 depth-beyond-book$/);
  });
});

test('D8: a stop is seen 100 ms after the print, and its order sells into the book of 150 ms later', async () => {
  const books = [book(0, [94.8, 3], [101, 5]), book(121_000, [94.8, 3], [101, 5]), book(121_200, [94.7, 2], [101, 5])];
  const prints = [...quiet(120_000), trade(121_000, 'SELL', 94.9, 1), trade(4 * minute, 'SELL', 94.9, 1)];
  const run = await runTape(
    input([hold({ quantity: 1 }, '', { stop: 95 }), undefined, undefined, undefined], tapeOf(prints, books)),
  );
  expect(shown(run)).toEqual([
    expect.stringContaining('BUY'),
    expect.stringMatching(/^SELL [\d.]+ @ 94\.7 at 121250 depth-walk$/),
  ]);
});

test('L1: a cancel that comes too late fails, and the fill is known with the answer to the next look', async () => {
  const bid = hold({ quantity: 1 }, 'bid', { limit: 99 });
  // The cancel leaves at 120,100 and arrives at 120,250.
  const late = tapeOf([...quiet(4 * minute), trade(120_220, 'SELL', 98.99, 1)]);
  const tooLate = await runTape(input([bid, flat('no more'), undefined, undefined], late));
  expect(shown(tooLate)[0]).toBe('BUY 1 @ 99 at 120220 trade-through');
  expect(rowsOf(tooLate).orders[0]).toMatchObject({ type: 'LIMIT', state: 'filled', executed: '1' });
  const inTime = await runTape(
    input(
      [bid, flat('no more'), undefined, undefined],
      tapeOf([...quiet(4 * minute), trade(120_260, 'SELL', 98.99, 1)]),
    ),
  );
  expect(inTime.fills).toEqual([]);
  expect(rowsOf(inTime).orders).toMatchObject([{ type: 'LIMIT', state: 'canceled', executed: '0' }]);
});

test('L1: a fill is known when the answer to the first look after it is back', async () => {
  const prints = Array.from({ length: 300 }, (_, at) => trade(120_000 + at * 10, 'BUY', 100, 0.1));
  const knownAt = async (filledAt: number): Promise<number | undefined> => {
    let known: number | undefined;
    const bids = defineStrategy({
      name: 'bids',
      about: 'Bids once, and looks at each trade whether it holds something',
      params: {},
      signals: ({ klines, trades, holding }) =>
        merge(
          klines.pipe(map(() => hold({ quantity: 1 }, 'bid', { limit: 99 }))),
          trades.pipe(
            tap(({ seenAt }) => {
              if (holding().quantity > 0) known ??= seenAt;
            }),
            ignoreElements(),
          ),
        ),
    });
    const given = input(
      [undefined, undefined, undefined],
      tapeOf([...quiet(4 * minute), ...prints, trade(filledAt, 'SELL', 98.99, 1)]),
    );
    await runTape({ ...given, hosted: given.hosted.map((one) => ({ ...one, strategy: bids })) });
    return known;
  };
  // A look leaves with each second, arrives 150 ms later, and is answered 150 ms after that; then comes the next print.
  expect(await knownAt(120_155)).toBe(121_310);
  expect(await knownAt(121_149)).toBe(121_310);
  // On its way back it learns nothing more.
  expect(await knownAt(121_155)).toBe(122_310);
});

test('inside a recorded hole nothing fills, and an order that arrives in it waits for its end', async () => {
  const gaps: Tape['gaps'] = [
    { symbol: 'XZ', channel: 'trades', from: 60_000, to: 100_000, cause: 'test', healed: false },
  ];
  const books = Array.from({ length: 240 }, (_, at) => book(at * 1_000, [99, 5], [101, 5]));
  const prints = quiet(4 * minute).filter(({ time }) => time <= 60_000 || time >= 100_000);
  const run = await runTape(input([hold({ quantity: 1 }, ''), undefined, undefined], tapeOf(prints, books, gaps)));
  // At 100,000 the trade comes before the book.
  expect(shown(run)).toEqual(['BUY 0.9998 @ 100.02 at 100000 trade-next-stale']);
});

test('a MARKET order that nothing had filled at the end is told of, and the rules by which it would have filled', async () => {
  const sales = quiet(5 * minute).map((print) => ({ ...print, side: 'SELL' as const }));
  const given = input([undefined, hold({ quantity: 1 }, ''), undefined, undefined, flat('')], tapeOf(sales));
  const { fills, refused } = await runTape(given);
  const waiting = { code: 'waiting', strategy: 's', symbol: 'XZ', times: 1, firstAt: 2 * minute + 100 };
  expect([fills, refused]).toEqual([[], [waiting]]);
  expect(refusedText([waiting])).toMatch(
    /^1: waiting 1 of s on XZ \(.*no trade, depth or kline.*; since 1970-01-01 00:02 UTC\)/,
  );
  const books = tapeOf(sales, [book(0, [99, 5], [101, 5])]);
  expect([given, input([], books), input([], undefined)].map(recordedIn)).toEqual([
    ['trade'],
    ['depth', 'trade'],
    ['kline'],
  ]);
});

test('two books in a row set off a stop where no trades are stored', async () => {
  const books = Array.from({ length: 241 }, (_, at) => {
    // One odd book says nothing.
    const price = at === 90 || at >= 130 ? 94 : 100;
    return book(at * 1_000, [price - 0.01, 50], [price + 0.01, 50]);
  });
  const signals = [hold({ quantity: 1 }, '', { stop: 95 }), undefined, undefined, undefined];
  const tape: Tape = { books: bookColumns(books), gaps: [] };
  const run = await runTape(input(signals, tape));
  expect(run.fills.map(({ purpose, side, time, evidence }) => [purpose, side, time, evidence?.rule])).toEqual([
    ['enter', 'BUY', 60_250, 'depth-walk'],
    ['stop', 'SELL', 131_250, 'depth-walk'],
  ]);
});

test('klines speak where nothing else is stored, and orders go over to trades with what they have filled', async () => {
  const tape = tapeOf(quiet(8 * minute).filter(({ time }) => time >= 3 * minute));
  const signals = [hold({ quantity: 1 }, ''), undefined, undefined, undefined, flat(''), undefined, undefined];
  const run = await runTape(input(signals, tape));
  expect(run.fills.map(({ time, evidence }) => [time, evidence?.rule])).toEqual([
    [60_000, 'kline-open'],
    [5 * minute + 1_000, 'trade-next'],
  ]);
});

test('passing over trades that change nothing leaves the rows that handing over each of them gives', async () => {
  const rng = seededRng(7);
  const stops: unknown[] = [];
  for (let round = 0; round < 20; round++) {
    let price = 100;
    const prints = Array.from({ length: 3_000 }, (_, at) => {
      price = Math.max(50, Math.round((price + (rng() - 0.5) * 0.2) * 100) / 100);
      return trade(at * 200, rng() < 0.5 ? 'BUY' : 'SELL', price, Math.round(1 + rng() * 100) / 10);
    });
    const books = Array.from({ length: 600 }, (_, at) => {
      const middle = prints[at * 5]?.price ?? 100;
      return book(
        at * 1_000 + 3,
        [Math.round((middle - 0.05) * 100) / 100, 1 + rng() * 5],
        [Math.round((middle + 0.05) * 100) / 100, 2],
      );
    });
    const signals = Array.from({ length: 10 }, () => {
      const pick = rng();
      const near = Math.round((100 + (rng() - 0.5) * 2) * 100) / 100;
      return pick < 0.3
        ? hold({ quantity: 1 }, '', { stop: near - 1, takeProfit: near + 1 })
        : pick < 0.5
          ? hold({ quantity: 2 }, '', { limit: near })
          : pick < 0.7
            ? flat('')
            : hold({ quantity: 1.5 }, '');
    });
    const run = input(signals, tapeOf(prints, round % 2 === 0 ? books : []), 10);
    const rows = rowsOf(await runTape(run));
    expect(rowsOf(await runTape(run, true))).toEqual(rows);
    stops.push(...rows.orders.filter(({ purpose }) => purpose === 'stop' || purpose === 'takeProfit'));
  }
  expect(stops.length).toBeGreaterThan(5);
});

const file = (name: string): string => fileURLToPath(new URL(`../../backtests/data/${name}`, import.meta.url));

test('a maker on eleven recorded minutes of trades and books fills by its place in the queue', async () => {
  const symbol = 'BTCUSDT';
  const trades = tradeColumns(loadTrades({ path: file('BTCUSDT-trades-2024-08-08T2354_11min.csv.gz'), symbol }));
  const books = bookColumns(loadDepth({ path: file('BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz'), symbol }));
  const given: Case = {
    symbol,
    interval: '1min',
    instrument: {
      base: 'BTC',
      quote: 'USDT',
      pricePrecision: 2,
      quantityPrecision: 5,
      minQuantity: '0.00001',
      minNotional: '5',
    },
    columns: resampleTrades(trades, { interval: '1min' }),
    rules: 'sluice',
    fees: { maker: '0', taker: '0.0004' },
    cash: '100000',
    strategy: maker,
    params: { offset: 0.0001, refresh: 0.0001, quantity: 0.01, maxPosition: 0.05 },
  };
  const tape: Tape = { trades, books, gaps: silencesOf(symbol, trades) };
  const run = async (everyEvent: boolean) =>
    await runTape({ ...inputOf(given), tapes: new Map([[symbol, tape]]) }, everyEvent);
  const [once, again] = [await run(false), await run(true)];
  const rules = new Set(once.fills.map(({ evidence }) => evidence?.rule));
  expect(once.fills.length).toBeGreaterThan(10);
  expect([...rules].every((rule) => rule?.startsWith('trade-') === true || rule?.startsWith('depth-') === true)).toBe(
    true,
  );
  expect(once.requests?.creates).toBeGreaterThan(10);
  expect(rowsOf(again)).toEqual(rowsOf(once));
});

test('levels of the catalogue become whole books', () => {
  const of = (...values: number[]): Float64Array => Float64Array.from(values);
  const books = booksOf({
    time: of(1, 1, 1, 2, 2),
    book: of(7, 7, 7, 8, 8),
    side: of(1, 1, -1, -1, -1),
    price: of(99, 98, 101, 100, 101),
    quantity: of(1, 2, 3, 4, 5),
  });
  expect([...books.time]).toEqual([1, 2]);
  expect([[...books.start], [...books.asks]]).toEqual([
    [0, 3, 5],
    [2, 3],
  ]);
});
