/** Events: outages, people on the same account, clocks that step, other clients behind the same address. */
import { z } from 'zod';
import { Refusal } from '../../domain/refusal.ts';

const decimal = z
  .string()
  .regex(/^-?\d{1,24}(\.\d{1,18})?$/, 'must be decimal text of at most 24 digits and 18 decimals, such as "0.5"');
const uid = z.string().min(1);
const symbol = z.string().min(1);
/** The longest outage, ms of exchange time. */
export const longestMs = 864_000_000;
const forMs = z.number().min(0).max(longestMs);

export const placed = z.strictObject({
  user: uid.optional(),
  symbol: symbol.optional(),
  side: z.enum(['BUY', 'SELL']).optional(),
  type: z.enum(['LIMIT', 'MARKET']).default('LIMIT'),
  volume: decimal.optional(),
  price: decimal.optional(),
  offsetBps: z.number().min(-10_000).max(10_000).default(-100),
  clientOrderId: z.string().max(64).optional(),
  copy: z.literal(true).optional(),
});
export const cancelled = z.strictObject({
  user: uid.optional(),
  symbol: symbol.optional(),
  which: z.enum(['newest', 'oldest', 'all']).default('newest'),
});
export const adjusted = z.strictObject({ user: uid.optional(), asset: z.string().min(1), amount: decimal });
export const busted = z.strictObject({
  user: uid.optional(),
  symbol: symbol.optional(),
  which: z.enum(['newest', 'oldest']).default('newest'),
});
const stepMs = z.number().min(-86_400_000).max(86_400_000);
const driftPpm = z.number().min(-100_000).max(100_000);
/** Limits of a clock's step and drift. */
export const stepBounds = { stepMs: stepMs.optional(), driftPpm: driftPpm.optional() };
const decimals = z.number().int().min(0).max(18);
const minimum = z.string().regex(/^\d{1,24}(\.\d{1,18})?$/, 'must be decimal text, such as "0.5"');
export const changedTerms = z.strictObject({
  symbol: symbol.optional(),
  pricePlacesFewer: decimals.optional(),
  quantityPlacesFewer: decimals.optional(),
  minQuantity: minimum.optional(),
  minNotional: minimum.optional(),
});
const scope = z.enum(['all', 'rest', 'socket']);
const how = z.enum(['reset', 'status', 'hang']).default('reset');
/** An outage as the control address begins it. */
export const outageBegun = z.strictObject({ scope: scope.default('all'), how, forMs: forMs.default(longestMs) });

/** By the key that names them; the description is the text of docs/reference/fault-plans.md. */
export const events = {
  outage: z
    .strictObject({ outage: scope, forMs, how })
    .describe(
      '`all`, `rest` or `socket` is down for `forMs` of exchange time. Requests get a `reset`, a `status` 503, or `hang`',
    ),
  place: z
    .strictObject({ place: placed })
    .describe(
      'a person places an order by hand. The defaults are the first `user`, the first `symbol`, a random `side` and a small `volume`. The price is `price`, or `offsetBps` better than the last price for the other side. `copy` uses the client id of the newest order',
    ),
  cancel: z.strictObject({ cancel: cancelled }).describe("a person cancels `which` of a user's open orders by hand"),
  adjust: z.strictObject({ adjust: adjusted }).describe('books an `amount` of `asset`, negative for a withdrawal'),
  bust: z
    .strictObject({ bust: busted })
    .describe(
      "reverses `which` of a user's spot trades (newest, oldest). The trade disappears from all lists, money and fees go back, and the order stays unchanged",
    ),
  delist: z
    .strictObject({ delist: symbol })
    .describe(
      'delists the symbol. Its open orders are cancelled, market data and new orders are refused, and its channels are silent. Old orders and trades stay available',
    ),
  terms: z
    .strictObject({ terms: changedTerms })
    .describe(
      'changes the terms of a symbol for new orders. `pricePlacesFewer` and `quantityPlacesFewer` reduce the decimals of the start. `minQuantity` and `minNotional` set minimums. Resting orders stay unchanged',
    ),
  stepMs: z
    .strictObject({ stepMs })
    .describe(
      "the gateway's clock steps by this. It affects `/time`, the time window and the times of depth, ticker and klines on the socket",
    ),
  driftPpm: z.strictObject({ driftPpm }).describe("the gateway's clock runs fast or slow, in millionths"),
  spend: z
    .strictObject({ spend: z.number().int().min(1), ip: z.string().default('127.0.0.1') })
    .describe('another client behind the same address uses this weight'),
  ban: z
    .strictObject({ ban: z.literal(true), ip: z.string().default('127.0.0.1') })
    .describe('the address is banned, as after many violations'),
  cut: z
    .strictObject({ cut: z.enum(['all', 'sockets']) })
    .describe('cuts open connections; clients may reconnect at once'),
};

export const event = z.union([
  ...([events.outage, events.place, events.cancel, events.adjust, events.stepMs] as const),
  ...([events.bust, events.delist, events.terms] as const),
  ...([events.driftPpm, events.spend, events.ban, events.cut] as const),
]);

export type FaultEvent = z.infer<typeof event>;
/** An event as users write it, without defaults. */
export type FaultEventInput = z.input<typeof event>;
/** Validates an event; throws a `Refusal`. */
export function faultEvent(input: unknown): FaultEvent {
  const checked = event.safeParse(input);
  if (checked.success) return checked.data;
  throw new Refusal(
    `there is no such event: it must be one of ${Object.keys(events).join(', ')}, with its own keys only`,
  );
}
export type HumanOrder = z.input<typeof placed>;
export type HumanCancel = z.input<typeof cancelled>;
export type HumanBust = z.input<typeof busted>;
export type TermsChange = z.infer<typeof changedTerms>;
export type Adjustment = z.infer<typeof adjusted>;
export type OutageScope = z.infer<typeof scope>;
export type OutageHow = z.infer<typeof how>;
