/** `sluice order …`: orders by hand. What changes something asks first; a create is sent once, whatever becomes of it. */
import { systemRng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { priceText, quantityText, unitsText } from '../../domain/money.ts';
import { exchangeIdPattern, type OrderReport, type Outcome } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type BatchOutcome, cancelOutcomes } from '../../venue/exchange/orders/bulk.ts';
import type { CancelOutcome } from '../../venue/venue.ts';
import { type Asking, isConfirmed } from './ask.ts';
import { answered, type Client, type Commanded, refused, type WhichExchange, withClient } from './client.ts';
import { type Typed, typedOf, wantedOf, wantedText } from './order-request.ts';
import { printRows, type Row } from './show.ts';

export interface OrderCommand extends WhichExchange, Commanded, Pick<Asking, 'input'> {
  /** Do not ask. */
  readonly yes?: boolean;
}

const signed = (command: OrderCommand, act: (client: Client) => Promise<void>): Promise<void> =>
  withClient(command, command, true, act);

async function confirm(command: OrderCommand, { host, account }: Client, what: string): Promise<void> {
  if (command.yes === true) return;
  if (!(await isConfirmed(`${what}\non the ${account} account at ${host}`, command)))
    throw new Refusal('not confirmed, nothing was sent (--yes confirms beforehand)');
}

const orderRow = (report: OrderReport, at: Instrument): Row => ({
  orderId: report.orderId,
  clientOrderId: report.clientOrderId ?? null,
  symbol: report.symbol,
  side: report.side,
  type: report.type,
  status: report.status,
  price: report.price === undefined ? null : priceText(report.price, at),
  quantity: report.quantity === undefined ? null : quantityText(report.quantity, at),
  executed: quantityText(report.executed, at),
});

/** A MARKET order fills at once, and the answer to its create is older than that: it is looked at again. */
async function asItIs({ exchange: { orders } }: Client, report: OrderReport): Promise<OrderReport> {
  if (report.type !== 'MARKET' || report.status === 'FILLED') return report;
  const answer = await orders.query({ symbol: report.symbol, orderId: report.orderId });
  return answer.kind === 'ok' ? answer.value : report;
}

export const create = (symbol: string, typed: Typed, command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    const at = await client.instrument(symbol);
    const { orders } = client.exchange;
    const wanted = wantedOf(typed, at, client.account, client.clock.now(), systemRng);
    // Whoever ends this program while the answer is slow knows his order from others by its client id alone.
    const shown = `${wantedText(wanted, at)}, client id ${wanted.clientOrderId}`;
    await confirm(command, client, shown);
    refuseDoubt(client);
    if (!(await orders.admit(client.clock.now() + client.clock.machine(admitMs))))
      throw new Refusal('not sent: the request budget of this address has no room for an order now; try again', 1);
    if (command.yes === true) command.say(shown);
    const outcome = await orders.prepare(wanted, at).send(Promise.resolve(undefined));
    const report = await settled(client, outcome, wanted.symbol, wanted.clientOrderId);
    printRows([orderRow(await asItIs(client, report), at)], command.json, command.out, '');
  });

/** How long a lost create may still take effect is reckoned in the exchange's time: it must be known. */
function refuseDoubt({ exchange: { time } }: Client): void {
  const against = time.against();
  if (against !== undefined) throw new Refusal(`not sent: ${against}`, 1);
}

/** Real ms that a create may wait for weight. */
const admitMs = 5_000;

/** Of an order that is looked for, at most so many candidates are asked about: each costs weight. */
const maxCandidates = 30;
/** Some exchanges round the times of trades to whole seconds. */
const roundedMs = 2_000;

/** The order, or the refusal that says what is known. An unknown outcome is looked for once; it is never sent again. */
async function settled(client: Client, outcome: Outcome, symbol: string, id: string): Promise<OrderReport> {
  if (outcome.kind === 'accepted') return outcome.report;
  if (outcome.kind === 'notSent') throw new Refusal(`not sent: ${outcome.cause}`, 1);
  if (outcome.kind === 'rejected')
    throw refused(client.host, `rejected with code ${outcome.code} ${outcome.message}`, outcome.code);
  const found = await lookFor(client, symbol, id, outcome.signedAt);
  if (found !== undefined) return found;
  throw new Refusal(
    `what became of the order is not known: ${outcome.cause}\n  it was sent once, with client id ${id}, and is neither among the open orders nor among the newest trades now; it may appear later` +
      `\n  what to do: sluice order open ${symbol} and sluice order trades ${symbol}, now and in a minute, before you send another`,
    1,
  );
}

/** An order that took effect is open or has traded. Lists do not give our ids (specification §4.2): each candidate is asked for its own. */
async function lookFor(
  { exchange: { orders } }: Client,
  symbol: string,
  id: string,
  since: number,
): Promise<OrderReport | undefined> {
  const [open, traded] = [await orders.openOrders(symbol), await orders.tradesSince(symbol, undefined)];
  const ids = [
    ...(open.kind === 'ok' ? open.value.rows.map(({ orderId }) => orderId) : []),
    ...(traded.kind === 'ok'
      ? traded.value.rows.filter(({ time }) => time === 0 || time >= since - roundedMs).flatMap((one) => one.orderIds)
      : []),
  ];
  // The newest have the highest ids.
  const newest = [...new Set(ids)].sort((a, b) => b.length - a.length || (a < b ? 1 : -1)).slice(0, maxCandidates);
  for (const orderId of newest) {
    const answer = await orders.query({ symbol, orderId });
    if (answer.kind === 'ok' && answer.value.clientOrderId?.toLowerCase() === id.toLowerCase()) return answer.value;
  }
  return undefined;
}

export const test = (symbol: string, typed: Typed, command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    spotOnly(client, 'test of an order');
    const at = await client.instrument(symbol);
    const wanted = wantedOf(typed, at, client.account, client.clock.now(), systemRng);
    answered(await client.exchange.bulk.test(wanted, at), client);
    command.out(
      command.json ? JSON.stringify({ accepted: true }) : `the exchange would take: ${wantedText(wanted, at)}`,
    );
  });

export const batch = (symbol: string, texts: readonly string[], command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    spotOnly(client, 'batch');
    const at = await client.instrument(symbol);
    const wanted = texts.map((text) => wantedOf(typedOf(text), at, client.account, client.clock.now(), systemRng));
    await confirm(command, client, wanted.map((one) => wantedText(one, at)).join('\n'));
    refuseDoubt(client);
    const { orderIds, complete } = ofBatch(await client.exchange.bulk.createMany(wanted, at), client, symbol);
    const rows = orderIds.map((orderId) => ({ orderId }));
    if (rows.length > 0 || complete) printRows(rows, command.json, command.out, 'no orders');
    if (complete) return;
    // The answer has neither a place nor a reason for an order that is missing (specification §4.2).
    throw new Refusal(
      `the exchange named ${counted(orderIds.length)} of ${wanted.length}, and does not say which are missing or why (often an order it refuses: funds, precision, a minimum)` +
        `\n  what to do: sluice order open ${at.symbol} and sluice order trades ${at.symbol} show which there are; sluice order test says why one is refused`,
      1,
    );
  });

const counted = (orders: number): string => `${orders} ${orders === 1 ? 'order' : 'orders'}`;

function ofBatch<T>(outcome: BatchOutcome<T>, { host }: Client, symbol: string): T {
  if (outcome.kind === 'answered') return outcome.value;
  if (outcome.kind === 'notSent') throw new Refusal(`not sent: ${outcome.cause}`, 1);
  if (outcome.kind === 'rejected')
    throw refused(host, `rejected with code ${outcome.code} ${outcome.message}`, outcome.code);
  throw new Refusal(
    `what became of the batch is not known: ${outcome.cause}\n  what to do: sluice order open ${symbol} and sluice order trades ${symbol}, before you send another`,
    1,
  );
}

function spotOnly({ account }: Client, what: string): void {
  if (account !== 'spot') throw new Refusal(`the interface has no ${what} on the margin account: use --account spot`);
}

export const query = (symbol: string, orderId: string, command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    const at = await client.instrument(symbol);
    const report = answered(await client.exchange.orders.query({ symbol: at.symbol, orderId }), client);
    printRows([orderRow(report, at)], command.json, command.out, '');
  });

/** Cancels what can be, and shows each order as it is then, or why that is not known. Several go as a batch on spot, one by one on margin. */
export const cancel = (symbol: string, given: readonly string[], command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    const orderIds = [...new Set(given)];
    const odd = orderIds.find((id) => !exchangeIdPattern.test(id));
    if (odd !== undefined)
      throw new Refusal(`${odd} is not an order id of the exchange: sluice order open ${symbol} shows them`);
    const at = await client.instrument(symbol);
    await confirm(command, client, `cancel ${orderIds.join(', ')} of ${at.symbol}`);
    const failures = await askCancels(client, at.symbol, orderIds, command);
    const rows: Row[] = [];
    for (const orderId of orderIds) {
      const answer = await client.exchange.orders.query({ symbol: at.symbol, orderId });
      if (answer.kind === 'failed' && !failures.has(orderId)) failures.set(orderId, answer.cause);
      const row = answer.kind === 'ok' ? orderRow(answer.value, at) : { orderId, ...unknownRow, symbol: at.symbol };
      rows.push({ ...row, failure: failures.get(orderId) ?? null });
    }
    printRows(rows, command.json, command.out, '');
    if (failures.size > 0)
      throw new Refusal(`${failures.size} of ${orderIds.length} did not go well; the others did as shown`, 1);
  });

/** As many columns as an order that is known. */
const unknownRow = {
  clientOrderId: null,
  symbol: null,
  side: null,
  type: null,
  status: null,
  price: null,
  quantity: null,
  executed: null,
};

/** Why a cancel was not taken on, by order; whatever becomes of one, the others are told of, too. */
async function askCancels(
  client: Client,
  symbol: string,
  orderIds: readonly string[],
  { say }: OrderCommand,
): Promise<Map<string, string>> {
  const { orders, bulk } = client.exchange;
  const failures = new Map<string, string>();
  if (client.account === 'spot' && orderIds.length > 1) {
    const batch = await bulk.cancelMany(symbol, orderIds);
    // Not sent, or refused as a whole: there is nothing to show of each.
    if (batch.kind === 'rejected' || batch.kind === 'notSent') ofBatch(batch, client, symbol);
    const outcomes = cancelOutcomes(orderIds, batch);
    for (const [id, outcome] of outcomes) {
      if (outcome.kind === 'unknown') failures.set(id, `not known: ${outcome.cause}`);
      else if (outcome.kind !== 'requested') failures.set(id, 'the exchange refused to cancel it');
    }
    if (batch.kind === 'answered') say(`the exchange ${takenText([...outcomes.values()])}; what the orders are now:`);
    return failures;
  }
  for (const orderId of orderIds) {
    const outcome = await orders.cancel({ symbol, orderId }, 'cancel');
    if (outcome.kind === 'refused') {
      const cause = `code ${outcome.code} ${outcome.message}`.trimEnd();
      failures.set(orderId, cause);
      say(refused(client.host, `cancel of ${orderId}: ${cause}`, outcome.code).message);
    } else if (outcome.kind !== 'requested')
      failures.set(orderId, `${outcome.kind === 'notSent' ? 'not sent' : 'not known'}: ${outcome.cause}`);
  }
  return failures;
}

/** `took on 2 and refused 0`, and how many the answer passed over in silence. */
function takenText(outcomes: readonly CancelOutcome[]): string {
  const of = (kind: CancelOutcome['kind']): number => outcomes.filter((one) => one.kind === kind).length;
  const [taken, refusals, unnamed] = [of('requested'), of('refused'), of('unknown')];
  if (unnamed === 0) return `took on ${taken} and refused ${refusals}`;
  return `took on ${taken}, refused ${refusals} and does not name ${unnamed}`;
}

export const open = (symbol: string, command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    const at = await client.instrument(symbol);
    const { rows, full } = answered(await client.exchange.orders.openOrders(at.symbol), client);
    printRows(
      rows.map((one) => orderRow(one, at)),
      command.json,
      command.out,
      `no open orders of ${at.symbol}`,
    );
    if (full) command.say('the list is full: there may be more');
  });

export const trades = (symbol: string, fromId: string | undefined, command: OrderCommand): Promise<void> =>
  signed(command, async (client) => {
    const at = await client.instrument(symbol);
    const { rows, full } = answered(await client.exchange.orders.tradesSince(at.symbol, fromId), client);
    for (const { tradeId, unreadable } of rows)
      if (unreadable !== undefined) command.say(`trade ${tradeId} is not shown: ${unreadable}`);
    const shown = rows
      .filter((one) => one.unreadable === undefined)
      .map((one) => ({
        time: one.time,
        tradeId: one.tradeId,
        orderId: one.orderIds.join(' '),
        symbol: one.symbol,
        side: one.side,
        price: priceText(one.price, at),
        quantity: quantityText(one.quantity, at),
        fee: unitsText(one.fee),
        feeAsset: one.feeAsset,
        maker: one.maker,
      }));
    printRows(shown, command.json, command.out, `no trades of ${at.symbol}`);
    if (full) command.say('the list is full: --from ID goes on from the last trade id');
  });
