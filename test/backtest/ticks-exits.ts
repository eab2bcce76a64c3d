/** Generated runs with every exit by the engine of recorded trades: over klines against the slow reference, and over trades with and without passing over. */
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { resampleTrades } from '../../src/data/resample.ts';
import type { Tape } from '../../src/data/tape.ts';
import type { Depth, Trade } from '../../src/domain/market.ts';
import { bookColumns, tradeColumns } from '../kit/tape-columns.ts';
import { type Chance, draws } from '../reference/generated.ts';
import { measured } from '../reference/generated-exits.ts';
import type { Kline, Signal, Target } from '../reference/types.ts';
import { byReference, type Case, caseOfXz, inputOf, klinesOf, type Rows, rowsOf, scripted } from './agreement.ts';
import { type Drawn, measuredCase } from './measured-cases.ts';

const minute = 60_000;

/**
 * Between two decisions a pause may end in the very millisecond in which a quote of the same kline fills: by events it is over by then, by whole
 * klines it goes on until what was bought is sold.
 */
const unpaused = [
  ...['limit', 'postOnly', 'expiresAfterMs', 'expiresAfterKlines', 'stop', 'takeProfit', 'trailing', 'breakEven'],
  ...['exitAfterMs', 'exitAfterKlines', 'exitAt'],
] as (keyof Target)[];

/** What two ways of one run came to. */
export interface TwoWays {
  readonly expected: unknown;
  readonly found: unknown;
  readonly orders: Rows['orders'];
}

/** Orders that nothing filled are not the same ones by events, so that the others have other numbers. */
const unnumbered = ({ fills, equity }: Rows) => ({ fills: fills.map((fill) => ({ ...fill, order: 0 })), equity });

/** Where no trades are stored, what fills is what the slow reference fills. */
export async function overKlines(of: Drawn): Promise<TwoWays> {
  // What is under way within a kline is not counted in whole ones.
  const { given, signal } = measuredCase({ ...of, delayKlines: 0 }, 'sluice', of.pace === 1 ? undefined : unpaused);
  const expected = byReference(given, { kind: 'script', signal });
  const found = rowsOf(await runTape(inputOf(given)));
  return { expected: unnumbered(expected), found: unnumbered(found), orders: expected.orders };
}

/** Trades that change nothing are passed over: the rows are those of a run that is handed each of them. */
export async function overTrades(seed: number, minutes = 25): Promise<TwoWays> {
  const given = tapeCase(seed, minutes);
  const run = { ...inputOf(given.asked), tapes: new Map([['XZ', given.tape]]) };
  const expected = rowsOf(await runTape(run, true));
  return { expected, found: rowsOf(await runTape(run)), orders: expected.orders };
}

/** Prints, books beside some of them, the minutes that they make, and targets with every exit over those. */
function tapeCase(seed: number, minutes: number): { readonly asked: Case; readonly tape: Tape } {
  const chance = draws(seed);
  const trades = printsOf(chance, minutes);
  const columns = resampleTrades(tradeColumns(trades), { interval: '1min' });
  const isShort = seed % 3 === 0;
  const klines = klinesOf(columns);
  // A minute without a trade has no kline.
  const signals: Signal[] = [];
  for (const [row, said] of measured(klines, seed, { isShort, changes: 0.3, intervalMs: minute }).entries())
    signals[(klines[row] as Kline).time / minute] = said;
  const asked = caseOfXz({
    ...{ columns, rules: 'sluice', cash: '3000', strategy: scripted(signals) },
    ...(isShort && { margin }),
  });
  const books = seed % 2 === 0 ? [] : booksOf(trades);
  return {
    asked,
    tape: { trades: tradeColumns(trades), ...(books.length > 0 && { books: bookColumns(books) }), gaps: [] },
  };
}

const margin = {
  ...{ maxLeverage: '3', maintenanceRatio: '0.1', liquidationFee: '0.01' },
  ...{ interest: { base: '0', quote: '0' }, interestEveryMs: 3_600_000 },
};

const cents = (price: number): number => Math.round(price * 100) / 100;

function printsOf(chance: Chance, minutes: number): readonly Trade[] {
  const prints: Trade[] = [];
  let price = 100;
  for (let time = 0; time < minutes * minute; time += 1 + Math.floor(chance() * 1_500)) {
    // Now and then nothing is traded for a while, and the price jumps.
    const isJump = chance() < 0.004;
    if (isJump) time += Math.floor(chance() * 90_000);
    price = cents(Math.max(20, price + (chance() - 0.5) * (isJump ? 6 : 0.4)));
    const quantity = Math.round(1 + chance() * 400) / 10;
    prints.push({ symbol: 'XZ', time, seenAt: time, side: chance() < 0.5 ? 'BUY' : 'SELL', price, quantity });
  }
  return prints;
}

const booksOf = (trades: readonly Trade[]): readonly Depth[] =>
  trades
    .filter((_, at) => at % 4 === 0)
    .map(({ time, price }) => ({
      ...{ symbol: 'XZ', time: time + 3, seenAt: time + 3 },
      ...{ bids: [[cents(price - 0.05), 40]], asks: [[cents(price + 0.05), 40]] },
    }));
