import { expect, test } from 'vitest';
import { unitsText } from '../domain/money.ts';
import { load } from '../journal/load.ts';
import { fill, startTime } from '../testing/builders.ts';
import { TestDesk } from '../testing/desk.ts';

test('a resume writes down at once what the loss is measured from: a crash right after it must not bring the kill back', async () => {
  const desk = new TestDesk().listen();
  const { portfolio, risk } = desk.assembled;
  portfolio.mark('BTCUSDT', 100, startTime);
  risk.watchLoss();
  portfolio.apply(fill({ quantity: '10000' }));
  portfolio.mark('BTCUSDT', 80, startTime);
  await desk.finish(desk.assembled.resume(undefined, 'operator', 'seen'));
  expect([...load(desk.db).days]).toEqual([[startTime, unitsText(portfolio.totalEquity())]]);
});
