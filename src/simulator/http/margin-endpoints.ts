/** Margin orders (specification §4.4): the same books and rules as spot, another account, and shapes of their own. */
import { refusals } from '../core/errors.ts';
import type { SimOrder } from '../core/order.ts';
import { type Call, type Endpoint, instrumentIn } from './endpoint.ts';
import type { Json } from './json.ts';
import { clientIdOf, create, myTrades, openOrders, orderByClientId, orderById, orderIdOf } from './order-endpoints.ts';
import { Refused, required } from './params.ts';
import { canceledShape, queriedShape } from './shapes.ts';

/** The order that is named by either id; no parameter has a star in §4.4, but one of the two must be there. */
function named(call: Call): SimOrder {
  const at = instrumentIn(call);
  const [orderId, clientId] = [orderIdOf(call), clientIdOf(call)];
  const byClientId = (orderId === undefined || orderId === '') && clientId !== undefined && clientId !== '';
  const order = byClientId
    ? orderByClientId(call, 'margin', clientId)
    : orderById(call, 'margin', required(call.params, 'orderId'));
  if (at !== undefined && order.symbol !== at.symbol) throw new Refused(refusals.noOrder);
  return order;
}

const whole = (order: SimOrder, { exchange, habits }: Call): Json =>
  queriedShape(order, exchange.matching(order.symbol).instrument, habits);

function cancel(call: Call): Json {
  const order = named(call);
  const refusal = call.exchange.cancel(order);
  if (refusal !== undefined) throw new Refused(refusal);
  return call.habits.marginCancel === 'order' ? whole(order, call) : canceledShape(order, call.habits);
}

const trade = { method: 'POST', permission: 'trade' } as const;
const read = { method: 'GET', permission: 'read' } as const;

export const marginEndpoints: readonly Endpoint[] = [
  { ...trade, path: '/sapi/v1/margin/order', weight: 5, perTwoSeconds: 100, creates: true, run: create('margin') },
  { ...read, path: '/sapi/v1/margin/order', weight: 5, perTwoSeconds: 20, run: (call) => whole(named(call), call) },
  { ...trade, path: '/sapi/v1/margin/cancel', weight: 5, perTwoSeconds: 100, run: cancel },
  {
    ...read,
    path: '/sapi/v1/margin/openOrders',
    weight: ({ marginOpenOrdersWeight }) => marginOpenOrdersWeight,
    perTwoSeconds: 20,
    run: openOrders('margin'),
  },
  { ...read, path: '/sapi/v1/margin/myTrades', weight: 1, run: myTrades('margin') },
];
