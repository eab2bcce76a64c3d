/** Operations on several orders at once, and the test of a create. For the daemon, for commands and for scripts of a user's own. */
import type { Clock } from '../../../clock/clock.ts';
import type { Instrument } from '../../../domain/instrument.ts';
import { type Answer, type BatchCreated, type CancelOutcome, type Lane, maxInBatch, ok } from '../../venue.ts';
import { definiteCodes } from '../rest/classify.ts';
import { type Endpoint, endpoints } from '../rest/endpoints.ts';
import { idOf, isFields } from '../rest/json.ts';
import { probeWindow, type RecvWindow, recvWindow, type WindowQuirk } from '../rest/recv-window.ts';
import { failure, type Reply } from '../rest/reply.ts';
import type { Rest } from '../rest/rest.ts';
import { batchBody, batchCancelBody, createBody, type OrderRequest } from './create-body.ts';

/** The outcome of a batch. `unknown` means that some, all or none of it may have taken effect. */
export type BatchOutcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | Exclude<BatchCreated, { readonly kind: 'answered' }>;

export interface Created {
  readonly orderIds: readonly string[];
  /** Whether there are as many ids as orders. If not, query the open orders: the ids do not say which order they belong to. */
  readonly complete: boolean;
}

/** Either list is what the exchange says and proves nothing: a query of each order does. */
export interface Canceled {
  readonly success: readonly string[];
  readonly failed: readonly string[];
}

export type BulkOrders = ReturnType<typeof bulkOrders>;

const testWindowMs = 5_000;
/** Real ms that a probe may wait for its weight. */
const testPatienceMs = 10_000;

export function bulkOrders(rest: Rest, clock: Clock, window: RecvWindow = recvWindow(clock, undefined)) {
  async function batch<T>(
    endpoint: Endpoint,
    count: number,
    body: () => string,
    read: (value: unknown) => T | string,
    lane: Lane = 'create',
  ): Promise<BatchOutcome<T>> {
    if (count < 1 || count > maxInBatch)
      return { kind: 'notSent', cause: `a batch holds 1 to ${maxInBatch} orders, not ${count}` };
    const counted = (value: unknown): T | string => {
      const known = read(value);
      if (typeof known === 'string') rest.countUnreadable(endpoint, known, value);
      return known;
    };
    return outcomeOf(await rest.call({ endpoint, lane, body: body() }), counted);
  }

  return {
    /** The exchange checks an order, its signature and its time, and places nothing. Spot only: margin has no such operation. */
    async test(order: OrderRequest, at: Instrument): Promise<Answer<undefined>> {
      const endpoint = endpoints.orderTest;
      const body = createBody(order, at, window.field(testWindowMs));
      const reply = await rest.call({ endpoint, lane: 'create', body });
      window.onReply(reply);
      return reply.kind === 'ok' ? ok(undefined) : failure(endpoint, reply);
    },
    /** Finds out by up to four such tests under which name the exchange takes the time window; undefined when they do not show it. */
    testWindow: (order: OrderRequest, at: Instrument): Promise<WindowQuirk | undefined> =>
      probeWindow(async (fields, agedMs) => {
        const endpoint = endpoints.orderTest;
        const until = clock.now() + clock.machine(testPatienceMs);
        if (!(await rest.admit(endpoint, 'reconcile', until))) return { kind: 'notSent', cause: 'no request weight' };
        return rest.sign(endpoint, createBody(order, at, fields), clock.machine(agedMs)).send();
      }, clock),
    /** Up to ten orders of one symbol, sent once. They have no client ids, so a lost answer can hardly be reconciled. Spot only. */
    createMany: (orders: readonly OrderRequest[], at: Instrument): Promise<BatchOutcome<Created>> =>
      batch(
        endpoints.batchCreate,
        orders.length,
        () => batchBody(at.symbol, orders, at),
        (value) => readCreated(value, orders.length),
      ),
    /** Asks for the cancel of up to ten orders of one symbol. Spot only. */
    async cancelMany(
      symbol: string,
      orderIds: readonly string[],
      lane: 'kill' | 'cancel' = 'cancel',
    ): Promise<BatchOutcome<Canceled>> {
      const odd = orderIds.find((id) => idOf(id) === undefined);
      if (odd !== undefined) return { kind: 'notSent', cause: `${odd.slice(0, 40)} is not an order id` };
      const body = (): string => batchCancelBody(symbol, orderIds);
      return batch(endpoints.batchCancel, orderIds.length, body, readCanceled, lane);
    },
  };
}

/** What the answer to a batch of cancels says of each order. */
export function cancelOutcomes(
  orderIds: readonly string[],
  outcome: BatchOutcome<Canceled>,
): ReadonlyMap<string, CancelOutcome> {
  const of = (orderId: string): CancelOutcome => {
    if (outcome.kind === 'rejected') return { kind: 'refused', code: outcome.code, message: outcome.message };
    if (outcome.kind !== 'answered') return outcome;
    if (outcome.value.success.includes(orderId)) return { kind: 'requested' };
    return outcome.value.failed.includes(orderId)
      ? { kind: 'refused', code: 'failed', message: 'the batch lists it as failed' }
      : { kind: 'unknown', cause: 'the answer to the batch does not name it' };
  };
  return new Map(orderIds.map((orderId) => [orderId, of(orderId)]));
}

/** What came of a batch of creates that was signed before. */
export function createdOutcome(reply: Reply, count: number): BatchCreated {
  const outcome = outcomeOf(reply, (value) => readCreated(value, count));
  return outcome.kind === 'answered' ? { kind: 'answered', orderIds: outcome.value.orderIds } : outcome;
}

function outcomeOf<T>(reply: Reply, read: (value: unknown) => T | string): BatchOutcome<T> {
  if (reply.kind === 'notSent') return reply;
  if (reply.kind === 'unclear') return { kind: 'unknown', cause: reply.cause };
  if (reply.kind === 'refused') {
    const { code, message } = reply;
    // A code speaks for the whole only where the check that gives it comes before any order; funds are checked for each by itself.
    const whole = Object.hasOwn(definiteCodes, code) && checkedAtTheDoor.has(code);
    return whole
      ? { kind: 'rejected', code, message }
      : { kind: 'unknown', cause: `code ${code} does not say what became of each order: ${message}` };
  }
  const value = read(reply.value);
  return typeof value === 'string' ? { kind: 'unknown', cause: value } : { kind: 'answered', value };
}

const checkedAtTheDoor: ReadonlySet<string> = new Set(['-1021', '-1022', '-1121', '-2015']);

/** `{"ids":[165964665990709251,165964665990709252],"idsString":["165964665990709251","165964665990709252"]}` */
function readCreated(value: unknown, count: number): Created | string {
  if (!isFields(value)) return 'the answer holds no ids';
  const orderIds = idsOf(value['idsString']) ?? idsOf(value['ids']);
  if (orderIds === undefined) return 'the answer holds no readable ids';
  return { orderIds, complete: orderIds.length === count };
}

/** `{"success":[165964665990709251],"failed":["165964665990709252"]}`; some add `successString` and `failedString`. */
function readCanceled(value: unknown): Canceled | string {
  const lists = isFields(value) ? value : {};
  const success = idsOf(lists['successString']) ?? idsOf(lists['success']);
  const failed = idsOf(lists['failedString']) ?? idsOf(lists['failed']);
  if (success === undefined && failed === undefined) return 'the answer holds neither success nor failed';
  return { success: success ?? [], failed: failed ?? [] };
}

/** All ids of a list, or undefined: an unreadable one would be an unknown order. */
function idsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const ids = value.map((one: unknown) => idOf(one));
  return ids.every((id) => id !== undefined) ? ids : undefined;
}
