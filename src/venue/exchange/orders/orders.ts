/** Orders on the real exchange: what creates and cancels them. */
import { hash } from 'node:crypto';
import type { Clock } from '../../../clock/clock.ts';
import type { Instrument } from '../../../domain/instrument.ts';
import type { Intent } from '../../../domain/order.ts';
import type { Batches, OrderEntry, PreparedBatch, PreparedOrder } from '../../venue.ts';
import type { CancelQuirk } from '../capabilities.ts';
import { cancelOutcome, cancelQuirk, createOutcome } from '../rest/classify.ts';
import { endpoints, tradeEndpoints } from '../rest/endpoints.ts';
import { type RecvWindow, recvWindow } from '../rest/recv-window.ts';
import type { Reply } from '../rest/reply.ts';
import { bulkOrders, cancelOutcomes, createdOutcome } from './bulk.ts';
import { batchBody, createBody } from './create-body.ts';
import { type OrderQueriesOptions, orderQueries } from './queries.ts';

/** How long the exchange may act on a create, real ms: short, because a lost one can only be given up for absent after it. */
const createWindowMs = 2_000;

/** The same for a batch, which has no window of its own: the one that the exchange assumes (specification §5.3). */
const batchWindowMs = 5_000;

const hashOf = (body: string): string => hash('sha256', body);

export interface OrdersOptions extends OrderQueriesOptions {
  readonly clock: Clock;
  /** The time window's name, if it is known. */
  readonly window?: RecvWindow;
  /** Called once, by the first cancel whose answer shows it. */
  readonly cancelSeen?: ((quirk: CancelQuirk) => void) | undefined;
}

export function orders(options: OrdersOptions): OrderEntry {
  const { rest, clock, account, instruments, count, window = recvWindow(clock, undefined) } = options;
  const paths = tradeEndpoints[account];
  const bulk = bulkOrders(rest, clock, window);
  let { cancelSeen } = options;

  function note(reply: Reply): void {
    const quirk = cancelSeen === undefined ? undefined : cancelQuirk(reply);
    if (quirk === undefined) return;
    cancelSeen?.(quirk);
    cancelSeen = undefined;
  }

  function prepare(intent: Intent, at: Instrument): PreparedOrder {
    instruments.remember(at);
    const body = createBody(intent, at, window.field(createWindowMs));
    const request = rest.sign(paths.create, body);
    return {
      signedAt: request.signedAt,
      recvWindowMs: window.ms(createWindowMs),
      bodyHash: hashOf(body),
      async send(gate) {
        const reply = await request.send(gate);
        window.onReply(reply);
        return createOutcome(reply, intent, at, request.signedAt, count);
      },
    };
  }

  function prepareMany(intents: readonly Intent[], at: Instrument): PreparedBatch {
    instruments.remember(at);
    const body = batchBody(at.symbol, intents, at);
    const request = rest.sign(endpoints.batchCreate, body);
    return {
      signedAt: request.signedAt,
      recvWindowMs: Math.round(clock.machine(batchWindowMs)),
      bodyHash: hashOf(body),
      send: async (gate) => createdOutcome(await request.send(gate), intents.length),
    };
  }

  return {
    admit: (until) => rest.admit(paths.create, 'create', until),
    isRoom: () => rest.isRoom(paths.create, 'create'),
    prepare,
    async cancel({ symbol, orderId }, lane = 'cancel') {
      const body = JSON.stringify({ orderId, symbol });
      const reply = await rest.call({ endpoint: paths.cancel, lane, body });
      const outcome = cancelOutcome(reply, orderId, count);
      if (outcome.kind === 'requested') note(reply);
      return outcome;
    },
    // Margin takes no batches (specification §4.4).
    ...(account === 'spot' && {
      batches: {
        admit: (until) => rest.admit(endpoints.batchCreate, 'create', until),
        prepare: prepareMany,
        cancel: async (symbol, orderIds, lane) =>
          cancelOutcomes(orderIds, await bulk.cancelMany(symbol, orderIds, lane)),
      } satisfies Batches,
    }),
    ...orderQueries(options),
  };
}
