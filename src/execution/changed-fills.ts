/** A fill that is a row already and is shown with other numbers: never overwritten, never passed over. */
import type { FillEntry } from '../journal/entries.ts';
import { type Execution, quarantine, tellAgainst } from './context.ts';
import { transitions } from './states.ts';

/**
 * The order of such a fill is quarantined. One that is closed stays closed, and everything halts: either the exchange took a
 * trade back, or one of its answers was wrong, and what is held is not known.
 */
export function tellOfChange(execution: Execution, fill: FillEntry): void {
  const { portfolio, halts } = execution;
  const { clientOrderId, tradeId, orderId } = fill;
  const text = `trade ${tradeId} of order ${orderId} is booked, and the exchange shows it with other numbers now: ${fill.side} ${fill.quantity} at ${fill.price}, fee ${fill.fee} ${fill.feeAsset}`;
  const order = portfolio.order(clientOrderId);
  if (order !== undefined && transitions[order.state].doubt !== undefined)
    quarantine(execution, order, 'changed', text);
  else if (order === undefined && !halts.has('changedFill', text)) {
    tellAgainst(execution, clientOrderId, text);
    halts.halt('changedFill', text);
  }
}
