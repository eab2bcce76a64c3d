import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SimClock } from '../clock/sim-clock.ts';
import { units } from '../domain/money.ts';
import type { WithdrawalQuestion } from '../venue/exchange/orders/withdrawals.ts';
import { ok } from '../venue/venue.ts';
import { openJournal } from './journal.ts';
import { resolve } from './resolve.ts';

test('looks back further than the application, in case the exchange’s clock stood otherwise then', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-resolve-'));
  const book = openJournal(dir);
  const now = Date.UTC(2026, 0, 1);
  book.begin({ withdrawOrderId: 'w1', asset: 'TUSDT', amount: units('1'), address: 'T1', label: undefined }, 'x', now);
  const [entry] = book.entries();
  if (entry === undefined) throw new Error('it was not journalled');
  const asked: WithdrawalQuestion[] = [];
  const history = {
    query: async (question: WithdrawalQuestion) => {
      asked.push(question);
      return ok({ rows: [], count: 0 });
    },
  };
  expect(await resolve(entry, book, history, new SimClock(now + 60_000))).toMatchObject({ state: 'unknown' });
  expect(asked).toEqual([{ withdrawOrderId: 'w1', startTime: now - 24 * 3_600_000 }]);
  book.close();
  rmSync(dir, { recursive: true });
});
