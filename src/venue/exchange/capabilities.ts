/**
 * Capabilities of a deployment where the specification leaves a choice, found by queries and order tests that change nothing.
 * What they cannot show stays `unknown`, and no code may depend on it.
 */
import type { Answer } from '../venue.ts';
import { type Endpoint, endpoints } from './rest/endpoints.ts';
import type { HttpReply } from './rest/http.ts';
import { idOf, isFields, parseExact, textOf } from './rest/json.ts';
import type { WindowQuirk } from './rest/recv-window.ts';
import { readReply, rowsOf } from './rest/reply.ts';
import type { Call, Rest } from './rest/rest.ts';

export type Known = 'yes' | 'no' | 'unknown';

/** An order is over when its cancel is answered, or some time later. */
export type CancelQuirk = 'at once' | 'asynchronous';

export interface RestCapabilities {
  /** HTTP status of a refused request. */
  readonly errorStatus: '200' | '4XX' | 'unknown';
  readonly errorCode: 'number' | 'text' | 'unknown';
  /** Symbols in lower case are taken, too. */
  readonly anySymbolCase: Known;
  /** Shape of a list of open orders. */
  readonly lists: 'bare' | 'wrapped' | 'enveloped' | 'unknown';
  readonly publicTrades: 'bare' | 'wrapped' | 'enveloped' | 'unknown';
  readonly klines: 'newest first' | 'oldest first' | 'unknown';
  /** The test of an order is there, and the key may trade. */
  readonly orderTest: Known;
  /** Orders show the client id that they were created with. */
  readonly clientIdEchoed: Known;
  /** An order can be asked for by its client id alone. */
  readonly queryByClientId: Known;
  /** Under which name the time window of a create is taken (§5.3). */
  readonly recvWindow: WindowQuirk | 'unknown';
  /** From the answer to the first cancel; queries cannot show it. */
  readonly cancel: CancelQuirk | 'unknown';
}

export interface ProbeParts {
  readonly rest: Pick<Rest, 'call'>;
  /** The answer to the last request as it came. */
  readonly last: () => HttpReply | undefined;
  readonly symbol: string;
  /** Nothing signed is asked without a key. */
  readonly isSigned: boolean;
  /** Test an order that could be placed, and the time window; undefined without a test order. */
  readonly testOrder: (() => Promise<Answer<undefined>>) | undefined;
  readonly testWindow: (() => Promise<WindowQuirk | undefined>) | undefined;
  /** The exchange's id of an order that was sent with a client id: only such an order can show that ids are not given back. */
  readonly echoTestOrderId: string | undefined;
}

interface Asked {
  readonly status: number | undefined;
  /** The whole body, envelope and all. */
  readonly body: unknown;
  readonly refusal: string | undefined;
}

/** Codes that speak of the key and not of the order. */
const keyCodes: ReadonlySet<string> = new Set([
  ...['-1002', '-1020', '-1022', '-1023', '-1024', '-2014', '-2015', '-2200', '40', '10004', '10005', '10006'],
]);

export async function probeRest(parts: ProbeParts): Promise<RestCapabilities> {
  const { symbol, isSigned, testOrder, testWindow, echoTestOrderId } = parts;
  const ask = asking(parts);
  const wrong = await ask(endpoints.depth, { symbol: 'SLUICENOSUCH' });
  const lower = await ask(endpoints.ticker, { symbol: symbol.toLowerCase() });
  const trades = await ask(endpoints.trades, { symbol, limit: '5' });
  const klines = await ask(endpoints.klines, { symbol, interval: '1min', limit: '5' });
  const open = isSigned ? await ask(endpoints.openOrders, { symbol, limit: '10' }) : nothing;
  const order = isSigned ? await ownOrder(ask, symbol, open, echoTestOrderId) : undefined;
  const orderTest = testOrder === undefined || !isSigned ? 'unknown' : tested(await testOrder());
  return {
    errorStatus: wrong.refusal === undefined ? 'unknown' : wrong.status === 200 ? '200' : '4XX',
    errorCode: codeType(wrong),
    anySymbolCase: lower.status === undefined ? 'unknown' : lower.refusal === undefined ? 'yes' : 'no',
    lists: shapeOf(open.body),
    publicTrades: shapeOf(trades.body),
    klines: orderOf(klines.body),
    orderTest,
    recvWindow: orderTest === 'yes' ? ((await testWindow?.()) ?? 'unknown') : 'unknown',
    clientIdEchoed: echoed(order, echoTestOrderId),
    queryByClientId: await byClientId(ask, symbol, order),
    cancel: 'unknown',
  };
}

const nothing: Asked = { status: undefined, body: undefined, refusal: undefined };

function asking({ rest, last }: ProbeParts) {
  return async (endpoint: Endpoint, query: NonNullable<Call['query']>): Promise<Asked> => {
    const reply = await rest.call({ endpoint, lane: 'reconcile', query });
    const raw = last();
    if (reply.kind === 'notSent' || raw?.kind !== 'reply') return nothing;
    return { status: raw.status, body: bodyOf(raw), refusal: reply.kind === 'refused' ? reply.code : undefined };
  };
}

type Ask = ReturnType<typeof asking>;

function bodyOf(raw: HttpReply): unknown {
  const read = readReply(raw);
  if (raw.kind !== 'reply' || read.kind === 'unclear') return undefined;
  return parseExact(raw.body);
}

const codeType = ({ body, refusal }: Asked): RestCapabilities['errorCode'] =>
  refusal === undefined || !isFields(body) ? 'unknown' : typeof body['code'] === 'string' ? 'text' : 'number';

function shapeOf(body: unknown): RestCapabilities['lists'] {
  if (Array.isArray(body)) return 'bare';
  if (!isFields(body)) return 'unknown';
  if ('list' in body) return 'wrapped';
  return 'data' in body ? 'enveloped' : 'unknown';
}

const rowsIn = (body: unknown): readonly unknown[] =>
  rowsOf(body) ?? (isFields(body) && 'data' in body ? (rowsOf(body['data']) ?? []) : []);

function orderOf(body: unknown): RestCapabilities['klines'] {
  const times = rowsIn(body).flatMap((row) => (isFields(row) ? Number(textOf(row['idx']) ?? Number.NaN) : []));
  const [first = Number.NaN] = times;
  const last = times.at(-1) ?? Number.NaN;
  return first > last ? 'newest first' : first < last ? 'oldest first' : 'unknown';
}

const tested = (answer: Answer<undefined>): Known =>
  answer.kind === 'ok' ? 'yes' : answer.code === undefined ? 'unknown' : keyCodes.has(answer.code) ? 'no' : 'yes';

interface OwnOrder {
  readonly orderId: string;
  readonly clientId: string | undefined;
}

/** An order may be placed without a client id (specification §4.2): one that shows none proves nothing unless it was sent with one. */
function echoed(order: OwnOrder | undefined, echoTestOrderId: string | undefined): Known {
  if (order?.clientId !== undefined) return 'yes';
  return order !== undefined && order.orderId === echoTestOrderId ? 'no' : 'unknown';
}

/** An order of the account: the one that was sent with a client id, one that is open, or that of its newest trade. */
async function ownOrder(
  ask: Ask,
  symbol: string,
  open: Asked,
  echoTestOrderId: string | undefined,
): Promise<OwnOrder | undefined> {
  const sent = echoTestOrderId === undefined ? undefined : await askedFor(ask, symbol, echoTestOrderId);
  if (sent !== undefined) return sent;
  const rows = rowsIn(open.body).flatMap((row) => readOwn(row) ?? []);
  const listed = rows.find(({ clientId }) => clientId !== undefined);
  if (listed !== undefined) return listed;
  // Lists need not give client ids (specification §4.2): the query of that order shows them.
  const orderId = rows[0]?.orderId ?? (await tradedOrder(ask, symbol));
  return orderId === undefined ? undefined : askedFor(ask, symbol, orderId);
}

async function askedFor(ask: Ask, symbol: string, orderId: string): Promise<OwnOrder | undefined> {
  const { body, refusal } = await ask(endpoints.query, { orderId, symbol });
  return refusal === undefined ? readOwn(body) : undefined;
}

async function tradedOrder(ask: Ask, symbol: string): Promise<string | undefined> {
  const [trade] = rowsIn((await ask(endpoints.myTrades, { symbol, limit: '1' })).body);
  return isFields(trade) ? idOf(trade[trade['isBuyer'] === true ? 'bidId' : 'askId']) : undefined;
}

/** An order, bare or in an envelope. */
function readOwn(body: unknown): OwnOrder | undefined {
  const order = isFields(body) && isFields(body['data']) ? body['data'] : body;
  if (!isFields(order)) return undefined;
  const orderId = idOf(order['orderIdString']) ?? idOf(order['orderId']);
  const clientId = textOf(order['clientOrderId']);
  if (orderId === undefined) return undefined;
  return { orderId, clientId: clientId === '' || clientId === '0' ? undefined : clientId };
}

/** Proven only by the very order that was meant: some deployments answer with another one. */
async function byClientId(ask: Ask, symbol: string, order: OwnOrder | undefined): Promise<Known> {
  if (order?.clientId === undefined) return 'unknown';
  // The spelling is the specification's (§4.2).
  const { body, refusal, status } = await ask(endpoints.query, { newClientorderId: order.clientId, symbol });
  if (status === undefined) return 'unknown';
  return refusal === undefined && readOwn(body)?.orderId === order.orderId ? 'yes' : 'no';
}
