/**
 * From a desired state to the next thing to do about it. Pure: the same signal, position and orders give the same step, and a
 * position that already is as the signal has it gives none. One step at a time, because every step may change what the next one should be.
 */
import { type Instrument, orderLots, orderPrice } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  absolute,
  baseUnits,
  cut,
  type Lots,
  lotsFor,
  lotsIn,
  lotsOf,
  max,
  min,
  minus,
  negate,
  noLots,
  noRate,
  notional,
  noUnits,
  part,
  plus,
  priceFor,
  type Rate,
  rate,
  type Ticks,
  ticksOf,
  type Units,
} from '../domain/money.ts';
import type { Account, Denial, Intent, Quotes, Target, Verdict } from '../domain/order.ts';
import { noTakeProfits, type TakeProfit, takeProfitOrders } from './take-profits.ts';
import { type Resting, remaining, type WorkingOrder } from './working-order.ts';

/** An order that would be sent: an intent without its id and times. */
export interface OrderDraft extends Omit<Intent, 'clientOrderId' | 'createdAt' | 'expiresAt'> {
  /** A limit of size may reduce it. */
  readonly clip?: boolean;
  /** What it was planned as, and the limit that reduced it. */
  readonly reduced?: { readonly from: Lots; readonly by: Denial };
}

/** What the risk rules say of a draft. */
export type Judgement = Verdict | { readonly kind: 'reduced'; readonly draft: OrderDraft };

/** A draft as an order to be sent. Spelt out: a spread that adds fields costs twice as much. */
export function intentOf(draft: OrderDraft, clientOrderId: string, createdAt: number, expiresAt: number): Intent {
  const { decision, strategy, role, account, symbol, side, type, volume, price, expectedLots, purpose, reason } = draft;
  const intent = {
    clientOrderId,
    decision,
    strategy,
    role,
    account,
    symbol,
    side,
    type,
    volume,
    expectedLots,
    expiresAt,
    purpose,
    reason,
    createdAt,
  };
  if (price === undefined) return intent;
  return draft.postOnly === true ? { ...intent, price, postOnly: true } : { ...intent, price };
}

/** Nothing was denied. */
export const noDrafts: readonly OrderDraft[] = [];

export type Step =
  | { readonly do: 'cancel'; readonly order: WorkingOrder }
  | { readonly do: 'create'; readonly draft: OrderDraft };
export type Create = Step & { readonly do: 'create' };

/** What a plan is made from. */
export interface Situation {
  /** What the strategy may do: while it is paused only reduce its position, while it is killed nothing but what its exits do. */
  readonly may: 'all' | 'reduce' | 'exit';
  readonly decision: number;
  readonly strategy: string;
  readonly role: string;
  readonly account: Account;
  readonly instrument: Instrument;
  readonly held: Units;
  /** The strategy's orders on this symbol that are not closed. */
  readonly orders: readonly WorkingOrder[];
  readonly price: number;
  /** What a MARKET BUY is given in: the exchange takes an amount of quote, some rulesets base lots. */
  readonly marketBuyIn: 'amount' | 'lots';
  /** What a fee taken in the base asset may leave missing; zero where fees are taken in quote. */
  readonly feeInBase: Rate;
}

/** How protection changes a target: where profit is taken, and whether the position must be left. */
export interface ProtectionOverride {
  readonly takeProfits: readonly TakeProfit[];
  /** Why the position must be left whatever the target is; undefined while it need not. */
  readonly exit: string | undefined;
  /** What a take-profit has sold of this target already: it is not bought back while the size stays the same. */
  readonly taken: Lots;
}
export const noOverride: ProtectionOverride = { takeProfits: noTakeProfits, exit: undefined, taken: noLots };

/** True while an outcome, a MARKET fill or a cancel is pending: the position may still change, so nothing is planned. */
export const isUndecided = (orders: readonly WorkingOrder[]): boolean =>
  orders.some((order) => order.state !== 'open' || order.intent.type === 'MARKET' || order.cancelRequested);

/** A target as it is planned: the order of a limit that was moved rests where it was moved to, wherever the price has gone since. */
export const asMoved = (target: Target, { movedTo }: { readonly movedTo: number | undefined }): Target =>
  movedTo === undefined ? target : { ...target, limit: movedTo };

/** The next step towards a target. Take-profits that were `refused` while it is carried out are left out, so that the others get their turn. */
export function planTarget(
  target: Target,
  targetLots: Lots,
  override: ProtectionOverride,
  situation: Situation,
  refused: readonly OrderDraft[] = noDrafts,
): Step | undefined {
  const { orders, instrument: at } = situation;
  if (isUndecided(orders)) return undefined;
  const aim = override.exit === undefined ? lessTaken(targetLots, override.taken) : noLots;
  const aimBase = override.exit === undefined ? allowedAim(baseUnits(aim, at), situation) : noUnits;
  const distance = minus(aimBase, situation.held);
  // The position is as the signal has it, as mostly: nothing has to be worked out.
  if (distance === 0n && orders.length === 0 && override.takeProfits.length === 0) return undefined;
  const side: Side = distance > 0n ? 'BUY' : 'SELL';
  const lots = orderLots(situation.held === 0n && distance !== 0n ? absolute(aim) : lotsIn(absolute(distance), at), at);
  const atMarket = target.limit === undefined;
  // What an entry left missing was a part of the whole target, however much of it a take-profit has sold since.
  const band = deadBand(aim === 0n ? noLots : targetLots, side, atMarket, situation);
  const grows = absolute(aimBase) > absolute(situation.held);
  const purpose = override.exit !== undefined ? 'stop' : grows ? 'enter' : 'exit';
  const reason = override.exit ?? target.reason;
  if (lots > band) {
    if (atMarket || override.exit !== undefined)
      return rest([], situation) ?? clipping(target, market(side, lots, purpose, reason, situation));
    const price = orderPrice(side, priceFor(side, target.limit, at), at);
    return clipping(target, rest([{ side, price, lots, tolerance: band, purpose, reason }], situation));
  }
  if (override.takeProfits.length === 0 || override.exit !== undefined || situation.held === 0n)
    return rest([], situation);
  // One that rests may fill to its last lot, although what is left of it could not be created.
  const canRest = (one: Resting): boolean =>
    !tooSmall(one.lots, one.price, at) || (override.takeProfits.length > 1 && orders.some((order) => sits(order, one)));
  const profits = { tolerance: band, reason: `take profit of: ${target.reason}`, canRest };
  const planned = takeProfitOrders(override.takeProfits, targetLots, override.taken, situation, profits);
  return rest(without(planned, refused), situation);
}

/** As near to a target as the strategy may come. */
function allowedAim(aim: Units, { may, held }: Situation): Units {
  if (may === 'all') return aim;
  if (may === 'exit') return held;
  return held > 0n ? min(max(aim, noUnits), held) : max(min(aim, noUnits), held);
}

/** An entry of a target with `clip` may be reduced. */
const clipping = ({ clip }: Target, step: Step | undefined): Step | undefined =>
  clip === true && step?.do === 'create' && step.draft.purpose === 'enter'
    ? { do: 'create', draft: { ...step.draft, clip } }
    : step;

/** The lots of a target less what a take-profit has sold, towards zero. */
export function lessTaken(targetLots: Lots, taken: Lots): Lots {
  if (taken === 0n) return targetLots;
  return targetLots > 0n
    ? max(minus(targetLots, taken), noLots)
    : negate(max(minus(negate(targetLots), taken), noLots));
}

/**
 * Have exactly these orders: cancel what is not among them, then create what is missing. What a rule or the exchange
 * `denied` while this signal is carried out stands back, each draft for one order, so that the orders after it get their turn.
 */
export function planQuotes(
  quotes: Quotes,
  situation: Situation,
  denied: readonly OrderDraft[] = noDrafts,
): Step | undefined {
  const { instrument: at } = situation;
  if (isUndecided(situation.orders)) return undefined;
  return rest(without(sendable(quotes, at), denied), situation);
}

/** Each order of quotes is planned by itself: what they ask for is calculated once. */
const lastSendable = new WeakMap<Quotes, { readonly at: Instrument; readonly orders: readonly Resting[] }>();

function sendable(quotes: Quotes, at: Instrument): readonly Resting[] {
  const known = lastSendable.get(quotes);
  if (known?.at === at) return known.orders;
  const orders = quotesAsOrders(quotes, at).filter(({ lots, price }) => lots > 0n && !tooSmall(lots, price, at));
  lastSendable.set(quotes, { at, orders });
  return orders;
}

/** The orders that quotes ask for, as the exchange can hold them. */
export const quotesAsOrders = ({ quotes, reason }: Quotes, at: Instrument): readonly Resting[] =>
  quotes.map(({ side, price, quantity }) => {
    const lots = orderLots(lotsOf(quantity, at), at);
    return {
      side,
      price: orderPrice(side, priceFor(side, price, at), at),
      lots,
      tolerance: lots,
      purpose: 'quote',
      reason,
    };
  });

function without(resting: readonly Resting[], denied: readonly OrderDraft[]): readonly Resting[] {
  if (denied.length === 0) return resting;
  const left = [...resting];
  for (const { side, price, expectedLots } of denied) {
    const index = left.findIndex((one) => one.side === side && one.price === price && one.lots === expectedLots);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}

/**
 * How far a MARKET BUY by amount may miss its target, as a fraction of it: the amount is calculated at the last price and
 * spent at the best ask of a moment later. Half the spread and what the market moves in between are less, as a rule; a position
 * that is further off is corrected once (docs/decisions/0004).
 */
const priceSlack = rate('0.005');

/**
 * The distance from the target within which nothing is done: one lot, the exchange's minimum, or what the fee and the price of
 * an entry made of it. Without it every entry would be followed by a small order that corrects it.
 */
function deadBand(targetLots: Lots, side: Side, atMarket: boolean, situation: Situation): Lots {
  return max(maxTooSmallLots(situation), entryBand(targetLots, side, atMarket, situation));
}

/** Whether what has been entered is all of a target, but for what the dead band leaves missing. */
export const isWhole = (entered: Lots, targetLots: Lots, situation: Situation): boolean =>
  entered === targetLots ||
  absolute(minus(targetLots, entered)) <= deadBand(targetLots, targetLots > 0n ? 'BUY' : 'SELL', false, situation);

/** The part of it that the fee and the price of an entry make. */
function entryBand(targetLots: Lots, side: Side, atMarket: boolean, situation: Situation): Lots {
  const at = situation.instrument;
  const byFee = side === 'BUY' && targetLots > 0n ? situation.feeInBase : noRate;
  const byPrice = atMarket && situation.marketBuyIn === 'amount' ? priceSlack : noRate;
  const slack = plus(byFee, byPrice);
  return slack === 0n ? noLots : lotsIn(part(baseUnits(absolute(targetLots), at), slack, 'up'), at, 'up');
}

/** True where the position is as a target has it, whatever the price and the exchange's minimum. */
export function isReached(
  target: Target,
  targetLots: Lots,
  { taken, exit }: ProtectionOverride,
  situation: Situation,
): boolean {
  const { instrument: at, held, orders } = situation;
  if (exit !== undefined) return held === 0n && orders.length === 0;
  const aim = lessTaken(targetLots, taken);
  const distance = minus(baseUnits(aim, at), held);
  if (distance === 0n) return true;
  const lots = orderLots(held === 0n ? absolute(aim) : lotsIn(absolute(distance), at), at);
  const side = distance > 0n ? 'BUY' : 'SELL';
  return lots <= entryBand(aim === 0n ? noLots : targetLots, side, target.limit === undefined, situation);
}

/** The largest size, in lots, that is still too small for an order at the last price, by the exchange's minima. */
export function maxTooSmallLots({ instrument: at, price }: Pick<Situation, 'instrument' | 'price'>): Lots {
  const byNotional = at.minNotional > 0n ? lotsFor(at.minNotional, ticksOf(price, at, 'down'), at) : noLots;
  const byQuantity = at.minQuantity > 0n ? minus(at.minQuantity, 1n as Lots) : noLots;
  return max(byNotional, byQuantity);
}

/** Too small for a LIMIT order. */
export const tooSmall = (lots: Lots, price: Ticks, at: Instrument): boolean =>
  lots < at.minQuantity || notional(price, lots, at) < at.minNotional;

/** A take-profit larger than planned does not serve as the planned one: its excess would block the next. */
function sits(order: WorkingOrder, one: Resting): boolean {
  if (order.intent.side !== one.side || order.intent.price !== one.price) return false;
  const more = minus(remaining(order), one.lots);
  return absolute(more) <= one.tolerance && (more <= 0n || one.purpose !== 'takeProfit');
}

/** Cancels the first order that the signal does not ask for, then creates the first that is missing; each order matches one only. */
function rest(resting: readonly Resting[], situation: Situation): Step | undefined {
  const missing = [...resting];
  for (const order of situation.orders) {
    const index = missing.findIndex((one) => sits(order, one));
    if (index < 0) return { do: 'cancel', order };
    missing.splice(index, 1);
  }
  const [first] = missing;
  return first && limit(first, situation);
}

const limit = (one: Resting, situation: Situation): Step => ({ do: 'create', draft: limitDraft(one, situation) });

/** An order at market; undefined where it would buy for less than the smallest amount. */
export function market(
  side: Side,
  lots: Lots,
  purpose: OrderDraft['purpose'],
  reason: string,
  situation: Situation,
): Create | undefined {
  const { instrument: at, marketBuyIn } = situation;
  const sellable = situation.account === 'spot' && side === 'SELL' ? lotsIn(situation.held, at) : lots;
  const size = orderLots(sellable < lots ? sellable : lots, at);
  if (side === 'SELL' || marketBuyIn === 'lots')
    return { do: 'create', draft: marketDraft(side, size, { lots: size }, purpose, reason, situation) };
  const worth = notional(ticksOf(situation.price, at, 'up'), size, at);
  const amount = cut(worth, at.orderPlaces?.price ?? at.pricePrecision);
  if (amount === noUnits) return undefined;
  return { do: 'create', draft: marketDraft(side, size, { amount }, purpose, reason, situation) };
}

// Both are spelt out: a spread that adds fields costs twice as much.
export function limitDraft({ side, price, lots, purpose, reason }: Resting, situation: Situation): OrderDraft {
  const { decision, strategy, role, account, instrument } = situation;
  const { symbol } = instrument;
  const volume = { lots };
  return {
    decision,
    strategy,
    role,
    account,
    symbol,
    side,
    type: 'LIMIT',
    volume,
    price,
    expectedLots: lots,
    purpose,
    reason,
  };
}

export function marketDraft(
  side: Side,
  expectedLots: Lots,
  volume: OrderDraft['volume'],
  purpose: OrderDraft['purpose'],
  reason: string,
  { decision, strategy, role, account, instrument }: Situation,
): OrderDraft {
  const { symbol } = instrument;
  return { decision, strategy, role, account, symbol, side, type: 'MARKET', volume, expectedLots, purpose, reason };
}
