/** Cash, base and orders of the one account, and what its fills do to them. */
import { Decimal as Decimals } from 'decimal.js';
import { type Distances, distancesOf } from './distances.ts';
import type { ChargeRow, DecisionRow, FillRow, OrderRow, Question, Side, Signal, Target } from './types.ts';

export const Decimal = Decimals.clone({ precision: 60, toExpNeg: -40, toExpPos: 60 });
export type Decimal = Decimals;

/** An order on its way, at the exchange, or over. */
export interface Order {
  readonly row: { -readonly [Key in keyof OrderRow]: OrderRow[Key] };
  readonly price: Decimal | undefined;
  quantity: Decimal | undefined;
  readonly amount: Decimal | undefined;
  executed: Decimal;
  /** What it is to buy or sell. */
  readonly meant: Decimal;
  /** The row whose open it arrives at. */
  readonly arrivesAt: number;
  /** The row whose open its cancel arrives at. */
  cancelsAt: number | undefined;
  arrived: boolean;
  /** It never takes. */
  readonly isPostOnly: boolean;
  /** The row in which it took: it does not rest in that one. */
  tookAt: number;
}

/** One market of a strategy. Those that it has together are a pool: each keeps its own book, and the money is that of all. */
export interface State {
  readonly question: Question;
  /** All markets of the strategy, this one among them. */
  readonly pool: State[];
  /** Those of all strategies of the account. */
  readonly account: State[];
  /** What is wanted. */
  standing: Signal | undefined;
  /** The last price that is known, once there is one. */
  last: Decimal;
  readonly decisions: DecisionRow[];
  /** Numbered over all of the account. */
  readonly orders: Order[];
  /** Those of the orders that may still be open, so that not every kline looks at all. */
  working: Order[];
  readonly fills: FillRow[];
  cash: Decimal;
  base: Decimal;
  /** Of the market, whichever strategy left it in doubt. */
  readonly ambiguousRows: Set<number>;
  /** The row in which the chosen path let targets come before the stop, and the side that leaves. */
  assumed: { readonly row: number; readonly side: Side } | undefined;
  /** The target whose levels are in force while something is held; quotes leave it as it was. */
  exits: Target | undefined;
  /** The distances at the entry of what is held, by the exit that each belongs to. */
  frozen: Distances;
  /** The planned and the position whose take-profit was asked for between two klines of the strategy, and when it may be next. */
  targetOf:
    | { readonly signal: Signal; readonly position: string; readonly waitMs: number; readonly nextAt: number }
    | undefined;
  /** The best price since the entry at `of`, as far as a trailing stop has seen it. */
  best: { readonly of: number; readonly price: Decimal } | undefined;
  /** The best stop at the entry that was in force since the entry at `of`. */
  even: { readonly of: number; readonly price: Decimal } | undefined;
  /** The quantity under which protection left the position: until another is wanted, nothing is entered. */
  leftAt: string | undefined;
  /** Nothing is entered before this time, whatever is wanted. */
  pausesUntil: number | undefined;
  /** The quantity that the levels belong to, and what a target order has sold of it. */
  levelsOf: string | undefined;
  taken: Decimal;
  /** What is wanted was reached, and nothing rests: what the price makes of the last few lots changes nothing any more. */
  settled: boolean;
  /** The goal that was sized last, as text, and its size: a share is sized once. */
  sizedFor: string | undefined;
  sized: Decimal;
  /** The entry was ordered as an amount: what it buys becomes the size. */
  byAmount: boolean;
  /** When the entry expires; and whether it did, so that what has been entered is all that is wanted. */
  expiresAt: number | undefined;
  isExpired: boolean;
  /** Where the limit of a target was moved to so that it does not take. */
  movedTo: Decimal | undefined;
  /** When what is held was entered, at what price, and whether by a resting order; and what was earned by then. */
  enteredAt: number;
  entryPrice: Decimal;
  enteredByMaker: boolean;
  earnedBefore: Decimal;
  /** How the position before ended. */
  exit: ExitRow | undefined;
  /** The position is being left since it was held for as long as it may be. */
  leavesInTime: boolean;
  /** Paid in, less what was paid out. */
  paidIn: Decimal;
  /** What the base that is held cost in quote, without fees; negative where it is short. */
  cost: Decimal;
  /** The most of its base that was owed since interest was charged last, at `chargedAt`. */
  owed: { base: Decimal; chargedAt: number };
  /** The money of all markets after each fill and charge since interest on it was charged last; that of the first market counts. */
  money: { balances: { readonly time: number | undefined; readonly cash: Decimal }[]; chargedAt: number };
  /** The exchange is leaving the position. */
  liquidating: boolean;
  /** When the exchange left a position of another market, which it has yet to do here. */
  ruinedAt: number | undefined;
  readonly charges: ChargeRow[];
  /** Told of each fill, at its time. */
  filled: ((time: number) => void) | undefined;
}

export const roundTo = (value: Decimal, decimals: number, way: 'up' | 'down'): Decimal =>
  value.toDecimalPlaces(decimals, way === 'up' ? Decimal.ROUND_CEIL : Decimal.ROUND_FLOOR);

/** Less than a lot, the least quantity, or what cost less than an order may be worth, is a rest that nobody can order away. */
export function isFlat({ base, cost, question: { instrument } }: State): boolean {
  const lots = roundTo(base.abs(), instrument.quantityPrecision, 'down');
  return lots.isZero() || lots.lt(instrument.minQuantity) || cost.abs().lt(instrument.minNotional);
}

/** How a position ended. */
interface ExitRow {
  readonly time: number;
  readonly price: Decimal;
  readonly profit: Decimal;
  readonly reason: 'signal' | 'stop' | 'takeProfit' | 'time';
}

/** Nothing is held, and nothing was ordered; the market joins those of its strategy, and of its account. */
export function begun(question: Question, pool: State[] = [], account: State[] = pool): State {
  const state: State = {
    question,
    pool,
    account,
    standing: undefined,
    last: new Decimal(0),
    decisions: [],
    orders: [],
    working: [],
    fills: [],
    cash: new Decimal(question.cash),
    base: new Decimal(0),
    ambiguousRows: account.find((one) => isSameMarket(one.question, question))?.ambiguousRows ?? new Set(),
    assumed: undefined,
    exits: undefined,
    frozen: {},
    best: undefined,
    even: undefined,
    leftAt: undefined,
    pausesUntil: undefined,
    levelsOf: undefined,
    taken: new Decimal(0),
    settled: false,
    sizedFor: undefined,
    sized: new Decimal(0),
    byAmount: false,
    expiresAt: undefined,
    isExpired: false,
    movedTo: undefined,
    enteredAt: Number.NaN,
    entryPrice: new Decimal(0),
    enteredByMaker: false,
    earnedBefore: new Decimal(0),
    exit: undefined,
    leavesInTime: false,
    paidIn: new Decimal(0),
    cost: new Decimal(0),
    owed: { base: new Decimal(0), chargedAt: question.klines[0]?.time ?? 0 },
    money: { balances: [], chargedAt: question.klines[0]?.time ?? 0 },
    liquidating: false,
    ruinedAt: undefined,
    targetOf: undefined,
    charges: [],
    filled: undefined,
  };
  pool.push(state);
  if (account !== pool) account.push(state);
  return state;
}

/** The money of all markets together. */
export const cashOf = ({ pool }: State): Decimal => Decimal.sum(...pool.map(({ cash }) => cash));

/** The equity of all markets together, where this one has a price of its own. */
export const equityAt = (state: State, price = state.last): Decimal =>
  Decimal.sum(cashOf(state), ...state.pool.map((one) => one.base.times(one === state ? price : one.last)));

/** The number of the next order. */
export const nextNumber = ({ account }: State): number =>
  account.reduce((count, { orders }) => count + orders.length, 1);

/** Closed profit less fees: what the cash has become if what is held is counted at its cost. */
export const earned = ({ cash, cost, question, paidIn }: State): Decimal =>
  cash.plus(cost).minus(question.cash).minus(paidIn);

export const openOrders = (state: State): Order[] => state.working.filter(({ row }) => row.state === 'open');

export const remaining = (order: Order): Decimal => (order.quantity ?? new Decimal(0)).minus(order.executed);

/** What is held now cost so much: what leaves takes its part of the cost along, what crosses zero begins anew. A fee in base is no cost. */
function costAfter({ base, cost }: State, before: Decimal, paid: Decimal, feeInBase: Decimal | undefined): Decimal {
  const value = paid.minus(feeInBase ?? 0);
  const moved = base.minus(before);
  if (before.isZero() || before.gt(0) === moved.gt(0)) return cost.plus(value);
  const crosses = !base.isZero() && base.gt(0) !== before.gt(0);
  return crosses ? value.times(base).div(moved) : cost.times(base).div(before);
}

/** Books a fill: money moves, the fee is taken from what comes in, or from quote. */
export function fill(
  state: State,
  order: Order,
  given: {
    readonly price: Decimal;
    readonly quantity: Decimal;
    readonly maker: boolean;
    readonly time: number;
    readonly ambiguous?: boolean;
    readonly late?: boolean;
  },
): void {
  const { fees, rules, instrument } = state.question;
  const { price, quantity, maker, time, ambiguous = false, late = false } = given;
  const before = state.base;
  const wasFlat = isFlat(state);
  const earnedBefore = earned(state);
  if (wasFlat) [state.enteredAt, state.entryPrice] = [time, price];
  const value = price.times(quantity);
  const feeRate = new Decimal(maker ? fees.maker : fees.taker);
  const inBase = rules.feeIn === 'received' && order.row.side === 'BUY';
  const fee = roundTo((inBase ? quantity : value).times(feeRate), 8, 'up');
  if (order.row.side === 'BUY') {
    state.cash = state.cash.minus(value);
    state.base = state.base.plus(quantity);
  } else {
    state.cash = state.cash.plus(value);
    state.base = state.base.minus(quantity);
  }
  if (inBase) state.base = state.base.minus(fee);
  else state.cash = state.cash.minus(fee);
  state.cost = costAfter(
    state,
    before,
    order.row.side === 'BUY' ? value : value.negated(),
    inBase ? fee.times(price) : undefined,
  );
  // What turns a position round enters another one.
  const hasTurned = before.gt(0) !== state.base.gt(0);
  if (hasTurned) [state.enteredAt, state.entryPrice] = [time, price];
  if (wasFlat || hasTurned) state.frozen = distancesOf(state.exits);
  const { purpose } = order.row;
  const why = purpose === 'takeProfit' ? purpose : purpose !== 'stop' ? 'signal' : state.leavesInTime ? 'time' : 'stop';
  if (!wasFlat && (hasTurned || isFlat(state)))
    state.exit = { time, price, profit: earned(state).minus(state.earnedBefore), reason: why };
  if (wasFlat || hasTurned) {
    state.enteredByMaker = maker;
    state.earnedBefore = wasFlat ? earnedBefore : earned(state);
  }
  order.executed = order.executed.plus(quantity);
  state.fills.push({
    order: order.row.number,
    time,
    side: order.row.side,
    price: price.toFixed(),
    quantity: quantity.toFixed(),
    fee: fee.toFixed(),
    feeAsset: inBase ? instrument.base : instrument.quote,
    maker,
    ambiguous,
    late,
  });
  state.filled?.(time);
  const { margin } = state.question;
  if (margin === undefined) return;
  if (order.row.purpose !== 'stop') state.liquidating = false;
  if (state.liquidating) charge(state, 'liquidation', time, roundTo(value.times(margin.liquidationFee), 8, 'up'));
  if (isFlat(state)) state.liquidating = false;
  owe(state, time);
}

export function charge(state: State, kind: ChargeRow['kind'], time: number, amount: Decimal): void {
  if (amount.isZero()) return;
  state.cash = state.cash.minus(amount);
  state.charges.push({ time, kind, amount: amount.toFixed() });
  state.settled = false;
}

/** Takes note of what is owed now, after a fill at `time`: what one market sells at a moment pays for what another buys at it. */
export function owe(state: State, time: number | undefined): void {
  const { owed, base, pool } = state;
  owed.base = Decimal.max(owed.base, base.negated());
  const { balances } = (pool[0] as State).money;
  if (pool.length > 1 && time !== undefined && balances.at(-1)?.time === time) balances.pop();
  balances.push({ time, cash: cashOf(state) });
}

export function end(order: Order, how: 'filled' | 'canceled' | 'denied' | 'rejected'): void {
  order.row.state = how;
}

/** The higher rate. */
export const maxFee = ({ fees }: Question): Decimal => Decimal.max(fees.maker, fees.taker);

/** What of an amount is left for a purchase that pays its fee out of it; the fee's last decimal is rounded up. */
export const withoutFee = (amount: Decimal, feeRate: Decimal): Decimal =>
  feeRate.isZero() ? amount : roundTo(Decimal.max(amount.minus('0.00000001'), 0).div(feeRate.plus(1)), 18, 'down');

/** What can be spent of the money of all its markets, or of the base: cash less what resting BUYs may cost with their fee, base less what resting SELLs may bring away. */
export const free = (state: State, side: Side): Decimal => freeOf(state, side, side === 'BUY' ? state.pool : [state]);

/** The same at the exchange, which knows no strategies. */
export const freeAtExchange = (state: State, side: Side): Decimal =>
  freeOf(state, side, side === 'BUY' ? state.account : sameMarket(state));

/** What strategies of the account have of a market. */
export const sameMarket = ({ account, question }: State): State[] =>
  account.filter((one) => isSameMarket(one.question, question));

const isSameMarket = (a: Question, b: Question): boolean => a.instrument.base === b.instrument.base;

function freeOf(state: State, side: Side, all: readonly State[]): Decimal {
  const most = state.question.rules.feeIn === 'quote' ? maxFee(state.question) : new Decimal(0);
  let left = Decimal.sum(...all.map((one) => (side === 'BUY' ? one.cash : one.base)));
  for (const one of all)
    for (const order of openOrders(one)) {
      if (order.row.side !== side) continue;
      left = left.minus(side === 'SELL' ? remaining(order) : costOf(one, order, most));
    }
  return left;
}

export function costOf(
  { question }: State,
  { price, quantity, amount, executed }: Pick<Order, 'price' | 'quantity' | 'amount' | 'executed'>,
  feeRate: Decimal,
): Decimal {
  const value =
    amount ?? (price === undefined ? new Decimal(0) : price.times((quantity ?? new Decimal(0)).minus(executed)));
  // An amount by which an entry is sized pays its fee, too.
  if (amount !== undefined && question.rules.sizing === 'fillWithFee') return value;
  return value.plus(roundTo(value.times(feeRate), 8, 'up'));
}

/** An order as it should be at the exchange. */
export interface PlannedOrder {
  readonly side: Side;
  readonly type: 'LIMIT' | 'MARKET';
  readonly quantity: Decimal;
  readonly price?: Decimal;
  readonly purpose: OrderRow['purpose'];
  /** How far the remainder of an order may be off and still be the one that is planned. */
  readonly tolerance: Decimal;
}
