/** Orders as the checks place, look at and cancel them (specification §4.2). */
import { equal, ok } from 'node:assert/strict';
import type { OrderState } from './answers.ts';
import type { Credentials } from './http.ts';
import { type Instrument, nameOf, type Session, type Signing } from './session.ts';
import { book, decimal, type Fields, fields, long, longNumber, ms, oneOf, shown, text } from './shape.ts';
import { now, sleep } from './time.ts';

/** What is bought and sold where nobody else trades; any price is right there. */
export const quietPrice = 1_000;
const usualSpend = 20;
/** Longer than an exchange takes to carry out what it has accepted, ms. */
const settleMs = 10_000;

export interface Placed {
  readonly id: string;
  readonly reply: Fields;
  readonly price: string;
  readonly volume: string;
}

export interface Wanted {
  readonly on?: Instrument;
  readonly side?: 'BUY' | 'SELL';
  readonly type?: 'LIMIT' | 'MARKET';
  readonly price?: string;
  readonly volume?: string;
  readonly newClientOrderId?: string;
  readonly as?: Credentials;
  /** Margin, where it is not spot. */
  readonly path?: string;
}

/** The price in the instrument's decimals. */
export const priced = (price: number, { pricePrecision }: Instrument): string => price.toFixed(pricePrecision);

/** How much of the base is worth `spend` at a price; rounded up, so that it is no less than what minima ask for. */
export function volumeFor(at: Session, price: number, { quantityPrecision }: Instrument): string {
  const steps = 10 ** quantityPrecision;
  return (Math.ceil(((at.target.spend ?? usualSpend) / price) * steps) / steps).toFixed(quantityPrecision);
}

/** A price far below the market, at which a bid rests. */
async function farBelow(at: Session, on: Instrument): Promise<number> {
  if (on === at.quiet) return quietPrice / 2;
  const reply = await at.get('/sapi/v1/depth', { symbol: nameOf(on), limit: '5' });
  const [best] = book(at.answers.done(reply), ['bids', 'asks'], 'the depth').bids;
  ok(best !== undefined, `nobody bids for ${on.symbol}`);
  return best.price * 0.8;
}

/** The body of an order that rests: a bid far below the market, unless told otherwise. */
export async function orderBody(at: Session, { on = at.busy, side = 'BUY', type = 'LIMIT', ...wanted }: Wanted = {}) {
  const price =
    wanted.price ?? (type === 'LIMIT' || wanted.volume === undefined ? priced(await farBelow(at, on), on) : '0');
  const volume = wanted.volume ?? volumeFor(at, Number(price), on);
  return {
    symbol: nameOf(on),
    volume,
    side,
    type,
    ...(type === 'LIMIT' && { price }),
    ...(wanted.newClientOrderId !== undefined && { newClientOrderId: wanted.newClientOrderId }),
  };
}

/** Creates an order and checks the reply against §4.2. */
export async function place(at: Session, wanted: Wanted = {}): Promise<Placed> {
  const body = await orderBody(at, wanted);
  const path = wanted.path ?? '/sapi/v1/order';
  const value = at.answers.done(await at.tell(path, body, wanted.as === undefined ? {} : { as: wanted.as }));
  const reply = fields(value, 'the order');
  note(at, String(reply['orderIdString'] ?? reply['orderId']), wanted.on ?? at.busy, wanted);
  const isMargin = path.includes('/margin/');
  const id = isMargin
    ? long(text(reply['orderId'], 'orderId'), 'orderId')
    : text(reply['orderIdString'], 'orderIdString');
  if (!isMargin) equal(longNumber(reply['orderId'], 'orderId'), id, 'orderId and orderIdString differ');
  equal(text(reply['symbol'], 'symbol').toUpperCase(), body.symbol);
  ms(reply['transactTime'], 'transactTime');
  equal(decimal(reply['origQty'], 'origQty'), Number(body.volume), 'origQty');
  equal(decimal(reply['executedQty'], 'executedQty'), 0, 'executedQty of an order that was just created');
  if (body.type === 'LIMIT') equal(decimal(reply['price'], 'price'), Number(body.price), 'price');
  equal(oneOf(reply['type'], ['LIMIT', 'MARKET'], 'type'), body.type);
  equal(oneOf(reply['side'], ['BUY', 'SELL'], 'side'), body.side);
  equal(at.answers.state(reply['status']), 'NEW');
  if (body.newClientOrderId !== undefined) equal(reply['clientOrderId'], body.newClientOrderId, 'clientOrderId');
  return { id, reply, price: body.price ?? '0', volume: body.volume };
}

/** The order as a query shows it, checked against §4.2. */
export async function look(
  at: Session,
  id: string,
  on: Instrument,
  signing: Signing = {},
  path = '/sapi/v1/order',
): Promise<Fields> {
  const reply = await at.ask(path, { orderId: id, symbol: nameOf(on) }, signing);
  const order = fields(at.answers.done(reply), 'the order');
  equal(long(order['orderId'], 'orderId'), id);
  equal(text(order['symbol'], 'symbol').toUpperCase(), nameOf(on));
  for (const name of ['price', 'origQty', 'executedQty', 'avgPrice']) ok(decimal(order[name], name) >= 0, shown(order));
  at.answers.state(order['status']);
  oneOf(order['type'], ['LIMIT', 'MARKET'], 'type');
  oneOf(order['side'], ['BUY', 'SELL'], 'side');
  ms(order['transactTime'], 'transactTime');
  return order;
}

/** Looks at an order until it is in one of these states; where an exchange does everything at once, it is there at the first look. */
export async function settled(
  at: Session,
  id: string,
  on: Instrument,
  states: readonly OrderState[],
  path?: string,
  signing: Signing = {},
): Promise<Fields> {
  const deadline = now() + settleMs;
  for (;;) {
    const order = await look(at, id, on, signing, path);
    const state = at.answers.state(order['status']);
    if (states.includes(state)) return order;
    ok(now() < deadline, `order ${id} is ${state}, not ${states.join(' or ')}`);
    await sleep(100);
  }
}

/** Cancels an order, checks the reply (§4.2) and waits until it has ended. */
export async function cancel(
  at: Session,
  id: string,
  on: Instrument,
  signing: Signing = {},
  margin = false,
): Promise<Fields> {
  const base = margin ? '/sapi/v1/margin' : '/sapi/v1';
  const value = at.answers.done(await at.tell(`${base}/cancel`, { orderId: id, symbol: nameOf(on) }, signing));
  const reply = fields(value, 'the cancelled order');
  equal(long(reply['orderId'], 'orderId'), id);
  equal(text(reply['symbol'], 'symbol').toUpperCase(), nameOf(on));
  text(reply['clientOrderId'], 'clientOrderId');
  const state = at.answers.state(reply['status']);
  if (at.answers.cancelsAtOnce) equal(state, 'CANCELED', 'status of a cancelled order (§3.1)');
  await settled(at, id, on, ['CANCELED', 'FILLED'], `${base}/order`, signing);
  return reply;
}

/** Runs `work` with an order that rests, and cancels that whatever happens. */
export async function withOrder(at: Session, wanted: Wanted, work: (order: Placed) => Promise<void>): Promise<void> {
  const order = await place(at, wanted);
  try {
    await work(order);
  } finally {
    const signing = wanted.as === undefined ? {} : { as: wanted.as };
    const on = wanted.on ?? at.busy;
    await at.tell('/sapi/v1/cancel', { orderId: order.id, symbol: nameOf(on) }, signing);
    // One that ends later would change what the next check counts.
    await settled(at, order.id, on, ['CANCELED', 'FILLED'], undefined, signing);
  }
}

interface Left {
  readonly path: string;
  readonly body: object;
  readonly signing: Signing;
}
const placed = new WeakMap<Session, Left[]>();

/** Notes an order that was placed, so that none is left behind when a check fails. */
export function note(at: Session, id: string, on: Instrument, { as, path }: Pick<Wanted, 'as' | 'path'> = {}): void {
  const left = placed.get(at) ?? [];
  placed.set(at, left);
  const cancelPath = path?.includes('/margin/') ? '/sapi/v1/margin/cancel' : '/sapi/v1/cancel';
  left.push({ path: cancelPath, body: { orderId: id, symbol: nameOf(on) }, signing: as === undefined ? {} : { as } });
}

/** Cancels every order that was placed; most have ended, and that is all right. */
export async function sweep(at: Session): Promise<void> {
  for (const { path, body, signing } of placed.get(at) ?? []) await at.tell(path, body, signing);
  placed.delete(at);
}

export const openOrders = async (at: Session, on: Instrument, query: Readonly<Record<string, string>> = {}) =>
  at.answers.list(await at.ask('/sapi/v1/openOrders', { symbol: nameOf(on), ...query }), 'the open orders');

export const myTrades = async (
  at: Session,
  on: Instrument,
  query: Readonly<Record<string, string>> = {},
  signing: Signing = {},
) => at.answers.list(await at.ask('/sapi/v1/myTrades', { symbol: nameOf(on), ...query }, signing), 'the own trades');

/** Free and locked amounts by asset (§2.4). */
export async function balances(
  at: Session,
  signing: Signing = {},
): Promise<ReadonlyMap<string, { free: number; locked: number }>> {
  const account = fields(at.answers.done(await at.ask('/sapi/v1/account', {}, signing)), 'the account');
  const list = Array.isArray(account['balances']) ? account['balances'] : [];
  ok(Array.isArray(account['balances']), `balances is ${shown(account['balances'])}`);
  return new Map(
    list.map((one: unknown) => {
      const row = fields(one, 'a balance');
      const [free, locked] = [decimal(row['free'], 'free'), decimal(row['locked'], 'locked')];
      ok(free >= 0 && locked >= 0, `a balance is below zero: ${shown(row)}`);
      return [text(row['asset'], 'asset').toUpperCase(), { free, locked }];
    }),
  );
}

/** Equal but for the rounding of numbers. */
export function near(found: number, wanted: number, what: string): void {
  ok(Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted)), `${what} is ${found}, not ${wanted}`);
}

let counted = 0;
/** An id of our own that no run has used before. */
export const freshId = (): string => `c${now().toString(36)}${(++counted).toString(36)}`;
