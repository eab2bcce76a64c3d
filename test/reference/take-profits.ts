/** Take-profits: one for all that is held, or several, each for its share of the planned quantity. */
import { Decimal, isFlat, type Order, openOrders, type PlannedOrder, roundTo, type State } from './account.ts';
import { leaving } from './exchange.ts';
import { takeProfitsOf } from './exits.ts';

/** What each of them sells of the planned quantity, in whole lots; undefined: all that is left. */
const shares = (state: State, whole: Decimal): readonly (Decimal | undefined)[] =>
  takeProfitsOf(state).map(({ share }) =>
    share === undefined
      ? undefined
      : roundTo(whole.abs().times(share), state.question.instrument.quantityPrecision, 'down'),
  );

/** The orders of what is not taken yet. What is too small for an order goes to the next, and what is left of that to the last. */
export function profitOrders(
  state: State,
  whole: Decimal,
  tooSmall: (quantity: Decimal, price: Decimal) => boolean,
  band: Decimal,
  stands: (order: Order, planned: PlannedOrder) => boolean,
): readonly PlannedOrder[] {
  const { taken, question } = state;
  const takeProfits = takeProfitsOf(state);
  let left = roundTo(state.base.abs(), question.instrument.quantityPrecision, 'down');
  let before = taken;
  let small = new Decimal(0);
  const planned: PlannedOrder[] = [];
  const parts = shares(state, whole);
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
  const takeProfits = takeProfitsOf(state);
  if (isFlat(state) || takeProfits.length === 0) return true;
  if (takeProfits.at(-1)?.share !== undefined) return false;
  if (takeProfits.length === 1) return true;
  return state.taken.gt(Decimal.sum(0, ...shares(state, state.sized).map((part) => part ?? 0)));
}
