/** `sluice order …`: manual orders. Commands that change something ask for confirmation. */
import { type Client, type ClientIo, type ExchangeChoice, okOrRefuse, withClient } from '../../client/connection.ts';
import {
  batchOrRefuse,
  distinctOrderIds,
  manualIntent,
  newestReport,
  parseBatchOrder,
  placeOrder,
  refuseUnknownTime,
  requestCancels,
  type TypedOrder,
} from '../../client/manual-orders.ts';
import { systemRng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { notional, priceText, quantityText, unitsText } from '../../domain/money.ts';
import type { Intent, OrderReport } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Asking, isConfirmed } from '../../terminal/questions.ts';
import { printRows, type Row } from '../../terminal/table.ts';
import { draftText } from '../../trading/format.ts';

export interface OrderCommand extends ExchangeChoice, ClientIo, Pick<Asking, 'input'> {
  /** Do not ask. */
  readonly yes?: boolean;
}

const withSymbol = (
  symbol: string,
  command: OrderCommand,
  act: (client: Client, at: Instrument) => Promise<void>,
): Promise<void> => withClient(command, true, async (client) => act(client, await client.instrument(symbol)));

async function confirm(command: OrderCommand, { host, account }: Client, what: string): Promise<void> {
  if (command.yes === true || (await isConfirmed(`${what}\non the ${account} account at ${host}`, command))) return;
  throw new Refusal('not confirmed, nothing was sent (--yes skips the question)');
}

/** `BUY 0.001 BTC at 50000 (LIMIT, worth 50 USDT)`. */
function intentText(intent: Intent, at: Instrument): string {
  const { price, volume, type } = intent;
  const value = price === undefined || !('lots' in volume) ? undefined : notional(price, volume.lots, at);
  return `${draftText(intent, at)} (${type}${value === undefined ? '' : `, worth ${unitsText(value)} ${at.quote}`})`;
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

type CreateCommand = OrderCommand & Pick<TypedOrder, 'price' | 'clientId'>;

export const create = (symbol: string, side: string, volume: string, command: CreateCommand): Promise<void> =>
  withSymbol(symbol, command, async (client, at) => {
    const intent = manualIntent({ ...command, side, volume }, at, client, systemRng);
    // Only the client id identifies the order if this program ends before the answer comes.
    const text = `${intentText(intent, at)}, client id ${intent.clientOrderId}`;
    await confirm(command, client, text);
    if (command.yes === true) command.say(text);
    const report = await placeOrder(client, intent, at);
    printRows([orderRow(await newestReport(client, report), at)], command);
  });

export const test = (symbol: string, side: string, volume: string, command: CreateCommand): Promise<void> =>
  withSymbol(symbol, command, async (client, at) => {
    refuseMargin(client, 'test of an order');
    const intent = manualIntent({ ...command, side, volume }, at, client, systemRng);
    okOrRefuse(await client.exchange.bulk.test(intent, at), client);
    const text = `the exchange would accept: ${intentText(intent, at)}`;
    command.out(command.json ? JSON.stringify({ accepted: true }) : text);
  });

export const batch = (symbol: string, texts: readonly string[], command: OrderCommand): Promise<void> =>
  withSymbol(symbol, command, async (client, at) => {
    refuseMargin(client, 'batch');
    const intents = texts.map((text) => manualIntent(parseBatchOrder(text), at, client, systemRng));
    await confirm(command, client, intents.map((one) => intentText(one, at)).join('\n'));
    refuseUnknownTime(client);
    const created = await client.exchange.bulk.createMany(intents, at);
    const { orderIds, complete } = batchOrRefuse(created, client, at.symbol);
    const rows = orderIds.map((orderId) => ({ orderId }));
    if (rows.length > 0 || complete) printRows(rows, command, 'no orders');
    if (complete) return;
    // The answer has neither a position nor a reason for a missing order (specification §4.2).
    throw new Refusal(
      `the answer lists ${rows.length} ${rows.length === 1 ? 'order' : 'orders'} of ${intents.length} and does not explain the others (often refused for funds, precision or a minimum)` +
        `\n  what to do: sluice order open ${at.symbol} and sluice order trades ${at.symbol} show the existing orders; sluice order test shows why one is refused`,
      1,
    );
  });

function refuseMargin({ account }: Client, what: string): void {
  if (account !== 'spot') throw new Refusal(`the interface has no ${what} on the margin account: use --account spot`);
}

export const query = (symbol: string, orderId: string, command: OrderCommand): Promise<void> =>
  withSymbol(symbol, command, async (client, at) => {
    const report = okOrRefuse(await client.exchange.orders.query({ symbol: at.symbol, orderId }), client);
    printRows([orderRow(report, at)], command);
  });

/** As many columns as a known order has. */
const unknownRow = Object.fromEntries(
  ['clientOrderId', 'symbol', 'side', 'type', 'status', 'price', 'quantity', 'executed'].map((name) => [name, null]),
);

/** Shows each order as it is after the cancels, or why that is unknown. */
export async function cancel(symbol: string, given: readonly string[], command: OrderCommand): Promise<void> {
  const orderIds = distinctOrderIds(symbol, given);
  return withSymbol(symbol, command, async (client, at) => {
    await confirm(command, client, `cancel ${orderIds.join(', ')} of ${at.symbol}`);
    const failures = await requestCancels(client, at.symbol, orderIds, command.say);
    const rows: Row[] = [];
    for (const orderId of orderIds) {
      const answer = await client.exchange.orders.query({ symbol: at.symbol, orderId });
      if (answer.kind === 'failed' && !failures.has(orderId)) failures.set(orderId, answer.cause);
      const row = answer.kind === 'ok' ? orderRow(answer.value, at) : { orderId, ...unknownRow, symbol: at.symbol };
      rows.push({ ...row, failure: failures.get(orderId) ?? null });
    }
    printRows(rows, command);
    if (failures.size > 0)
      throw new Refusal(`${failures.size} of ${orderIds.length} failed; the table shows each order`, 1);
  });
}

export const open = (symbol: string, command: OrderCommand): Promise<void> =>
  withSymbol(symbol, command, async (client, at) => {
    const { rows, full } = okOrRefuse(await client.exchange.orders.openOrders(at.symbol), client);
    const shown = rows.map((one) => orderRow(one, at));
    printRows(shown, command, `no open orders of ${at.symbol}`);
    if (full) command.say('the list is full: there may be more');
  });

export const trades = (symbol: string, command: OrderCommand & { readonly from?: string }): Promise<void> =>
  withSymbol(symbol, command, async (client, at) => {
    const { rows, full } = okOrRefuse(await client.exchange.orders.tradesSince(at.symbol, command.from), client);
    for (const { tradeId, unreadable } of rows)
      if (unreadable !== undefined) command.say(`trade ${tradeId} is left out: ${unreadable}`);
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
    printRows(shown, command, `no trades of ${at.symbol}`);
    if (full) command.say('the list is full: continue with --from and the last trade id');
  });
