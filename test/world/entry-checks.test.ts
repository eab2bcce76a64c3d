/** The check of entries sees an order that was created too late, and one beyond the limit that shall not take. */
import { expect, test } from 'vitest';
import type { Target } from '../../src/domain/order.ts';
import { writer } from '../../src/journal/writer.ts';
import { btc, startTime, target } from '../kit/builders.ts';
import { orderRowOf } from '../kit/journal-rows.ts';
import { cleared } from './database.ts';
import { entriesKeepTheirTerms } from './entry-checks.ts';

/** The verdict on an order at this price, so long after its target was first signalled; a second row of that moved its stop. */
function verdict(options: Partial<Target>, price: string, afterMs: number, jumpMs = 0) {
  const db = cleared();
  const signal = target(1, { limit: 100, ...options });
  const row = { kind: 'signal', strategy: 's', role: 'main', symbol: btc.symbol, quantity: '1', memory: null } as const;
  writer(
    db,
    1,
  )([
    { ...row, at: startTime, decision: 1, signal },
    { ...row, at: startTime + 9_000, decision: 2, signal: { ...signal, stop: 90 } },
    orderRowOf({
      ...{ clientOrderId: 'a', strategy: 's', symbol: btc.symbol, side: 'BUY', type: 'LIMIT', purpose: 'enter' },
      ...{ price, decision: 2, createdAt: startTime + afterMs },
    }),
  ]);
  const skew = { kind: 'skew', at: 0, forMs: 5, byMs: jumpMs } as const;
  const said = entriesKeepTheirTerms(db, { events: jumpMs === 0 ? [] : [skew] });
  db.close();
  return said;
}

test('an order that comes after its entry has expired', () => {
  const expiresAfterMs = 10_000;
  expect(verdict({ expiresAfterMs }, '100', 12_000)).toBeUndefined();
  expect(verdict({ expiresAfterMs }, '100', 12_001)).toBe('a was created 2001 ms after its entry had expired');
  expect(verdict({ expiresAfterMs }, '100', 12_001, -500)).toBeUndefined();
  expect(verdict({}, '100', 99_000)).toBeUndefined();
});

test('an order beyond a limit that shall not take', () => {
  expect(verdict({ postOnly: true }, '99.5', 0)).toBeUndefined();
  expect(verdict({ postOnly: true }, '100.01', 0)).toBe('a is at 100.01, beyond its limit 100');
});
