/** What `sluice/testing` gives to unit tests of strategies. */
import { backtest, decimal, defineStrategy, flat, hold, of, on, roc, sma, weights } from 'sluice';
import { decide, holding, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';

const start = klines({ interval: '60min', from: 100 });
const prices = (series: typeof start): unknown[] =>
  [...series].map(({ open, high, low, close }) => [open, high, low, close]);

describe('klines by a sentence', () => {
  test('rise and fall by a hundredth of the first price, each from where the one before closed', () => {
    expect(prices(start.rise(2).fall(1).flat(1))).toEqual([
      [100, 101, 100, 101],
      [101, 102, 101, 102],
      [102, 102, 101, 101],
      [101, 101, 101, 101],
    ]);
  });

  test('go to a price in equal steps, of the decimals that are asked for', () => {
    expect([...start.rise(3, 110)].map(({ close }) => close)).toEqual([103.33, 106.67, 110]);
    const fine = klines({ interval: '1min', from: 0.5, step: 0.00001, decimals: 5 });
    expect(fine.fall(2).price).toBe(0.49998);
  });

  test('are of one symbol and interval, one after the other, and a gap leaves some out', () => {
    const [first, second, third] = start.rise(2).gap(3).rise(1);
    expect(first).toMatchObject({ symbol: 'BTCUSDT', interval: '60min', openTime: Date.UTC(2024, 0, 1) });
    expect(second?.openTime).toBe(first?.seenAt);
    expect((third?.openTime ?? 0) - (second?.openTime ?? 0)).toBe(4 * 3_600_000);
  });

  test('leave the sentence before them as it was', () => {
    const base = start.rise(5);
    expect([base.rise(1).length, base.fall(1).length, base.length]).toEqual([6, 6, 5]);
  });

  test('may be given kline by kline', () => {
    expect(prices(start.kline({ low: 90, close: 95 }).kline({ open: 96, high: 99 }))).toEqual([
      [100, 100, 90, 95],
      [96, 99, 96, 96],
    ]);
  });

  test.each<[string, () => unknown, string]>([
    [
      'an unknown interval',
      () => klines({ interval: '1h' as never, from: 1 }),
      'unknown interval 1h (did you mean "60min"?)',
    ],
    ['a price of nothing', () => klines({ interval: '1min', from: 0 }), 'from must be a price above 0'],
    ['a date that is none', () => klines({ interval: '1min', from: 1, start: 'soon' }), 'start must be a date'],
    ['half a kline', () => start.rise(0.5), 'a count of klines must be a whole number, not 0.5'],
    ['a fall below nothing', () => start.fall(101), 'no market makes the kline open 1, high 1, low 0, close 0'],
    ['a low above the close', () => start.kline({ low: 105, close: 103 }), 'no market makes the kline'],
  ])('refuse %s', (_, make, message) => expect(make).toThrow(message));
});

describe('decide', () => {
  const trend = defineStrategy({
    ...{ name: 'trend', about: 'Long above the average of two hours', params: {} },
    indicators: () => ({ average: sma('close', 3), long: on('1day', sma('close', 2)) }),
    decide: ({ average, long }, { kline, holding }) =>
      kline.close > average && holding.quantity === 0 ? hold({ share: 1 }, `above ${average} and ${long}`) : flat('no'),
  });

  test('sees the values that the indicators have, those of larger intervals too', () => {
    expect(decide(trend, start.rise(47))).toBeUndefined();
    expect(decide(trend, start.rise(48))).toMatchObject({ size: { share: 1 }, reason: 'above 147 and 136' });
  });

  test('sees what is held', () => {
    expect(decide(trend, start.rise(48), { holding: { quantity: 1, entryPrice: 120 } })).toMatchObject({
      reason: 'no',
    });
  });

  test('refuses what a run refuses', () => {
    const wrong = defineStrategy({
      ...{ name: 'wrong', about: 'Wants what nobody can hold', params: {}, indicators: () => ({}) },
      decide: () => hold({ quantity: Number.NaN }, 'why not'),
    });
    expect(() => decide(wrong, start.rise(1))).toThrow(/not finite|NaN/);
    expect(() => decide(trend, start)).toThrow('decide() needs klines');
    expect(() => decide(trend, start.rise(1), { params: { no: 1 } as never })).toThrow('no: is not a parameter');
  });
});

test('the same klines are data for a backtest', async () => {
  const own = defineStrategy({
    ...{ name: 'own', about: 'Long above its average', params: {} },
    indicators: () => ({ average: sma('close', 3) }),
    decide: ({ average }, { kline }) => (kline.close > average ? hold({ quantity: 1 }, 'above') : flat('below')),
  });
  const { fills, summary } = await backtest({
    strategy: own,
    data: start.rise(9).fall(9),
    cash: '1000',
    rules: 'plain',
  });
  expect(fills.map(({ side, price }) => `${side} ${price}`)).toEqual(['BUY 103', 'SELL 108']);
  expect(summary.criticalWarnings).toEqual([]);
});

describe('decide of several markets', () => {
  const filtered = defineStrategy({
    ...{ name: 'filtered', about: 'Holds a coin while another market rises', params: {} },
    markets: { coin: 'traded', trend: 'data' },
    indicators: () => ({ last: of('trend', 'close'), average: of('trend', sma('close', 3)) }),
    decide: ({ last, average }, { holdings, equity }) => ({
      coin: last > average ? hold({ share: 1 }, `has ${holdings.coin.quantity} of ${equity}`) : flat('it falls'),
    }),
  });

  test('gives the signals by role, with the indicators of each market', () => {
    expect(decide(filtered, { coin: start.flat(5), trend: start.rise(5) })?.coin).toMatchObject({
      size: { share: 1 },
      reason: 'has 0 of 10000',
    });
    expect(decide(filtered, { coin: start.flat(5), trend: start.fall(5) })?.coin).toMatchObject({ reason: 'it falls' });
    const given = { holdings: { coin: { quantity: 2, entryPrice: 90 } }, equity: 500 };
    expect(decide(filtered, { coin: start.flat(5), trend: start.rise(5) }, given)?.coin).toMatchObject({
      reason: 'has 2 of 500',
    });
  });

  test('gives nothing while a market is not warm or its kline is missing', () => {
    expect(decide(filtered, { coin: start.flat(2), trend: start.rise(2) })).toBeUndefined();
    expect(decide(filtered, { coin: start.flat(6), trend: start.rise(5) })).toBeUndefined();
  });

  const strongest = defineStrategy({
    ...{
      name: 'strongest',
      about: 'Holds the strongest',
      params: { share: decimal(0.5, { min: 0, max: 2 }, 'share') },
    },
    rebalance: '1week',
    indicators: () => ({ rise: roc('close', 3) }),
    choose(markets, { params }) {
      const [best] = markets.toSorted((a, b) => b.values.rise - a.values.rise);
      return weights(best === undefined ? {} : { [best.symbol]: params.share }, `of ${markets.length}`);
    },
  });

  test('gives the weights among the symbols that are warm, whatever the schedule', () => {
    const series = { AAAUSDT: start.rise(5), BBBUSDT: start.rise(5, 300), CCCUSDT: start.gap(4).rise(1) };
    expect(decide(strongest, series)).toMatchObject({ weights: { BBBUSDT: 0.5 }, reason: 'of 2' });
  });

  test.each<[string, () => unknown, string]>([
    [
      'a market without klines',
      () => decide(filtered, { coin: start.flat(5), trend: start }),
      'needs klines for trend',
    ],
    [
      'klines of an unknown market',
      () => decide(filtered, { coin: start.flat(5), trend: start.flat(5), other: start.flat(5) } as never),
      'has klines for other, which is not a market of filtered: coin, trend',
    ],
    ['no market', () => decide(strongest, {}), 'needs klines of at least one market'],
    [
      'weights above one',
      () => decide(strongest, { AAAUSDT: start.rise(5) }, { params: { share: 1.5 } }),
      'weights that add up to 1.5',
    ],
    [
      'a parameter out of range',
      () => decide(strongest, { AAAUSDT: start.rise(5) }, { params: { share: 3 } }),
      'strategy strongest: params: share',
    ],
  ])('refuses %s', (_, ask, message) => expect(ask).toThrow(message));
});

test('a strategy with a memory is asked with it, and gives the next one', () => {
  const counting = defineStrategy({
    name: 'counting',
    about: 'Leaves at the third kline',
    params: {},
    indicators: () => ({}),
    memory: { klines: 0, note: 'none' },
    decide: (_, { memory }) => ({
      ...(memory.klines === 2 && { signal: flat('third') }),
      memory: { ...memory, klines: memory.klines + 1 },
    }),
  });
  expect(decide(counting, start.flat(5))).toEqual({ signal: undefined, memory: { klines: 1, note: 'none' } });
  const third = decide(counting, start.flat(5), { memory: { klines: 2 } });
  expect(third).toMatchObject({ signal: { size: { quantity: 0 } }, memory: { klines: 3, note: 'none' } });
  const given = { memory: JSON.parse('{ "klines": "2" }') as { readonly klines: number } };
  expect(() => decide(counting, start.flat(5), given)).toThrow("memory.klines is '2'");
});

test('a memory of several markets is given beside what they hold', () => {
  const once = defineStrategy({
    ...{ name: 'once', about: 'Enters once', params: {}, indicators: () => ({}) },
    markets: { coin: 'traded', trend: 'data' },
    memory: { entries: 0 },
    decide: (_, { memory: { entries } }) =>
      entries > 0 ? { memory: { entries } } : { legs: { coin: flat('first') }, memory: { entries: 1 } },
  });
  const series = { coin: start.flat(2), trend: start.flat(2) };
  expect(decide(once, series)).toMatchObject({ legs: { coin: { reason: 'first' } }, memory: { entries: 1 } });
  expect(decide(once, series, { memory: { entries: 1 } })).toEqual({ legs: undefined, memory: { entries: 1 } });
});

describe('what is misspelt is refused', () => {
  const one = defineStrategy({
    ...{ name: 'one', about: 'Holds', params: {}, indicators: () => ({}), memory: { rungs: 0 } },
    decide: () => hold({ share: 0.5 }, 'always'),
  });
  const two = defineStrategy({
    ...{ name: 'two', about: 'Holds', params: {}, indicators: () => ({}) },
    markets: { coin: 'traded', trend: 'data' },
    decide: () => ({ coin: hold({ share: 0.5 }, 'always') }),
  });
  const series = { coin: start.flat(2), trend: start.flat(2) };
  test.each<[string, () => unknown, string]>([
    ['an option', () => decide(one, start.flat(2), { parms: {} } as never), 'no parms (did you mean "params"?)'],
    [
      'a key of the memory',
      () => decide(one, start.flat(2), { memory: { rung: 1 } as never }),
      'memory of decide() has no rung',
    ],
    [
      'a fact of a position',
      () => decide(one, start.flat(2), { holding: { amount: 1 } as never }),
      'a holding has no amount',
    ],
    [
      'a fact of a role',
      () => decide(two, series, { holdings: { coin: { amount: 1 } as never } }),
      'a holding has no amount',
    ],
    [
      'a role',
      () => decide(two, series, { holdings: { coins: {} } }),
      'holdings of decide() has no coins (did you mean "coin"?)',
    ],
    ['a role that only reads', () => decide(two, series, { holdings: { trend: {} } }), 'has no trend; it has coin'],
    [
      'the holding of several markets',
      () => decide(two, series, { holding: {} } as never),
      'no holding (did you mean "holdings"?)',
    ],
    ['a memory where none is declared', () => decide(two, series, { memory: {} } as never), 'decide() has no memory'],
    [
      'an option of klines',
      () => klines({ interval: '1min', from: 1, symbl: 'A' } as never),
      'klines() has no symbl (did you mean "symbol"?)',
    ],
    ['a price', () => start.kline({ hi: 5 } as never), 'kline() has no hi'],
  ])('%s', (_, ask, message) => expect(ask).toThrow(message));
});

test('the facts of a position follow from its entry and the klines since', () => {
  const series = start.flat(2).rise(3).fall(1);
  const [, , third] = series;
  const held = holding({ quantity: 2, entryPrice: 100, entryTime: third?.openTime ?? 0 }, series);
  expect(held).toMatchObject({ klinesHeld: 4, best: 103, worst: 100, profit: 4, realisedNet: 0, equity: 10_000 });
  expect(holding({ quantity: -2, entryPrice: 100 }, series)).toMatchObject({ best: 100, worst: 100, profit: -4 });
});
