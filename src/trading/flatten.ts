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
import { type Flatten, flattenName, isTooSmall } from '../portfolio/flattening.ts';
import type { Kill } from '../risk/kill.ts';
import type { TradingComponents } from './components.ts';
import type { Controls } from './kill-switch.ts';
import type { Orders } from './orders.ts';

/** How long a position may take to close, real ms, without the time in which nothing can be sent. What is left afterwards stays, and is reported. */
const flattenMs = 120_000;
/** The same with that time, real ms: after it a person has to ask again. */
export const longestFlattenMs = 86_400_000;
/** How long its LIMIT order rests before the next step, real ms. */
export const restMs = 5_000;
export const flattenMemory = 'flatten';

/** Whose position it is, and of what. */
type PositionKey = Pick<Flatten, 'strategy' | 'symbol'>;

export interface FlattenAsked {
  readonly strategy: string | undefined;
  readonly symbol: string | undefined;
  /** Most that it may pay beyond the price of now, as a fraction. */
  readonly maxSlippage: Rate;
  readonly by: string;
  readonly reason: string;
}

export interface Flattens {
  /** Begins to close positions under these pauses, and cancels what rests of them; gives a sentence for each, once it has ended. */
  readonly flatten: (asked: FlattenAsked, pauses?: readonly Kill[]) => readonly Promise<string>[];
  /** Goes on with those that have begun. */
  goOn(): void;
}

export function flattens(
  book: Pick<TradingComponents, 'portfolio' | 'planner' | 'risk' | 'flattening'>,
  { halts, notice, clock }: Pick<Execution, 'halts' | 'notice' | 'clock'>,
  blocked: Orders['blocked'],
  kill: Controls['kill'],
  ask: (decision: Decision) => void,
): Flattens {
  const { portfolio, planner, risk, flattening } = book;
  const waiting = new Map<string, PromiseWithResolvers<string>>();
  const nameOf = ({ strategy, symbol }: PositionKey): string => `${strategy} ${symbol}`;
  const blockOf = ({ symbol }: Pick<Flatten, 'symbol'>): string | undefined => blocked({ symbol, purpose: 'flatten' });
  function plan({ strategy, symbol, reason }: Flatten): void {
    const at = clock.now();
    const flat: Leg['signal'] = { kind: 'target', size: { quantity: 0 }, reason };
    const leg = planner.standing(strategy, symbol) ?? { strategy, role: mainRole, symbol, at, signal: flat };
    planner.wake(strategy, symbol);
    ask(decisionOf({ ...leg, at }));
  }
  function begin({ strategy, symbol }: PositionKey, { maxSlippage, by, reason }: FlattenAsked): Promise<string> {
    const price = priceOf(symbol, book);
    if (price === undefined)
      return Promise.resolve(`No price of ${symbol} is known yet: nothing was done about ${strategy} there.`);
    const at = portfolio.instrument(symbol);
    const { base } = portfolio.position(strategy, symbol);
    const worst = worstOf(base > 0n ? 'SELL' : 'BUY', price, maxSlippage, at);
    const inSpiteOf = risk.switch.ofEverything(strategy).length;
    const until = clock.now() + clock.machine(flattenMs);
    const last = clock.now() + clock.machine(longestFlattenMs);
    const begun = flattening.begin({ strategy, symbol, by, reason, worst, until, last, inSpiteOf });
    flattening.wait(begun, blockOf(begun) !== undefined);
    const what = base === 0n ? 'cancels its orders' : `closes ${unitsText(base)} ${at.base}`;
    const limit = base === 0n ? '' : `, no worse than ${priceText(worst, at)}`;
    const text = `flatten of ${flattenName(begun)}: ${what}${limit}`;
    notice({ level: 'warn', text, typed: reason });
    const name = nameOf({ strategy, symbol });
    const ended = waiting.get(name) ?? Promise.withResolvers<string>();
    waiting.set(name, ended);
    return ended.promise;
  }
  return {
    flatten(asked, pauses = []) {
      const open = portfolio.subAccounts().filter((one) => isAsked(one, asked) && isOpen(one, portfolio));
      const ended = open.map((one) => begin(one, asked));
      // After the flattens: the first kill writes what was appended. So a crash leaves the pauses and the flattens, or neither.
      if (pauses.length > 0) void kill(...pauses);
      for (const flatten of flattening.active) if (isAsked(flatten, asked)) plan(flatten);
      return ended;
    },
    goOn() {
      for (const flatten of flattening.active) {
        flattening.wait(flatten, blockOf(flatten) !== undefined);
        plan(flatten);
      }
      for (const flatten of flattening.finished()) {
        const text = endText(flatten, book, halts.against() ?? unsentText(blockOf(flatten)));
        notice({ level: 'warn', text: `flatten of ${flatten.strategy} on ${flatten.symbol} has ended: ${text}` });
        waiting.get(nameOf(flatten))?.resolve(text);
        waiting.delete(nameOf(flatten));
      }
    },
  };
}

const isAsked = ({ strategy, symbol }: PositionKey, asked: FlattenAsked): boolean =>
  (asked.strategy ?? strategy) === strategy && (asked.symbol ?? symbol) === symbol;

const isOpen = (position: PositionKey, portfolio: TradingComponents['portfolio']): boolean =>
  portfolio.ordersOf(position.strategy, position.symbol).length > 0 || !isTooSmall(portfolio, position);

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
