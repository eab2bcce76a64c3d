/** §4.4: margin orders. */
import { equal, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { cancel, freshId, look, orderBody, place, settled } from '../orders.ts';
import { nameOf, type Session } from '../session.ts';
import { decimal, fields, long, ms, shown, text } from '../shape.ts';

const margin = ['key', 'margin'] as const;
const orderPath = '/sapi/v1/margin/order';
const openPath = '/sapi/v1/margin/openOrders';

const openIds = async (at: Session): Promise<string[]> =>
  at.answers
    .list(await at.ask(openPath, { symbol: nameOf(at.busy) }), 'the open margin orders')
    .map(({ orderId }) => long(orderId, 'orderId'));

async function withMarginOrder(at: Session, work: (id: string, clientId: string) => Promise<void>): Promise<void> {
  const newClientOrderId = freshId();
  const { id } = await place(at, { path: orderPath, newClientOrderId });
  try {
    await work(id, newClientOrderId);
  } finally {
    await at.tell('/sapi/v1/margin/cancel', { orderId: id, symbol: nameOf(at.busy) });
  }
}

export const marginChecks: readonly Check[] = [
  {
    section: '4.4',
    needs: margin,
    says: 'places a margin order, its id as a string, and shows it in query and open orders',
    run: (at) =>
      withMarginOrder(at, async (id) => {
        text((await look(at, id, at.busy, {}, orderPath))['orderId'], 'orderId');
        const list = at.answers.list(await at.ask(openPath, { symbol: nameOf(at.busy) }), 'the open margin orders');
        const row = list.find(({ orderId }) => String(orderId) === id);
        ok(row !== undefined, `margin order ${id} is not among the open ones`);
        for (const name of ['price', 'origQty', 'executedQty', 'avgPrice']) decimal(row[name], name);
        ms(row['time'], 'time');
        equal(at.answers.state(row['status']), 'NEW');
      }),
  },
  {
    section: '4.4',
    needs: margin,
    says: 'keeps margin orders apart from spot orders',
    run: (at) =>
      withMarginOrder(at, async (id) => {
        const spot = at.answers.list(
          await at.ask('/sapi/v1/openOrders', { symbol: nameOf(at.busy) }),
          'the open orders',
        );
        ok(!spot.some(({ orderId }) => String(orderId) === id), 'it is among the spot orders');
        at.answers.refused(await at.ask('/sapi/v1/order', { orderId: id, symbol: nameOf(at.busy) }));
      }),
  },
  {
    section: '4.4',
    observed: '5',
    needs: margin,
    says: 'finds a margin order by its client id',
    run: (at) =>
      withMarginOrder(at, async (id, newClientOrderId) => {
        const reply = await at.ask(orderPath, { newClientOrderId, symbol: nameOf(at.busy) });
        equal(long(fields(at.answers.done(reply), 'the order')['orderId'], 'orderId'), id);
      }),
  },
  {
    section: '4.4',
    needs: margin,
    says: 'cancels a margin order',
    async run(at) {
      const { id } = await place(at, { path: orderPath });
      ok((await openIds(at)).includes(id), 'it is not open');
      await cancel(at, id, at.busy, {}, true);
      await settled(at, id, at.busy, ['CANCELED'], orderPath);
      ok(!(await openIds(at)).includes(id), 'it is open still');
    },
  },
  {
    section: '8',
    needs: margin,
    says: 'takes a client id of 32 characters for a margin order, and refuses one of 33',
    async run(at) {
      const long32 = freshId().padEnd(32, 'x');
      const { id } = await place(at, { path: orderPath, newClientOrderId: long32 });
      await cancel(at, id, at.busy, {}, true);
      at.answers.refused(await at.tell(orderPath, { ...(await orderBody(at)), newClientOrderId: `${long32}x` }));
    },
  },
  {
    section: '4.4',
    needs: margin,
    says: 'refuses a margin order without symbol, side, type, or a price where it is LIMIT',
    async run(at) {
      for (const name of ['symbol', 'side', 'type', 'price'])
        at.answers.refused(await at.tell(orderPath, { ...(await orderBody(at)), [name]: undefined }));
    },
  },
  {
    section: '4.4',
    needs: margin,
    says: 'records own margin trades, without the users',
    async run(at) {
      const { id } = await place(at, {
        path: orderPath,
        type: 'MARKET',
        side: 'BUY',
        volume: String(at.target.spend ?? 20),
      });
      await settled(at, id, at.busy, ['FILLED', 'CANCELED'], orderPath);
      const reply = await at.ask('/sapi/v1/margin/myTrades', { symbol: nameOf(at.busy), limit: '10' });
      const list = at.answers.list(reply, 'the own margin trades');
      const row = list.find(({ bidId }) => String(bidId) === id);
      ok(row !== undefined, `no record of ${id} among ${shown(list)}`);
      for (const name of ['price', 'qty', 'fee']) decimal(row[name], name);
      ok(!('bidUserId' in row || 'askUserId' in row), `a user is shown: ${shown(row)}`);
      const spot = at.answers.list(await at.ask('/sapi/v1/myTrades', { symbol: nameOf(at.busy) }), 'the own trades');
      ok(!spot.some(({ bidId }) => String(bidId) === id), 'it is among the spot trades');
    },
  },
];
