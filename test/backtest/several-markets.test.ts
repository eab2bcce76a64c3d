/** Strategies of several markets over klines: what they see, and what becomes of their legs. */
import { describe, expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import { flat, formula, hold, of, sma, weights } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { over } from '../../src/strategy/override.ts';
import {
  fastAndSlow,
  fillsOf,
  holdingBoth,
  klines,
  minute,
  run,
  severalInput,
  swapping,
} from '../kit/several-markets.ts';

describe('a strategy of roles', () => {
  const filtered = defineStrategy({
    name: 'filtered',
    about: 'Holds one market while another rises',
    params: {},
    markets: { coin: 'traded', trend: 'data' },
    indicators: () => ({ average: of('trend', sma('close', 2)), last: of('trend', 'close') }),
    decide({ average, last }) {
      return { coin: last > average ? hold({ quantity: 1 }, 'it rises') : flat('it does not') };
    },
  });

  test('trades one market by the klines of another', async () => {
    const result = await run(filtered, 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }', {
      AAAUSD: klines([10, 10, 10, 10, 10, 10]),
      BBBUSD: klines([5, 6, 7, 6, 5, 5]),
    });
    expect(fillsOf(result)).toEqual(['2 BUY AAAUSD 10000 at 1000', '4 SELL AAAUSD 10000 at 1000']);
  });

  test('is not asked while a market has no kline', async () => {
    const result = await run(filtered, 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }', {
      AAAUSD: klines([10, 10, 10, 10, 10, 10]),
      BBBUSD: klines([5, undefined, 7, 8, undefined, 5]),
    });
    expect(fillsOf(result)).toEqual(['3 BUY AAAUSD 10000 at 1000']);
  });

  test('goes on with one market where the order of another is denied', async () => {
    const both = holdingBoth(hold({ quantity: 100_000 }, 'too much'), hold({ quantity: 1 }, 'little'));
    const result = await run(both, fastAndSlow, {
      AAAUSD: klines([10, 10, 10]),
      BBBUSD: klines([5, 5, 5]),
    });
    expect(fillsOf(result)).toEqual(['1 BUY BBBUSD 10000 at 500']);
    expect(result.refused).toMatchObject([{ code: 'orderValue', symbol: 'AAAUSD' }]);
  });

  test('judges two purchases of one decision by the money that the first leaves', async () => {
    const both = holdingBoth(hold({ quantity: 600 }, 'one'), hold({ quantity: 600 }, 'two'));
    const result = await run(both, fastAndSlow, {
      AAAUSD: klines([10, 10]),
      BBBUSD: klines([10, 10]),
    });
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 6000000 at 1000']);
    expect(result.refused).toMatchObject([{ code: 'allocation', symbol: 'BBBUSD' }]);
  });

  test('buys what a sale pays for at a kline that opens then or later, never at one that opened before', async () => {
    const result = await run(
      swapping(7, { quantity: 900 }),
      'markets: { fast: { symbol: AAAUSD }, slow: { symbol: BBBUSD, interval: 5min } }',
      { AAAUSD: klines(Array.from({ length: 20 }, () => 10)), BBBUSD: klines([9, 9, 9, 9], 5) },
    );
    expect(fillsOf(result)).toEqual([
      '5 BUY AAAUSD 9000000 at 1000',
      '7 SELL AAAUSD 9000000 at 1000',
      '10 BUY BBBUSD 9000000 at 900',
    ]);
  });

  test('fills no limit that it places within a larger kline by what that kline did before', async () => {
    const moving = defineStrategy({
      name: 'moving',
      about: 'Moves its limit',
      params: {},
      markets: { fast: 'data', slow: 'traded' },
      indicators: () => ({}),
      decide: (_, { time }) => ({ slow: hold({ quantity: 1 }, 'cheap', { limit: time < 7 * minute ? 8.9 : 8.5 }) }),
    });
    const series = {
      AAAUSD: klines(Array.from({ length: 20 }, () => 10)),
      BBBUSD: { ...klines([9, 9, 9, 9], 5), low: Float64Array.of(9, 8, 9, 9) },
    };
    const binding = 'markets: { fast: { symbol: AAAUSD }, slow: { symbol: BBBUSD, interval: 5min } }';
    const options = { rules: 'backtesting.py', intervals: { BBBUSD: '5min' }, risk: ', maxDataAgeMs: 600000' } as const;
    expect(fillsOf(await runBacktest(await severalInput(moving, binding, series, options)))).toEqual([]);
  });

  test('takes profit from the minute after its entry on, though it decides each five minutes', async () => {
    const taking = defineStrategy({
      name: 'taking',
      about: 'Holds one market with a take-profit',
      params: {},
      markets: { coin: 'traded', trend: 'data' },
      indicators: () => ({}),
      decide: () => ({ coin: hold({ quantity: 1 }, 'held', { takeProfit: 11 }) }),
    });
    const binding = 'markets: { coin: { symbol: AAAUSD, interval: 5min }, trend: { symbol: BBBUSD, interval: 5min } }';
    const series = {
      AAAUSD: klines(Array.from({ length: 12 }, (_, row) => (row < 7 ? 10 : row === 7 ? 12 : 10.5))),
      BBBUSD: klines(Array.from({ length: 12 }, () => 9)),
    };
    const result = await runBacktest(await severalInput(taking, binding, series));
    expect(fillsOf(result)).toEqual(['5 BUY AAAUSD 10000 at 1000', '8 SELL AAAUSD 10000 at 1100']);
  });

  test('leaves what it bought after a sale at the same open where its stop is passed already', async () => {
    const result = await run(
      swapping(2, { quantity: 900 }, { stop: 9.5 }),
      'markets: { fast: { symbol: AAAUSD }, slow: { symbol: BBBUSD } }',
      { AAAUSD: klines([10, 10, 10, 10]), BBBUSD: klines([9, 9, 9, 9]) },
    );
    expect(fillsOf(result).slice(1)).toEqual([
      '2 SELL AAAUSD 9000000 at 1000',
      '2 BUY BBBUSD 9000000 at 900',
      '2 SELL BBBUSD 9000000 at 900',
    ]);
  });

  test('reads the klines of each run, where another run had the same first market', async () => {
    const binding = 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }';
    const AAAUSD = klines([10, 10, 10, 10]);
    expect(fillsOf(await run(filtered, binding, { AAAUSD, BBBUSD: klines([5, 6, 7, 8]) }))).toHaveLength(1);
    expect(fillsOf(await run(filtered, binding, { AAAUSD, BBBUSD: klines([8, 7, 6, 5]) }))).toHaveLength(0);
  });

  test('is refused by one message where a market is not bound, or is unknown', async () => {
    const series = { AAAUSD: klines([1, 2]), BBBUSD: klines([1, 2]) };
    await expect(run(filtered, 'markets: { coin: { symbol: AAAUSD } }', series)).rejects.toThrow(
      'strategies.0.markets.trend: is missing',
    );
    await expect(run(filtered, 'symbol: AAAUSD', series)).rejects.toThrow('strategies.0.markets: is missing');
    await expect(
      run(
        filtered,
        'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD }, tren: { symbol: BBBUSD } }',
        series,
      ),
    ).rejects.toThrow('tren: is not a market of given');
    // What is misspelt is missing, too: the misspelling is the one to be told.
    await expect(
      run(filtered, 'markets: { coin: { symbol: AAAUSD }, trnd: { symbol: BBBUSD } }', series),
    ).rejects.toThrow(
      'strategies.0.markets.trnd: is not a market of given (did you mean "trend"?); it has coin, trend',
    );
    for (const trend of ['BBBUSD', ''])
      await expect(run(filtered, `markets: { coin: { symbol: AAAUSD }, trend: ${trend} }`, series)).rejects.toThrow(
        'strategies.0.markets.trend: must have its symbol, such as { symbol: BTCUSDT }',
      );
    await expect(run(filtered, 'market: { coin: AAAUSD }', series)).rejects.toThrow('of several: markets, or symbols');
  });

  test.each<[string, unknown, string]>([
    ['null', { coin: null }, 'the signal for coin: neither a target nor quotes: null'],
    ['no signal', { coin: 1 }, 'the signal for coin: neither a target nor quotes: 1'],
    [
      'a target without a size',
      { coin: hold({ quantity: Number.NaN }, 'why') },
      'the signal for coin: a target without',
    ],
    ['of a market that it does not have', { coins: flat('why') }, 'a signal for coins, which is none of its markets'],
  ])('throws for a leg that is %s', async (_, legs, message) => {
    const wrong = over<Strategy>(filtered, { decide: () => legs as never });
    const series = { AAAUSD: klines([1, 2, 3]), BBBUSD: klines([1, 2, 3]) };
    const binding = 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }';
    await expect(run(wrong, binding, series)).rejects.toThrow(message);
  });

  test.each<[string, unknown, string?]>([
    ['a signal alone', flat('why')],
    ['a list', [flat('why')]],
    ['a promise', Promise.resolve({ coin: flat('why') }), 'a promise: return what it resolves to directly'],
  ])(
    'throws for %s in place of signals by role',
    async (_, legs, message = 'returns its signals by role: { coin: … }') => {
      const wrong = over<Strategy>(filtered, { decide: () => legs as never });
      const series = { AAAUSD: klines([1, 2, 3]), BBBUSD: klines([1, 2, 3]) };
      const binding = 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }';
      await expect(run(wrong, binding, series)).rejects.toThrow(message);
    },
  );

  test('throws for a signal for a market that it only reads, and for an indicator without a market', async () => {
    const binding = 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }';
    const series = { AAAUSD: klines([1, 2, 3]), BBBUSD: klines([1, 2, 3]) };
    const wrong = over<Strategy>(filtered, { decide: () => ({ trend: flat('why') }) });
    await expect(run(wrong, binding, series)).rejects.toThrow('which it uses for data alone; it trades coin');
    const bare = over<Strategy>(filtered, { indicators: () => ({ average: sma('close', 2) }) });
    await expect(run(bare, binding, series)).rejects.toThrow("names it, as in of('lead'");
  });

  test.each([
    ['alone', of('trands', 'close')],
    ['in a formula', formula([of('coin', 'close'), of('trands', 'close')], (a, b) => a / b)],
    ['as a source', sma(of('trands', 'close'), 5)],
  ])('is refused where it is loaded for an indicator of an unknown market, %s', async (_, wrong) => {
    const binding = 'markets: { coin: { symbol: AAAUSD }, trend: { symbol: BBBUSD } }';
    const misspelt = over<Strategy>(filtered, { indicators: () => ({ average: wrong, last: of('trend', 'close') }) });
    await expect(run(misspelt, binding, { AAAUSD: klines([1, 2]), BBBUSD: klines([1, 2]) })).rejects.toThrow(
      /strategies\.0\.use: strategy filtered \(given\): indicators\(\) gives average: of\('trands', …\): the strategy has no market trands \(did you mean "trend"\?\); it has coin, trend/,
    );
  });
});

describe('a strategy that chooses', () => {
  const rotation = defineStrategy({
    name: 'rotation',
    about: 'Holds the market that rose the most',
    params: {},
    indicators: () => ({ before: sma('close', 2) }),
    choose(markets) {
      const [best] = markets.toSorted((a, b) => b.kline.close / b.values.before - a.kline.close / a.values.before);
      return weights(best === undefined ? {} : { [best.symbol]: 0.9 }, 'it rose the most', { threshold: 0.5 });
    },
  });

  test('sells before it buys, with what the sale brings, at the same open', async () => {
    const result = await run(rotation, 'symbols: [AAAUSD, BBBUSD]', {
      AAAUSD: klines([10, 12, 12, 12, 12]),
      BBBUSD: klines([10, 10, 15, 18, 20]),
    });
    expect(fillsOf(result)).toEqual([
      '2 BUY AAAUSD 7500000 at 1200',
      '3 SELL AAAUSD 7500000 at 1200',
      '3 BUY BBBUSD 6000000 at 1500',
    ]);
  });

  test('goes on without a market that has no kline yet', async () => {
    const result = await run(rotation, 'symbols: [AAAUSD, BBBUSD]', {
      AAAUSD: klines([10, 12, 12, 12, 12, 12]),
      BBBUSD: klines([undefined, undefined, undefined, 15, 16, 16]),
    });
    expect(fillsOf(result)[0]).toBe('2 BUY AAAUSD 7500000 at 1200');
    expect(fillsOf(result)[1]).toBe('5 SELL AAAUSD 7500000 at 1200');
  });

  const made = weights as (...given: readonly unknown[]) => unknown;
  test.each<[string, () => unknown, string]>([
    ['of more than everything', () => weights({ AAAUSD: 0.8, BBBUSD: 0.4 }, 'both'), 'that add up to 1.2, more than 1'],
    ['of which one is NaN', () => weights({ AAAUSD: 0.5, BBBUSD: Number.NaN }, 'both'), 'the weight of BBBUSD is NaN'],
    ['of which one is text', () => made({ AAAUSD: '0.5' }, 'one'), "the weight of AAAUSD is '0.5'"],
    ['of a symbol that it does not have', () => weights({ CCCUSD: 0.5 }, 'one'), 'a weight for CCCUSD'],
    [
      'as a map',
      () => made(new Map([['AAAUSD', 0.5]]) as never, 'one'),
      "choose() returns weights({ BTCUSDT: 0.5 }, 'why')",
    ],
    [
      'with a stop',
      () => made({ AAAUSD: 0.5 }, 'one', { stop: 1 }),
      'weights() with the unknown option stop; there are threshold and exits',
    ],
    [
      'with exits of a misspelt symbol',
      () => weights({ AAAUSD: 0.5 }, 'one', { exits: { AAUSD: { trailing: 0.1 } } }),
      'exits without AAAUSD, which has a weight',
    ],
    [
      'with exits that have a limit',
      () => made({ AAAUSD: 0.5 }, 'one', { exits: { AAAUSD: { limit: 1 } } }),
      'exits of AAAUSD with limit, which is not an exit; there are stop, takeProfit',
    ],
    [
      'with one exit for all',
      () => made({ AAAUSD: 0.5 }, 'one', { exits: { AAAUSD: 0.1 } }),
      'exits of AAAUSD that are 0.1: say exits: { BTCUSDT: { stop: { fromEntry: 0.1 } } }',
    ],
    [
      'with several take-profits',
      () => weights({ AAAUSD: 0.5 }, 'one', { exits: { AAAUSD: { takeProfit: [{ at: 200, share: 0.5 }] } } }),
      'exits of AAAUSD with a list of take-profits',
    ],
    [
      'with a stop that is never reached',
      () => weights({ AAAUSD: 0.5 }, 'one', { exits: { AAAUSD: { stop: { fromEntry: 2 } } } }),
      'the signal for AAAUSD: a target that cannot be carried out: stop has fromEntry 2',
    ],
    ['with a threshold above 1', () => weights({}, 'none', { threshold: 5 }), 'a threshold of 5: it is a share'],
    ['with no options but null', () => made({}, 'none', null), 'weights() whose options are null'],
    ['without a reason', () => made({ AAAUSD: 0.5 }), 'weights whose reason is undefined'],
    ['with a threshold for a reason', () => made({}, { threshold: 0.1 }), 'weights whose reason is { threshold: 0.1 }'],
    ['that are a list', () => made([0.5, 0.5], 'both'), "choose() returns weights({ BTCUSDT: 0.5 }, 'why')"],
    ['that were not made by weights()', () => ({ AAAUSD: 0.5 }), 'not { AAAUSD: 0.5 }'],
    ['that come later', () => Promise.resolve(weights({}, 'none')), 'a promise: return what it resolves to directly'],
  ])('refuses weights %s', async (_, choose, message) => {
    const wrong = over<Strategy>(rotation, { choose: choose as never });
    const series = { AAAUSD: klines([1, 2, 3]), BBBUSD: klines([1, 2, 3]) };
    await expect(run(wrong, 'symbols: [AAAUSD, BBBUSD]', series)).rejects.toThrow(message);
  });

  test('of whose weights one cannot be held is told the line where they were made', async () => {
    const wrong = over<Strategy>(rotation, { choose: () => weights({ AAAUSD: Number.NaN }, 'one') });
    const series = { AAAUSD: klines([1, 2, 3]), BBBUSD: klines([1, 2, 3]) };
    await expect(run(wrong, 'symbols: [AAAUSD, BBBUSD]', series)).rejects.toThrow(
      /several-markets\.test\.ts, line \d+/,
    );
  });
});

test('an async function is refused, with a memory beside the promise and where that fails, too', async () => {
  const prompt = defineStrategy({
    ...{ name: 'late', about: 'Promises to decide', params: {}, indicators: () => ({}) },
    ...{ markets: { coin: 'traded' }, memory: { n: 0 } },
    decide: () => ({ memory: { n: 1 }, legs: {} }),
  });
  const promised = () => ({ memory: { n: 1 }, legs: Promise.reject(new Error('late')) });
  const late = over<Strategy>(prompt, { decide: promised as never });
  const series = { AAAUSD: klines([1, 2, 3]) };
  await expect(run(late, 'markets: { coin: { symbol: AAAUSD } }', series)).rejects.toThrow(
    'a promise: return what it resolves to directly, from a function that is not async',
  );
});

describe('a memory', () => {
  const memoriesOf = (result: Awaited<ReturnType<typeof run>>): unknown[] => {
    const db = result.journal();
    const rows = db.prepare('SELECT at, role, memory FROM signals ORDER BY seq').raw().all() as unknown[];
    db.close();
    return rows;
  };

  test('of a strategy of roles goes with its legs, and with those of each run anew', async () => {
    const counting = defineStrategy({
      name: 'counting',
      about: 'Enters the first market at the third moment, and the second at the fifth',
      params: {},
      markets: { first: 'traded', second: 'traded' },
      indicators: () => ({}),
      memory: { moments: 0 },
      decide(_, { memory }) {
        const next = { moments: memory.moments + 1 };
        if (next.moments === 3) return { legs: { first: hold({ quantity: 1 }, 'third') }, memory: next };
        if (next.moments === 5) return { legs: { second: hold({ quantity: 2 }, 'fifth') }, memory: next };
        return { memory: next };
      },
    });
    const series = { AAAUSD: klines([1, 2, 3, 4, 5, 6, 7]), BBBUSD: klines([1, 2, 3, 4, 5, 6, 7]) };
    const binding = 'markets: { first: { symbol: AAAUSD }, second: { symbol: BBBUSD } }';
    for (let round = 0; round < 2; round++)
      expect(memoriesOf(await run(counting, binding, series))).toEqual([
        [3 * minute, 'first', '{"moments":3}'],
        [5 * minute, 'second', '{"moments":5}'],
      ]);
    const wrong = over<Strategy>(counting, { decide: () => ({ memory: { moments: 'one' } }) });
    await expect(run(wrong, binding, series)).rejects.toThrow("memory.moments is 'one': it must be a number");
  });

  test('of a strategy that chooses goes with its weights', async () => {
    const taking = defineStrategy({
      name: 'taking-turns',
      about: 'Holds the markets in turn',
      params: {},
      indicators: () => ({ last: sma('close', 1) }),
      memory: { held: '' },
      choose(markets, { memory }) {
        const next = markets.find(({ symbol }) => symbol !== memory.held)?.symbol ?? '';
        return { weights: weights({ [next]: 0.5 }, 'its turn'), memory: { held: next } };
      },
    });
    const result = await run(taking, 'symbols: [AAAUSD, BBBUSD]', {
      AAAUSD: klines([10, 10, 10, 10]),
      BBBUSD: klines([10, 10, 10, 10]),
    });
    expect(fillsOf(result).map((fill) => fill.slice(0, 12))).toEqual([
      '1 BUY AAAUSD',
      '2 SELL AAAUS',
      '2 BUY BBBUSD',
      '3 BUY AAAUSD',
      '3 SELL BBBUS',
    ]);
    expect(memoriesOf(result).slice(-2)).toEqual([
      [4 * minute, 'AAAUSD', '{"held":"BBBUSD"}'],
      [4 * minute, 'BBBUSD', '{"held":"BBBUSD"}'],
    ]);
  });
});
