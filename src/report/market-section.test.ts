/** The table of results by market: its total is that of the account. */
import { expect, test } from 'vitest';
import type { MarketRow } from '../research/market-results.ts';
import { marketSection } from './market-section.ts';

const row = (symbol: string, profit: number, held = 0): MarketRow => ({
  ...{ strategy: 'pair', symbol, profit, contribution: profit / 1_000, fills: 2, fees: 1.5, turnover: 300, held },
});
const textOf = (markets: readonly MarketRow[]): string | undefined => {
  const shown = marketSection({ summary: { markets }, asset: 'USDT' } as never);
  return shown === undefined ? undefined : JSON.stringify(shown).replace(/<[^>]*>/g, ' ');
};

test('each market has a row, and the last one is their sum', () => {
  const text = textOf([row('AAAUSDT', 120, 55), row('BBBUSDT', -20)]);
  expect(text).toMatch(/AAAUSDT +\D*120\.00 +12\.00 % +2 +1\.50 +300\.00 +55\.00/);
  expect(text).toMatch(/Total +\D*100\.00 +10\.00 % +4 +3\.00 +600\.00/);
});

test('one market is the account already', () => {
  expect(textOf([row('AAAUSDT', 120)])).toBeUndefined();
});
