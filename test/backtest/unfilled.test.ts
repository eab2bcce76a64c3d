/** MARKET orders that no volume meets, in stretches of klines without trades: as rows, they are the same where each kline is gone through. */
import { expect, test } from 'vitest';
import { KlineEngine } from '../../src/backtest/engine/klines/engine.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { rate } from '../../src/domain/money.ts';
import { rulesets } from '../../src/fill/rules.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { sma } from '../../src/strategy/indicators.ts';
import { flat, hold } from '../../src/strategy/signals.ts';
import { runByKlines } from '../kit/run-now.ts';
import { generated, paused } from '../reference/generated.ts';
import { caseOfXz, columnsOf, inputOf, runStreams } from './agreement.ts';

/** More than a day, so that a day begins while an order waits. */
const rows = 2_000;

const crossing = (said: (minute: number) => string, options: Parameters<typeof hold>[2]): Strategy =>
  defineStrategy({
    name: 'crossing',
    about: 'Two averages',
    params: {},
    indicators: () => ({ fast: sma('close', 3), slow: sma('close', 11) }),
    decide: ({ fast, slow }, { kline }) => {
      const why = said(kline.openTime / 60_000);
      return fast > slow ? hold({ share: 0.9 }, `above ${why}`, options) : flat(`below ${why}`);
    },
  });

const inputFor = (seed: number, strategy: Strategy, changes: Partial<RunInput> = {}): RunInput => {
  const columns = columnsOf(paused(seed, generated(seed, rows).klines));
  const input = inputOf(caseOfXz({ columns, strategy, rules: 'sluice', cash: '100000' }));
  return { ...input, ...changes };
};

/** Orders, fills and denials as they are journalled, with their ids, times and reasons. */
function journalOf(result: RunResult) {
  const db = result.journal();
  const all = (table: string): readonly object[] => db.prepare(`SELECT * FROM ${table}`).all() as object[];
  return { orders: all('orders'), fills: all('fills'), denials: all('denials'), kills: all('kills') };
}

const always = () => '';
const { limits } = inputFor(1, crossing(always, {}));

test.each<readonly [string, Strategy, Partial<RunInput>]>([
  ['a share', crossing(always, {}), {}],
  ['a trailing stop', crossing(always, { trailing: 0.02 }), {}],
  ['a stop and a target from the entry', crossing(always, { stop: 90, takeProfit: 130 }), {}],
  ['a time exit', crossing(always, { exitAfterMs: 240_000 }), {}],
  ['a time exit after which it enters again', crossing(always, { exitAfterMs: 240_000, reenterAfterMs: 180_000 }), {}],
  ['reasons that change', crossing((minute) => String(Math.floor(minute / 3)), { trailing: 0.02 }), {}],
  ['an entry that a limit reduces', crossing(always, { clip: true }), {}],
  ['a limit on the day', crossing(always, {}), { limits: { ...limits, maxDailyLoss: rate('0.03') } }],
  ['duplicates that are denied', crossing(always, {}), { limits: { ...limits, duplicateWindowMs: 90_000 } }],
  [
    'an order that travels for a kline',
    crossing(always, {}),
    { rules: { ...rulesets.sluice, entryLatencyMs: 60_000 } },
  ],
  ['amounts as lots', crossing(always, {}), { rules: { ...rulesets.sluice, marketBuyIn: 'lots', feeIn: 'quote' } }],
])('%s', async (_, strategy, changes) => {
  let canceled = 0;
  for (const seed of [1, 2]) {
    const input = inputFor(seed, strategy, changes);
    const found = journalOf(runByKlines(input));
    expect(found).toEqual(journalOf(await runStreams(input)));
    canceled += found.orders.filter((order) => 'state' in order && order.state === 'canceled').length;
  }
  expect(canceled).toBeGreaterThan(50);
});

test('a run that reports its progress every few klines gives the same', () => {
  const input = inputFor(4, crossing(always, {}));
  const engine = new KlineEngine(input);
  while (engine.advance(7) === 'more');
  expect(journalOf(engine.result())).toEqual(journalOf(runByKlines(input)));
});
