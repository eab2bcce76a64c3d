import { describe, expect, test } from 'vitest';
import { instrument } from '../../domain/instrument.ts';
import { units } from '../../domain/money.ts';
import type { Notice } from '../../journal/entries.ts';
import { Portfolio } from '../../portfolio/portfolio.ts';
import { refuseMissingFunds } from './balance-check.ts';

const at = instrument({ symbol: 'btcusdt', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 });

/** Looks, at an account with `free` and `locked` USDT, for what the strategies were given; `held` BTC were bought at 100, `former` by one that is not configured any more. */
function look({
  given = ['600'],
  free = '1000',
  locked = '0',
  held = 0,
  former = 0,
  isRestored = false,
}: Partial<{
  given: string[];
  free: string;
  locked: string;
  held: number;
  former: number;
  isRestored: boolean;
}>): readonly Notice[] {
  const ids = given.map((_, index) => `s${index}`);
  const portfolio = new Portfolio(
    new Map([[at.symbol, at]]),
    given.map((amount, index) => ({ strategy: `s${index}`, symbol: at.symbol, amount: units(amount) })),
  );
  const said: Notice[] = [];
  refuseMissingFunds({
    traded: ids.map((id) => ({ id, symbol: at.symbol })),
    portfolio: {
      closedEquity: (id, symbol) => portfolio.closedEquity(id, symbol),
      holding: (id) => ({ quantity: id === 'former' ? former : held, entryPrice: 100 }),
      subAccounts: () => [...portfolio.subAccounts(), { strategy: 'former', symbol: at.symbol }],
      instrument: () => at,
      orders: () => portfolio.orders(),
    },
    balances: [{ asset: 'USDT', free: units(free), locked: units(locked) }],
    isRestored,
    notice: (notice) => said.push(notice),
  });
  return said;
}

describe('what strategies are given', () => {
  test('may be less than there is where one that is not configured any more holds the rest', () => {
    expect(() => look({ free: '100' })).toThrow('the strategies need 600.00 USDT, the account has 100');
    expect(look({ free: '100', former: 3 })).toMatchObject([{ level: 'warn' }]);
  });

  test('may be all that the account has, locked money too', () => {
    expect(look({ given: ['600', '400'], free: '700', locked: '300' })).toEqual([]);
  });

  test('is refused when it is not there and nothing is at stake', () => {
    expect(() => look({ given: ['600', '500'] })).toThrow(
      /need 1100\.00 USDT, the account has 1000: .*Lower `allocation`/,
    );
  });

  test('is only a warning with a restored journal, which does not know the positions since its backup', () => {
    expect(look({ given: ['1600'], isRestored: true })).toMatchObject([{ level: 'warn' }]);
  });

  test('counts less by what positions cost', () => {
    expect(look({ given: ['1500'], held: 5 })).toEqual([]);
  });

  test('is only told of while a position has to be looked after', () => {
    expect(look({ given: ['1600'], held: 5 })).toEqual([
      { level: 'warn', text: expect.stringContaining('need 1100.00 USDT') },
    ]);
  });
});
