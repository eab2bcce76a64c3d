import { describe, expect, test } from 'vitest';
import { alice, bob, exchange, objectOf, type Row, signed, startTime } from '../../../test/kit/simulator.ts';
import type { SimulatorOptions } from '../simulator.ts';

const dayMs = 86_400_000;
const erin = { ...alice, permissions: ['read', 'trade', 'withdraw'] } as const;
const open = (options: Partial<SimulatorOptions> = {}) =>
  exchange({
    users: [erin, bob],
    assets: {
      TUSDT: { asset: 'USDT', fee: '1', minWithdraw: '10', maxWithdraw: '50000' },
      BTC: { canWithdraw: false },
    },
    ...options,
  });
type Started = Awaited<ReturnType<typeof open>>;

const apply = async ({ simulator }: Started, body: Row = {}) => {
  const wanted = { withdrawOrderId: 'w1', amount: '100', address: 'T-address', symbol: 'TUSDT', ...body };
  return signed(simulator, erin, 'POST', '/sapi/v1/withdraw/apply', wanted);
};
const list = async ({ simulator }: Started, body: Row = {}) => {
  const answer = objectOf(await signed(simulator, erin, 'POST', '/sapi/v1/withdraw/query', body));
  return answer.data as { withdrawList: Row[]; count: number };
};
const usdt = ({ simulator }: Started) => simulator.balances(erin.uid)['USDT'];

describe('applying for a withdrawal', () => {
  test('locks the amount and answers with the platform’s id, code "0"; it costs 100', async () => {
    const one = await open();
    expect((await apply(one)).text).toBe('{"code":"0","msg":"Success","data":{"id":1}}');
    expect(usdt(one)).toEqual({ free: '99900', locked: '100' });
    expect(one.simulator.weightUsed(erin.uid)).toEqual({ ip: 100, uid: 100 });
    one.simulator.checkLedger();
  });

  test('with an id that was used before draws -2018, whatever became of the first', async () => {
    const one = await open();
    await apply(one);
    one.simulator.operator.reject(1);
    expect(objectOf(await apply(one))).toMatchObject({ code: '-2018', data: null });
    expect(await list(one)).toMatchObject({ count: 1 });
  });

  test.each([
    ['less than the minimum', { amount: '9.99' }, '-1136'],
    ['more than the maximum', { amount: '50000.01' }, '-2026'],
    ['more than there is', { symbol: 'USDT', amount: '100001' }, '-2017'],
    ['too many decimals', { amount: '10.0000000000000000001' }, '-1111'],
    ['no number', { amount: '1e' }, '-1100'],
    ['an asset that there is not', { symbol: 'DOGE' }, '-1121'],
    ['an asset that is frozen', { symbol: 'BTC', amount: '1' }, '-2016'],
    ['no address', { address: '' }, '-1105'],
    ['no id', { withdrawOrderId: null }, '-1102'],
    // Not starred in §4.5, and no currency follows from an address (docs/decisions/0013).
    ['no currency', { symbol: null }, '-1102'],
  ])('for %s is refused, and nothing is locked', async (_, body, code) => {
    const one = await open();
    expect(objectOf(await apply(one, body))['code']).toBe(code);
    expect(usdt(one)).toEqual({ free: '100000', locked: '0' });
  });

  test('under the observed profile a refusal comes with HTTP 200', async () => {
    const one = await open({ profile: 'observed' });
    const answer = await apply(one, { amount: '1' });
    expect([answer.status, objectOf(answer)['code']]).toEqual([200, '-1136']);
  });
});

describe('the operator', () => {
  test('approves, pays and completes; the amount leaves the exchange', async () => {
    const one = await open();
    await apply(one);
    const { operator } = one.simulator;
    const status = async () => (await list(one)).withdrawList[0]?.status;
    expect(await status()).toBe(0);
    operator.approve(1);
    expect(await status()).toBe(1);
    await one.clock.advanceTo(startTime + 60_000);
    operator.pay(1, 'abc');
    expect(await status()).toBe(3);
    expect(usdt(one)).toEqual({ free: '99900', locked: '100' });
    operator.complete(1);
    expect((await list(one)).withdrawList).toEqual([
      {
        id: 1,
        withdrawOrderId: 'w1',
        symbol: 'TUSDT',
        amount: 100,
        address: 'T-address',
        fee: 1,
        ctime: startTime,
        applyTime: startTime + 60_000,
        txId: 'abc',
        status: 5,
        info: '',
      },
    ]);
    expect(usdt(one)).toEqual({ free: '99900', locked: '0' });
    one.simulator.checkLedger();
  });

  test.each([
    ['rejected', 2, 'unlucky', ({ operator }: Started['simulator']) => operator.reject(1, 'unlucky')],
    ['failed', 4, '', ({ operator }: Started['simulator']) => [operator.approve(1), operator.pay(1), operator.fail(1)]],
    ['revoked', 6, '', ({ operator }: Started['simulator']) => operator.revoke(1)],
    [
      'revoked after approval',
      6,
      '',
      ({ operator }: Started['simulator']) => [operator.approve(1), operator.revoke(1)],
    ],
  ] as const)('gives the amount back when it is %s', async (_, status, info, act) => {
    const one = await open();
    await apply(one);
    act(one.simulator);
    expect((await list(one)).withdrawList[0]).toMatchObject({ status, info });
    expect(usdt(one)).toEqual({ free: '100000', locked: '0' });
    one.simulator.checkLedger();
  });

  test('cannot skip a step or undo an end', async () => {
    const one = await open();
    await apply(one);
    const { operator } = one.simulator;
    expect(() => operator.complete(1)).toThrow(
      'withdrawal 1 is unapproved; only one that is paying can become completed',
    );
    operator.reject(1);
    for (const step of ['approve', 'pay', 'fail', 'complete', 'revoke', 'reject'] as const)
      expect(() => operator[step](1)).toThrow('withdrawal 1 is rejected');
    expect(() => operator.approve(2)).toThrow('there is no withdrawal 2');
    expect(operator.withdrawals(erin.uid)).toMatchObject([{ amount: '100', state: 'rejected' }]);
  });
});

describe('withdrawal history', () => {
  test('reaches 90 days back unless told otherwise, in numbers or text', async () => {
    const one = await open();
    await apply(one);
    await one.clock.advanceTo(startTime + 90 * dayMs);
    await apply(one, { withdrawOrderId: 'w2' });
    expect(await list(one)).toMatchObject({ count: 2 });
    await one.clock.advanceTo(startTime + 90 * dayMs + 1);
    expect((await list(one)).withdrawList.map((row) => row['withdrawOrderId'])).toEqual(['w2']);
    for (const from of [startTime, String(startTime)])
      expect(await list(one, { startTime: from })).toMatchObject({ count: 2 });
    expect(await list(one, { startTime, endTime: startTime })).toMatchObject({ count: 1 });
  });

  test('finds by either id and by symbol, the newest first, a hundred a page', async () => {
    const one = await open({ limits: { ipWeightPerMinute: 1e9 } });
    for (let index = 0; index < 103; index++)
      await apply(one, { withdrawOrderId: `w${index}`, symbol: index % 2 === 0 ? 'USDT' : 'TUSDT' });
    const first = await list(one);
    expect([first.count, first.withdrawList.length, first.withdrawList[0]?.id]).toEqual([103, 100, 103]);
    expect((await list(one, { page: '2' })).withdrawList.map(({ id }) => id)).toEqual([3, 2, 1]);
    expect((await list(one, { withdrawId: '7' })).withdrawList).toMatchObject([{ withdrawOrderId: 'w6' }]);
    expect((await list(one, { withdrawOrderId: 'w9' })).withdrawList).toMatchObject([{ id: 10 }]);
    expect(await list(one, { symbol: 'tusdt' })).toMatchObject({ count: 51 });
  });

  test('is the user’s own', async () => {
    const other = { ...bob, permissions: ['withdraw'] } as const;
    const one = await open({ users: [erin, other] });
    await apply(one);
    const answer = await signed(one.simulator, other, 'POST', '/sapi/v1/withdraw/query', '');
    expect(objectOf(answer).data).toEqual({ withdrawList: [], count: 0 });
  });
});
