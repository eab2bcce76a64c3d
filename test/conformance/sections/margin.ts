/** §4.4: margin orders. */
import { equal, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { idIn } from '../lenient.ts';
import {
  bestBid,
  cancel,
  freshId,
  look,
  openOrders,
  orderBody,
  place,
  priced,
  settled,
  spendAt,
  withOrder,
} from '../orders.ts';
import { nameOf, type Session } from '../session.ts';
import { decimal, fields, shown } from '../shape.ts';

const margin = ['key', 'margin'] as const;
const orderPath = '/sapi/v1/margin/order';

const openIds = async (at: Session) => (await openOrders(at, at.busy, {}, '/sapi/v1/margin')).map(({ id }) => id);

function withMarginOrder(at: Session, work: (id: string, clientId: string) => Promise<void>): Promise<void> {
  const newClientOrderId = freshId();
  return withOrder(at, { path: orderPath, newClientOrderId }, ({ id }) => work(id, newClientOrderId));
}

export const marginChecks: readonly Check[] = [
  {
    section: '4.4',
    needs: margin,
    says: 'places a margin order, and shows it in query and open orders',
    run: (at) =>
      withMarginOrder(at, async (id) => {
        equal((await look(at, id, at.busy, {}, orderPath)).status, 'NEW');
        const row = (await openOrders(at, at.busy, {}, '/sapi/v1/margin')).find((one) => one.id === id);
        ok(row !== undefined, `margin order ${id} is not among the open ones`);
        equal(row.status, 'NEW');
      }),
  },
  {
    section: '4.4',
    needs: margin,
    says: 'keeps margin orders apart from spot orders',
    run: (at) =>
      withMarginOrder(at, async (id) => {
        ok(!(await openOrders(at, at.busy)).some((row) => row.id === id), 'it is among the spot orders');
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
        equal(idIn(fields(at.answers.done(reply), 'the order')['orderId']), id);
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
      const volume = priced(spendAt(at, await bestBid(at, at.busy), at.busy), at.busy);
      const { id } = await place(at, { path: orderPath, type: 'MARKET', side: 'BUY', volume });
      await settled(at, id, at.busy, ['FILLED', 'CANCELED'], orderPath);
      const reply = await at.ask('/sapi/v1/margin/myTrades', { symbol: nameOf(at.busy), limit: '10' });
      const list = at.answers.list(reply, 'the own margin trades');
      const row = list.find(({ bidId }) => idIn(bidId) === id);
      ok(row !== undefined, `no record of ${id} among ${shown(list)}`);
      for (const name of ['price', 'qty', 'fee']) decimal(row[name], name);
      ok(!('bidUserId' in row || 'askUserId' in row), `a user is shown: ${shown(row)}`);
      const spot = at.answers.list(await at.ask('/sapi/v1/myTrades', { symbol: nameOf(at.busy) }), 'the own trades');
      ok(!spot.some(({ bidId }) => idIn(bidId) === id), 'it is among the spot trades');
    },
  },
];
