/** §2.2, §3.1, §4.2: orders that need nobody else in the market. */
import { equal, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { idIn, orderIdsIn, orderStateIn } from '../lenient.ts';
import { accepted, cancel, freshId, look, openOrders, orderBody, place, settled, withOrder } from '../orders.ts';
import { nameOf, type Session, sameDecimal } from '../session.ts';
import { array, fields, long, longNumber, shown, text } from '../shape.ts';

const write = ['key', 'write'] as const;
const orderPath = '/sapi/v1/order';
const testPath = '/sapi/v1/order/test';
/** What cannot be an order's id: no exchange has counted so far. */
const noId = '9000000000000000001';

/** What must be refused, by what is changed in a right order; the codes are those that vendors document and engines leak. */
const wrongOrders: readonly (readonly [what: string, change: (at: Session) => object, codes: readonly number[]])[] = [
  ['without a symbol', () => ({ symbol: undefined }), [-1102, -1105, -1121]],
  ['without a volume', () => ({ volume: undefined }), [-1102, -1105]],
  ['without a side', () => ({ side: undefined }), [-1102, -1105, -1117]],
  ['without a type', () => ({ type: undefined }), [-1102, -1105, -1116]],
  ['without a price, being LIMIT', () => ({ price: undefined }), [-1102, -1105, -1138]],
  ['for a symbol that there is not', () => ({ symbol: 'NOSUCHSYMBOL' }), [-1121]],
  ['with a side that there is not', () => ({ side: 'HOLD' }), [-1117]],
  ['with a type that there is not', () => ({ type: 'SOMEDAY' }), [-1116]],
  ['of no volume', () => ({ volume: 0 }), [-1100, -1136, -1111, -2022, 110046]],
  ['of a volume below zero', () => ({ volume: -1 }), [-1100, -1136, 110046]],
  ['of a volume that is no number', () => ({ volume: 'much' }), [-1100, -1000]],
  ['with a price below zero', () => ({ price: -1 }), [-1100, -1138]],
  [
    'with more decimals of the price than there are',
    ({ busy }) => ({ price: `1${'0'.repeat(2)}.${'0'.repeat(busy.pricePrecision)}1`, volume: '100' }),
    [-1111, -1147, 10062],
  ],
  [
    'with more decimals of the volume than there are',
    ({ busy }) => ({ volume: `1.${'0'.repeat(busy.quantityPrecision)}1` }),
    [-1111, -1147, 10062],
  ],
];

const creation: readonly Check[] = [
  {
    section: '4.2',
    needs: write,
    says: 'places a LIMIT order, which rests as NEW in query and open orders',
    run: (at) =>
      withOrder(at, {}, async ({ id, price, volume }) => {
        const order = await look(at, id, at.busy);
        equal(order.status, 'NEW');
        sameDecimal(order['price'], price, 'price');
        sameDecimal(order['origQty'], volume, 'origQty');
        sameDecimal(order['executedQty'], 0, 'executedQty');
        const row = (await openOrders(at, at.busy)).find((one) => one.id === id);
        ok(row !== undefined, `order ${id} is not among the open orders`);
        equal(row.status, 'NEW');
        equal(row['side'], 'BUY');
        equal(row['type'], 'LIMIT');
      }),
  },
  {
    section: '4.2',
    needs: write,
    says: 'takes volume and price as numbers and as text',
    async run(at) {
      const body = await orderBody(at);
      accepted(at, await at.tell(testPath, body));
      accepted(at, await at.tell(testPath, { ...body, volume: Number(body.volume), price: Number(body.price) }));
    },
  },
  {
    section: '2.2',
    needs: write,
    says: 'keeps the client id of an order',
    async run(at) {
      const newClientOrderId = freshId();
      await withOrder(at, { newClientOrderId }, async ({ id }) => {
        equal((await look(at, id, at.busy))['clientOrderId'], newClientOrderId);
        const query = { orderId: id, symbol: nameOf(at.busy), newClientorderId: newClientOrderId };
        equal(idIn(fields(at.answers.done(await at.ask(orderPath, query)), 'the order')['orderId']), id);
      });
    },
  },
  {
    section: '2.2',
    observed: '5',
    needs: write,
    says: 'accepts a client id again',
    async run(at) {
      const newClientOrderId = freshId();
      await withOrder(at, { newClientOrderId }, async (first) =>
        withOrder(at, { newClientOrderId }, async (second) => ok(first.id !== second.id, 'both are one order')),
      );
    },
  },
  {
    section: '4.2',
    needs: write,
    says: 'tests an order without sending it to matching',
    async run(at) {
      const before = (await openOrders(at, at.busy)).length;
      accepted(at, await at.tell(testPath, await orderBody(at)));
      accepted(at, await at.tell(testPath, { ...(await orderBody(at)), newClientOrderId: freshId() }));
      equal((await openOrders(at, at.busy)).length, before);
    },
  },
  {
    section: '4.2',
    observed: '3',
    needs: write,
    says: 'answers a test with {}',
    run: async (at) => equal(JSON.stringify(accepted(at, await at.tell(testPath, await orderBody(at)))), '{}'),
  },
  ...wrongOrders.flatMap(([what, change, codes]): Check[] =>
    [orderPath, testPath].map((path) => ({
      section: '4.2',
      needs: write,
      says: `refuses ${path === testPath ? 'to test ' : ''}an order ${what}`,
      async run(at) {
        const before = path === orderPath ? (await openOrders(at, at.busy)).length : 0;
        const body = { ...(await orderBody(at)), ...change(at) };
        at.answers.refused(await at.tell(path, body), codes);
        if (path === orderPath) equal((await openOrders(at, at.busy)).length, before);
      },
    })),
  ),
  {
    section: '4.2',
    needs: write,
    says: 'refuses a body that is no JSON object',
    async run(at) {
      for (const body of ['{"symbol":', '[]', '"BUY"', 'null', '']) at.answers.refused(await at.tell(orderPath, body));
    },
  },
  {
    section: '4.2',
    observed: '4',
    needs: write,
    says: 'refuses an order beyond the balance',
    async run(at) {
      const codes = [-2017, 110049];
      const price = (await orderBody(at)).price;
      at.answers.refused(await at.tell(orderPath, { ...(await orderBody(at)), price, volume: '100000000' }), codes);
    },
  },
];

const looking: readonly Check[] = [
  {
    section: '4.2',
    needs: ['key'],
    says: 'refuses to show an order that there is not',
    async run(at) {
      const codes = [-2013, -1196, 21_022, 1];
      at.answers.refused(await at.ask(orderPath, { orderId: noId, symbol: nameOf(at.busy) }), codes);
    },
  },
  {
    section: '4.2',
    needs: ['key'],
    says: 'refuses a query without its id or its symbol',
    async run(at) {
      at.answers.refused(await at.ask(orderPath, { symbol: nameOf(at.busy) }));
      at.answers.refused(await at.ask(orderPath, { orderId: noId }));
      at.answers.refused(await at.ask('/sapi/v1/openOrders'));
      at.answers.refused(await at.ask('/sapi/v1/myTrades'));
    },
  },
  {
    section: '8',
    needs: write,
    says: 'lists as many open orders as `limit` says, the newest first',
    run: (at) =>
      withOrder(at, {}, () =>
        withOrder(at, {}, async ({ id }) => {
          const list = await openOrders(at, at.busy, { limit: '1' });
          equal(list.length, 1);
          equal(list[0]?.id, id, 'the newest open order');
          ok((await openOrders(at, at.busy, { limit: '1000' })).length >= 2, 'limit=1000 shows fewer than two');
        }),
      ),
  },
];

const ending: readonly Check[] = [
  {
    section: '3.1',
    needs: write,
    says: 'cancels an open order',
    async run(at) {
      const { id } = await place(at);
      await cancel(at, id, at.busy);
      const order = await settled(at, id, at.busy, ['CANCELED']);
      sameDecimal(order['executedQty'], 0, 'executedQty');
      ok(!(await openOrders(at, at.busy)).some((row) => row.id === id), 'it is among the open orders still');
    },
  },
  {
    section: '2.2',
    needs: write,
    says: 'answers a cancel with the client id, and with a placeholder where there is none',
    async run(at) {
      const newClientOrderId = freshId();
      const named = await place(at, { newClientOrderId });
      equal((await cancel(at, named.id, at.busy))['clientOrderId'], newClientOrderId);
      const unnamed = await place(at);
      text((await cancel(at, unnamed.id, at.busy))['clientOrderId'], 'clientOrderId');
    },
  },
  {
    section: '3.1',
    needs: write,
    says: 'refuses to cancel an order that has ended, unless it cancels later',
    async run(at) {
      const { id } = await place(at);
      const first = await cancel(at, id, at.busy);
      await settled(at, id, at.busy, ['CANCELED']);
      const again = await at.tell('/sapi/v1/cancel', { orderId: id, symbol: nameOf(at.busy) });
      if (orderStateIn(first['status']) === 'CANCELED') at.answers.refused(again, [-1145, -2013]);
      equal((await look(at, id, at.busy)).status, 'CANCELED');
    },
  },
  {
    section: '4.2',
    needs: write,
    says: 'refuses to cancel an order that there is not, or without its symbol',
    async run(at) {
      at.answers.refused(await at.tell('/sapi/v1/cancel', { orderId: noId, symbol: nameOf(at.busy) }));
      await withOrder(at, {}, async ({ id }) => {
        at.answers.refused(await at.tell('/sapi/v1/cancel', { orderId: id }));
        equal((await look(at, id, at.busy)).status, 'NEW');
      });
    },
  },
];

/** A record of a batch. */
async function record(at: Session, change: object = {}): Promise<object> {
  const { price, volume } = await orderBody(at);
  return { price: Number(price), volume: Number(volume), side: 'BUY', batchType: 'LIMIT', ...change };
}
/** Ids in the reply to a batch cancel, as digits. */
const ids = (value: unknown, what: string): string[] => array(value, what).map((one) => long(one, `an id of ${what}`));
const batch = (at: Session, orders: unknown) => at.tell('/sapi/v1/batchOrders', { symbol: nameOf(at.busy), orders });
const batchCancel = async (at: Session, orderIds: string) =>
  fields(
    // Ids are longs: written as digits, since a number would lose them.
    at.answers.done(await at.tell('/sapi/v1/batchCancel', `{"symbol":"${nameOf(at.busy)}","orderIds":[${orderIds}]}`)),
    'the reply to a batch cancel',
  );

async function placeBatch(at: Session, count: number): Promise<readonly string[]> {
  const orders = await Promise.all(Array.from({ length: count }, () => record(at)));
  const reply = await batch(at, orders);
  at.rules.hold('outcome', () => ok(reply.status < 500, `a batch has HTTP ${reply.status}: ${shown(reply.text)}`));
  const value = reply.status < 500 ? fields(accepted(at, reply), 'the reply to a batch') : undefined;
  const placed = await at.own.idsOf(reply);
  if (value !== undefined)
    at.rules.hold('batchIds', () => {
      equal(
        array(value['idsString'], 'idsString')
          .map((id) => text(id, 'an id'))
          .join(),
        placed.join(),
        `idsString of ${shown(value)}`,
      );
      equal(
        array(value['ids'], 'ids')
          .map((id) => longNumber(id, 'an id'))
          .join(),
        placed.join(),
        `ids of ${shown(value)}`,
      );
    });
  equal(placed.length, count, `${count} orders draw ${shown(reply.text)}`);
  return placed;
}

const batches: readonly Check[] = [
  {
    section: '4.2',
    needs: write,
    says: 'places a batch of ten, and cancels them in a batch, by ids as numbers',
    async run(at) {
      const placed = await placeBatch(at, 10);
      const open = (await openOrders(at, at.busy)).map(({ id }) => id);
      ok(
        placed.every((id) => open.includes(id)),
        'not all of them are open',
      );
      const { success, failed } = await batchCancel(at, placed.join());
      equal(ids(success, 'success').toSorted().join(), [...placed].toSorted().join());
      equal(ids(failed, 'failed').length, 0);
      for (const id of placed) await settled(at, id, at.busy, ['CANCELED']);
    },
  },
  {
    section: '3.1',
    needs: write,
    says: 'puts ids of no order, and of orders that have ended, under `failed`',
    async run(at) {
      const [dead = '', alive = ''] = await placeBatch(at, 2);
      await cancel(at, dead, at.busy);
      await settled(at, dead, at.busy, ['CANCELED']);
      const { success, failed } = await batchCancel(at, [dead, alive, noId].join());
      equal(ids(success, 'success').join(), alive);
      equal(ids(failed, 'failed').toSorted().join(), [dead, noId].toSorted().join());
    },
  },
  {
    section: '4.2',
    observed: '6',
    needs: write,
    says: 'takes the ids of a batch cancel as text too',
    async run(at) {
      const placed = await placeBatch(at, 2);
      const { success } = await batchCancel(at, placed.map((id) => `"${id}"`).join());
      equal(ids(success, 'success').length, 2);
    },
  },
  {
    section: '8',
    needs: write,
    says: 'refuses a batch of eleven, to place and to cancel, and places none',
    async run(at) {
      const before = (await openOrders(at, at.busy)).length;
      const one = await record(at);
      at.answers.refused(
        await batch(
          at,
          Array.from({ length: 11 }, () => one),
        ),
      );
      equal((await openOrders(at, at.busy)).length, before);
      const many = Array.from({ length: 11 }, () => noId).join();
      at.answers.refused(await at.tell('/sapi/v1/batchCancel', `{"symbol":"${nameOf(at.busy)}","orderIds":[${many}]}`));
    },
  },
  {
    section: '4.2',
    needs: write,
    says: 'never tells more ids of a batch than it placed orders',
    async run(at) {
      const before = (await openOrders(at, at.busy)).map(({ id }) => id);
      const reply = await batch(at, [await record(at), await record(at, { side: 'HOLD' }), await record(at)]);
      const opened = (await openOrders(at, at.busy)).map(({ id }) => id).filter((id) => !before.includes(id));
      // What a batch with a wrong order comes to is not shown: what its reply names must be there.
      for (const id of orderIdsIn(reply.value)) ok(opened.includes(id), `${id} is not open`);
      if (opened.length > 0) await batchCancel(at, opened.join());
    },
  },
];

export const spotChecks: readonly Check[] = [...creation, ...looking, ...ending, ...batches];
