import { expect, test } from 'vitest';
import { kill as aKill, fill, startTime } from '../../../test/kit/builders.ts';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { rate, unitsText } from '../../domain/money.ts';
import { load } from '../../journal/load.ts';
import { afterCancelText, cancelledText, inForceOf } from './kill-texts.ts';

test('a resume writes down at once what the loss is measured from: a crash right after it must not bring the kill back', async () => {
  const desk = new TestRig().listen();
  const { portfolio, risk } = desk.assembled;
  portfolio.mark('BTCUSDT', 100, startTime);
  risk.watchLoss();
  portfolio.apply(fill({ quantity: '10000' }));
  portfolio.mark('BTCUSDT', 80, startTime);
  await desk.finish(desk.assembled.kill(aKill()));
  await desk.finish(desk.assembled.resume(undefined, 'operator', 'seen'));
  expect([...load(desk.db).days]).toEqual([[startTime, unitsText(portfolio.totalEquity())]]);
});

test('a pause and its resume keep the highest equity over a restart', async () => {
  const desk = new TestRig({ limits: { maxDrawdown: rate('0.08') } }).listen();
  const { portfolio, risk } = desk.assembled;
  portfolio.apply(fill({ quantity: '10000', price: '100' }));
  portfolio.mark('BTCUSDT', 600, startTime);
  risk.watchLoss();
  await desk.finish(desk.assembled.kill(aKill({ kind: 'pause' })));
  await desk.finish(desk.assembled.resume(undefined, 'operator', 'seen'));
  desk.crash();
  // Nothing of the gain is left.
  expect(desk.assembled.risk.watchLoss()?.by).toBe('drawdown');
});

test('what was filled before its cancel arrived is not told as cancelled, nor what nobody knows the end of', async () => {
  const desk = new TestRig({ batches: true }).listen();
  const orders = [];
  for (const price of ['96', '97', '98', '99']) orders.push(await desk.placed({ price }));
  const [, half, whole, slow] = orders;
  desk.venue.onCancel = ({ orderId }) => {
    if (orderId === half?.orderId) desk.venue.fill(orderId, '0.3');
    if (orderId === whole?.orderId) desk.venue.fill(orderId, '1');
  };
  const cancelled = await desk.finish(desk.assembled.cancelAll('s'), 30_000);
  const name = whole?.intent.clientOrderId ?? '';
  expect(cancelledText(cancelled)).toBe(
    `3 resting orders were cancelled, 1 of them partly filled before, 1 was filled before its cancel arrived (${name}).`,
  );
  expect(cancelledText(cancelled.slice(1, 2))).toBe('1 resting order was cancelled, partly filled before.');
  expect(cancelledText([])).toBe('There was no resting order to cancel.');
  expect(slow === undefined ? '' : cancelledText([{ ...slow, state: 'open', venueStatus: 'NEW' }])).toMatch(
    /^1 is not final yet; its cancel is retried \(\w+\)\.$/,
  );
});

test('after a cancel it is said whether strategies place new orders', () => {
  const { assembled } = new TestRig();
  const said = (strategy?: string): string => afterCancelText(strategy, [{ id: 's' }, { id: 't' }], assembled);
  const kill = (strategy: string | undefined): void => assembled.risk.switch.kill(aKill({ strategy, reason: 'news' }));
  expect(said()).toBe(' Running strategies may place new orders. To prevent that: sluice kill.');
  kill('s');
  expect(said()).toBe(' Running strategies may place new orders. To prevent that: sluice kill.');
  expect(said('s')).toBe(' s does not place new ones now (killed: news).');
  expect(said('t')).toBe(' t may place new orders. To prevent that: sluice kill --strategy t.');
  kill('t');
  expect(said()).toBe(' No strategy places new ones now (killed: news).');
  assembled.risk.switch.resume(undefined);
  assembled.execution.halts.halt('ledger', 'less BTC');
  expect(said('t')).toBe(' t does not place new ones now (halted: less BTC).');
});

test('what is in force is named with what keeps exits from being sent, and its mark is the same', async () => {
  const { assembled } = new TestRig().listen();
  assembled.risk.switch.kill(aKill({ reason: 'news' }));
  const [free, banned] = [inForceOf(assembled, undefined), inForceOf(assembled, 'the exchange forbids requests')];
  expect(free.text).toMatch(/: news\. Exits go on\.$/);
  expect(banned.text).toMatch(
    /: news\. Exits stay in force, but nothing is sent meanwhile: the exchange forbids requests\.$/,
  );
  expect(banned.mark).toBe(free.mark);
  assembled.execution.halts.halt('ledger', 'USDT is missing');
  expect(inForceOf(assembled, undefined).text).toContain('nothing is sent meanwhile: trading is halted.');
});
