/** Manual orders: a create is sent once, and an unknown outcome is queried. It is never sent again. */
import type { Rng } from '../clock/clock.ts';
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { lots, MoneyError, noLots, noTicks, noUnits, ticks, units } from '../domain/money.ts';
import { exchangeIdPattern, type Intent, mainRole, type OrderReport } from '../domain/order.ts';
import { Refusal } from '../domain/refusal.ts';
import { type BatchOutcome, cancelOutcomes } from '../venue/exchange/orders/bulk.ts';
import type { CancelOutcome } from '../venue/venue.ts';
import { type Client, exchangeRefusal } from './connection.ts';

const idLength = 24;
const idLetters = 'abcdefghijklmnopqrstuvwxyz234567';

/** A new id of 25 characters: `m` for orders, `w` for withdrawals. A daemon's own ids begin with s. */
export const newId = (prefix: 'm' | 'w', rng: Rng): string =>
  prefix + Array.from({ length: idLength }, () => idLetters.charAt(Math.floor(rng() * idLetters.length))).join('');

/** An order as a user types it. */
export interface TypedOrder {
  readonly side: string;
  /** Base quantity; for a MARKET BUY the amount in quote (specification §4.2). */
  readonly volume: string;
  /** Left out for a MARKET order. */
  readonly price?: string;
  readonly clientId?: string;
}

/** `BUY:0.001@50000`, or `SELL:0.5` for a MARKET order. */
export function parseBatchOrder(text: string): TypedOrder {
  const [, side = '', volume = '', price] = /^([A-Za-z]+):([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  if (side === '')
    throw new Refusal(`${text}: an order of a batch looks like BUY:0.001@50000, a MARKET order like SELL:0.5`);
  return price === undefined ? { side, volume } : { side, volume, price };
}

/** The exact order. Refuses a form that the exchange would refuse, with the reason. */
export function manualIntent(
  typed: TypedOrder,
  at: Instrument,
  { account, clock }: Pick<Client, 'account' | 'clock'>,
  rng: Rng,
): Intent {
  const side = typed.side.toUpperCase();
  if (side !== 'BUY' && side !== 'SELL') throw new Refusal(`the side is BUY or SELL, not ${typed.side}`);
  const { price, clientId = newId('m', rng) } = typed;
  if (!/^[\w-]{1,32}$/.test(clientId))
    throw new Refusal('a client order id has 1 to 32 letters, digits, underscores and dashes');
  const volume = volumeOf(typed, side, at);
  const limit = price === undefined ? undefined : readDecimal('the price', price, (text) => ticks(text, at));
  if (limit !== undefined && limit <= noTicks) throw new Refusal('the price must be above 0');
  if ('lots' in volume ? volume.lots <= noLots : volume.amount <= noUnits)
    throw new Refusal('the volume must be above 0');
  return {
    ...{ clientOrderId: clientId, decision: 0, strategy: 'by hand', role: mainRole, reason: 'by hand' },
    ...{ account, symbol: at.symbol, side, type: limit === undefined ? 'MARKET' : 'LIMIT', volume },
    ...(limit !== undefined && { price: limit }),
    expectedLots: 'lots' in volume ? volume.lots : noLots,
    expiresAt: Number.MAX_SAFE_INTEGER,
    purpose: side === 'BUY' ? 'enter' : 'exit',
    createdAt: clock.now(),
  };
}

const volumeOf = ({ volume, price }: TypedOrder, side: Side, at: Instrument): Intent['volume'] =>
  price === undefined && side === 'BUY'
    ? { amount: readDecimal('the amount', volume, units) }
    : { lots: readDecimal('the volume', volume, (text) => lots(text, at)) };

function readDecimal<T>(what: string, text: string, parse: (text: string) => T): T {
  if (!/^\d{1,30}(\.\d{1,30})?$/.test(text))
    throw new Refusal(`${what} must be a decimal number such as 0.5, not ${text}`);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
    throw new Refusal(`${what}: ${error.message}; sluice market symbols shows the precision`);
  }
}

/** The age limit of a lost create is counted in the exchange's time, so that time must be known. */
export function refuseUnknownTime({ exchange: { time } }: Client): void {
  const against = time.against();
  if (against !== undefined) throw new Refusal(`not sent: ${against}`, 1);
}

/** Real ms that a create may wait for weight. */
const admitMs = 5_000;

/** Sends one order, once. Refuses with what is known unless the exchange accepted it. */
export async function placeOrder(client: Client, intent: Intent, at: Instrument): Promise<OrderReport> {
  const { orders } = client.exchange;
  refuseUnknownTime(client);
  if (!(await orders.admit(client.clock.now() + client.clock.machine(admitMs))))
    throw new Refusal('not sent: the request budget of this address has no room for an order now; try again', 1);
  const outcome = await orders.prepare(intent, at).send(Promise.resolve(undefined));
  if (outcome.kind === 'accepted') return outcome.report;
  if (outcome.kind === 'notSent') throw new Refusal(`not sent: ${outcome.cause}`, 1);
  if (outcome.kind === 'rejected') throw rejection(client, outcome);
  const found = await findOrder(client, intent, outcome.signedAt);
  if (found !== undefined) return found;
  const { symbol, clientOrderId } = intent;
  throw new Refusal(
    `the outcome of the order is unknown: ${outcome.cause}\n  it was sent once, with client id ${clientOrderId}, and is neither among the open orders nor among the newest trades now; it may appear later` +
      `\n  what to do: sluice order open ${symbol} and sluice order trades ${symbol}, now and in a minute, before you send another`,
    1,
  );
}

const rejection = ({ host }: Client, { code, message }: { readonly code: string; readonly message: string }): Refusal =>
  exchangeRefusal(host, `rejected with code ${code} ${message}`, code);

/** Candidates that are queried for a lost order: each query costs weight. */
const maxCandidates = 30;
/** Some exchanges round the times of trades to whole seconds. */
const roundedMs = 2_000;

/** An order that took effect is open or has traded. Lists omit our ids (specification §4.2), so each candidate is queried. */
async function findOrder(
  { exchange: { orders } }: Client,
  { symbol, clientOrderId }: Intent,
  since: number,
): Promise<OrderReport | undefined> {
  const [open, traded] = [await orders.openOrders(symbol), await orders.tradesSince(symbol, undefined)];
  const ids = [
    ...(open.kind === 'ok' ? open.value.rows.map(({ orderId }) => orderId) : []),
    ...(traded.kind === 'ok'
      ? traded.value.rows.filter(({ time }) => time === 0 || time >= since - roundedMs).flatMap((one) => one.orderIds)
      : []),
  ];
  // The newest orders have the highest ids.
  const newest = [...new Set(ids)].sort((a, b) => b.length - a.length || (a < b ? 1 : -1)).slice(0, maxCandidates);
  for (const orderId of newest) {
    const answer = await orders.query({ symbol, orderId });
    if (answer.kind === 'ok' && answer.value.clientOrderId?.toLowerCase() === clientOrderId.toLowerCase())
      return answer.value;
  }
  return undefined;
}

/** A MARKET order fills at once, and the answer to its create is older than that: it is queried again. */
export async function newestReport({ exchange: { orders } }: Client, report: OrderReport): Promise<OrderReport> {
  if (report.type !== 'MARKET' || report.status === 'FILLED') return report;
  const answer = await orders.query({ symbol: report.symbol, orderId: report.orderId });
  return answer.kind === 'ok' ? answer.value : report;
}

/** The value of a batch's answer, or a refusal. */
export function batchOrRefuse<T>(outcome: BatchOutcome<T>, client: Client, symbol: string): T {
  if (outcome.kind === 'answered') return outcome.value;
  if (outcome.kind === 'notSent') throw new Refusal(`not sent: ${outcome.cause}`, 1);
  if (outcome.kind === 'rejected') throw rejection(client, outcome);
  throw new Refusal(
    `the outcome of the batch is unknown: ${outcome.cause}\n  what to do: sluice order open ${symbol} and sluice order trades ${symbol}, before you send another`,
    1,
  );
}

/** Refuses ids that no exchange gives; the others once each. */
export function distinctOrderIds(symbol: string, given: readonly string[]): readonly string[] {
  const odd = given.find((id) => !exchangeIdPattern.test(id));
  if (odd === undefined) return [...new Set(given)];
  throw new Refusal(`${odd} is not an order id of the exchange: sluice order open ${symbol} shows them`);
}

/** Requests cancels, as a batch on spot, and returns why each of them failed. One failure does not stop the others. */
export async function requestCancels(
  client: Client,
  symbol: string,
  orderIds: readonly string[],
  say: (line: string) => void,
): Promise<Map<string, string>> {
  const { orders, bulk } = client.exchange;
  const failures = new Map<string, string>();
  if (client.account === 'spot' && orderIds.length > 1) {
    const batch = await bulk.cancelMany(symbol, orderIds);
    if (batch.kind === 'rejected' || batch.kind === 'notSent') batchOrRefuse(batch, client, symbol);
    const outcomes = cancelOutcomes(orderIds, batch);
    for (const [id, outcome] of outcomes) {
      if (outcome.kind === 'unknown') failures.set(id, `not known: ${outcome.cause}`);
      else if (outcome.kind !== 'requested') failures.set(id, 'the exchange refused to cancel it');
    }
    if (batch.kind === 'answered') say(`the exchange ${countsText([...outcomes.values()])}; the orders now:`);
    return failures;
  }
  for (const orderId of orderIds) {
    const outcome = await orders.cancel({ symbol, orderId }, 'cancel');
    if (outcome.kind === 'refused') {
      const cause = `code ${outcome.code} ${outcome.message}`.trimEnd();
      failures.set(orderId, cause);
      say(exchangeRefusal(client.host, `cancel of ${orderId}: ${cause}`, outcome.code).message);
    } else if (outcome.kind !== 'requested')
      failures.set(orderId, `${outcome.kind === 'notSent' ? 'not sent' : 'not known'}: ${outcome.cause}`);
  }
  return failures;
}

/** `accepted 2 and refused 0`, and the number of orders that the answer omits. */
function countsText(outcomes: readonly CancelOutcome[]): string {
  const count = (kind: CancelOutcome['kind']): number => outcomes.filter((one) => one.kind === kind).length;
  const omitted = count('unknown');
  if (omitted === 0) return `accepted ${count('requested')} and refused ${count('refused')}`;
  return `accepted ${count('requested')}, refused ${count('refused')} and omits ${omitted}`;
}
