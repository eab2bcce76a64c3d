/** Generated runs of several markets on margin, checked against the rule itself, worked out anew from their fills and charges alone. */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import type { RunInput, RunResult } from '../../src/backtest/run.ts';
import type { Columns } from '../../src/domain/market.ts';
import { unitsNumber } from '../../src/domain/money.ts';
import { hold } from '../../src/index.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { minute, klines as minuteKlines, severalInput } from '../kit/several-markets.ts';
import { draws } from '../reference/generated.ts';

const ratio = 0.24;
const margin = `account: margin\nmargin: { maxLeverage: "4", maintenanceRatio: "${ratio}", liquidationFee: "0.01", interest: { AAA: "0.0001", BBB: "0.0003", CCC: "0", USD: "0.0002" }, interestEveryHours: 1 }\n`;
const binding = 'markets: { a: { symbol: AAAUSD }, b: { symbol: BBBUSD }, c: { symbol: CCCUSD } }';

/** Each half hour it holds or is short of other amounts, of all together up to three times its equity. */
const turning = (seed: number) =>
  defineStrategy({
    name: 'turning',
    about: 'Holds other amounts each half hour',
    params: {},
    markets: { a: 'traded', b: 'traded', c: 'traded' },
    indicators: () => ({}),
    decide(_, { time }) {
      const chance = draws(seed + Math.floor(time / (30 * minute)));
      const target = () => hold({ share: Math.round((chance() - 0.5) * 26) / 10 }, 'another half hour');
      return { a: target(), b: target(), c: target() };
    },
  });

function marketsFrom(seed: number): Readonly<Record<string, Columns>> {
  const chance = draws(seed);
  const series = (): Columns => {
    let price = 50 + chance() * 100;
    return minuteKlines(
      Array.from({ length: 150 }, () => {
        price = Math.max(5, price * (1 + (chance() - 0.5) * 0.12));
        return Math.round(price * 100) / 100;
      }),
    );
  };
  return { AAAUSD: series(), BBBUSD: series(), CCCUSD: series() };
}

/** The money and the positions of a run by its fills and charges until a time, both inclusive. */
function accountAt({ fills, margin: charged }: RunResult, time: number) {
  let cash = 10_000;
  const held = new Map<string, number>();
  for (const fill of fills) {
    if (fill.time > time) continue;
    const quantity = (Number(fill.quantity) / 1e4) * (fill.side === 'BUY' ? 1 : -1);
    cash -= (quantity * Number(fill.price)) / 100;
    held.set(fill.symbol, (held.get(fill.symbol) ?? 0) + quantity);
  }
  for (const { at, amount } of charged?.charges ?? []) if (at <= time) cash -= unitsNumber(amount);
  return { cash, held };
}

const columnsIn = ({ series }: RunInput, symbol: string): Columns => {
  const found = series.find((one) => one.symbol === symbol);
  if (found === undefined) throw new Error(`no series ${symbol}`);
  return found.columns;
};

/** Equity less what has to be left of the positions, where one market is at its worst price and the others are at their last closes. */
function sparedIn(input: RunInput, { cash, held }: ReturnType<typeof accountAt>, row: number, worstOf?: string) {
  let [spared, gross] = [cash, 0];
  for (const [symbol, base] of held) {
    const { low, high, close } = columnsIn(input, symbol);
    const price = (symbol !== worstOf ? close[row - 1] : base > 0 ? low[row] : high[row]) as number;
    spared += base * price - ratio * Math.abs(base) * price;
    gross += Math.abs(base) * price;
  }
  // A price is a whole number of ticks: what is that near may be either.
  return gross < 1e-6 || Math.abs(spared) < gross * 0.001 ? undefined : spared;
}

const isLiquidation = ({ evidence }: RunResult['fills'][number]): boolean =>
  evidence?.rule === 'liquidation' || evidence?.rule === 'liquidation-gap';

const countOf = ({ held }: ReturnType<typeof accountAt>): number =>
  [...held.values()].filter((base) => Math.abs(base) > 1e-6).length;

test('what is liquidated, and what is not, is what the ratio of all markets together says', async () => {
  const seen = { atOpen: 0, within: 0, held: 0 };
  for (let seed = 1; seed <= 120; seed++) {
    const input = await severalInput(turning(seed * 1000), binding, marketsFrom(seed), { more: margin });
    const result = await runBacktest(input);
    let wasLiquidated = false;
    for (let row = 1; row < 150; row++) {
      const openTime = row * minute;
      const opened = result.fills.filter(({ time }) => time === openTime);
      const within = result.fills.filter(({ time }) => time > openTime && time < openTime + minute);
      // All open where they closed; what the kline before liquidated is being left.
      const atOpen = wasLiquidated ? undefined : sparedIn(input, accountAt(result, openTime - 1), row);
      if (atOpen !== undefined) {
        expect([seed, row, opened.some(isLiquidation)]).toEqual([seed, row, atOpen < 0]);
        if (atOpen < 0) seen.atOpen++;
      }
      const account = accountAt(result, openTime);
      if (opened.some(isLiquidation)) expect([seed, row, countOf(account)]).toEqual([seed, row, 0]);
      const worst = [...account.held].flatMap(([symbol, base]) =>
        Math.abs(base) < 1e-6 ? [] : [sparedIn(input, account, row, symbol)],
      );
      wasLiquidated = within.some(isLiquidation);
      if (wasLiquidated || worst.every((spared) => spared !== undefined)) {
        expect([seed, row, wasLiquidated]).toEqual([seed, row, worst.some((spared) => (spared ?? -1) < 0)]);
        if (wasLiquidated) seen.within++;
        else if (worst.length === 3) seen.held++;
      }
      // Whatever a kline liquidates leaves nothing of any market behind at the next open, unless other targets come then.
      if (wasLiquidated && (row + 1) % 30 !== 0 && row < 149)
        expect([seed, row, countOf(accountAt(result, openTime + minute))]).toEqual([seed, row, 0]);
    }
    // The ledger is the account: money and positions of the fills and charges come to the equity of the pool.
    const last = accountAt(result, Number.POSITIVE_INFINITY);
    let equity = last.cash;
    for (const [symbol, base] of last.held) equity += base * (columnsIn(input, symbol).close.at(-1) as number);
    expect(unitsNumber(result.finalEquity)).toBeCloseTo(equity, 4);
  }
  expect(Object.entries(seen).filter(([, count]) => count < 8)).toEqual([]);
});
