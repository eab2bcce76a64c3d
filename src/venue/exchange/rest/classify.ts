/** The outcome of a create or a cancel: definite only where listed; everything else is unknown. */
import type { Instrument } from '../../../domain/instrument.ts';
import type { Intent, Outcome } from '../../../domain/order.ts';
import type { CancelOutcome } from '../../venue.ts';
import type { CancelQuirk } from '../capabilities.ts';
import type { Count } from '../counters.ts';
import { readCreated, statusOf } from '../orders/read-order.ts';
import { idOf, isFields } from './json.ts';
import type { Reply } from './reply.ts';

/**
 * Codes after which no order exists, each because the check that gives it comes before the order does. A code that is not here
 * (−1000, −1001, −1006, −1007, −1015, −1016, …) may come after the order was passed on.
 */
export const definiteCodes: Readonly<Record<string, string>> = {
  '-1021': 'the time window is checked at the door, before anything is read from the order',
  '-1022': 'the signature is checked at the door',
  '-1111': 'precision is checked when the order is read',
  '-1121': 'a symbol that does not exist has no book to go to',
  '-1136': 'the minimum volume is checked when the order is read',
  '-1138': 'the price range is checked when the order is read',
  '-2015': 'key, address and permission are checked at the door',
  '-2017': 'funds are locked before an order enters the book; without them there is none',
  '10062': 'the engine’s own word for wrong precision (−1111), given live in its place',
  '110046': 'the engine’s own word for a quantity below the minimum (−1136)',
  '110047': 'the engine’s own word for a price or amount below the minimum (−1136)',
  '110049': 'the engine’s own word for insufficient balance (−2017)',
};

/** After these codes the cancel was not accepted. Only a query proves the order's state. */
const refusedCancelCodes: ReadonlySet<string> = new Set([
  '-1021',
  '-1022',
  '-1121',
  '-1145', // this order cannot be cancelled
  '-2013', // there is no such order
  '-2015',
]);

/**
 *     {"symbol":"LXTUSDT","orderId":"150695552109032492","orderIdString":"150695552109032492","clientOrderId":"saaaa…",
 *      "transactTime":"1273774892913","price":"4.65","origQty":"25","executedQty":"0","status":"NEW","type":"LIMIT","side":"BUY"}
 *     {"orderId":[1938321163093077686],"symbol":"btcusdt","status":0}
 */
export function createOutcome(reply: Reply, intent: Intent, at: Instrument, signedAt: number, count: Count): Outcome {
  const unknown = (cause: string): Outcome => ({ kind: 'unknown', cause, signedAt });
  if (reply.kind === 'notSent') return { kind: 'notSent', cause: reply.cause };
  if (reply.kind === 'unclear') return unknown(reply.cause);
  if (reply.kind === 'refused') {
    if (Object.hasOwn(definiteCodes, reply.code)) {
      return { kind: 'rejected', code: reply.code, message: reply.message };
    }
    return unknown(`code ${reply.code} does not decide the outcome: ${reply.message}`);
  }
  const { value } = reply;
  if (!isFields(value)) return unknown('the answer holds no order');
  if ((idOf(value['orderIdString']) ?? idOf(value['orderId'])) === undefined)
    return unknown('the answer has no orderId');
  const report = readCreated(value, at, count, { side: intent.side, type: intent.type });
  if (typeof report === 'string') return unknown(report);
  const echoed = report.clientOrderId;
  if (echoed !== undefined && echoed.toLowerCase() !== intent.clientOrderId.toLowerCase()) {
    count('another client id echoed', value);
    return unknown(`the answer is about client id ${echoed}`);
  }
  if (report.status !== 'REJECTED') return { kind: 'accepted', report };
  if (report.executed > 0n) return unknown('the answer says REJECTED, with a quantity executed');
  return { kind: 'rejected', code: 'REJECTED', message: 'the exchange answered with status REJECTED' };
}

/** What the answer to a cancel says about when an order is over; undefined where it says neither. */
export function cancelQuirk(reply: Reply): CancelQuirk | undefined {
  if (reply.kind !== 'ok' || !isFields(reply.value)) return undefined;
  // A status of no known spelling says nothing here, and is counted where an order is read.
  const status = statusOf(reply.value['status'], () => {});
  return status === 'CANCELING' ? 'asynchronous' : status === 'CANCELED' ? 'at once' : undefined;
}

/** `{"symbol":"BHTUSDT","clientOrderId":"0","orderId":"150695552109032492","status":"PENDING_CANCEL"}` */
export function cancelOutcome(reply: Reply, orderId: string, count: Count): CancelOutcome {
  if (reply.kind === 'notSent') return reply;
  if (reply.kind === 'unclear') return { kind: 'unknown', cause: reply.cause };
  if (reply.kind === 'refused') {
    if (refusedCancelCodes.has(reply.code)) return { kind: 'refused', code: reply.code, message: reply.message };
    return { kind: 'unknown', cause: `code ${reply.code}: ${reply.message}` };
  }
  if (!isFields(reply.value)) return { kind: 'unknown', cause: 'the answer holds no order' };
  const echoed = idOf(reply.value['orderId']);
  if (echoed !== undefined && echoed !== orderId) {
    count('another order id echoed', reply.value);
    return { kind: 'unknown', cause: `the answer is about order ${echoed}` };
  }
  return { kind: 'requested' };
}
