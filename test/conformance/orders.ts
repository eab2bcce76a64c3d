/** Orders as the checks place, look at and cancel them (specification §4.2). */
import { equal, ok } from 'node:assert/strict';
import { Skip } from './check.ts';
import type { Credentials, Reply } from './http.ts';
import { idIn, isRefusal, type OrderState, orderIdIn, orderStateIn } from './lenient.ts';
import { type Instrument, nameOf, type Session, type Signing } from './session.ts';
import { book, decimal, type Fields, fields, long, longNumber, ms, oneOf, shown, text } from './shape.ts';
import { now, sleep } from './time.ts';

/** What is bought and sold where nobody else trades; any price is right there. */
export const quietPrice = 1_000;
/** What an order is worth in quote where the minima ask for less. */
const usualSpend = 20;
/** Above the minima by so much: a price that moves a little does not bring an order below them. */
const marginOfMinima = 2;
/** Longer than an exchange takes to carry out what it has accepted, ms. */
const settleMs = 10_000;
const pollMs = 200;

export interface Placed {
  readonly id: string;
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

/** An order as a query or a list shows it, its id as text and its status as one of §3.1, whatever the spelling. */
export type Shown = Fields & { readonly id: string | undefined; readonly status: OrderState };

/** The codes with which live exchanges say what an account lacks, and what to do about it. */
const lacking: readonly (readonly [codes: readonly number[], remedy: string])[] = [
  [[-2017, 110_049], 'pay in more, or give a smaller --spend'],
  [[-2015, -2200, 35, 40, 10_005, 10_006], 'give a key that may do this'],
  [[-1136, -2022, -2023, -2025, -2029, 110_046, 110_047], 'give a larger --spend'],
];

/** Skips the check where the exchange refuses because the account lacks something. */
export function demandNothing(reply: Reply): void {
  if (!isRefusal(reply)) return;
  const { code } = fields(reply.value, 'the refusal');
  const remedy = lacking.find(([codes]) => codes.includes(Number(code)))?.[1];
  if (remedy !== undefined) throw new Skip(`${remedy}: the exchange answers ${shown(reply.text)}`);
}

/** The body of the reply to an order that should be accepted. */
export function accepted(at: Session, reply: Reply): unknown {
  demandNothing(reply);
  return at.answers.done(reply);
}

/** The price in the instrument's decimals. */
export const priced = (price: number, { pricePrecision }: Instrument): string => price.toFixed(pricePrecision);

/** What one order is worth in quote: what `--spend` says, or as much as the minima and one step of the quantity ask for. */
export function spendAt(
  at: Session,
  price: number,
  { symbol, minQuantity, minAmount, quantityPrecision }: Instrument,
): number {
  const least = Math.max(minAmount, minQuantity * price, price / 10 ** quantityPrecision);
  const { spend = Math.max(usualSpend, marginOfMinima * least) } = at.target;
  if (spend < least) throw new Skip(`--spend ${spend} is too small: an order of ${symbol} is worth ${least} at least`);
  return spend;
}

/** How much of the base that buys; rounded up, so that it is no less than what minima ask for. */
export function volumeFor(at: Session, price: number, on: Instrument): string {
  const steps = 10 ** on.quantityPrecision;
  return (Math.ceil((spendAt(at, price, on) / price) * steps) / steps).toFixed(on.quantityPrecision);
}

/** The best bid; where nobody else trades, any price. */
export async function bestBid(at: Session, on: Instrument): Promise<number> {
  if (on === at.quiet) return quietPrice;
  const reply = await at.get('/sapi/v1/depth', { symbol: nameOf(on), limit: '5' });
  const [best] = book(at.answers.done(reply), ['bids', 'asks'], 'the depth').bids;
  ok(best !== undefined, `nobody bids for ${on.symbol}`);
  return best.price;
}

/** The body of an order that rests: a bid far below the market, unless told otherwise. */
export async function orderBody(at: Session, { on = at.busy, side = 'BUY', type = 'LIMIT', ...wanted }: Wanted = {}) {
  const needsPrice = wanted.price === undefined && (type === 'LIMIT' || wanted.volume === undefined);
  const price = needsPrice ? priced((await bestBid(at, on)) * 0.8, on) : (wanted.price ?? '0');
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

/** Holds the reply to a create against §4.2. */
function checkCreated({ rules, answers }: Session, reply: Fields, body: Awaited<ReturnType<typeof orderBody>>): void {
  rules.hold('created', () => {
    equal(text(reply['symbol'], 'symbol').toUpperCase(), body.symbol);
    ms(reply['transactTime'], 'transactTime');
    equal(decimal(reply['origQty'], 'origQty'), Number(body.volume), 'origQty');
    equal(decimal(reply['executedQty'], 'executedQty'), 0, 'executedQty of an order that was just created');
    if (body.type === 'LIMIT') equal(decimal(reply['price'], 'price'), Number(body.price), 'price');
    equal(oneOf(reply['type'], ['LIMIT', 'MARKET'], 'type'), body.type);
    equal(oneOf(reply['side'], ['BUY', 'SELL'], 'side'), body.side);
  });
  rules.hold('createdStatus', () => equal(answers.state(reply['status']), 'NEW'));
}

/** Holds the id that a create or a list shows against §2.2. */
function checkId({ rules }: Session, row: Fields, isMargin: boolean): void {
  if (isMargin) rules.hold('marginId', () => long(text(row['orderId'], 'orderId'), 'orderId'));
  else {
    rules.hold('orderId', () => longNumber(row['orderId'], 'orderId'));
    rules.hold('orderIdString', () =>
      equal(text(row['orderIdString'], 'orderIdString'), idIn(row['orderId']), 'orderId and orderIdString differ'),
    );
  }
}

/** Creates an order and holds the reply against §4.2. Where that names no id, the order is found among the open ones. */
export async function place(at: Session, wanted: Wanted = {}): Promise<Placed> {
  const body = await orderBody(at, wanted);
  const path = wanted.path ?? '/sapi/v1/order';
  const reply = await at.tell(path, body, wanted.as === undefined ? {} : { as: wanted.as });
  at.rules.hold('outcome', () => ok(reply.status < 500, `a create has HTTP ${reply.status}: ${shown(reply.text)}`));
  const created = reply.status < 500 ? fields(accepted(at, reply), 'the order') : undefined;
  const [id] = await at.own.idsOf(reply);
  if (created !== undefined) {
    checkCreated(at, created, body);
    checkId(at, created, path.includes('/margin/'));
  }
  demandId(id, reply);
  return { id, price: body.price ?? '0', volume: body.volume };
}

/** Skips the check where no id is known: the rules of §2.2, §4.2 and §7 have failed by then. */
export function demandId(id: string | undefined, { status, text: body }: Reply): asserts id is string {
  if (id === undefined) throw new Skip(`the id of an order is not known: HTTP ${status} ${shown(body)}`);
}

/** The order as a query shows it, held against §4.2. */
export async function look(
  at: Session,
  id: string,
  on: Instrument,
  signing: Signing = {},
  path = '/sapi/v1/order',
): Promise<Shown> {
  const reply = await at.ask(path, { orderId: id, symbol: nameOf(on) }, signing);
  const order = fields(at.answers.done(reply), 'the order');
  at.rules.hold('queried', () => {
    equal(long(order['orderId'], 'orderId'), id);
    if (path.includes('/margin/')) text(order['orderId'], 'orderId');
    equal(text(order['symbol'], 'symbol').toUpperCase(), nameOf(on));
    checkAmounts(order);
    ms(order['transactTime'], 'transactTime');
  });
  at.rules.hold('status', () => void at.answers.state(order['status']));
  const base = path.includes('/margin/') ? '/sapi/v1/margin' : '/sapi/v1';
  const status = orderStateIn(order['status']) ?? (await guessed(at, id, order, { on, base, signing }));
  if (status !== 'NEW' && status !== 'PARTIALLY_FILLED') at.own.ended(id);
  return { ...order, id: orderIdIn(order), status };
}

function checkAmounts(order: Fields): void {
  for (const name of ['price', 'origQty', 'executedQty', 'avgPrice']) ok(decimal(order[name], name) >= 0, shown(order));
  oneOf(order['type'], ['LIMIT', 'MARKET'], 'type');
  oneOf(order['side'], ['BUY', 'SELL'], 'side');
}

interface Book {
  readonly on: Instrument;
  readonly base: string;
  readonly signing: Signing;
}

/** The state of an order whose status nobody has seen, by whether it is open and what it has executed. */
async function guessed(at: Session, id: string, order: Fields, { on, base, signing }: Book): Promise<OrderState> {
  const reply = await at.ask(`${base}/openOrders`, { symbol: nameOf(on) }, signing);
  const isOpen = at.answers.list(reply, 'the open orders').some((row) => orderIdIn(row) === id);
  const [executed, ordered] = [Number(order['executedQty']), Number(order['origQty'])];
  if (isOpen) return executed > 0 ? 'PARTIALLY_FILLED' : 'NEW';
  return executed >= ordered ? 'FILLED' : 'CANCELED';
}

/** Looks at an order until it is in one of these states; where an exchange does everything at once, it is there at the first look. */
export async function settled(
  at: Session,
  id: string,
  on: Instrument,
  states: readonly OrderState[],
  path?: string,
  signing: Signing = {},
): Promise<Shown> {
  const deadline = now() + settleMs;
  for (;;) {
    const order = await look(at, id, on, signing, path);
    if (states.includes(order.status)) return order;
    ok(now() < deadline, `order ${id} is ${order.status}, not ${states.join(' or ')}`);
    await sleep(pollMs);
  }
}

/** Cancels an order, holds the reply against §4.2 and waits until it has ended. */
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
  at.rules.hold('canceled', () => {
    equal(idIn(reply['orderId']), id);
    equal(text(reply['symbol'], 'symbol').toUpperCase(), nameOf(on));
  });
  at.rules.hold('cancelStatus', () => {
    const state = at.answers.state(reply['status']);
    if (at.answers.cancelsAtOnce) equal(state, 'CANCELED');
  });
  await settled(at, id, on, ['CANCELED', 'FILLED'], `${base}/order`, signing);
  return reply;
}

/** Runs `work` with an order that rests, and cancels that whatever happens. */
export async function withOrder(at: Session, wanted: Wanted, work: (order: Placed) => Promise<void>): Promise<void> {
  const order = await place(at, wanted);
  const path = wanted.path ?? '/sapi/v1/order';
  try {
    await work(order);
  } finally {
    const signing = wanted.as === undefined ? {} : { as: wanted.as };
    const on = wanted.on ?? at.busy;
    const reply = await at.tell(path.replace(/order$/, 'cancel'), { orderId: order.id, symbol: nameOf(on) }, signing);
    if (isRefusal(reply)) {
      const { status } = await look(at, order.id, on, signing, path);
      ok(status === 'CANCELED' || status === 'FILLED', `order ${order.id} is not cancelled: ${shown(reply.text)}`);
    }
    // One that ends later would change what the next check counts.
    else await settled(at, order.id, on, ['CANCELED', 'FILLED'], path, signing);
  }
}

/** The open orders, each held against §4.2. */
export async function openOrders(
  at: Session,
  on: Instrument,
  query: Readonly<Record<string, string>> = {},
  base: '/sapi/v1' | '/sapi/v1/margin' = '/sapi/v1',
): Promise<readonly Shown[]> {
  const reply = await at.ask(`${base}/openOrders`, { symbol: nameOf(on), ...query });
  return at.answers.list(reply, 'the open orders').map((row) => {
    checkId(at, row, base === '/sapi/v1/margin');
    at.rules.hold('listed', () => {
      checkAmounts(row);
      ms(row['time'], 'time');
    });
    at.rules.hold('status', () => void at.answers.state(row['status']));
    const isPart = Number(row['executedQty']) > 0;
    const status = orderStateIn(row['status']) ?? (isPart ? 'PARTIALLY_FILLED' : 'NEW');
    return { ...row, id: orderIdIn(row), status };
  });
}

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
