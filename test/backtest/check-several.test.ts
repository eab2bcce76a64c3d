/** `sluice check` over strategies of several markets: what it finds, and what it says of each market. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkStrategy, inputFor } from '../../src/backtest/check/check.ts';
import { leaksOf } from '../../src/backtest/check/lookahead.ts';
import { loadKlines } from '../../src/data/klines.ts';
import { type Columns, mapColumns } from '../../src/domain/market.ts';
import { ema, flat, hold, type Indicator, of, roc, sma, weights } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { over } from '../../src/strategy/override.ts';
import { severalInput } from '../kit/several-markets.ts';

const recorded = (symbol: string): Columns => {
  const path = fileURLToPath(new URL(`../../backtests/data/${symbol}-15m-2025-10_2026-03.csv.gz`, import.meta.url));
  const { columns } = loadKlines({ path, symbol, interval: '15min', pricePrecision: 2 });
  return mapColumns(columns, (column) => column.subarray(0, 700));
};
const [btc, eth] = [recorded('BTCUSDT'), recorded('ETHUSDT')];

const roles = 'markets: { coin: { symbol: ETHUSDT }, trend: { symbol: BTCUSDT } }';
const input = async (strategy: Strategy, binding: string) => {
  const whole = await severalInput(strategy, binding, { ETHUSDT: eth, BTCUSDT: btc }, { interval: '15min' });
  const [hosted] = whole.hosted;
  if (hosted === undefined) throw new Error('there is no strategy');
  return inputFor(whole, hosted);
};

const filtered = defineStrategy({
  name: 'filtered',
  about: 'Holds one market while another is above its average',
  params: {},
  markets: { coin: 'traded', trend: 'data' },
  indicators: (): Record<'average' | 'last', Indicator> => ({
    average: of('trend', sma('close', 30)),
    last: of('trend', 'close'),
  }),
  decide: ({ average, last }) => ({ coin: last > average ? hold({ quantity: 0.1 }, 'up') : flat('down') }),
});

/** The next close, which is not known yet. */
const next: Indicator = {
  warmup: 1,
  column: ({ close }) => close.map((_, row) => close[row + 1] ?? Number.NaN),
  stream: () => () => Number.NaN,
};

test('an honest strategy of roles passes, with the history that each market needs', async () => {
  const checked = await checkStrategy(await input(filtered, roles));
  expect(checked.leaks).toEqual([]);
  expect(checked.emitted).toBe('something');
  expect(checked.warmup).toMatchObject({
    ...{ declared: 30, decisions: 30 },
    indicators: { average: { declared: 30, agrees: 30, market: 'trend' }, last: { declared: 1, agrees: 1 } },
  });
  expect(checked.markets).toEqual([
    { role: 'coin', symbol: 'ETHUSDT', interval: '15min', use: 'traded', klines: 700, declared: 0, live: 300 },
    { role: 'trend', symbol: 'BTCUSDT', interval: '15min', use: 'data', klines: 700, declared: 30, live: 300 },
  ]);
});

test('shares that are together more than all are a mistake, which names the roles and the sum', async () => {
  const greedy = defineStrategy({
    name: 'greedy',
    about: 'Holds both above an average',
    params: {},
    markets: { coin: 'traded', trend: 'traded' },
    indicators: () => ({ average: of('trend', sma('close', 5)), last: of('trend', 'close') }),
    decide: ({ average, last }) =>
      last > average
        ? { coin: hold({ share: 0.8 }, 'up'), trend: hold({ share: 0.7 }, 'up') }
        : { coin: flat('down'), trend: flat('down') },
  });
  const { mistakes } = await checkStrategy(await input(greedy, roles), 3);
  expect(mistakes).toMatchObject([
    {
      kind: 'moreThanAll',
      description: expect.stringContaining('shares of 0.8 of coin and 0.7 of trend, 1.5 together; 1 is all its equity'),
    },
  ]);
});

test('a warm-up of a larger interval is counted in klines of its market, and of the smallest interval in all', async () => {
  const slow = over<Strategy>(filtered, {
    indicators: () => ({ average: of('trend', sma('close', 10)), last: of('trend', 'close') }),
  });
  const checked = await checkStrategy(
    await input(slow, 'markets: { coin: { symbol: ETHUSDT }, trend: { symbol: BTCUSDT, interval: 60min } }'),
  );
  expect(checked.history).toMatchObject({ declared: 40, live: 300 });
  expect(checked.warmup?.indicators).toMatchObject({ average: { declared: 10, agrees: 10 } });
  expect(checked.markets?.[1]).toMatchObject({ interval: '60min', declared: 10, klines: 175 });
});

test('an average that remembers more than it declares is found, in the market that it reads', async () => {
  const impatient = over<Strategy>(filtered, {
    indicators: () => ({ average: of('trend', { ...ema('close', 20), warmup: 1 }), last: of('trend', 'close') }),
  });
  const { warmup } = await checkStrategy(await input(impatient, roles));
  expect(warmup?.declared).toBe(1);
  expect(warmup?.decisions ?? 700).toBeGreaterThan(30);
  expect(warmup?.indicators['average']?.agrees ?? 700).toBeGreaterThan(100);
});

test('a leak names the symbol that is read', async () => {
  const knowing = over<Strategy>(filtered, {
    indicators: () => ({ average: of('trend', 'close'), last: of('trend', next) }),
  });
  const leaks = await leaksOf(await input(knowing, roles));
  expect(leaks.map(({ kind }) => kind)).toEqual(['columnsDiffer', 'readsTheFuture']);
  expect(leaks[1]).toMatchObject({ indicators: ['last'] });
  expect(leaks[1]?.description).toMatch(/reads close of BTCUSDT at 2025-10-.*, 1 moment later$/);
});

test('state beside the contract is found', async () => {
  let calls = 0;
  const counting = over<Strategy>(filtered, {
    decide: () => ({ coin: calls++ % 3 === 0 ? hold({ quantity: 0.1 }, 'third') : flat('other') }),
  });
  const leaks = await leaksOf(await input(counting, roles));
  expect(leaks).toMatchObject([{ kind: 'notRepeatable' }]);
});

const rotation = defineStrategy({
  name: 'rotation',
  about: 'Holds the market that rose the most, chosen each day',
  params: {},
  rebalance: '1day',
  indicators: (): Record<'rise', Indicator> => ({ rise: roc('close', 20) }),
  choose(markets) {
    const [best] = markets.toSorted((a, b) => b.values.rise - a.values.rise);
    return weights(best === undefined ? {} : { [best.symbol]: 0.9 }, 'the strongest');
  },
});

test('a strategy that chooses each day passes, and one that knows the next close does not', async () => {
  const checked = await checkStrategy(await input(rotation, 'symbols: [ETHUSDT, BTCUSDT]'));
  expect(checked).toMatchObject({ leaks: [], emitted: 'something', history: { declared: 21 } });
  expect(checked.markets?.map(({ declared }) => declared)).toEqual([21, 21]);
  const knowing = over<Strategy>(rotation, { indicators: () => ({ rise: next }) });
  const leaks = await leaksOf(await input(knowing, 'symbols: [ETHUSDT, BTCUSDT]'));
  expect(leaks.at(-1)).toMatchObject({ kind: 'readsTheFuture' });
  expect(leaks.at(-1)?.description).toMatch(/indicator rise of (ETH|BTC)USDT.* reads close of (ETH|BTC)USDT/);
});

test('markets that never have a kline together are named', async () => {
  const odd = mapColumns(eth, (column) => column.filter((_, row) => row % 2 === 1));
  const even = mapColumns(btc, (column) => column.filter((_, row) => row % 2 === 0));
  const whole = await severalInput(filtered, roles, { ETHUSDT: odd, BTCUSDT: even }, { interval: '15min' });
  const [hosted] = whole.hosted;
  if (hosted === undefined) throw new Error('there is no strategy');
  const { notCalled } = await checkStrategy(inputFor(whole, hosted));
  expect(notCalled).toBe(
    'decide was never called: its markets coin and trend never all had a kline at the same moment',
  );
});

/** Keeps the whole column that it read last, of BTCUSDT here, also what comes later: code beside the contract can look into it. */
function peeking() {
  let closes = new Float64Array();
  const indicator: Indicator = {
    warmup: 1,
    column(klines) {
      closes = Float64Array.from(klines.close);
      return klines.close.map((close) => close);
    },
    stream: () => (kline) => kline.close,
  };
  return {
    indicator,
    /** The close after this one. */
    after: (close: number): number => closes[closes.indexOf(close) + 1] ?? close,
  };
}
type Peek = ReturnType<typeof peeking>;

/** By the mean of all closes, also of those that are not known yet. */
const centred: Indicator = {
  warmup: 1,
  column: ({ close }) => close.map((value) => value - close.reduce((sum, one) => sum + one, 0) / close.length),
  stream: () => () => Number.NaN,
};

const list = 'symbols: [ETHUSDT, BTCUSDT]';
const both = { coin: 'traded', trend: 'data' } as const;
const planted: readonly (readonly [name: string, binding: string, of: (peek: Peek) => Strategy])[] = [
  [
    'in the mean of one role, beside an honest one',
    roles,
    () =>
      defineStrategy({
        ...{ name: 'planted', about: 'A test', params: {}, markets: both },
        indicators: () => ({ coin: of('coin', centred), trend: of('trend', roc('close', 5)) }),
        decide: ({ coin, trend }) => ({ coin: coin > 0 && trend > 0 ? hold({ quantity: 0.1 }, 'up') : flat('down') }),
      }),
  ],
  [
    'in a role of a larger interval',
    'markets: { coin: { symbol: ETHUSDT }, trend: { symbol: BTCUSDT, interval: 60min } }',
    () =>
      defineStrategy({
        ...{ name: 'planted', about: 'A test', params: {}, markets: both },
        indicators: () => ({ next: of('trend', next), last: of('trend', 'close') }),
        decide: ({ next: later, last }) => ({ coin: later > last ? hold({ quantity: 0.1 }, 'up') : flat('down') }),
      }),
  ],
  [
    'in `decide`, through the memory, one moment late',
    roles,
    ({ indicator, after }) =>
      defineStrategy({
        ...{ name: 'planted', about: 'A test', params: {}, markets: both, memory: { rises: false } },
        indicators: () => ({ last: of('trend', indicator) }),
        decide: ({ last }, { memory }) => ({
          legs: { coin: memory.rises ? hold({ quantity: 0.1 }, 'up') : flat('down') },
          memory: { rises: after(after(last)) > last },
        }),
      }),
  ],
  [
    'in `choose`, at the times of a schedule',
    list,
    ({ indicator, after }) =>
      defineStrategy({
        ...{ name: 'planted', about: 'A test', params: {}, rebalance: '60min' },
        indicators: () => ({ last: indicator }),
        choose(markets) {
          const btc = markets.find(({ symbol }) => symbol === 'BTCUSDT');
          const rises = btc !== undefined && after(btc.values.last) > btc.values.last;
          return weights(rises ? { BTCUSDT: 0.5 } : { ETHUSDT: 0.5 }, 'by the next close');
        },
      }),
  ],
  [
    'in `choose`, through the memory, by a cron expression',
    list,
    ({ indicator, after }) =>
      defineStrategy({
        ...{ name: 'planted', about: 'A test', params: {}, rebalance: '0 */6 * * *', memory: { rises: false } },
        indicators: () => ({ last: indicator }),
        choose(markets, { memory }) {
          const btc = markets.find(({ symbol }) => symbol === 'BTCUSDT');
          const last = btc?.values.last ?? Number.NaN;
          let later = last;
          for (let row = 0; row < 30; row++) later = after(later);
          return {
            weights: weights(memory.rises ? { BTCUSDT: 0.5 } : {}, 'as remembered'),
            memory: { rises: later > last },
          };
        },
      }),
  ],
];

test.for(planted)('look-ahead %s is found', async ([, binding, strategyOf]) => {
  const { leaks } = await checkStrategy(await input(strategyOf(peeking()), binding));
  expect(leaks.at(-1)).toMatchObject({
    kind: 'readsTheFuture',
    description: expect.stringMatching(/reads close of (ETH|BTC)USDT at .* moments? later$/),
  });
});
