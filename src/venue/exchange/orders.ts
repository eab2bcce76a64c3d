/** Orders on the real exchange: what creates and cancels them. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Intent } from '../../domain/order.ts';
import type { OrderEntry, PreparedOrder } from '../venue.ts';
import { cancelOutcome, createOutcome } from './classify.ts';
import { createBody } from './create-body.ts';
import { tradeEndpoints } from './endpoints.ts';
import { type OrderQueriesOptions, orderQueries } from './order-queries.ts';

/** How long the exchange may act on a create, real ms: short, because a lost one can only be given up for absent after it. */
const createWindowMs = 2_000;

export interface OrdersOptions extends OrderQueriesOptions {
  readonly clock: Clock;
}

export function orders(options: OrdersOptions): OrderEntry {
  const { rest, clock, account, instruments, count } = options;
  const paths = tradeEndpoints[account];

  function prepare(intent: Intent, at: Instrument): PreparedOrder {
    instruments.remember(at);
    const recvWindowMs = Math.round(clock.machine(createWindowMs));
    const body = createBody(intent, at, recvWindowMs);
    const request = rest.sign(paths.create, body);
    return {
      signedAt: request.signedAt,
      recvWindowMs,
      bodyHash: createHash('sha256').update(body).digest('hex'),
      send: async (gate) => createOutcome(await request.send(gate), intent, at, request.signedAt, count),
    };
  }

  return {
    admit: (until) => rest.admit(paths.create, 'create', until),
    prepare,
    async cancel({ symbol, orderId }, lane = 'cancel') {
      const body = JSON.stringify({ orderId, symbol });
      return cancelOutcome(await rest.call({ endpoint: paths.cancel, lane, body }), orderId, count);
    },
    ...orderQueries(options),
  };
}
