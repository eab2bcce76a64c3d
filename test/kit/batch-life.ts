/** Batches by the client on an exchange with quirks: created, compared with what is there, cancelled, with one that cannot be placed. */
import { ScaledClock, systemRng } from '../../src/clock/clock.ts';
import { lots, ticks } from '../../src/domain/money.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { exchange as client } from '../../src/venue/exchange/exchange.ts';
import type { OrderRequest } from '../../src/venue/exchange/orders/create-body.ts';
import { price, speed, trader } from './rig.ts';
import { until } from './until.ts';

const symbol = 'BTCUSDT';
const noLog = { warn() {}, info() {}, debug() {} };

/** What is wrong at the end, in words. */
export async function batchLife(there: Simulator, stripPrefix: string | undefined): Promise<readonly string[]> {
  const { restUrl, wsUrl } = there;
  const clock = new ScaledClock(speed);
  const x = client({
    ...{ restUrl, wsUrl, stripPrefix, clock, account: 'spot', rng: systemRng, log: noLog },
    ...{ apiKey: trader.key, apiSecret: trader.secret, spend: () => Promise.resolve(true), notice: () => {} },
  });
  const wrong: string[] = [];
  const resting = (): string[] => there.openOrders(trader.uid).map(({ orderId }) => orderId);
  const sent = (): number => there.allOrders(trader.uid).length;
  try {
    await x.syncTime();
    const listed = await x.instruments();
    const at = listed.kind === 'ok' ? listed.value.find((one) => one.symbol === symbol) : undefined;
    if (at === undefined) return ['the symbol is not listed'];
    const signal = (below: number, volume: string): OrderRequest => ({
      ...{ symbol, side: 'BUY', type: 'LIMIT', clientOrderId: '' },
      volume: { lots: lots(volume, at) },
      price: ticks(String(price / 2 - below), at),
    });
    const made = await x.bulk.createMany(
      [1, 2, 3].map((below) => signal(below, '0.1')),
      at,
    );
    if (made.kind !== 'answered' || !made.value.complete) return [`three orders: ${JSON.stringify(made)}`];
    const { orderIds } = made.value;
    if (orderIds.toSorted().join() !== resting().toSorted().join())
      wrong.push(`made ${orderIds.join()}, there ${resting().join()}`);
    const seen = await x.orders.openOrders(symbol);
    const listedIds = seen.kind === 'ok' ? seen.value.rows.map(({ orderId }) => orderId) : [];
    if (listedIds.toSorted().join() !== resting().toSorted().join()) wrong.push(`listed ${listedIds.join()}`);

    // One of them asks for more than there is: what becomes of the others is a quirk, and must never be guessed.
    const before = sent();
    const partly = await x.bulk.createMany([signal(4, '0.1'), signal(5, '100000'), signal(6, '0.1')], at);
    const placed = sent() - before;
    if (partly.kind === 'answered' && partly.value.complete)
      wrong.push('a batch that failed in part was called complete');
    if (partly.kind === 'answered' && partly.value.orderIds.length !== placed)
      wrong.push(`${partly.value.orderIds.length} ids for ${placed} orders`);
    if (partly.kind === 'rejected' && placed > 0) wrong.push(`rejected, but ${placed} orders are there`);

    const gone = await x.bulk.cancelMany(symbol, [...resting(), '1800000000000999999']);
    if (gone.kind !== 'answered' || gone.value.failed.join() !== '1800000000000999999')
      wrong.push(`cancels: ${JSON.stringify(gone)}`);
    await until('every order cancelled', () => resting().length === 0);
  } finally {
    x.close();
  }
  return wrong;
}
