/** Take-profits: one for all that is held, or several, each for its share of the planned quantity. */
import { Decimal, isFlat, type Order, openOrders, type PlannedOrder, roundTo, type State } from './account.ts';
import { leaving } from './exchange.ts';
import type { Signal } from './types.ts';

type TakeProfits = State['takeProfits'];
type Target = Exclude<Signal, { readonly quotes: unknown }>;

/** Those of a target, at the prices that `level` makes of their text. */
export function takeProfitsOf(signal: Target, level: (text: string) => Decimal | undefined): TakeProfits {
  const { takeProfit } = signal;
  if (takeProfit === undefined) return [];
  const several = typeof takeProfit === 'string' ? [{ at: takeProfit, share: '1' }] : takeProfit;
  const isShort = ('quantity' in signal ? signal.quantity : signal.share).startsWith('-');
  const sorted = several.toSorted((a, b) => (isShort ? Number(b.at) - Number(a.at) : Number(a.at) - Number(b.at)));
  const isAll = Decimal.sum(...sorted.map(({ share }) => share)).gte(1);
  return sorted.map(({ at, share }, index) => ({
    price: level(at) ?? new Decimal(0),
    share: isAll && index === sorted.length - 1 ? undefined : new Decimal(share),
  }));
}

/** What each of them sells of the planned quantity, in whole lots; undefined: all that is left. */
const shares = ({ takeProfits, sized, question }: State): readonly (Decimal | undefined)[] =>
  takeProfits.map(({ share }) =>
    share === undefined ? undefined : roundTo(sized.abs().times(share), question.instrument.quantityPrecision, 'down'),
  );

/** The orders of what is not taken yet. What is too small for an order goes to the next, and what is left of that to the last. */
export function profitOrders(
  state: State,
  tooSmall: (quantity: Decimal, price: Decimal) => boolean,
  band: Decimal,
  stands: (order: Order, planned: PlannedOrder) => boolean,
): readonly PlannedOrder[] {
  const { takeProfits, taken, question } = state;
  let left = roundTo(state.base.abs(), question.instrument.quantityPrecision, 'down');
  let before = taken;
  let small = new Decimal(0);
  const planned: PlannedOrder[] = [];
  const parts = shares(state);
  for (const [index, { price }] of takeProfits.entries()) {
    const part = parts[index];
    const open = part === undefined ? left : Decimal.min(left, Decimal.max(part.minus(before), 0));
    before = part === undefined ? new Decimal(0) : Decimal.max(before.minus(part), 0);
    left = left.minus(open);
    const quantity = open.plus(small);
    const tolerance = part === undefined ? band : new Decimal(0);
    const order = { side: leaving(state), type: 'LIMIT', quantity, price, purpose: 'takeProfit', tolerance } as const;
    const isThere = takeProfits.length > 1 && openOrders(state).some((one) => stands(one, order));
    if (quantity.gt(0) && (isThere || !tooSmall(quantity, price))) {
      planned.push(order);
      small = new Decimal(0);
    } else small = quantity;
  }
  const last = planned.at(-1);
  if (last !== undefined && small.gt(0) && takeProfits.at(-1)?.share === undefined)
    planned.splice(-1, 1, { ...last, quantity: last.quantity.plus(small), tolerance: band });
  return planned;
}

/** Whether the last of them has sold something, and with that all. */
export function isAllTaken(state: State): boolean {
  const { takeProfits } = state;
  if (isFlat(state) || takeProfits.length === 0) return true;
  if (takeProfits.at(-1)?.share !== undefined) return false;
  if (takeProfits.length === 1) return true;
  return state.taken.gt(Decimal.sum(0, ...shares(state).map((part) => part ?? 0)));
}
