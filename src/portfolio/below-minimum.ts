/**
 * Signals that cannot be ordered, because the exchange takes no order so small. A plan does nothing about it (plan.ts), so it has to
 * be said: an entry that never comes, or a stop that cannot sell, would otherwise look like a strategy that wants nothing.
 */
import { orderLots } from '../domain/instrument.ts';
import {
  absolute,
  type Lots,
  lotsIn,
  notional,
  quantityText,
  type Ticks,
  ticksOf,
  unitsText,
} from '../domain/money.ts';
import { type Denial, type Quotes, sizeValue, type Target } from '../domain/order.ts';
import {
  isUndecided,
  leastLots,
  lessTaken,
  type OrderDraft,
  type ProtectionOverride,
  quotesAsOrders,
  type Situation,
  tooSmall,
} from './plan.ts';

/** An order that is not sent because it is too small, and by which numbers. */
export interface TooSmall {
  readonly draft: OrderDraft;
  readonly denial: Denial;
}

const none: readonly TooSmall[] = [];

/**
 * The order that a target asks for and that is too small, if it is: an entry from nothing, or an exit to nothing. A change of a position by
 * less than the minimum is none: it is within the dead-band, and added to the next change.
 */
export function targetTooSmall(
  target: Target,
  targetLots: Lots,
  override: ProtectionOverride,
  situation: Situation,
): readonly TooSmall[] {
  const { instrument: at, held } = situation;
  if (situation.orders.length > 0) return none;
  const aim = override.leave === undefined ? lessTaken(targetLots, override.taken) : targetLots;
  const heldLots = orderLots(lotsIn(absolute(held), at), at);
  const leaves = override.leave !== undefined || (targetLots === 0n && !asksForMore(target, situation));
  if (leaves !== heldLots > 0n) return none;
  // What a take-profit has sold is no entry any more.
  if (!leaves && aim === 0n && targetLots !== 0n) return none;
  const lots = leaves ? heldLots : absolute(aim);
  if (lots > leastLots(situation)) return none;
  const purpose = override.leave !== undefined ? 'stop' : leaves ? 'exit' : 'enter';
  const side = (leaves ? held < 0n : aim >= 0n) ? 'BUY' : 'SELL';
  const price = ticksOf(situation.price, at, 'down');
  return [refused({ side, lots, purpose, reason: override.leave ?? target.reason }, price, situation)];
}

/** The target is not zero, though it may come to less than a lot; spot cannot be short. */
function asksForMore({ size }: Target, { account }: Situation): boolean {
  const value = sizeValue(size);
  return account === 'spot' ? value > 0 : value !== 0;
}

/** The quotes that are too small. */
export function quotesTooSmall(quotes: Quotes, situation: Situation): readonly TooSmall[] {
  if (isUndecided(situation.orders)) return none;
  return quotesAsOrders(quotes, situation.instrument)
    .filter(({ lots, price }) => lots === 0n || tooSmall(lots, price, situation.instrument))
    .map(({ side, lots, price, reason }) => refused({ side, lots, price, purpose: 'quote', reason }, price, situation));
}

type Asked = Pick<OrderDraft, 'side' | 'purpose' | 'reason'> & { readonly lots: Lots; readonly price?: Ticks };

function refused(
  { lots, price, ...asked }: Asked,
  at: Ticks,
  { decision, strategy, role, account, instrument }: Situation,
): TooSmall {
  const { symbol, minNotional, minQuantity } = instrument;
  const order = { decision, strategy, role, account, symbol, volume: { lots }, expectedLots: lots, ...asked };
  return {
    draft: price === undefined ? { ...order, type: 'MARKET' } : { ...order, type: 'LIMIT', price },
    denial: {
      code: 'belowMinimum',
      facts: {
        quantity: quantityText(lots, instrument),
        minQuantity: quantityText(minQuantity, instrument),
        value: unitsText(notional(at, lots, instrument)),
        minNotional: unitsText(minNotional),
      },
    },
  };
}
