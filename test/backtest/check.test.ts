/** `sluice check` catches planted leaks of ten kinds and more, names the first read, and passes clean strategies. */
import { fileURLToPath } from 'node:url';
import { map, withLatestFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { leaksOf } from '../../src/backtest/check/lookahead.ts';
import { warmupNeeded } from '../../src/backtest/check/warmup.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import { check } from '../../src/commands/check/command.ts';
import { loadKlines } from '../../src/data/klines.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { atr, type Columns, ema, type Indicator, type Prices, sma, stdev } from '../../src/strategy/indicators.ts';
import { on } from '../../src/strategy/larger-klines.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { cut, inputOf } from './agreement.ts';

const path = fileURLToPath(new URL('../../backtests/data/ETHUSDT-15m-2025-10_2026-03.csv.gz', import.meta.url));
const recorded = loadKlines({ path, symbol: 'ETHUSDT', interval: '15min', pricePrecision: 2 }).columns;

const inputFor = (strategy: Strategy, rows = 500): RunInput =>
  inputOf({
    symbol: 'ETHUSDT',
    interval: '15min',
    instrument: {
      base: 'ETH',
      quote: 'USDT',
      pricePrecision: 2,
      quantityPrecision: 4,
      minQuantity: '0.0001',
      minNotional: '5',
    },
    columns: cut(recorded, 0, rows),
    rules: 'sluice',
    fees: { maker: '0.001', taker: '0.001' },
    cash: '1000000',
    strategy,
    params: {},
  });

/** An indicator of a column alone: kline by kline it gives what the same column would, were there no later klines. */
function made(column: (klines: Columns) => Float64Array, warmup = 1): Indicator {
  return {
    warmup,
    column,
    stream() {
      const seen: Prices[] = [];
      return (prices) => {
        seen.push({ ...prices });
        const of = (name: keyof Prices): Float64Array => Float64Array.from(seen, (one) => one[name]);
        const klines = { open: of('open'), high: of('high'), low: of('low'), close: of('close'), volume: of('volume') };
        const openTime = recorded.openTime.slice(0, seen.length);
        return column({ ...klines, openTime }).at(-1) ?? Number.NaN;
      };
    },
  };
}

/** Long while the indicator stands above the close. */
const above = (indicator: Indicator): Strategy =>
  defineStrategy({
    name: 'planted',
    about: 'Knows more than it should',
    params: {},
    indicators: () => ({ line: indicator }),
    decide: ({ line }, { kline }) => (line > kline.close ? hold({ quantity: 1 }, 'above') : flat('not above')),
  });

const columnOf = (klines: Columns, value: (row: number) => number): Float64Array =>
  Float64Array.from(klines.close, (_, row) => value(row));
const maxOf = (values: Float64Array): number => values.reduce((most, one) => Math.max(most, one), 0);

/** A strategy that decides without indicators. */
const deciding = (decide: (row: number, klines: Columns) => boolean): Strategy => {
  let klines: Columns | undefined;
  return defineStrategy({
    name: 'planted',
    about: 'Keeps the columns',
    params: {},
    indicators: () => ({
      close: made((columns) => {
        klines = columns;
        return columns.close;
      }),
    }),
    decide(_, { kline }) {
      const columns = klines as Columns;
      return decide(columns.openTime.indexOf(kline.openTime), columns) ? hold({ quantity: 1 }, 'yes') : flat('no');
    },
  });
};

const at = (values: Float64Array, row: number): number => values[row] ?? values.at(-1) ?? 0;
let calls = 0;
let highest = 0;
const remembered = new Map<number, number>();

const planted: readonly (readonly [name: string, strategy: Strategy, kind: string, what: RegExp])[] = [
  [
    'the next close',
    above(made((k) => columnOf(k, (row) => at(k.close, row + 1)))),
    'readsTheFuture',
    /line reads close of .*, 1 kline later/,
  ],
  [
    'the high of three klines on',
    above(made((k) => columnOf(k, (row) => at(k.high, row + 3) * 0.999))),
    'readsTheFuture',
    /line reads high of .*, 3 klines later/,
  ],
  [
    'an average around its kline',
    above(
      made((k) =>
        columnOf(
          k,
          (row) =>
            (at(k.close, row - 2) +
              at(k.close, row - 1) +
              at(k.close, row) +
              at(k.close, row + 1) +
              at(k.close, row + 2)) /
            5,
        ),
      ),
    ),
    'readsTheFuture',
    /line reads close of .*, 1 kline later/,
  ],
  [
    'the mean of all klines',
    above(made((k) => columnOf(k, () => k.close.reduce((sum, one) => sum + one, 0) / k.close.length))),
    'readsTheFuture',
    /reads close/,
  ],
  [
    'a scale by the highest of all',
    above(made((k) => columnOf(k, () => maxOf(k.high) * 0.98))),
    'readsTheFuture',
    /line reads/,
  ],
  [
    'a level by the lowest of all',
    above(made((k) => columnOf(k, () => k.low.reduce((least, one) => Math.min(least, one), 1e9) * 1.02))),
    'readsTheFuture',
    /line reads/,
  ],
  [
    'a gap filled from behind',
    above(made((k) => columnOf(k, (row) => at(k.open, row + ((4 - (row % 4)) % 4))))),
    'readsTheFuture',
    /line reads open/,
  ],
  [
    'the hour before it is over',
    above(made((k) => columnOf(k, (row) => at(k.close, Math.floor(row / 4) * 4 + 3) * 1.0001))),
    'usesForming',
    /it uses the 60min kline of .*, which closes at .*usesForming/,
  ],
  [
    'a decision that looks at the next kline',
    deciding((row, k) => at(k.close, row + 1) > at(k.close, row)),
    'readsTheFuture',
    /its decision reads close of .*, 1 kline later/,
  ],
  [
    'a turn that is drawn where it was, once it is known',
    above(made((k) => columnOf(k, (row) => (at(k.low, row + 5) > at(k.low, row) ? 1e6 : 0)))),
    'readsTheFuture',
    /line reads low of .*, 5 klines later/,
  ],
  [
    'an hour of its own making before it is over',
    above(
      on('60min', {
        warmup: 1,
        column: (k) => columnOf(k, (row) => at(k.close, row + 1)),
        stream: () => () => Number.NaN,
      }),
    ),
    'readsTheFuture',
    /line reads close of .*, \d klines later/,
  ],
  [
    'the end of the data',
    deciding((row, k) => row > k.close.length - 30),
    'knowsTheEnd',
    /depends on where the data end/,
  ],
  [
    'the volume to come',
    deciding((row, k) => at(k.volume, row + 2) > 2_000),
    'readsTheFuture',
    /its decision reads volume of .*, 2 klines later/,
  ],
  [
    'what an earlier run left behind',
    deciding((row, k) => {
      const before = remembered.get(row);
      remembered.set(row, at(k.close, row));
      return before !== undefined && row % 2 === 0;
    }),
    'notRepeatable',
    /give another signal/,
  ],
  [
    'a highest price that outlives its run',
    deciding((row, k) => {
      highest = Math.max(highest, at(k.high, row));
      return at(k.close, row) > highest * 0.7;
    }),
    'notRepeatable',
    /give another signal/,
  ],
  ['a count of its calls', deciding(() => ++calls % 7 === 0), 'notRepeatable', /give another signal/],
  [
    'a column that is not its stream',
    above({ ...sma('close', 20), column: (klines, interval) => sma('close', 21).column(klines, interval) }),
    'columnsDiffer',
    /indicator line is NaN over columns .* and [\d.]+ kline by kline/,
  ],
];

describe('a check', () => {
  test.for(planted)('catches %s', async ([, strategy, kind, what]) => {
    const leaks = await leaksOf(inputFor(strategy));
    expect(leaks).toContainEqual(expect.objectContaining({ kind, description: expect.stringMatching(what) }));
    // What remembers would look like any other leak.
    if (kind === 'notRepeatable') expect(leaks.length).toBe(1);
  });

  test('names the indicator by which it came in', async () => {
    const [first] = await leaksOf(inputFor(above(made((k) => columnOf(k, (row) => at(k.close, row + 1))))));
    expect(first?.indicators).toEqual(['line']);
  });

  test.for([
    ['averages', above(sma('close', 20))],
    ['an average that never forgets', above(ema('close', 20))],
    [
      'one of two intervals',
      defineStrategy({
        name: 'a',
        about: 'a',
        params: {},
        indicators: () => ({
          hours: on('60min', sma('close', 5)),
          quarters: sma('close', 5),
          days: on('1day', atr(2)),
        }),
        decide: ({ hours, quarters, days }) =>
          quarters > hours && days > 0 ? hold({ quantity: 1 }, 'above') : flat('not above'),
      }),
    ],
    [
      'streams of two intervals',
      defineStrategy({
        name: 'a',
        about: 'a',
        params: {},
        signals: ({ klines, klinesOf }) =>
          klines.pipe(
            withLatestFrom(klinesOf('60min')),
            map(([{ close }, hour]) => (close > hour.close ? hold({ quantity: 1 }, '') : flat(''))),
          ),
      }),
    ],
    [
      'one that decides by what it holds',
      defineStrategy({
        name: 'a',
        about: 'a',
        params: {},
        indicators: () => ({}),
        decide: (_, { holding, kline }) =>
          holding.quantity > 0 && kline.close > holding.entryPrice ? flat('') : hold({ quantity: 1 }, ''),
      }),
    ],
    [
      'streams',
      defineStrategy({
        name: 'a',
        about: 'a',
        params: {},
        signals: ({ klines }) =>
          klines.pipe(map(({ close, open }) => (close > open ? hold({ quantity: 1 }, '') : flat('')))),
      }),
    ],
    [
      'one whose limit goes below nothing in a market that never was',
      defineStrategy({
        name: 'a',
        about: 'a',
        params: {},
        indicators: () => ({ mean: sma('close', 24), spread: stdev('close', 24) }),
        decide: ({ mean, spread }) => hold({ quantity: 1 }, 'two below', { limit: mean - 5 * spread }),
      }),
    ],
    [
      'one that never says anything',
      defineStrategy({ name: 'a', about: 'a', params: {}, indicators: () => ({}), decide: () => undefined }),
    ],
  ] as const)('passes %s', async ([, strategy]) => {
    expect(await leaksOf(inputFor(strategy))).toEqual([]);
  });

  test('that throws because of what comes later reads the future', async () => {
    const known = cut(recorded, 0, 500).close;
    const throwing = defineStrategy({
      name: 'a',
      about: 'a',
      params: {},
      indicators: () => ({ line: made((klines) => columnOf(klines, (row) => at(klines.close, row + 2))) }),
      decide({ line }) {
        if (!known.includes(line)) throw new Error('a price that never was');
        return hold({ quantity: 1 }, '');
      },
    });
    expect((await leaksOf(inputFor(throwing))).map(({ kind }) => kind)).toEqual(['columnsDiffer', 'readsTheFuture']);
  });

  test('finds how much history decisions need, which is more than what an endless average asks for', async () => {
    const plain = await warmupNeeded(inputFor(above(sma('close', 20)), 1_500));
    expect(plain).toMatchObject({ declared: 20, decisions: 20, indicators: { line: { declared: 20, agrees: 20 } } });
    const endless = await warmupNeeded(inputFor(above(ema('close', 60)), 2_500));
    expect(endless?.declared).toBe(60);
    expect(endless?.indicators['line']?.agrees).toBeGreaterThan(300);
    expect(await warmupNeeded(inputFor(above(sma('close', 400)), 500))).toBeUndefined();
  });

  test.for([7, 11, 96])('finds no history enough for a rule on every kline of %i since the first', async (every) => {
    const counting = defineStrategy({
      name: 'a',
      about: 'a',
      params: {},
      signals: ({ klines }) => klines.pipe(map((_, row) => (row % every === 0 ? hold({ quantity: 1 }, '') : flat('')))),
    });
    expect((await warmupNeeded(inputFor(counting, 800)))?.decisions).toBeUndefined();
    const counted = above(made((k) => columnOf(k, (row) => 1 + (row % every))));
    expect((await warmupNeeded(inputFor(counted, 800)))?.indicators['line']?.agrees).toBeUndefined();
  });

  test('of shipped strategies passes over bundled klines and prints what it found, over what', async () => {
    for (const [strategy, answer] of [
      ['sma-cross', /parameters +fast 10, slow 50,.*\nto change +--set .*\nlook-ahead +none/],
      [
        'grid',
        /^grid +2,500 klines of ETHUSDT, 15min, 2025-10-01 00:00 to 2025-10-27 00:45 UTC\n(.*\n)+look-ahead +none/,
      ],
      ['donchian', /^donchian +(.*\n)+look-ahead +none.*\nwarm-up +240 .*decisions agree after 240;.*enough$/m],
      ['mean-reversion', /^mean-reversion +(.*\n)+look-ahead +none.*\nwarm-up +2015 .*agree after 2015;.*enough$/m],
      ['dca', /^dca +(.*\n)+look-ahead +none.*\nwarm-up +1 .*decisions agree after 1;.*enough$/m],
    ] as const)
      expect((await checked(strategy)).text).toMatch(answer);
    const hourly = await checked('sma-cross', 'strategies.0.interval=60min');
    expect(hourly.text).toContain('klines of ETHUSDT, 60min');
  });

  test('looks at more klines where warming up takes them, and says what helps where even those are too few', async () => {
    const long = await checked('sma-cross', 'strategies.0.params.slow=1400');
    expect(long.text).toMatch(
      /^sma-cross +4,350 klines of (.*\n)+warm-up +1400 klines of 15min declared; decisions agree after 1400; a live start has 1400: enough/,
    );
    const longest = await checked('sma-cross', 'strategies.0.params.slow=5000');
    expect(longest.text).toMatch(
      /\nwarm-up +n\/a +\(5,000 klines of 15min declared; measuring needs 15,150, and a check reads at most 10,000: use shorter/,
    );
    const few = await checked('sma-cross', 'strategies.0.params.slow=100', 'to=2025-10-03');
    expect(few.text).toMatch(/needs 450, and \d+ are available: use more data \(--config FILE\) or shorter/);
  });

  test('proves nothing of one that lives on books, and fails', async () => {
    const { text, refusal } = await checked('maker');
    expect(text).toMatch(/look-ahead +n\/a +\(it emitted no signal on these klines/);
    expect(refusal).toMatchObject({
      exitCode: 1,
      message: 'maker: it emitted no signal on 2,500 klines: nothing was proven',
    });
  });
});

/** What is printed of a strategy over bundled klines, and how it ended. */
async function checked(strategy: string, ...set: readonly string[]) {
  const lines: string[] = [];
  const ended = check({ strategy, set, json: false, out: (line) => lines.push(line), say: () => {} });
  const refusal = await ended.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { text: lines.join('\n'), refusal };
}
