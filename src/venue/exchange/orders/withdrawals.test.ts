import { describe, expect, it } from 'vitest';
import { stubbed } from '../../../../test/kit/exchange-stub.ts';
import { units } from '../../../domain/money.ts';

const at = stubbed();
const row = {
  id: 183_745,
  withdrawOrderId: 'w7k',
  symbol: 'TUSDT',
  amount: 25.5,
  address: 'Taddress',
  fee: '1E0',
  ctime: 1_595_563_624_731,
  applyTime: null,
  txId: '',
  status: 0,
  info: '',
};
const listed = (...rows: unknown[]) => ({ code: '0', msg: 'suc', data: { withdrawList: rows, count: rows.length } });
const ask = (question = {}) => at.open().exchange.withdrawals.query(question);

describe('withdrawals', () => {
  it('are read exactly', async () => {
    at.stub.answer = () => listed(row);
    expect(await ask({ withdrawOrderId: 'w7k', asset: 'TUSDT', id: '5', startTime: 1, endTime: 2, page: 3 })).toEqual({
      kind: 'ok',
      value: {
        rows: [
          {
            id: '183745',
            withdrawOrderId: 'w7k',
            asset: 'TUSDT',
            amount: units('25.5'),
            address: 'Taddress',
            fee: units('1'),
            status: 'unapproved',
            createdAt: 1_595_563_624_731,
            txId: undefined,
            info: undefined,
          },
        ],
        count: 1,
      },
    });
    expect(at.stub.requests[0]?.body).toBe(
      '{"symbol":"TUSDT","withdrawId":"5","withdrawOrderId":"w7k","startTime":"1","endTime":"2","page":"3"}',
    );
  });

  it('have the seven statuses, and one of ours for anything else', async () => {
    const words = ['unapproved', 'approved', 'rejected', 'paying', 'payment failed', 'completed', 'revoked'];
    for (const [code, status] of [
      ...words.entries(),
      ['5', 'completed'],
      [7, 'unknown'],
      [null, 'unknown'],
      ['x', 'unknown'],
    ]) {
      at.stub.answer = () => listed({ ...row, status: code });
      expect(await ask()).toMatchObject({ value: { rows: [{ status }] } });
    }
  });

  it.each([
    ['a row that cannot be read', listed(row, { ...row, amount: 'much' })],
    ['no list', { code: '0', data: {} }],
    ['no data', { code: '0', data: null }],
    ['a refusal', { code: '10004', msg: 'no permission' }],
  ])('fail as a whole for %s', async (_, body) => {
    at.stub.answer = () => body;
    expect(await ask()).toMatchObject({ kind: 'failed' });
  });
});
