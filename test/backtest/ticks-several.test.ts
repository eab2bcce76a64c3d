/** Strategies of several markets over recorded trades, and over klines where none are stored. */
import { describe, expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import { seededRng } from '../../src/clock/clock.ts';
import { resampleTrades } from '../../src/data/resample.ts';
import type { Tape, TradeColumns } from '../../src/data/tape.ts';
import type { Columns, Trade } from '../../src/domain/market.ts';
import { rate, unitsNumber } from '../../src/domain/money.ts';
import { rulesets } from '../../src/fill/rules.ts';
import { flat, hold, of, roc, sma, weights } from '../../src/index.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { fastAndSlow, holdingBoth, klines, severalInput, swapping } from '../kit/several-markets.ts';
import { tradeColumns } from '../kit/tape-columns.ts';

const second = 1_000;

type Prints = Readonly<Record<string, TradeColumns>>;

const print = (symbol: string, time: number, price: number, side: Trade['side'], quantity = 100): Trade => ({
  ...{ symbol, time, seenAt: time, side, price, quantity },
});

/** One print each way every second at the price of that second, for so many minutes. */
const printsOf = (symbol: string, minutes: number, priceAt: (time: number) => number): TradeColumns =>
  tradeColumns(
    Array.from({ length: minutes * 60 }, (_, at) => at * second).flatMap((time) => [
      print(symbol, time, priceAt(time), 'BUY'),
      print(symbol, time + 500, priceAt(time), 'SELL'),
    ]),
  );

/** A run over prints, with klines made of them, and over other klines. */
async function inputOf(
  strategy: Strategy,
  binding: string,
  prints: Prints,
  others: Readonly<Record<string, Columns>> = {},
): Promise<RunInput> {
  const made = Object.entries(prints).map(([symbol, columns]) => [
    symbol,
    resampleTrades(columns, { interval: '1min' }),
  ]);
  const input = await severalInput(strategy, binding, { ...Object.fromEntries(made), ...others });
  const tapes = Object.entries(prints).map(([symbol, trades]): [string, Tape] => [symbol, { trades, gaps: [] }]);
  return {
    ...input,
    rules: rulesets.sluice,
    limits: { ...input.limits, maxDataAgeMs: 600_000 },
    tapes: new Map(tapes),
  };
}

const shown = ({ fills }: RunResult): string[] =>
  fills.map(({ side, symbol, purpose, time, evidence }) => [side, symbol, purpose, time, evidence?.rule].join(' '));

describe('a decision on several markets', () => {
  test('is made 100 ms after the close of their klines, and a purchase follows the sale that pays for it', async () => {
    const prints = { AAAUSD: printsOf('AAAUSD', 5, () => 10), BBBUSD: printsOf('BBBUSD', 5, () => 9) };
    const result = await runTape(await inputOf(swapping(2, { share: 0.9 }), fastAndSlow, prints));
    expect(shown(result)).toEqual([
      // Sent at 60,100, there at 60,250; the next print of a buyer comes at 61,000.
      'BUY AAAUSD enter 61000 trade-next',
      'SELL AAAUSD exit 120500 trade-next',
      // The sale is known at 121,300 by the poll of 121,000.
      'BUY BBBUSD enter 122000 trade-next',
    ]);
    const signals = result.journal().prepare('SELECT DISTINCT at FROM signals ORDER BY at').pluck().all();
    expect(signals).toEqual([60_100, 120_100]);
  });

  test('fills by trades in one market and by klines in another, where no trades are stored of it', async () => {
    const prints = { AAAUSD: printsOf('AAAUSD', 5, () => 10) };
    const result = await runTape(
      await inputOf(swapping(2, { share: 0.9 }), fastAndSlow, prints, { BBBUSD: klines([9, 9, 9, 9, 9]) }),
    );
    expect(shown(result)).toEqual([
      'BUY AAAUSD enter 61000 trade-next',
      'SELL AAAUSD exit 120500 trade-next',
      'BUY BBBUSD enter 180000 kline-open',
    ]);
  });

  test('leaves a leg that is open alone after the time that its strategy states', async () => {
    const [fast, slow] = [hold({ quantity: 10 }, 'pair'), hold({ quantity: 10 }, 'pair', { limit: 4 })];
    const pair = holdingBoth(fast, slow, { afterMs: 90 * second, action: 'unwind' });
    const prints = { AAAUSD: printsOf('AAAUSD', 5, () => 10), BBBUSD: printsOf('BBBUSD', 5, () => 9) };
    const result = await runTape(await inputOf(pair, fastAndSlow, prints));
    // Its fill of 61,000 is known at 61,300.
    expect(shown(result)).toEqual(['BUY AAAUSD enter 61000 trade-next', 'SELL AAAUSD stop 151500 trade-next']);
    expect(result.legsAlone).toMatchObject([{ since: null, times: 1 }]);
  });
});

test('prices that fall together reach the limit on losses, though neither does alone', async () => {
  const half = holdingBoth(hold({ share: 0.45 }, 'held'), hold({ share: 0.45 }, 'held'));
  const fall = (from: number) => (time: number) => from * (time < 150 * second ? 1 : 0.93);
  const prints = { AAAUSD: printsOf('AAAUSD', 5, fall(10)), BBBUSD: printsOf('BBBUSD', 5, fall(20)) };
  const input = await inputOf(half, fastAndSlow, prints);
  const run = { ...input, limits: { ...input.limits, maxDailyLoss: rate('0.05') } };
  const result = await runTape(run);
  expect(result.stoppedAt).toBe(150_100);
  expect((await runTape(run, true)).stoppedAt).toBe(150_100);
});

/** Prints that wander, some a second. */
function wandering(symbol: string, seed: number, minutes: number): TradeColumns {
  const rng = seededRng(seed);
  let price = 100;
  return tradeColumns(
    Array.from({ length: minutes * 200 }, (_, at) => {
      price = Math.max(50, Math.round((price + (rng() - 0.5) * 0.3) * 100) / 100);
      return print(symbol, at * 300, price, rng() < 0.5 ? 'BUY' : 'SELL', Math.round(1 + rng() * 1_000) / 10);
    }),
  );
}

const crossing = defineStrategy({
  name: 'crossing',
  about: 'Holds one of two markets by the other, with a stop and a take-profit',
  params: {},
  markets: { fast: 'traded', slow: 'traded' },
  indicators: () => ({ fast: of('fast', 'close'), slow: of('slow', 'close'), mean: of('slow', sma('close', 3)) }),
  decide({ fast, slow, mean }) {
    const near = (price: number) => ({ stop: price * 0.995, takeProfit: price * 1.003 });
    return slow > mean
      ? { fast: hold({ share: 0.4 }, 'it rises', near(fast)), slow: flat('the other') }
      : { fast: flat('it falls'), slow: hold({ share: 0.5 }, 'it falls', { limit: Math.round(slow * 99.95) / 100 }) };
  },
});

const rotating = defineStrategy({
  name: 'rotating',
  about: 'Holds the two of three that rose the most',
  params: {},
  rebalance: '3min',
  indicators: () => ({ rise: roc('close', 2) }),
  choose(markets) {
    const best = markets.toSorted((a, b) => b.values.rise - a.values.rise).slice(0, 2);
    return weights(Object.fromEntries(best.map(({ symbol }) => [symbol, 0.4])), 'the strongest', { threshold: 0.05 });
  },
});

/** The same with exits, which matter between two choices. */
const guarded = defineStrategy({
  ...rotating,
  choose(markets) {
    const best = markets.toSorted((a, b) => b.values.rise - a.values.rise).slice(0, 2);
    const exits = { stop: { fromEntry: 0.004 }, takeProfit: { fromEntry: 0.003 }, reenterAfterKlines: 2 };
    return weights(Object.fromEntries(best.map(({ symbol }) => [symbol, 0.4])), 'the strongest', {
      threshold: 0.05,
      exits: Object.fromEntries(best.map(({ symbol }) => [symbol, exits])),
    });
  },
});

test.for([
  ['roles', crossing, fastAndSlow, ['AAAUSD', 'BBBUSD']],
  ['a list', rotating, 'symbols: [AAAUSD, BBBUSD, CCCUSD]', ['AAAUSD', 'BBBUSD', 'CCCUSD']],
  ['a list with exits', guarded, 'symbols: [AAAUSD, BBBUSD, CCCUSD]', ['AAAUSD', 'BBBUSD', 'CCCUSD']],
] as const)(
  '%s: passing over trades leaves the rows of each trade by itself, and they add up',
  async ([, strategy, binding, symbols]) => {
    let fills = 0;
    for (let seed = 1; seed <= 6; seed++) {
      const prints = Object.fromEntries(symbols.map((symbol, at) => [symbol, wandering(symbol, seed * 10 + at, 25)]));
      const input = await inputOf(strategy, binding, prints);
      const [once, again] = [await runTape(input), await runTape(input, true)];
      expect(once.fills).toEqual(again.fills);
      expect(once.finalEquity).toBe(again.finalEquity);
      fills += once.fills.length;
      let equity = 10_000;
      for (const symbol of symbols) {
        let held = 0;
        for (const fill of once.fills.filter((one) => one.symbol === symbol)) {
          const quantity = (Number(fill.quantity) / 1e4) * (fill.side === 'BUY' ? 1 : -1);
          held += quantity;
          equity -= (quantity * Number(fill.price)) / 100;
        }
        equity += held * (input.series.find((one) => one.symbol === symbol)?.columns.close.at(-1) ?? Number.NaN);
      }
      expect(unitsNumber(once.finalEquity)).toBeCloseTo(equity, 4);
    }
    expect(fills).toBeGreaterThan(60);
  },
);
