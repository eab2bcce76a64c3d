/** Closes positions for an operator: begins, goes on each second, and says what was closed at which price and what is left. */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  priceText,
  quantityNumber,
  quantityText,
  type Rate,
  rateNumber,
  type Ticks,
  ticksOf,
  unitsNumber,
  unitsText,
} from '../domain/money.ts';
import { type Decision, decisionOf, type Leg, mainRole } from '../domain/order.ts';
import type { Execution } from '../execution/context.ts';
import { type Flatten, isTooSmall } from '../portfolio/flattening.ts';
import type { TradingComponents } from './components.ts';
import type { Orders } from './orders.ts';

/** How long a position may take to close, real ms. What is left afterwards stays, and is reported. */
const flattenMs = 120_000;
/** How long its LIMIT order rests before the next step, real ms. */
export const restMs = 5_000;
export const flattenMemory = 'flatten';

export interface FlattenAsked {
  readonly strategy: string | undefined;
  readonly symbol: string | undefined;
  /** Most that it may pay beyond the price of now, as a fraction. */
  readonly maxSlippage: Rate;
  readonly by: string;
  readonly reason: string;
}

export interface Flattens {
  /** Begins to close positions, and cancels what rests of them; gives a sentence for each, once it has ended. */
  readonly flatten: (asked: FlattenAsked) => readonly Promise<string>[];
  /** Goes on with those that have begun. */
  goOn(): void;
}

export function flattens(
  book: Pick<TradingComponents, 'portfolio' | 'planner' | 'risk' | 'flattening'>,
  { halts, notice, clock }: Pick<Execution, 'halts' | 'notice' | 'clock'>,
  orders: Pick<Orders, 'blocked'>,
  ask: (decision: Decision) => void,
): Flattens {
  const { portfolio, planner, risk, flattening } = book;
  const waiting = new Map<string, PromiseWithResolvers<string>>();
  /** By position: why no order could be sent when one was last planned. */
  const blocks = new Map<string, string>();
  const nameOf = ({ strategy, symbol }: Pick<Flatten, 'strategy' | 'symbol'>): string => `${strategy} ${symbol}`;
  /** A block that ended before anything was sent remains the cause. */
  function noteBlock(flatten: Flatten): void {
    const block = orders.blocked({ symbol: flatten.symbol, purpose: 'flatten' });
    if (block !== undefined) blocks.set(nameOf(flatten), block);
    else if (flatten.restsUntil !== undefined) blocks.delete(nameOf(flatten));
  }
  function plan({ strategy, symbol, reason }: Flatten): void {
    const at = clock.now();
    const flat: Leg['signal'] = { kind: 'target', size: { quantity: 0 }, reason };
    const leg = planner.standing(strategy, symbol) ?? { strategy, role: mainRole, symbol, at, signal: flat };
    planner.wake(strategy, symbol);
    ask(decisionOf({ ...leg, at }));
  }
  function begin(
    { strategy, symbol }: Pick<Flatten, 'strategy' | 'symbol'>,
    { maxSlippage, by, reason }: FlattenAsked,
  ): Promise<string> {
    const price = priceOf(symbol, book);
    if (price === undefined)
      return Promise.resolve(`No price of ${symbol} is known yet: nothing was done about ${strategy} there.`);
    const at = portfolio.instrument(symbol);
    const { base } = portfolio.position(strategy, symbol);
    const worst = worstOf(base > 0n ? 'SELL' : 'BUY', price, maxSlippage, at);
    const inSpiteOf = risk.switch.ofEverything(strategy).length;
    const until = clock.now() + clock.machine(flattenMs);
    flattening.begin({ strategy, symbol, by, reason, worst, until, inSpiteOf });
    const what = base === 0n ? 'cancels its orders' : `closes ${unitsText(base)} ${at.base}`;
    const limit = base === 0n ? '' : `, no worse than ${priceText(worst, at)}`;
    notice({ level: 'warn', text: `flatten of ${strategy} on ${symbol} by ${by} (${reason}): ${what}${limit}` });
    const name = nameOf({ strategy, symbol });
    const ended = waiting.get(name) ?? Promise.withResolvers<string>();
    waiting.set(name, ended);
    for (const flatten of flattening.active) if (nameOf(flatten) === name) plan(flatten);
    return ended.promise;
  }
  return {
    flatten: (asked) =>
      portfolio
        .places()
        .filter((place) => isAsked(place, asked) && isOpen(place, portfolio))
        .map((place) => begin(place, asked)),
    goOn() {
      for (const flatten of flattening.active) {
        noteBlock(flatten);
        plan(flatten);
      }
      for (const flatten of flattening.finished()) {
        const text = endText(flatten, book, halts.against() ?? unsentText(blocks.get(nameOf(flatten))));
        blocks.delete(nameOf(flatten));
        notice({ level: 'warn', text: `flatten of ${flatten.strategy} on ${flatten.symbol} has ended: ${text}` });
        waiting.get(nameOf(flatten))?.resolve(text);
        waiting.delete(nameOf(flatten));
      }
    },
  };
}

type Placed = Pick<Flatten, 'strategy' | 'symbol'>;

const isAsked = ({ strategy, symbol }: Placed, asked: FlattenAsked): boolean =>
  (asked.strategy ?? strategy) === strategy && (asked.symbol ?? symbol) === symbol;

const isOpen = (place: Placed, portfolio: TradingComponents['portfolio']): boolean =>
  portfolio.ordersOf(place.strategy, place.symbol).length > 0 || !isTooSmall(portfolio, place);

/** What a position is worth a unit now; undefined before the first price. */
function priceOf(symbol: string, { risk, portfolio }: Pick<TradingComponents, 'risk' | 'portfolio'>) {
  const best = risk.best(symbol);
  return best === undefined ? portfolio.lastMark(symbol)?.price : (best.bid + best.ask) / 2;
}

/** The last price step within the budget. */
const worstOf = (side: Side, price: number, maxSlippage: Rate, at: Instrument): Ticks =>
  side === 'SELL'
    ? ticksOf(price * (1 - rateNumber(maxSlippage)), at, 'up')
    : ticksOf(price * (1 + rateNumber(maxSlippage)), at, 'down');

/** What was closed, and what is left and why. */
function endText(
  flatten: Flatten,
  { portfolio }: Pick<TradingComponents, 'portfolio'>,
  against: string | undefined,
): string {
  const { strategy, symbol, closed, value } = flatten;
  const at = portfolio.instrument(symbol);
  const average = closed === 0n ? '' : (unitsNumber(value) / quantityNumber(closed, at)).toFixed(at.pricePrecision + 1);
  const done =
    closed === 0n
      ? `${strategy} closed nothing on ${symbol}`
      : `${strategy} closed ${quantityText(closed, at)} ${at.base} on ${symbol} at ${average} on average`;
  const { base } = portfolio.position(strategy, symbol);
  if (base === 0n) return `${done}; nothing is left.`;
  return `${done}; ${unitsText(base)} ${at.base} is left: ${leftText(flatten, portfolio, at, against)}.`;
}

const unsentText = (block: string | undefined): string | undefined =>
  block === undefined ? undefined : `nothing could be sent (${block}); once that has ended, repeat sluice flatten`;

function leftText(
  { strategy, symbol, worst, ended }: Flatten,
  portfolio: TradingComponents['portfolio'],
  at: Instrument,
  against: string | undefined,
): string {
  if (isTooSmall(portfolio, { strategy, symbol })) return 'less than the exchange takes in an order';
  const [open] = portfolio.ordersOf(strategy, symbol);
  if (open !== undefined)
    return `the outcome of order ${open.intent.clientOrderId} is unknown; once it is known, repeat sluice flatten`;
  return (
    ended ??
    against ??
    `it could not be closed in time at ${priceText(worst, at)} or better (sluice why ${strategy} shows what was denied); repeat it with a larger --max-slippage`
  );
}
