/** Margin where trades and books fill: what is liquidated at which print or book, what is charged, and that nothing is passed over. */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { seededRng } from '../../src/clock/clock.ts';
import type { Tape } from '../../src/data/tape.ts';
import type { Depth, Trade } from '../../src/domain/market.ts';
import { priceText, quantityText, unitsText } from '../../src/domain/money.ts';
import { bookColumns, tradeColumns } from '../kit/tape-columns.ts';
import { generated, oftenShort } from '../reference/generated.ts';
import type { Margin, Signal } from '../reference/types.ts';
import { type Case, caseOfXz, columnsOf, inputOf, rowsOf, runStreams, scripted, xz } from './agreement.ts';

const minute = 60_000;
const free: Margin = {
  maxLeverage: '4.5',
  maintenanceRatio: '0.2',
  liquidationFee: '0.01',
  interest: { base: '0', quote: '0' },
  interestEveryMs: 3_600_000,
};
const charged: Margin = { ...free, interest: { base: '0.0002', quote: '0.0001' }, interestEveryMs: minute };

/** Minutes at 100 in which enough is traded that no order of a test is large. */
const minutes = (count: number) =>
  columnsOf(
    Array.from({ length: count }, (_, row) => ({
      ...{ time: row * minute, open: 100, high: 100, low: 100, close: 100 },
      volume: 1_000_000,
    })),
  );
const print = (time: number, price: number, side: Trade['side'] = 'SELL', quantity = 100): Trade => ({
  ...{ symbol: 'XZ', time, seenAt: time, side, price, quantity },
});
const book = (time: number, bid: number, ask: number): Depth => ({
  ...{ symbol: 'XZ', time, seenAt: time, bids: [[bid, 1_000]], asks: [[ask, 1_000]] },
});
/** Prints at 100 every second up to a time, UTC ms. */
const calm = (to: number): Trade[] =>
  Array.from({ length: to / 1_000 }, (_, at) => print(at * 1_000, 100, at % 2 === 0 ? 'SELL' : 'BUY'));

const tapeOf = (trades: readonly Trade[], books: readonly Depth[] = []): Tape => ({
  ...(trades.length > 0 && { trades: tradeColumns(trades) }),
  ...(books.length > 0 && { books: bookColumns(books) }),
  gaps: [],
});

const caseOf = (signals: readonly Signal[], more: Partial<Case> = {}): Case =>
  caseOfXz({
    columns: minutes(5),
    rules: 'sluice',
    cash: '1000',
    fees: { maker: '0', taker: '0' },
    strategy: scripted(signals, minute),
    margin: free,
    ...more,
  });

async function ran(quantity: string, tape: Tape, more: Partial<Case> = {}) {
  const signals = Array.from({ length: 5 }, (): Signal => ({ quantity }));
  const result = await runTape({ ...inputOf(caseOf(signals, more)), tapes: new Map([['XZ', tape]]) });
  return {
    result,
    fills: result.fills.map(
      ({ side, price, quantity: filled, purpose, time }) =>
        `${purpose} ${side} ${quantityText(filled, xzAt)} @ ${priceText(price, xzAt)} at ${time}`,
    ),
    charges: result.margin?.charges.map(({ kind, amount, at }) => `${kind} ${unitsText(amount)} at ${at}`),
  };
}
const xzAt = { pricePrecision: xz.pricePrecision, quantityPrecision: xz.quantityPrecision };

test('without trades or books it gives the rows and charges of the stream driver', async () => {
  let liquidations = 0;
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    const { klines, signals } = generated(seed, 200);
    const given = caseOf(seed % 2 === 0 ? oftenShort(signals) : signals, {
      columns: columnsOf(klines),
      margin: charged,
      cash: '300',
    });
    const [byTape, byStream] = [await runTape(inputOf(given)), await runStreams(inputOf(given))];
    expect(rowsOf(byTape)).toEqual(rowsOf(byStream));
    expect(byTape.margin).toEqual(byStream.margin);
    liquidations += byTape.margin?.liquidations ?? 0;
  }
  expect(liquidations).toBeGreaterThan(5);
});

test('a long position is left at the first print at which less than the maintenance ratio of it remains', async () => {
  // 4,000 buy 39.992 by the print of 61 s, 3,000 of them borrowed: at 93.768… a fifth is left. The order of the liquidation has its way to go.
  const held = await ran(
    '40',
    tapeOf([...calm(2 * minute), ...[120, 121, 122].map((s) => print(s * 1_000, 93.77)), print(300_000, 93.77)]),
  );
  expect(held.fills).toEqual(['enter BUY 39.992 @ 100.02 at 61000']);
  const left = await ran(
    '40',
    tapeOf([...calm(2 * minute), ...[120, 121, 122].map((s) => print(s * 1_000, 93.76)), print(300_000, 93.76)]),
  );
  expect(left.fills).toEqual(['enter BUY 39.992 @ 100.02 at 61000', 'stop SELL 39.992 @ 93.74 at 121000']);
  expect(left.charges).toEqual(['liquidation 37.4885008 at 121000']);
  expect(left.result.margin?.liquidations).toBe(1);
});

test('a short one above, and by depth where no trades are stored: at the price that it would be bought back at', async () => {
  const books = (ask: number): Depth[] => [
    ...Array.from({ length: 120 }, (_, at) => book(at * 1_000, 99.99, 100.01)),
    ...Array.from({ length: 181 }, (_, at) => book((120 + at) * 1_000, 100, ask)),
  ];
  const held = await ran('-40', tapeOf([], books(104.15)));
  expect(held.fills).toHaveLength(1);
  const left = await ran('-40', tapeOf([], books(104.16)));
  expect(left.fills).toEqual([held.fills[0], expect.stringMatching(/^stop BUY 40 @ 104\.1\d at 120\d\d\d$/)]);
  expect(left.result.margin?.liquidations).toBe(1);
});

test('interest falls due on the most that was owed, with the klines', async () => {
  const { charges } = await ran('20', tapeOf([...calm(5 * minute), print(300_000, 100)]), { margin: charged });
  // 1,000 borrowed, and each minute what was charged before it.
  expect(charges?.map((one) => one.split(' at ')[0])).toEqual([
    'interest 0.1',
    'interest 0.10001',
    'interest 0.10002',
    'interest 0.10003',
  ]);
});

test('no print or book that liquidates is passed over', async () => {
  const rng = seededRng(11);
  let liquidations = 0;
  for (let round = 0; round < 20; round++) {
    let price = 100;
    const prints = Array.from({ length: 3_000 }, (_, at) => {
      price = Math.max(50, Math.round((price + (rng() - 0.5) * 0.8) * 100) / 100);
      return print(at * 200, price, rng() < 0.5 ? 'BUY' : 'SELL', Math.round(1 + rng() * 1_000) / 10);
    });
    const books = prints
      .filter((_, at) => at % 5 === 0)
      .map((one) => book(one.time + 3, one.price - 0.05, one.price + 0.05));
    const signals = Array.from({ length: 10 }, (): Signal => {
      const quantity = (rng() < 0.5 ? -1 : 1) * Math.round(rng() * 40);
      return rng() < 0.3
        ? { quantity: `${quantity}`, stop: `${100 - Math.sign(quantity) * 4}` }
        : { quantity: `${quantity}` };
    });
    const given = inputOf(caseOf(signals, { columns: minutes(10), margin: charged, cash: '700' }));
    const run = {
      ...given,
      tapes: new Map([['XZ', tapeOf(round % 3 === 0 ? [] : prints, round % 3 === 1 ? [] : books)]]),
    };
    const [once, each] = [await runTape(run), await runTape(run, true)];
    expect(rowsOf(once)).toEqual(rowsOf(each));
    expect(once.margin).toEqual(each.margin);
    liquidations += once.margin?.liquidations ?? 0;
  }
  expect(liquidations).toBeGreaterThan(5);
});
