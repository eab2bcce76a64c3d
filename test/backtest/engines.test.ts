/** The two drivers of a backtest, the loop over columns and the live graph, row by row where limits kill and requests take klines. */
import { describe, expect, test } from 'vitest';
import type { RunInput } from '../../src/backtest/run.ts';
import { seededRng } from '../../src/clock/clock.ts';
import { type Interval, intervalMs } from '../../src/domain/interval.ts';
import { rate, units } from '../../src/domain/money.ts';
import type { Signal } from '../../src/domain/order.ts';
import type { RulesetName } from '../../src/fill/rules.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { flat, hold, quotes } from '../../src/strategy/signals.ts';
import { runNow } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';
import type { Kline } from '../reference/types.ts';
import { caseOfXz, columnsOf, inputOf, joined, runStreams, scripted } from './agreement.ts';
import { allOf } from './everything.ts';

const minuteMs = 60_000;

/** What both drivers say. */
async function both(input: RunInput, about = ''): Promise<ReturnType<typeof allOf>> {
  const said = allOf(runNow(input));
  expect(allOf(await runStreams(input)), about).toEqual(said);
  return said;
}

/** A number out of the tests' own seed. */
type Rng = () => number;
const oneOf = <T>(rng: Rng, ...of: readonly [T, ...T[]]): T => of[Math.floor(rng() * of.length)] ?? of[0];
const anySeed = (rng: Rng): number => Math.floor(rng() * 2 ** 31);

describe('generated markets, signals, limits and latencies', () => {
  /** Minutes with holes, signals of every kind on one or two symbols and two intervals, under limits that bite; the same by seed. */
  function drawn(seed: number): RunInput {
    const rng = seededRng(seed);
    const rules = oneOf<RulesetName>(rng, 'sluice', 'sluice', 'plain', 'vectorbt', 'backtesting.py', 'backtrader');
    const first = market('XZ', '1min', rules, rng);
    const run = rng() < 0.4 ? first : joined(first, market('YZ', oneOf(rng, '1min', '5min'), rules, rng));
    const hosted = ['a', 'b', 'c'].slice(0, oneOf(rng, 1, 2, 3)).map((id) => {
      const { signals } = generated(anySeed(rng), 700);
      const place = oneOf(rng, ...(run.hosted as [RunInput['hosted'][number]]));
      const interval = oneOf<Interval>(
        rng,
        place.interval,
        place.interval,
        place.interval === '1min' ? '5min' : '15min',
      );
      return { ...place, id, interval, strategy: scripted(signals, intervalMs(interval, 0)) };
    });
    const symbols = new Set(hosted.map(({ symbol }) => symbol));
    const isSlow = rules === 'sluice' && rng() < 0.5;
    return {
      ...run,
      hosted,
      series: run.series.filter(({ symbol }) => symbols.has(symbol)),
      instruments: new Map([...run.instruments].filter(([symbol]) => symbols.has(symbol))),
      allocations: hosted.map(({ id, symbol }) => ({ strategy: id, symbol, amount: units('1000') })),
      cash: units('3000'),
      rules: { ...run.rules, ...(isSlow && { entryLatencyMs: oneOf(rng, 61_000, 130_000) }) },
      limits: { ...run.limits, ...anyLimits(rng) },
    };
  }

  function market(symbol: 'XZ' | 'YZ', interval: Interval, rules: RulesetName, rng: Rng): RunInput {
    const lengths = intervalMs(interval, 0) / minuteMs;
    const klines = holed(generated(anySeed(rng), 200).klines.slice(0, 40 + 160 / lengths), rng);
    const columns = columnsOf(klines.map((kline) => ({ ...kline, time: kline.time * lengths })));
    const given = caseOfXz({ columns, rules, cash: '1000', strategy: scripted([]) });
    return inputOf({ ...given, interval, symbol, instrument: { ...given.instrument, base: symbol.slice(0, 1) } });
  }

  const anyLimits = (rng: Rng): Partial<RunInput['limits']> => ({
    ...(rng() < 0.3 && { maxDailyLoss: rate('0.01') }),
    ...(rng() < 0.3 && { maxDrawdown: rate(oneOf(rng, '0.005', '0.02')) }),
    ...(rng() < 0.3 && { maxEntries: oneOf(rng, 3, 8) }),
    ...(rng() < 0.3 && { maxConsecutiveLosses: oneOf(rng, 2, 4) }),
    ...(rng() < 0.3 && { maxDenials: oneOf(rng, 3, 10) }),
    ...(rng() < 0.3 && { maxOpenOrders: oneOf(rng, 2, 4) }),
    ...(rng() < 0.3 && { maxOrderShare: rate('0.3') }),
    ...(rng() < 0.3 && { maxPosition: units('900') }),
    ...(rng() < 0.5 && { maxSignalsPerSecond: 1 }),
  });

  /** The same klines, later by a hole of up to two quarters of an hour here and there. */
  function holed(klines: readonly Kline[], rng: Rng): readonly Kline[] {
    let skipped = 0;
    return klines.map((kline) => {
      if (rng() < 0.04) skipped += 1 + Math.floor(rng() * 30);
      return { ...kline, time: kline.time + skipped * minuteMs };
    });
  }

  test('give the same rows, refusals, kills and requests by columns and by streams', async () => {
    let [fills, kills, cancels, late] = [0, 0, 0, 0];
    for (let seed = 1; seed <= 40; seed++) {
      const input = drawn(seed);
      const said = await both(input, `seed ${seed}`);
      fills += said.fills.length;
      kills += said.kills.length;
      cancels += said.asked.cancels;
      late += input.rules.entryLatencyMs > minuteMs ? said.asked.cancels : 0;
    }
    expect(fills).toBeGreaterThan(500);
    expect(kills).toBeGreaterThan(20);
    expect(cancels).toBeGreaterThan(200);
    expect(late).toBeGreaterThan(50);
  });
});

/** Minutes that open and close at these prices, with room for any order. */
const minutes = (...prices: readonly number[]): readonly Kline[] =>
  prices.map((price, row) => ({
    ...{ time: row * minuteMs, open: price, high: price + 0.5, low: price - 0.5, close: price, volume: 1e6 },
  }));

const quiet = minutes(...Array.from({ length: 12 }, () => 100));

/** Says what it is told to at each minute. */
const saying = (signalAt: (minute: number) => Signal | undefined): Strategy =>
  defineStrategy({
    name: 'saying',
    about: 'Says what a test wrote down',
    params: {},
    indicators: () => ({}),
    decide: (_, { kline }) => signalAt(kline.openTime / minuteMs),
  });

/** Strategies on minutes of one symbol, with 1,000 each. */
function runOf(klines: readonly Kline[], says: readonly ((minute: number) => Signal | undefined)[]): RunInput {
  const given = caseOfXz({ columns: columnsOf(klines), rules: 'sluice', cash: '1000', strategy: scripted([]) });
  const input = inputOf(given);
  const [place] = input.hosted as [RunInput['hosted'][number]];
  const hosted = says.map((signalAt, index) => ({ ...place, id: 'abc'.charAt(index), strategy: saying(signalAt) }));
  return {
    ...input,
    hosted,
    allocations: hosted.map(({ id, symbol }) => ({ strategy: id, symbol, amount: units('1000') })),
    cash: units(String(1_000 * hosted.length)),
  };
}

describe('a cancel that takes a kline to arrive', () => {
  const slow = (input: RunInput): RunInput => ({ ...input, rules: { ...input.rules, entryLatencyMs: 61_000 } });
  /** Cancelled from minute 3 on, which the exchange does at the open of minute 5; another price is signalled then. */
  const moving = (minute: number): Signal =>
    hold({ quantity: 1 }, 'moving', { limit: minute < 3 ? 98 : minute < 5 ? 97 : 96 });

  test('is followed by what is signalled once it is over, not by what was signalled meanwhile', async () => {
    const { orders } = await both(slow(runOf(quiet, [moving])));
    expect(orders).toMatchObject([
      { price: '98', state: 'canceled', closed_at: 5 * minuteMs },
      { price: '96', created_at: 6 * minuteMs },
    ]);
  });

  test('holds up no other strategy of its symbol', async () => {
    const entering = (minute: number): Signal => (minute < 3 ? flat('not yet') : hold({ quantity: 2 }, 'now'));
    const { fills } = await both(slow(runOf(quiet, [moving, entering])));
    expect(fills).toMatchObject([{ side: 'BUY', time: 5 * minuteMs }]);
  });
});

describe('kills', () => {
  test('by a fill cancel what filled in the same moment, too: nobody has looked at it yet', async () => {
    const input = runOf(quiet, [() => hold({ quantity: 1 }, 'in')]);
    const { kills, asked, orders } = await both({ ...input, limits: { ...input.limits, maxEntries: 1 } });
    expect(kills).toEqual(['a entered 1 position within ten minutes']);
    expect(orders).toMatchObject([{ state: 'filled', cancel_requested: 1 }]);
    expect(asked).toMatchObject({ orders: 1, cancels: 1 });
  });

  test('by a refusal too many end the plan in which they come where something rests', async () => {
    const signal = quotes(
      [99, 98, 97, 96].map((price) => ({ side: 'BUY' as const, price, quantity: 1 })),
      'four',
    );
    const input = runOf(quiet, [() => signal, () => hold({ quantity: 1 }, 'one', { limit: 95 })]);
    const { kills, refused, orders } = await both({
      ...input,
      limits: { ...input.limits, maxOpenOrders: 2, maxDenials: 1 },
    });
    // Both orders count as open until somebody has looked: the other strategy is refused, too.
    expect(kills).toEqual([
      expect.stringMatching(/^a was refused/),
      expect.stringMatching(/^1970-01-01 00:\d\d UTC: b was refused/),
    ]);
    expect(refused).toMatchObject([
      { code: 'killed', strategy: 'a', firstAt: 2 * minuteMs },
      { code: 'killed', strategy: 'b', firstAt: 2 * minuteMs },
      { code: 'openOrders', strategy: 'a', times: 1, firstAt: minuteMs },
      { code: 'openOrders', strategy: 'b', times: 1, firstAt: minuteMs },
    ]);
    expect(orders).toMatchObject([{ state: 'canceled' }, { state: 'canceled' }]);
  });

  test('by two limits that one fall passes come one after the other, also where nothing is held any more', async () => {
    const out = (minute: number): Signal => (minute < 2 ? hold({ quantity: 9 }, 'in') : flat('out'));
    const input = runOf(minutes(100, 100, 100, 90, 90, 90), [out]);
    const limits = { ...input.limits, maxDailyLoss: rate('0.01'), maxDrawdown: rate('0.01') };
    const { kills } = await both({ ...input, limits });
    expect(kills).toEqual([expect.stringMatching(/^fell/), expect.stringMatching(/^1970-01-01 00:\d\d UTC: lost/)]);
  });
});

/** `input` with a strategy on minutes of another symbol that never move. */
const beside = (input: RunInput, signalAt: (minute: number) => Signal | undefined, length: number): RunInput =>
  joined(
    input,
    inputOf({
      ...caseOfXz({
        columns: columnsOf(quiet.slice(0, length)),
        rules: 'sluice',
        cash: '1000',
        strategy: saying(signalAt),
      }),
      symbol: 'YZ',
    }),
  );

test('a loss at an open counts at the next close of another symbol, also where nothing could be sold', async () => {
  const [before, after] = [100, 90].map((price) => minutes(price, price)) as [readonly Kline[], readonly Kline[]];
  const fives = [...before, ...after].map((kline, row) => ({
    ...{ ...kline, time: row * 5 * minuteMs, volume: row === 2 ? 0 : 1e6 },
  }));
  const held = runOf(fives, [() => hold({ quantity: 9 }, 'in', { stop: 95 })]);
  const series = held.series.map((one) => ({ ...one, interval: '5min' as const }));
  const hosted = held.hosted.map((one) => ({ ...one, interval: '5min' as const }));
  const input = beside({ ...held, series, hosted }, () => flat('never'), 12);
  const { killRows } = await both({ ...input, limits: { ...input.limits, maxDrawdown: rate('0.01') } });
  expect(killRows).toMatchObject([{ by: 'drawdown', at: 11 * minuteMs }]);
});

test('limits that are shares of the equity ask for the last price of every symbol', async () => {
  const holding = runOf(minutes(100, 100, 100, 50, 50, 50, 50), [() => hold({ quantity: 9 }, 'in')]);
  // Half of 2,000 is more than 900, half of 1,550 is not.
  const later = (minute: number): Signal => (minute < 4 ? flat('not yet') : hold({ quantity: 9 }, 'then'));
  const input = beside(holding, later, 7);
  const { refused, fills } = await both({ ...input, limits: { ...input.limits, maxOrderShare: rate('0.5') } });
  expect(refused).toMatchObject([{ code: 'orderShare', symbol: 'YZ', times: 3, firstAt: 5 * minuteMs }]);
  expect(fills).toHaveLength(1);
});
