import { describe, expect, test } from 'vitest';
import { Decimal } from './account.ts';
import { generated } from './generated.ts';
import { reference } from './reference.ts';
import { type Answer, type Kline, plain, type Question, type Signal, sluice } from './types.ts';

const instrument = {
  base: 'X',
  quote: 'Z',
  pricePrecision: 2,
  quantityPrecision: 4,
  minQuantity: '0.0001',
  minNotional: '0',
};
type Row = readonly [open: number, high: number, low: number, close: number, volume: number];
const quiet: Row = [100, 100, 100, 100, 1000];

/** Runs wants, each standing from its row on, over klines of one minute under the golden tests' rates. */
function run(rows: readonly Row[], signals: Readonly<Record<number, Signal>>, options: Partial<Question> = {}): Answer {
  let standing: Signal | undefined;
  const signal = (row: number): Signal | undefined => {
    standing = signals[row] ?? standing;
    return standing;
  };
  const klines = rows.map(
    ([open, high, low, close, volume], row): Kline => ({ time: row * 60_000, open, high, low, close, volume }),
  );
  return reference({
    klines,
    intervalMs: 60_000,
    strategy: { kind: 'script', signal },
    rules: sluice,
    instrument,
    fees: { maker: '0.001', taker: '0.002' },
    cash: '1000000',
    ...options,
  });
}
const texts = ({ fills }: Answer): string[] =>
  fills.map(
    ({ side, quantity, price, maker, fee, feeAsset }) =>
      `${side} ${quantity} @ ${price} ${maker ? 'maker' : 'taker'} ${fee} ${feeAsset}`,
  );

describe('the reference reproduces the golden fills', () => {
  test('K1', () => {
    const answer = run([quiet, [101, 102, 100.5, 101.5, 50]], { 0: { quantity: '10' } });
    expect(texts(answer)).toEqual(['BUY 9.8951 @ 101.06 taker 0.0197902 X']);
    expect([answer.base, answer.cash]).toEqual(['9.8753098', '999000.001194']);
    expect(answer.orders[0]).toMatchObject({ amount: '1000', quantity: null, executed: '9.8951', state: 'filled' });
  });

  test('K2, K3', () => {
    const rows: Row[] = [quiet, [100, 100.5, 99.5, 100, 50], [100, 100.5, 99.49, 100, 12], [100, 100, 99.4, 99.9, 100]];
    const signals: Signal = { quotes: [{ side: 'BUY', price: '99.50', quantity: '2' }] };
    expect(texts(run(rows, { 0: signals }))).toEqual([
      'BUY 1.2 @ 99.5 maker 0.0012 X',
      'BUY 0.8 @ 99.5 maker 0.0008 X',
    ]);
  });

  test('K4', () => {
    const rows: Row[] = [quiet, [100, 100, 99.8, 100, 100], [98, 98.6, 97.5, 98.2, 100]];
    expect(texts(run(rows, { 0: { quantity: '2', limit: '99.50' } }))).toEqual(['BUY 2 @ 99.5 maker 0.002 X']);
  });

  test('K5', () => {
    const answer = run([quiet, [101, 102, 100, 101, 50]], { 0: { quantity: '1', limit: '102' } });
    expect(texts(answer)).toEqual(['BUY 1 @ 101.06 taker 0.002 X']);
  });

  test.each([
    ['K6', '95', [96, 96.5, 94, 95.5, 50], '94.45', false],
    ['K7', '95', [90, 91, 89, 90, 50], '89.95', false],
    ['K8', '97', [100, 104, 96, 101, 50], '96.45', true],
    ['K9', '97', [100, 104, 99.9, 103.5, 20], '103', false],
  ] as const)('%s', (_, stop, row, price, ambiguous) => {
    const signal = { quantity: '1', stop, takeProfit: '103' };
    const answer = run(
      [quiet, quiet, quiet, row, quiet, quiet],
      { 0: signal },
      { rules: { ...sluice, marketBuyIn: 'lots' } },
    );
    expect(answer.fills.at(-1)).toMatchObject({ side: 'SELL', quantity: '0.998', price, ambiguous });
    expect(answer.ambiguousKlines).toBe(ambiguous ? 1 : 0);
    // What protection left stays left while the same quantity is wanted.
    expect(answer.fills).toHaveLength(2);
  });

  test('K10', () => {
    const signal = { quantity: '1', limit: '99', stop: '97.50', takeProfit: '100.50' };
    const answer = run([quiet, [100, 101, 98.5, 99.8, 50]], { 0: signal });
    expect(texts(answer)).toEqual(['BUY 1 @ 99 maker 0.001 X']);
    expect(answer.orders.at(-1)).toMatchObject({ purpose: 'takeProfit', state: 'open' });
  });
});

test('what was entered inside a kline can be stopped there', () => {
  const signal = { quantity: '1', limit: '99', stop: '98.60' };
  const answer = run([quiet, [100, 101, 98.5, 99.8, 50]], { 0: signal });
  expect(texts(answer)).toEqual(['BUY 1 @ 99 maker 0.001 X', 'SELL 0.999 @ 98.5 taker 0.196803 Z']);
});

test('another quantity enters again after a stop', () => {
  const signals = { 0: { quantity: '1', stop: '95' }, 3: { quantity: '2', stop: '95' } };
  const answer = run([quiet, quiet, [90, 90, 90, 90, 50], quiet, quiet, quiet], signals, { rules: plain });
  expect(answer.fills.map(({ side, time }) => `${side} ${time / 60_000}`)).toEqual(['BUY 1', 'SELL 2', 'BUY 4']);
});

test('under plain, the averages decide at the close and orders fill whole at the next open, fees in quote', () => {
  const rows = [10, 10, 10, 13, 13, 9, 9].map((price): Row => [price, price, price, price, 0]);
  const answer = run(
    rows,
    {},
    {
      rules: plain,
      cash: '100',
      strategy: { kind: 'sma-cross', fast: 2, slow: 3, size: { quantity: '2' } },
    },
  );
  expect(answer.decisions.map(({ time, signal }) => [time / 60_000, signal])).toEqual([
    [3, { quantity: '0' }],
    [4, { quantity: '2' }],
    [6, { quantity: '0' }],
  ]);
  expect(texts(answer)).toEqual(['BUY 2 @ 13 taker 0.052 Z', 'SELL 2 @ 9 taker 0.036 Z']);
  expect(answer.equity).toBe('91.912');
});

test('an order that cannot be paid is rejected where its cost is known, and canceled at the open where it is not', () => {
  const wanted = { 0: { quantity: '10' } };
  expect(run([quiet], wanted, { cash: '999' }).orders).toMatchObject([{ state: 'rejected' }]);
  expect(run([quiet], wanted, { cash: '999', rules: plain }).orders).toMatchObject([{ state: 'denied' }]);
  // Enough for the price, but not for the fee.
  const [first] = run([quiet, quiet], wanted, { cash: '1001', rules: plain }).orders;
  expect(first).toMatchObject({ state: 'canceled', executed: '0' });
});

test.each([plain, sluice])(
  'on generated markets money is neither made nor lost, and every kind of fill occurs',
  (rules) => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      const { klines, signals } = generated(seed, 300);
      const strategy = { kind: 'script', signal: (row: number) => signals[row] } as const;
      const answer = run([], {}, { klines, strategy, rules, cash: '2000' });
      let cash = new Decimal(2000);
      let base = new Decimal(0);
      for (const { side, price, quantity, fee, feeAsset, maker, order } of answer.fills) {
        const sign = side === 'BUY' ? 1 : -1;
        base = base.plus(new Decimal(quantity).times(sign)).minus(feeAsset === 'X' ? fee : 0);
        cash = cash.minus(new Decimal(price).times(quantity).times(sign)).minus(feeAsset === 'Z' ? fee : 0);
        expect(cash.gte(0) && base.gte(0)).toBe(true);
        seen.add(`${answer.orders[order - 1]?.purpose} ${maker ? 'maker' : 'taker'}`);
      }
      expect([answer.cash, answer.base]).toEqual([cash.toFixed(), base.toFixed()]);
    }
    expect([...seen].sort()).toEqual(
      expect.arrayContaining([
        'enter maker',
        'enter taker',
        'exit taker',
        'quote maker',
        'stop taker',
        'takeProfit maker',
      ]),
    );
  },
);

test('it imports nothing from src', async () => {
  const { readdirSync, readFileSync } = await import('node:fs');
  const folder = new URL('.', import.meta.url);
  const files = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(4);
  for (const name of files) expect(readFileSync(new URL(name, folder), 'utf8')).not.toMatch(/from '[^']*src\//);
});
