/** Strategies as people write them, beyond the shipped ones: every driver takes them alike. */
import { expect, test } from 'vitest';
import { leaksOf } from '../../src/backtest/check/lookahead.ts';
import { runBacktest } from '../../src/backtest/engines.ts';
import { stress } from '../../src/backtest/result/stress.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { withSharedColumns } from '../../src/backtest/search/indicator-memory.ts';
import type { Kline } from '../../src/domain/market.ts';
import type { Signal } from '../../src/domain/order.ts';
import { defineStrategy, flat, hold, type Indicator, type Strategy, sma } from '../../src/index.ts';
import type { Column } from '../../src/strategy/indicator.ts';
import { named } from '../../src/strategy/override.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { caseOfXz, columnsOf, inputOf, rowsOf, runStreams } from './agreement.ts';

/** Prices that go up and down in waves of forty minutes. */
const waves = Array.from({ length: 400 }, (_, row) => {
  const price = 100 + Math.round(20 * Math.sin(row / 7)) / 2;
  return { time: row * 60_000, open: price, high: price + 1, low: price - 1, close: price, volume: 1_000 };
});
const inputFor = (strategy: Strategy) =>
  inputOf(caseOfXz({ rules: 'plain', cash: '100000', strategy, columns: columnsOf(waves) }));

/** What all drivers give for it; the number of fills. */
async function alike(strategy: Strategy): Promise<number> {
  const input = inputFor(strategy);
  const rows = rowsOf(runNow(input));
  expect(rowsOf(runByKlines(input))).toEqual(rows);
  expect(rowsOf(await runStreams(input))).toEqual(rows);
  return rows.fills.length;
}

const saying = (decide: (fast: number, slow: number) => Signal | undefined): Strategy =>
  defineStrategy({
    name: 'own',
    about: 'test',
    params: {},
    indicators: () => ({ fast: sma('close', 2), slow: sma('close', 9) }),
    decide: ({ fast, slow }) => decide(fast, slow),
  });

test('null is nothing said, as undefined is', async () => {
  const decide = (nothing: unknown) =>
    saying((fast, slow) =>
      fast > slow * 1.02 ? hold({ quantity: 1 }, 'up') : fast < slow * 0.98 ? flat('down') : (nothing as undefined),
    );
  const fills = await alike(decide(null));
  expect(fills).toBeGreaterThan(5);
  expect(rowsOf(runNow(inputFor(decide(null))))).toEqual(rowsOf(runNow(inputFor(decide(undefined)))));
});

test('an indicator of one’s own that has values before it is warm is waited for', async () => {
  const mean: Indicator = {
    warmup: 50,
    column: ({ close }) => {
      let sum = 0;
      return Float64Array.from(close, (price, row) => {
        sum += price;
        return sum / (row + 1);
      });
    },
    stream: () => {
      let [sum, seen] = [0, 0];
      return ({ close }) => {
        sum += close;
        seen++;
        return sum / seen;
      };
    },
  };
  const strategy = defineStrategy({
    name: 'mean',
    about: 'test',
    params: {},
    indicators: () => ({ mean }),
    decide: (values, { kline }) => (kline.close > values.mean ? hold({ quantity: 1 }, 'above') : flat('below')),
  });
  expect(await alike(strategy)).toBeGreaterThan(5);
  expect((await runStreams(inputFor(strategy))).fills[0]?.time).toBeGreaterThan(49 * 60_000);
});

test('a signal that a strategy keeps and changes in place is received at each change, and again one kline later', async () => {
  const fresh = await alike(
    saying((fast, slow) => (fast > slow ? hold({ quantity: 1 }, 'up', { stop: slow * 0.9 }) : flat('down'))),
  );
  const size = { quantity: 0 };
  const signal: { kind: 'target'; size: { quantity: number }; stop?: number; reason: string } = {
    ...{ kind: 'target', size, reason: 'own' },
  };
  const changing = saying((fast, slow) => {
    size.quantity = fast > slow ? 1 : 0;
    signal.stop = fast > slow ? slow * 0.9 : 0;
    return signal;
  });
  expect(await alike(changing)).toBe(fresh);
  const entries: (number | undefined)[] = [runNow(inputFor(changing)).fills[0]?.time];
  const worse = async (input: RunInput): Promise<RunResult> => {
    const result = runNow(input);
    entries.push(result.fills[0]?.time);
    return result;
  };
  await stress(
    inputFor(changing),
    worse,
    () => ({ return: 0, sharpe: null }),
    () => false,
  );
  expect(entries.at(-1)).toBe((entries[0] ?? 0) + 60_000);
});

test('one that remembers is asked once a kline, as live, also where a run goes on the long way', async () => {
  const crossing = (more: object): Strategy => {
    let was: boolean | undefined;
    let crosses = 0;
    return saying((fast, slow) => {
      const is = fast > slow;
      const crossed = was !== undefined && is !== was;
      was = is;
      if (!crossed) return undefined;
      // A stop is more than the short way can reckon.
      return is ? hold({ quantity: 1 }, 'up', ++crosses > 3 ? more : {}) : flat('down');
    });
  };
  for (const more of [{}, { stop: 1 }]) {
    const columns = rowsOf(runNow(inputFor(crossing(more))));
    expect(columns.fills.length).toBeGreaterThan(10);
    expect(columns).toEqual(rowsOf(await runStreams(inputFor(crossing(more)))));
    expect(columns).toEqual(rowsOf(await runBacktest(inputFor(crossing(more)))));
    expect(columns).toEqual(rowsOf(runByKlines(inputFor(crossing(more)))));
  }
});

/** What a strategy is shown of its klines. */
interface Seen {
  readonly kline: Kline;
}

test.each([
  ['', ({ kline }: Seen) => kline],
  [', also out of a copy of what it decides by', (moment: Seen) => ({ ...moment }).kline],
] as const)('a kline that a strategy keeps stays what it was, as live%s', async (_, klineOf) => {
  const rising = (): Strategy => {
    let before: Kline | undefined;
    return defineStrategy({
      ...{ name: 'rising', about: 'test', params: {}, indicators: () => ({ slow: sma('close', 9) }) },
      decide: (_values, moment) => {
        const kline = klineOf(moment);
        const [is, was] = [kline.close, before?.close ?? kline.close];
        before = kline;
        return is > was * 1.01 ? hold({ quantity: 1 }, 'up') : is < was * 0.99 ? flat('down') : undefined;
      },
    });
  };
  const columns = rowsOf(runNow(inputFor(rising())));
  expect(columns.fills.length).toBeGreaterThan(10);
  expect(columns).toEqual(rowsOf(await runStreams(inputFor(rising()))));
});

test('what hold and flat give is not for the strategy to change', () => {
  const change = (signal: Signal) => () => Object.assign(signal, { stop: 90 });
  expect(change(hold({ quantity: 1 }, 'up'))).toThrow('not extensible');
  expect(change(flat('down'))).toThrow('not extensible');
  expect(change(hold({ quantity: 1 }, 'up', { stop: 80 }))).not.toThrow();
});

test('an object of a class is as good as one of functions, wherever something of it is changed', async () => {
  class Cross {
    readonly name = 'cross';
    readonly about = 'test';
    readonly params = {};
    readonly #slow = 9;
    indicators() {
      return { fast: sma('close', 2), slow: sma('close', this.#slow) };
    }
    check() {
      return this.#slow > 2 ? undefined : 'too fast';
    }
    decide({ fast, slow }: Readonly<Record<string, number>>) {
      if (this.#slow < 2 || slow === undefined || fast === undefined) throw new Error('no');
      return fast > slow ? hold({ quantity: 1 }, 'up') : flat('down');
    }
  }
  const plain = await alike(saying((fast, slow) => (fast > slow ? hold({ quantity: 1 }, 'up') : flat('down'))));
  const strategy = withSharedColumns(await named(new Cross(), 's', './cross.ts'));
  expect(await alike(strategy)).toBe(plain);
  expect(strategy.check?.({})).toBeUndefined();
  const stressed = await stress(
    inputFor(strategy),
    async (worse) => runNow(worse),
    () => ({ return: 0, sharpe: null }),
    () => false,
  );
  expect(stressed.map(({ name, fills }) => [name, fills > 0])).toContainEqual(['One kline later', true]);
  expect(await leaksOf(inputFor(strategy))).toEqual([]);
});

test('sets of a grid share the averages of klines that are made larger', async () => {
  let made = 0;
  const column: Column = (klines) => {
    made++;
    return klines.close;
  };
  const counted: Indicator = { ...sma('close', 3), column: Object.assign(column, { key: 'counted' }) };
  const strategy = withSharedColumns(
    defineStrategy({
      ...{ name: 'five', about: 'test', params: {} },
      indicators: () => ({ average: counted }),
      decide: () => flat('out'),
    }),
  );
  const columns = columnsOf(waves);
  const given = caseOfXz({ rules: 'plain', cash: '100000', strategy, columns, decidesOn: '5min' });
  for (let cell = 0; cell < 3; cell++) runNow(inputOf(given));
  expect(made).toBe(1);
});
