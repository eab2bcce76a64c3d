import { expect, test } from 'vitest';
import type { WithdrawalPage } from '../../venue/exchange/orders/withdrawals.ts';
import { type Answer, failed, ok } from '../../venue/venue.ts';
import { refuseWithdrawKey } from './withdraw-key.ts';

const answering = (answer: Answer<WithdrawalPage>) => {
  let asked = 0;
  return {
    withdrawals: {
      query() {
        asked++;
        return Promise.resolve(answer);
      },
    },
    asked: () => asked,
  };
};

test('a key that may withdraw is refused unless that was accepted', async () => {
  const exchange = answering(ok({ rows: [], count: 0 }));
  await expect(refuseWithdrawKey(exchange, false)).rejects.toThrow('this key may withdraw');
  await refuseWithdrawKey(exchange, true);
  expect(exchange.asked()).toBe(1);
});

test('a key that may not, or of which nobody knows, is taken', async () => {
  await refuseWithdrawKey(answering(failed('no permission', '-2015')), false);
  await refuseWithdrawKey(answering(failed('timeout')), false);
});
