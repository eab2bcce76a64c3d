/** The memory of a strategy after a crash is that of its journalled signal. */
import { NEVER, Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, instruments, kline } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Kline } from '../domain/market.ts';
import type { KeptState, Memory } from '../domain/memory.ts';
import type { Target } from '../domain/order.ts';
import { readRows } from '../journal/rows.ts';
import { defineStrategy, type Strategy } from '../strategy/contract.ts';
import { decisionsOf } from '../strategy/host.ts';
import { hold } from '../strategy/signals.ts';
import { withHolding } from './seen-holding.ts';

/** Holds one more with each kline; says nothing new on falling ones, and remembers them all. */
const counting = defineStrategy({
  name: 'counting',
  about: 'Counts klines',
  params: {},
  indicators: () => ({}),
  memory: { klines: 0, size: 0 },
  decide(_, { memory, kline }) {
    const klines = memory.klines + 1;
    if (kline.close < 100) return { memory: { ...memory, klines } };
    const size = memory.size + 1;
    return { signal: hold({ quantity: size }, `kline ${klines}`), memory: { klines, size } };
  },
});

interface Running {
  readonly rig: TestRig;
  readonly klines: Subject<Kline>;
  readonly errors: unknown[];
  /** What the journal has. */
  readonly stored: () => {
    readonly memory: Memory | undefined;
    readonly signals: readonly (string | null)[];
    readonly size: unknown;
  };
}

/** Runs the strategy on this rig from now on. */
function running(rig: TestRig, strategy: Strategy = counting): Running {
  const klines = new Subject<Kline>();
  const errors: unknown[] = [];
  const { portfolio, planner } = rig.assembled;
  const mine = {
    ...{ id: 's', strategy, symbol: btc.symbol, interval: '1min' as const, params: {} },
    instrument: instruments.get(btc.symbol) as Instrument,
  } as const;
  const inputs = {
    ...{ trades: NEVER, depth: NEVER, ticker: NEVER, gaps: NEVER, fills: NEVER },
    ...withHolding(portfolio, mine, { history: [], klines }),
    before: planner.standing('s', btc.symbol)?.signal,
    ...planner.memories.get('s'),
    remember: (kept: KeptState) => planner.memories.keep('s', kept),
    now: () => rig.clock.now(),
    failed: (error: unknown) => errors.push(error),
  };
  rig.start(decisionsOf(mine, inputs));
  const stored = (): ReturnType<Running['stored']> => {
    const [text] = rig.db.prepare("SELECT value FROM memories WHERE name = 'strategy s'").pluck().all() as string[];
    const rows = readRows(rig.db, 'signal', 'ORDER BY seq');
    return {
      memory: text === undefined ? undefined : (JSON.parse(text) as Memory),
      signals: rows.map(({ memory }) => memory),
      size: (rows.at(-1)?.signal as Target | undefined)?.size,
    };
  };
  return { rig, klines, errors, stored };
}

/** After recovery, which at the first start waits for the balances. */
async function begun(strategy?: Strategy): Promise<Running> {
  const run = running(new TestRig(), strategy);
  await run.rig.pass(20_000);
  return run;
}

async function again(rig: TestRig, strategy?: Strategy): Promise<Running> {
  rig.crash();
  const run = running(rig, strategy);
  await rig.pass(20_000);
  return run;
}

test('a crash between two decisions leaves the memory of the signal that was journalled', async () => {
  const { rig, klines, stored } = await begun();
  klines.next(kline(100, 0));
  await rig.written();
  expect(stored()).toMatchObject({ memory: { klines: 1, size: 1 }, size: { quantity: 1 } });
  rig.diskFull = true;
  klines.next(kline(101, 1));
  await rig.pass(100);
  rig.crash();
  rig.diskFull = false;
  expect(stored()).toMatchObject({ memory: { klines: 1, size: 1 }, size: { quantity: 1 } });
  expect(rig.assembled.planner.memories.get('s')).toEqual({ memory: { klines: 1, size: 1 } });
});

test('every state that a crash can leave has memory and signal of one decision', async () => {
  const { rig, klines, stored } = await begun();
  const seen: unknown[] = [];
  rig.onCommit = () => seen.push(stored());
  for (let minute = 0; minute < 5; minute++) {
    klines.next(kline(100 + minute, minute));
    await rig.pass(60_000);
    const { memory, signals, size } = stored();
    expect(JSON.parse(String(signals.at(-1)))).toEqual(memory);
    expect(size).toEqual({ quantity: memory?.['size'] });
  }
  expect(seen.length).toBeGreaterThan(10);
  for (const { memory, signals, size } of seen as ReturnType<Running['stored']>[]) {
    expect(JSON.parse(String(signals.at(-1)))).toEqual(memory);
    expect(size).toEqual({ quantity: memory?.['size'] });
  }
});

test('a restart goes on with the memory, also with one that came after the last signal or before the first', async () => {
  const first = await begun();
  first.klines.next(kline(99, 0));
  await first.rig.written();
  expect(first.stored()).toMatchObject({ memory: { klines: 1, size: 0 }, signals: [] });
  const second = await again(first.rig);
  second.klines.next(kline(100, 1));
  second.klines.next(kline(98, 2));
  await second.rig.written();
  expect(second.stored()).toMatchObject({ memory: { klines: 3, size: 1 }, signals: ['{"klines":2,"size":1}'] });
  const third = await again(second.rig);
  third.klines.next(kline(102, 3));
  await third.rig.written();
  expect(third.stored()).toMatchObject({ memory: { klines: 4, size: 2 }, size: { quantity: 2 } });
});

test('a memory of another shape stops the strategy with one message, and its stop stays in force', async () => {
  const wrong = defineStrategy({
    ...{ name: 'wrong', about: '', params: {}, indicators: () => ({}) },
    memory: { klines: 0 },
    decide(_, { memory }) {
      const signal = hold({ quantity: 1 }, 'in', { stop: 90 });
      return { signal, memory: memory.klines === 0 ? { klines: 1 } : { klines: Number.NaN } };
    },
  });
  const { rig, klines, errors } = await begun(wrong);
  klines.next(kline(100, 0));
  await rig.pass(5_000);
  klines.next(kline(101, 1));
  klines.next(kline(102, 2));
  await rig.pass(5_000);
  expect(errors.map(String)).toEqual(['SignalError: memory.klines is NaN: it must be a finite number']);
  expect(rig.assembled.protection.stops(btc.symbol)).toHaveLength(1);
  expect(rig.assembled.planner.memories.get('s')).toEqual({ memory: { klines: 1 } });
});

test('a journal whose memory does not fit the declaration any more stops the strategy and leaves its stop in force', async () => {
  const { rig, klines } = await begun();
  klines.next(kline(100, 0));
  await rig.pass(5_000);
  const other = defineStrategy({
    ...{ name: 'other', about: '', params: {}, indicators: () => ({}), decide: () => undefined },
    memory: { klines: 'none' },
  });
  const { errors } = await again(rig, other);
  expect(String(errors)).toContain('memory.klines is 1: it must be a string, as its initial value is');
});
