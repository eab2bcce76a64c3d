/** Orders on the real exchange: what creates and cancels them. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Intent } from '../../domain/order.ts';
import type { OrderEntry, PreparedOrder } from '../venue.ts';
import type { CancelHabit } from './capabilities.ts';
import { cancelHabit, cancelOutcome, createOutcome } from './classify.ts';
import { createBody } from './create-body.ts';
import { tradeEndpoints } from './endpoints.ts';
import { type OrderQueriesOptions, orderQueries } from './order-queries.ts';
import type { Reply } from './reply.ts';

/** How long the exchange may act on a create, real ms: short, because a lost one can only be given up for absent after it. */
const createWindowMs = 2_000;

export interface OrdersOptions extends OrderQueriesOptions {
  readonly clock: Clock;
  /** Told once, by the first cancel whose answer says it. */
  readonly cancelSeen?: ((habit: CancelHabit) => void) | undefined;
}

export function orders(options: OrdersOptions): OrderEntry {
  const { rest, clock, account, instruments, count } = options;
  const paths = tradeEndpoints[account];
  let { cancelSeen } = options;

  function note(reply: Reply): void {
    const habit = cancelSeen === undefined ? undefined : cancelHabit(reply);
    if (habit === undefined) return;
    cancelSeen?.(habit);
    cancelSeen = undefined;
  }

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
      const reply = await rest.call({ endpoint: paths.cancel, lane, body });
      const outcome = cancelOutcome(reply, orderId, count);
      if (outcome.kind === 'requested') note(reply);
      return outcome;
    },
    ...orderQueries(options),
  };
}
