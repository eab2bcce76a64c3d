import { combineLatest, map, mergeMap, NEVER, type Observable, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { btc, kline, startTime, target } from '../../test/kit/builders.ts';
import type { Kline, Trade } from '../domain/market.ts';
import type { Leg, Signal } from '../domain/order.ts';
import { type Context, defineStrategy, type Strategy } from './contract.ts';
import { SignalError } from './fault.ts';
import { decisionsOf, type Inputs } from './host.ts';
import { sma } from './indicators.ts';
import type { Params } from './params.ts';
import { flat, hold, quotes } from './signals.ts';
import { warmupOf } from './warmup.ts';

const none = Number.NaN;
const holding = {
  ...{ quantity: 0, entryPrice: none, equity: 1_000, entryTime: none, klinesHeld: 0, best: none, worst: none },
  ...{ profit: 0, realisedNet: 0, lastExit: undefined },
};

interface HostRun {
  readonly said: Leg[];
  readonly errors: unknown[];
  readonly ended: () => boolean;
  readonly klines: Subject<Kline>;
  readonly trades: Subject<Trade>;
}

/** Runs a strategy on klines that the test sends. */
function runHost(strategy: Strategy, history: readonly Kline[] = [], before?: Signal): HostRun {
  const said: Leg[] = [];
  const errors: unknown[] = [];
  let ended = false;
  const klines = new Subject<Kline>();
  const trades = new Subject<Trade>();
  const inputs: Inputs = {
    history,
    klines,
    trades,
    depth: NEVER,
    ticker: NEVER,
    gaps: NEVER,
    fills: NEVER,
    holding,
    before,
    now: () => startTime,
    failed: (error) => errors.push(error),
  };
  const hosted = { id: 'mine', strategy, symbol: btc.symbol, interval: '1min', params: {}, instrument: btc } as const;
  decisionsOf(hosted, inputs).subscribe({
    next: ({ legs }) => said.push(...legs),
    complete: () => {
      ended = true;
    },
  });
  return { said, errors, ended: () => ended, klines, trades };
}

/** What a file that nobody held to types could have there. */
const any = <T>(value: unknown): T => value as T;
const bid = { side: 'BUY', price: 1, quantity: 1 } as const;

const quantities = ({ said }: HostRun): unknown[] =>
  said.map(({ signal }) => (signal.kind === 'target' ? Object.values(signal.size)[0] : signal));

/** Holds its average of two closes. */
const average = defineStrategy({
  name: 'average',
  about: 'test',
  params: {},
  indicators: () => ({ average: sma('close', 2) }),
  decide: (values) => hold({ quantity: values.average }, 'average'),
});

/** Does what the test says after each closed kline. */
const deciding = (decide: (kline: Kline) => Signal | undefined, warmup = 0): Strategy =>
  defineStrategy({
    name: 'deciding',
    about: 'test',
    params: {},
    warmup: () => warmup,
    indicators: () => ({}),
    decide: (_, moment) => decide(moment.kline),
  });

const streaming = (signals: (context: Context<Params>) => Observable<Signal>): Strategy =>
  defineStrategy({ name: 'streaming', about: 'test', params: {}, signals });

describe('a deciding strategy', () => {
  test('signals nothing before its indicators are warm', () => {
    const run = runHost(average);
    run.klines.next(kline(10));
    expect(run.said).toEqual([]);
    run.klines.next(kline(20, 1));
    expect(quantities(run)).toEqual([15]);
  });

  test('warms up by the klines of before, without a signal about them', () => {
    const run = runHost(average, [kline(10), kline(20, 1), kline(30, 2)]);
    expect(run.said).toEqual([]);
    run.klines.next(kline(40, 3));
    expect(quantities(run)).toEqual([35]);
  });

  test('waits for its own warm-up as well', () => {
    const run = runHost(
      deciding(({ close }) => target(close), 3),
      [kline(1)],
    );
    run.klines.next(kline(2, 1));
    expect(run.said).toEqual([]);
    run.klines.next(kline(3, 2));
    expect(quantities(run)).toEqual([3]);
  });

  test('says its last signal again by saying nothing, so that what got lost heals', () => {
    const run = runHost(deciding(({ close }) => (close > 1 ? target(close) : undefined)));
    for (const close of [1, 2, 1]) run.klines.next(kline(close));
    expect(quantities(run)).toEqual([2, 2]);
  });

  test('emits decisions under its own name, symbol and time', () => {
    const run = runHost(deciding(() => target(1)));
    run.klines.next(kline(1));
    expect(run.said).toEqual([{ strategy: 'mine', role: 'main', symbol: 'BTCUSDT', at: startTime, signal: target(1) }]);
  });

  test('that throws is reported once, cancels its resting orders and emits nothing more', () => {
    const run = runHost(
      deciding(({ close }) => {
        if (close > 1) throw new Error('oops');
        return target(close);
      }),
    );
    for (const close of [1, 2, 1, 3]) run.klines.next(kline(close));
    expect(run.errors.map(String)).toEqual(['Error: oops']);
    expect(run.said.map(({ signal }) => signal)).toEqual([
      target(1),
      { ...target(holding.quantity), reason: 'the strategy was stopped because it threw' },
    ]);
    expect(run.ended()).toBe(true);
  });

  test('that throws before its first signal keeps the stop of its signal in an earlier run', () => {
    const broken = defineStrategy({
      name: 'broken',
      about: 'test',
      params: {},
      indicators: () => ({}),
      decide: () => {
        throw new Error('oops');
      },
    });
    const entry = { limit: 99, postOnly: true, expiresAfterKlines: 3, clip: true };
    const run = runHost(broken, [], target(1, { ...entry, stop: 90, takeProfit: 120 }));
    run.klines.next(kline(100));
    expect(run.said.map(({ signal }) => signal)).toEqual([
      { kind: 'target', size: { quantity: 0 }, stop: 90, reason: 'the strategy was stopped because it threw' },
    ]);
  });

  test('that throws does not stop another on the same klines', () => {
    const klines = new Subject<Kline>();
    const bad = runHost(streaming(() => klines.pipe(map(() => JSON.parse('{') as Signal))));
    const good = runHost(streaming(() => klines.pipe(map(({ close }) => target(close)))));
    klines.next(kline(1));
    klines.next(kline(2));
    expect(bad.errors.length).toBe(1);
    expect(quantities(good)).toEqual([1, 2]);
  });

  test('that throws on its warm-up klines never signals anything', () => {
    const broken = defineStrategy({
      ...average,
      indicators: () => ({
        bad: {
          warmup: 1,
          column: () => new Float64Array(),
          stream: () => () => {
            throw new Error('bad indicator');
          },
        },
      }),
      decide: () => target(1),
    });
    const run = runHost(broken, [kline(1)]);
    expect(run.errors.length).toBe(1);
    expect(run.said.map(({ signal }) => signal.kind)).toEqual(['quotes']);
  });

  test.each([
    ['a size that is not a number', target(Number.NaN)],
    ['an infinite size', target(Number.POSITIVE_INFINITY)],
    ['a stop that is not a number', target(1, { stop: Number.NaN })],
    ['a limit below zero', target(1, { limit: -1 })],
    ['a trailing stop that is not a number', target(1, { trailing: Number.NaN })],
    ['an endless take-profit', target(1, { takeProfit: Number.POSITIVE_INFINITY })],
    [
      'a quote without a price',
      { kind: 'quotes', quotes: [{ side: 'BUY', price: Number.NaN, quantity: 1 }], reason: '' },
    ],
    ['a quote of less than nothing', { kind: 'quotes', quotes: [{ side: 'BUY', price: 1, quantity: -1 }], reason: '' }],
  ] as const)('is stopped for %s', (_, signal) => {
    const run = runHost(deciding(() => signal));
    run.klines.next(kline(1));
    expect(run.errors.length).toBe(1);
    expect(run.said.map((leg) => leg.signal.kind)).toEqual(['quotes']);
  });

  test.each<[string, () => unknown, RegExp]>([
    ['a side that there is not', () => quotes([{ ...bid, side: any('buy') }], ''), /side is neither 'BUY' nor 'SELL'/],
    ['a side left out', () => quotes([any({ price: 1, quantity: 1 })], ''), /side is neither 'BUY' nor 'SELL'/],
    ['quotes that are not there', () => quotes(any(undefined), ''), /^quotes that are no list: undefined/],
    ['one quote without its list', () => quotes(any(bid), ''), /^quotes that are no list/],
    ['a quote that is none', () => quotes([bid, any(null)], ''), /^quotes of which one is none/],
    [
      'a memory that is not declared',
      () => any({ signal: flat(''), memory: { n: 1 } }),
      /^it returned a memory that it does not declare: add its initial value/,
    ],
    ['a size of null', () => hold(any(null), '', { stop: 1 }), /^neither a target nor quotes/],
    [
      'a reason left out',
      () => hold({ quantity: 1 }, any(undefined)),
      /^a signal whose reason is not a string: .*; say hold/,
    ],
    [
      'exits in place of the reason',
      () => hold({ quantity: 1 }, any({ stop: 1 })),
      /^a signal whose reason is not a string/,
    ],
    ['no reason to be flat', () => flat(any(undefined)), /^a signal whose reason is not a string/],
    ['quotes without a reason', () => quotes([bid], any(undefined)), /^a signal whose reason is not a string/],
    ['a bigint', () => hold({ quantity: any(1n) }, ''), /^a target without a finite size: .*"1"/],
    [
      '5 % written as 5',
      () => hold({ share: 0.5 }, '', { trailing: 5 }),
      /stop of 5, which is never hit: .* 0\.05 is 5 %/,
    ],
    ['a trailing stop at nothing', () => hold({ share: 0.5 }, '', { trailing: 1 }), /stop of 1, which is never hit/],
    [
      'a misspelt stop',
      () => hold({ share: 0.5 }, '', any({ stopLoss: 9 })),
      /unknown option stopLoss; there are limit, stop, /,
    ],
    [
      'one beside a right one',
      () => hold({ share: 0.5 }, '', any({ stop: 9, exitAfter: 9 })),
      /unknown option exitAfter;/,
    ],
  ])('is stopped for %s, by name', (_, said, message) => {
    const run = runHost(deciding(() => any(said())));
    run.klines.next(kline(1));
    expect(run.errors).toEqual([expect.objectContaining({ message: expect.stringMatching(message) })]);
    expect(run.errors[0]).toBeInstanceOf(SignalError);
  });

  test('may hold a short position with a stop as far away as the price itself', () => {
    const run = runHost(deciding(() => hold({ quantity: -1 }, 'short', any({ trailing: 1, stop: undefined }))));
    run.klines.next(kline(1));
    expect([run.errors, run.said.length]).toEqual([[], 1]);
  });

  test('may signal to be short', () => {
    const run = runHost(deciding(() => target(-1)));
    run.klines.next(kline(1));
    expect(quantities(run)).toEqual([-1]);
  });
});

describe('a streaming strategy', () => {
  const history = [kline(1), kline(2, 1)];

  test('that gives no stream is stopped with what it has to return', () => {
    const run = runHost(streaming(() => any(undefined)));
    expect(String(run.errors)).toMatch(
      /^SignalError: signals\(\) returned undefined: it must return a stream of signals/,
    );
  });

  test('sees the klines of before, and its signals about them are dropped', () => {
    const seen: number[] = [];
    const run = runHost(
      streaming(({ klines }) =>
        klines.pipe(
          map(({ close }) => {
            seen.push(close);
            return target(close);
          }),
        ),
      ),
      history,
    );
    expect(seen).toEqual([1, 2]);
    run.klines.next(kline(3, 2));
    expect(quantities(run)).toEqual([3]);
  });

  test('may make of its warm-up klines what could not be carried out: it is not said', () => {
    const run = runHost(
      streaming(({ klines }) =>
        klines.pipe(map(({ close }) => hold({ quantity: close < 3 ? Number.NaN : close }, ''))),
      ),
      history,
    );
    run.klines.next(kline(3, 2));
    expect([run.errors, quantities(run)]).toEqual([[], [3]]);
  });

  test('may derive several streams from its klines: none of them acts on the past', () => {
    const run = runHost(
      streaming(({ klines }) => combineLatest([klines, klines]).pipe(map(([a, b]) => target(a.close + b.close)))),
      history,
    );
    expect(quantities(run)).toEqual([]);
    run.klines.next(kline(5, 2));
    expect(quantities(run).at(-1)).toBe(10);
  });

  test('is run although it never reads klines', () => {
    const run = runHost(
      streaming(({ trades }) => trades.pipe(map(({ price }) => target(price)))),
      history,
    );
    run.trades.next({ symbol: 'BTCUSDT', time: 0, price: 7, quantity: 1, side: 'BUY', seenAt: 0 });
    expect(quantities(run)).toEqual([7]);
  });

  test('may take its time, live: what a promise leads to is said when it comes', async () => {
    const run = runHost(streaming(({ klines }) => klines.pipe(mergeMap(async ({ close }) => target(close)))));
    run.klines.next(kline(7));
    expect(quantities(run)).toEqual([]);
    await Promise.resolve();
    expect(quantities(run)).toEqual([7]);
  });

  test('is stopped when it throws while it is put together', () => {
    const run = runHost(
      streaming(() => {
        throw new Error('no');
      }),
    );
    expect(run.errors.length).toBe(1);
    expect(run.said.map(({ signal }) => signal.kind)).toEqual(['quotes']);
    expect(run.ended()).toBe(true);
  });

  test('is stopped for a signal that cannot be carried out', () => {
    const run = runHost(streaming(({ klines }) => klines.pipe(mergeMap(() => of(target(Number.NaN), target(1))))));
    run.klines.next(kline(1));
    expect(run.errors.length).toBe(1);
    expect(run.said.map(({ signal }) => signal.kind)).toEqual(['quotes']);
  });
});

test('a strategy needs the klines of its slowest indicator or of its own warm-up, whichever is more', () => {
  expect(warmupOf(average, {}, '1min')).toBe(2);
  expect(
    warmupOf(
      deciding(() => undefined, 7),
      {},
      '1min',
    ),
  ).toBe(7);
  expect(
    warmupOf(
      streaming(() => NEVER),
      {},
      '1min',
    ),
  ).toBe(0);
});
