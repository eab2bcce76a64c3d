/** Runs that cannot be what was asked for: each is told what is wrong, where, how often and what to do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MonoTypeOperatorFunction, map, type Observable } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { fastRun } from '../../src/backtest/fast/run.ts';
import { shortFault } from '../../src/backtest/prepare/data-checks.ts';
import { prepare } from '../../src/backtest/prepare/prepare.ts';
import { Refusals } from '../../src/backtest/result/refusals.ts';
import type { RunInput } from '../../src/backtest/run.ts';
import { parseSetting, readConfig } from '../../src/config/read.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import { importFile } from '../../src/data/import/import.ts';
import type { Kline } from '../../src/domain/market.ts';
import { refusedRows, refusedText } from '../../src/report/notes.ts';
import { standardLimits } from '../../src/risk/control-list.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { flat, hold, quotes } from '../../src/strategy/signals.ts';
import type { Need } from '../../src/strategy/warmup.ts';
import maker from '../../strategies/maker/index.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { type Case, caseOfXz, columnsOf, inputOf, runStreams, xz } from './agreement.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-bad-runs-'));
afterAll(() => rmSync(dir, { recursive: true }));

const minute = 60_000;
const start = Date.UTC(2026, 0, 5);
const row = (at: number): string => `${start + at * minute},100,101,99,100,5`;
const header = 'time_ms,open,high,low,close,volume';

/** A configuration over these minutes after the start, one line a kline. */
async function prepared(minutes: readonly number[], more = '', interval = '1min', data = 'data: { BTCUSDT: x.csv }') {
  writeFileSync(join(dir, 'x.csv'), `${[header, ...minutes.map(row)].join('\n')}\n`);
  const file = join(dir, 'run.yaml');
  writeFileSync(
    file,
    `${data}
cash: "1000"
${more}
strategies: [{ id: t, use: sma-cross, symbol: BTCUSDT, interval: ${interval}, params: { fast: 2, slow: 30 } }]
risk: { maxOrderValue: "1000", maxPosition: "1000" }
`,
  );
  return await prepare(file, readConfig(file, backtestSchema));
}
const upTo = (count: number, step = 1): number[] => Array.from({ length: count }, (_, at) => at * step);

test('the standard limits hold where the configuration says that all do, and stated ones before them', async () => {
  const { input: stated } = await prepared(upTo(60));
  const file = join(dir, 'run.yaml');
  const settings = ['risk.controls=all', 'risk.maxEntries=7'].map(parseSetting);
  const { input: all } = await prepare(file, readConfig(file, backtestSchema, settings));
  expect([stated.limits.maxOrderShare, stated.limits.maxEntries]).toEqual([undefined, undefined]);
  expect([all.limits.maxOrderShare, all.limits.maxEntries]).toEqual([standardLimits.maxOrderShare, 7]);
});

describe('klines', () => {
  test('of a larger interval than the one that is said are refused', async () => {
    await expect(prepared(upTo(50, 5))).rejects.toThrow(
      /^BTCUSDT: 50 of the 50 klines of .*x\.csv, from 2026-01-05T00:00Z on, are 5 minutes apart, but the interval is 1min: set interval to that of the data/,
    );
  });

  test('of mixed intervals are refused with the place where the others begin', async () => {
    await expect(prepared([...upTo(40), ...upTo(30, 5).map((at) => at + 44)])).rejects.toThrow(
      /31 of the 70 klines .* from 2026-01-05T00:39Z on, are 5 minutes apart/,
    );
  });

  test('with holes are none of another interval', async () => {
    const { input } = await prepared(upTo(200).filter((at) => at % 7 !== 3 || at > 150));
    expect(input.series[0]?.end).toBeGreaterThan(150);
  });

  test('of a smaller interval are refused, with how many', async () => {
    await expect(prepared(upTo(100), '', '5min')).rejects.toThrow(
      /80 times at which no 5min kline opens .*dataIntervals: \{ BTCUSDT: 1min \}/,
    );
  });

  test('that are too few to warm up are counted', async () => {
    await expect(prepared(upTo(30))).rejects.toThrow(
      /^BTCUSDT: 30 klines are too few: the strategy needs 30 of 1min before its first decision and one after it, but .*x\.csv has 30 up to the end/,
    );
    const other = '1min, params: { fast: 2, slow: 10 } }, { id: two, use: sma-cross, symbol: BTCUSDT, interval: 1min';
    await expect(prepared(upTo(30), '', other)).rejects.toThrow('30 klines are too few: strategy two needs 30 of 1min');
  });
});

test('an average of larger klines takes as many as it takes from where the data begin', () => {
  const fault = (
    count: number,
    from: number,
    isMissing: (row: number) => boolean = () => false,
  ): string | undefined => {
    const times = Array.from({ length: count }, (_, at) => start + (from + at) * minute);
    const openTime = Float64Array.from(times.filter((_, at) => !isMissing(at)));
    const hourly = { id: 'one', of: '1min', needs: [{ warmup: 0 }, { warmup: 2, of: '60min' }] } as const;
    return shortFault({ symbol: 'BTCUSDT', interval: '1min', source: 'x.csv', openTime }, openTime.length, [hourly]);
  };
  expect(fault(121, 0)).toBeUndefined();
  expect(fault(120, 0)).toContain('120 klines are too few: the strategy needs 120 of 1min');
  expect(fault(180, 1)).toBeUndefined();
  expect(fault(179, 1)).toContain('179 klines are too few: the strategy needs 179 of 1min');
  // An hour of which nothing is there is none.
  expect(fault(190, 0, (row) => row >= 60 && row < 180)).toBeDefined();
  expect(fault(190, 0, (row) => row >= 70 && row < 130)).toBeUndefined();
});

test('an average of a strategy of larger klines than those recorded is told of in those recorded', () => {
  const fault = (need: Need): string | undefined => {
    const openTime = Float64Array.from({ length: 600 }, (_, at) => start + at * minute);
    const asked = { symbol: 'BTCUSDT', interval: '1min', source: 'x.csv', openTime } as const;
    return shortFault(asked, 600, [{ id: 'one', of: '60min', needs: [need] }]);
  };
  expect(fault({ warmup: 9 })).toBeUndefined();
  // 20 hours, and at most one that the klines begin inside.
  expect(fault({ warmup: 20 })).toContain('600 klines are too few: the strategy needs 1259 of 1min');
  // Two days of its hours, and the day and the hour that they begin inside.
  expect(fault({ warmup: 2, of: '1day' })).toContain('600 klines are too few: the strategy needs 4319 of 1min');
});

describe('fees', () => {
  const note = async (more: string) =>
    (await prepared(upTo(400), more)).warnings.filter((text) => text.startsWith('fees'));
  const own = '{ maker: "0.001", taker: "0.001" }';

  test('are told to be assumed where they are, and no more', async () => {
    expect(await note('')).toEqual([
      'fees are not configured: maker 0.20 % and taker 0.20 % are assumed (fees: { maker: "…", taker: "…" })',
    ]);
    expect(await note('fees: { maker: "0.001" }')).toEqual([
      'fees are not configured: taker 0.20 % is assumed (fees: { taker: "…" })',
    ]);
    expect(await note(`symbolFees: { BTCUSDT: ${own} }`)).toEqual([]);
    expect(await note(`symbolFees: { BTCUSDT: ${own}, ETHUSDT: ${own} }`)).toEqual([]);
  });

  test('of some symbols are not those of all', async () => {
    const both = 'data: { BTCUSDT: x.csv, ETHUSDT: x.csv }';
    const two = '1min, params: { fast: 2, slow: 30 } }, { id: two, use: sma-cross, symbol: ETHUSDT, interval: 1min';
    const { warnings } = await prepared(upTo(400), `symbolFees: { BTCUSDT: ${own} }`, two, both);
    expect(warnings.filter((text) => text.startsWith('fees'))).toEqual([
      expect.stringMatching(/^fees of ETHUSDT are not configured: maker 0\.20 % and taker 0\.20 % are assumed/),
    ]);
  });
});

test.for([
  ['symbolFees: { BTCUSD: { maker: "0", taker: "0" } }', 'line 3: symbolFees.BTCUSD: BTCUSD'],
  ['trades: { BTCUSD: gone.csv }', 'line 3: trades.BTCUSD: BTCUSD'],
  ['depth: { BTCUSD: gone.csv }', 'line 3: depth.BTCUSD: BTCUSD'],
  ['dataIntervals: { BTCUSD: 1min }', 'line 3: dataIntervals.BTCUSD: BTCUSD'],
] as const)('a symbol that nobody trades is refused: %s', async ([more, place]) => {
  const told = `${place} is not traded by any strategy (did you mean "BTCUSDT"?)`;
  await expect(prepared([0], more)).rejects.toThrow(told);
  await expect(prepared([0], '', '1min', 'data: { BTCUSD: x.csv }')).rejects.toThrow('line 1: data.BTCUSD: BTCUSD is');
  await expect(prepared([0], '', '1min', 'data: { XRPBTC: x.csv }')).rejects.toThrow(
    'not traded by any strategy; BTCUSDT is',
  );
});

test('allocations above the cash are refused, whose and how much', async () => {
  const two =
    '1min, allocation: "600.5", params: { slow: 30 } }, { id: two, use: sma-cross, allocation: "400", symbol: BTCUSDT, interval: 1min';
  await expect(prepared(upTo(400), '', two)).rejects.toThrow(
    'run.yaml: allocations of 1000.5 USDT (t 600.5, two 400) exceed the cash of 1000: lower an allocation, or raise the cash',
  );
  await expect(prepared(upTo(400), '', two.replace('600.5', '600'))).resolves.toBeDefined();
});

describe('dates', () => {
  test('outside the data are refused with what there is', async () => {
    await expect(prepared(upTo(60), 'from: 2026-02-01')).rejects.toThrow(
      /no klines between from and to \(2026-02-01T00:00Z, \?\): .*x\.csv holds 2026-01-05T00:00Z to 2026-01-05T00:59Z/,
    );
  });

  test('outside what is imported are refused with all that is stored, and so are klines too large for it', async () => {
    const into = { dir: join(dir, 'stored'), endStamps: false, repair: new Set<never>(), replace: false, now: 5 };
    writeFileSync(join(dir, 'stored.csv'), `${[header, ...upTo(60).map(row)].join('\n')}\n`);
    await importFile(join(dir, 'stored.csv'), { ...into, symbol: 'BTCUSDT', interval: '1min' });
    const run = (more: string, interval: string) => prepared([0], more, interval, 'catalogue: stored');
    const held = '2026-01-05T00:00Z to 2026-01-05T00:59Z';
    // Under plain rules short numbers are enough, wherever the klines lie.
    expect(fastRun((await run('rules: plain', '1min')).input)).toBeDefined();
    expect(fastRun((await prepared(upTo(60), 'rules: plain')).input)).toBeDefined();
    await expect(run('from: 2020-01-01\nto: 2020-02-01', '1min')).rejects.toThrow(
      `no klines between from and to (2020-01-01T00:00Z, 2020-02-01T00:00Z): ${join(dir, 'stored')} holds ${held}: choose dates`,
    );
    await expect(run('from: 2027-01-01', '1min')).rejects.toThrow(`holds ${held}: choose dates within`);
    await expect(run('to: 2020-02-01', '5min')).rejects.toThrow(`holds 1min from ${held}: choose dates within`);
    await expect(run('', '1week')).rejects.toThrow(
      `no complete 1week kline between from and to (?, ?): ${join(dir, 'stored')} holds 1min from ${held}: use a smaller interval`,
    );
  });

  test('in the wrong order are refused', async () => {
    await expect(prepared(upTo(60), 'from: 2026-01-06\nto: 2026-01-05')).rejects.toThrow(/is not before to/);
  });

  test('that the data cover in part are told of, and so is a late first decision', async () => {
    const { warnings } = await prepared(upTo(60), 'from: 2026-01-04T12:00\nto: 2026-01-09');
    expect(warnings).toEqual(
      expect.arrayContaining([
        'BTCUSDT: from is 2026-01-04T12:00Z, its first kline after that opens 2026-01-05T00:00Z: the run begins there',
        'BTCUSDT: to is 2026-01-09T00:00Z, its last kline before that opens 2026-01-05T00:59Z: the run ends there',
        expect.stringMatching(
          /^BTCUSDT: 30 klines warm up and 0 lie before from: the first decision comes at 2026-01-05T00:30Z, when the last of them closes; import earlier/,
        ),
      ]),
    );
    const covered = await prepared(upTo(60), 'from: 2026-01-05T00:40\nto: 2026-01-05T00:50');
    expect(covered.warnings.filter((text) => text.startsWith('BTCUSDT'))).toEqual([]);
  });

  test('that leave a large part to warming up are told of, also where no from is given', async () => {
    const { warnings } = await prepared(upTo(60));
    expect(warnings).toContain(
      'BTCUSDT: 30 of its 60 klines warm up: the first decision comes at 2026-01-05T00:30Z, when the last of them closes; import earlier klines for an earlier start',
    );
    expect((await prepared(upTo(400))).warnings.filter((text) => text.includes('warm up'))).toEqual([]);
  });

  test('of several intervals are told of by the strategy that decides last, and when its own klines close', async () => {
    const { warnings } = await prepared(
      upTo(200).map((at) => at + 2),
      'from: 2026-01-05',
      '1min, params: { fast: 2, slow: 3 } }, { id: slow, use: sma-cross, symbol: BTCUSDT, interval: 5min',
    );
    // The klines begin within one of five minutes, which is not whole.
    expect(warnings).toContain(
      'BTCUSDT: 153 klines warm up and 0 lie before from: the first decision of slow comes at 2026-01-05T02:35Z, when the last of them closes; import earlier klines for an earlier start',
    );
  });
});

const instrument = { ...xz, minQuantity: '0.01', minNotional: '5' };
function run(strategy: Case['strategy'], more: Partial<Case> = {}): RunInput {
  const klines = upTo(8).map((at) => ({ time: at * minute, open: 100, high: 102, low: 98, close: 100, volume: 5 }));
  return inputOf(caseOfXz({ instrument, columns: columnsOf(klines), rules: 'plain', cash: '1000', strategy, ...more }));
}
/** Says each want in its turn. */
const says = (...signals: readonly ReturnType<typeof hold | typeof quotes>[]) =>
  defineStrategy({
    name: 'says',
    about: 'Says what a test wrote down',
    params: {},
    indicators: () => ({}),
    decide: (_, { kline }) => signals[kline.openTime / minute] ?? flat(''),
  });

describe('orders that are refused', () => {
  test('are counted by why, alike by columns, by streams and by events', async () => {
    const input = run(
      says(
        hold({ quantity: 20 }, ''),
        hold({ quantity: 9.99 }, ''),
        flat(''),
        quotes([{ side: 'BUY', price: 90, quantity: 11.11 }], ''),
      ),
    );
    const { refused } = runNow(input);
    const whose = { strategy: 's', symbol: 'XZ', times: 1 };
    const example = 'BUY 20 X at market: The order costs 2,000; the strategy has 1,000 left';
    expect(refused).toEqual([
      { ...whose, code: 'allocation', firstAt: minute, example },
      { ...whose, code: 'rejected', firstAt: 4 * minute },
      { ...whose, code: 'unfilled', firstAt: 2 * minute },
    ]);
    expect((await runStreams(input)).refused).toEqual(refused);
    expect((await runTape(input)).refused).toEqual(refused);
  });

  test('stops on the wrong side of the price are counted, on both sides of it and alike by every driver', async () => {
    const signals = [
      hold({ quantity: 1 }, 'long', { stop: 110 }),
      hold({ quantity: 1 }, 'closed by it, and stays so', { stop: 120 }),
      hold({ quantity: 2 }, 'long', { stop: 120 }),
      hold({ quantity: 1 }, 'long', { stop: 90 }),
      hold({ quantity: 1 }, 'an exit', { stop: 110 }),
      hold({ quantity: 0 }, 'none', { stop: 110 }),
    ];
    const input = run(says(...signals));
    const { refused = [] } = runNow(input);
    expect(refused).toEqual([{ code: 'stop', strategy: 's', symbol: 'XZ', times: 2, firstAt: minute }]);
    expect((await runStreams(input)).refused).toEqual(refused);
    expect((await runTape(input)).refused).toEqual(refused);
    expect(refusedRows(refused)).toEqual([
      [
        'Stops hit when set',
        expect.stringMatching(/^2: stop 2 of s on XZ \(above the price .*; the first 1970-01-01 00:01 UTC$/),
      ],
    ]);
    const shorts = new Refusals();
    for (const [share, stop] of [
      [-1, 90],
      [-0.5, 110],
    ] as const)
      shorts.signal(
        'margin',
        { signal: hold({ share }, 'short', { stop }), strategy: 's', symbol: 'XZ', at: minute },
        input,
      );
    expect(shorts.list().map(({ code, times }) => [code, times])).toEqual([['stop', 1]]);
  });

  test('say absurd numbers in a few digits', () => {
    const example = `BUY for ${'1'.repeat(306)} Z at market: The order is worth ${'123,'.repeat(99)}123.50, at most 20,000`;
    const text = refusedText([{ code: 'orderValue', strategy: 's', symbol: 'XZ', times: 1, firstAt: 0, example }]);
    expect(text).toContain('first BUY for 1.11e+305 Z at market: The order is worth 1.23e+299, at most 20,000');
  });

  test('are said in words, the commonest first, with whose they are', () => {
    const text = refusedText([
      { code: 'allocation', strategy: 'a', symbol: 'XZ', times: 1, firstAt: start },
      { code: 'priceCollar', strategy: 'a', symbol: 'XZ', times: 1_200, firstAt: start + minute, example: 'BUY 2 X' },
    ]);
    expect(text).toBe(
      '1,201: priceCollar 1,200 of a on XZ (first BUY 2 X), allocation 1 of a on XZ (exceeded its allocation: use more cash or a smaller target); the first 2026-01-05 00:00 UTC',
    );
  });
});

test('what was decided on the last kline waits for nothing yet', async () => {
  const last = run(says(...Array.from({ length: 7 }, () => flat('')), hold({ quantity: 1 }, '')));
  expect([runByKlines(last).refused, (await runStreams(last)).refused]).toEqual([[], []]);
});

describe('a strategy whose signals take time that the data do not have', () => {
  const late = /a signal of s came after the data ended: .* strategies cannot use timers and promises/;
  // Nothing of ours takes them from there; what a user writes may.
  type Operator<T> = (given: T) => MonoTypeOperatorFunction<Kline>;
  const { concatMap, debounceTime, delay } = createRequire(import.meta.url)('rxjs') as {
    readonly concatMap: Operator<(kline: Kline) => Promise<Kline>>;
    readonly debounceTime: Operator<number>;
    readonly delay: Operator<number>;
  };
  const ways: Readonly<Record<string, MonoTypeOperatorFunction<Kline>>> = {
    'of a timer of no length': delay(0),
    'of a timer that never goes off': debounceTime(60_000),
    'of a promise': concatMap(async (told) => told),
  };
  for (const [way, operator] of Object.entries(ways))
    test.for(['stream', 'tape'])(`is refused: ${way} (%s)`, async (driver) => {
      const input = run(signalling((klines) => klines.pipe(operator)));
      await expect(driver === 'stream' ? runStreams(input) : runTape(input)).rejects.toThrow(late);
    });

  test.for(['stream', 'tape'])('is none where it says everything at once (%s)', async (driver) => {
    const input = run(signalling((klines) => klines));
    expect((await (driver === 'stream' ? runStreams(input) : runTape(input))).fills.length).toBeGreaterThan(0);
  });
});

const signalling = (when: (klines: Observable<Kline>) => Observable<Kline>) =>
  defineStrategy({
    name: 'late',
    about: 'Decides when it is told to',
    params: {},
    signals: ({ klines }) => when(klines).pipe(map(() => hold({ quantity: 1 }, ''))),
  });

describe('what is not recorded', () => {
  test.for(['stream', 'tape'])('books are missed by a maker that asks for them (%s)', async (driver) => {
    const input = run(maker, { params: { offset: 0.001, refresh: 0.001, quantity: 1, maxPosition: 5 } });
    await expect(driver === 'stream' ? runStreams(input) : runTape(input)).rejects.toThrow(
      's uses depth of XZ, which this run does not have: import them (sluice data import FILE --as depth) or name a file (depth: { XZ: FILE })',
    );
  });

  test('tickers are not recorded at all', async () => {
    const strategy = defineStrategy({
      name: 'ticks',
      about: 'Looks at tickers',
      params: {},
      signals: ({ ticker, klines }) => {
        ticker.subscribe();
        return klines.pipe(map(() => flat('')));
      },
    });
    await expect(runStreams(run(strategy))).rejects.toThrow('tickers are not recorded: use klines, trades or depth');
  });
});
