/** What can happen by itself: outages, people on the same account, clocks that step, neighbours behind the same address. */
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
/** How far a clock may be moved, and how much too fast or slow it may run, where both are asked for at once. */
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
const how = z.enum(['reset', 'status', 'hang']);

/** By the key that names them; the description is the text of docs/reference/fault-plans.md. */
export const events = {
  outage: z
    .strictObject({ outage: scope, forMs, how: how.default('reset') })
    .describe(
      '`all` of the exchange, `rest` or `socket` alone is away for `forMs` of exchange time; requests meet a `reset`, a `status` 503, or `hang`',
    ),
  place: z
    .strictObject({ place: placed })
    .describe(
      'somebody places an order by hand: on the account of `user` (the first one), in `symbol` (the first one), a `side` drawn at random, a small `volume`, at `price` or `offsetBps` better than the last price for the other side; `copy` gives it the client id of the newest order',
    ),
  cancel: z.strictObject({ cancel: cancelled }).describe("somebody cancels `which` of a user's open orders by hand"),
  adjust: z
    .strictObject({ adjust: adjusted })
    .describe('an `amount` of `asset` comes in, or goes out when below zero: a deposit, a conversion, a withdrawal'),
  bust: z
    .strictObject({ bust: busted })
    .describe(
      "`which` of a user's spot trades (newest, oldest) is undone: it is in no list any more, money and fees go back, and the order stays as it is",
    ),
  delist: z
    .strictObject({ delist: symbol })
    .describe(
      'the symbol is no longer traded: its open orders are cancelled, it is gone from the symbols, market data and new orders are refused, its channels are silent; old orders and trades can still be asked for',
    ),
  terms: z
    .strictObject({ terms: changedTerms })
    .describe(
      'a symbol asks something else of new orders, and lists it: `pricePlacesFewer`, `quantityPlacesFewer` decimals than at the opening (0: as many), `minQuantity`, `minNotional`; what rests stays as it is',
    ),
  stepMs: z
    .strictObject({ stepMs })
    .describe(
      "the gateway's clock steps: `/time`, the time window and the dates of depth, ticker and klines on the socket are off by so much more from now on",
    ),
  driftPpm: z.strictObject({ driftPpm }).describe("the gateway's clock runs fast or slow from now on, in millionths"),
  spend: z
    .strictObject({ spend: z.number().int().min(1), ip: z.string().default('127.0.0.1') })
    .describe('a neighbour behind the same address spends so much weight'),
  ban: z
    .strictObject({ ban: z.literal(true), ip: z.string().default('127.0.0.1') })
    .describe('the address is banned, as after many violations'),
  cut: z.strictObject({ cut: z.enum(['all', 'sockets']) }).describe('cuts what is open; it may come back at once'),
};

export const event = z.union([
  ...([events.outage, events.place, events.cancel, events.adjust, events.stepMs] as const),
  ...([events.bust, events.delist, events.terms] as const),
  ...([events.driftPpm, events.spend, events.ban, events.cut] as const),
]);

export type FaultEvent = z.infer<typeof event>;
/** An event as it may be written, defaults left out. */
export type FaultEventInput = z.input<typeof event>;
/** Checks an event that somebody wrote; throws a `Refusal`. */
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
export type TermsWish = z.infer<typeof changedTerms>;
export type Adjustment = z.infer<typeof adjusted>;
export type OutageScope = z.infer<typeof scope>;
export type OutageHow = z.infer<typeof how>;
