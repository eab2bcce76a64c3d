/** Each strategy's standing wish: its last signal, the size it was given, and what protection makes of it. */
import type { Lots, Rate } from '../domain/money.ts';
import { cut, lotsIn, noLots, noUnits, part, rateOf } from '../domain/money.ts';
import {
  type Account,
  type Denial,
  type Quote,
  type Signal,
  sameGoal,
  type Target,
  type Want,
} from '../domain/order.ts';
import { quotesTooSmall, type TooSmall, targetTooSmall } from './below-minimum.ts';
import { ByPosition } from './by-position.ts';
import {
  goalLots,
  isUndecided,
  noDrafts,
  noOverride,
  type OrderDraft,
  type ProtectionOverride,
  planQuotes,
  planTarget,
  type Situation,
  type Sizing,
  type Step,
} from './plan.ts';
import type { Portfolio } from './portfolio.ts';
import type { Protection } from './protection.ts';

export interface PlannerOptions {
  readonly portfolio: Portfolio;
  readonly protection: Protection;
  readonly account: Account;
  readonly marketBuyIn: 'amount' | 'lots';
  readonly feeInBase: Rate;
  /** By the price alone when left out. */
  readonly sizing?: Sizing;
  /** Told of each wish that differs from the one before, with the size of its goal. */
  readonly changed: (signal: Signal, goal: Lots | undefined) => void;
  /** Told of an order that is wished and too small for the exchange: once, until it is not any more. */
  readonly tooSmall: (draft: OrderDraft, denial: Denial) => void;
}

interface Standing {
  signal: Signal;
  /** Sized once, at the first price at which the wish stands: a share of equity is not rebalanced with every price. */
  goal: Lots | undefined;
  /** Its entry was ordered as an amount: what it buys is the goal. */
  byAmount?: boolean;
  /** When the last plan found nothing to do; undefined when something may be. */
  settled: Settled | undefined;
}

/** Nothing has to be done about a target or quotes while these numbers stay and the price lies between the two. */
interface Settled {
  readonly version: number;
  readonly revision: number;
  readonly from: number;
  readonly to: number;
}

export class Planner {
  readonly #options: PlannerOptions;
  readonly #standing = new ByPosition<Standing>();
  /** What was told to be too small, by place: a wish that moves with every kline would fill the journal with it. */
  readonly #toldOf = new ByPosition<ReadonlySet<string>>();

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** The last signal of a strategy, to be carried out again when something else than the strategy asks for it. */
  standing(strategy: string, symbol: string): Signal | undefined {
    return this.#standing.get(strategy, symbol)?.signal;
  }

  /** Takes a signal as the strategy's wish from now on. False when it is the one that rests already: `plan` would give nothing. */
  note(signal: Signal): boolean {
    const known = this.#standing.get(signal.strategy, signal.symbol);
    if (known !== undefined && sameWant(known.signal.want, signal.want)) {
      known.signal = signal;
      return !this.#isSettled(known, this.#options.portfolio.lastMark(signal.symbol)?.price);
    }
    const { want } = signal;
    // A stop that moves with every kline must not resize a share of equity with every kline.
    const before = known?.signal.want;
    const goal =
      before?.kind === 'target' && want.kind === 'target' && sameGoal(before.goal, want.goal) ? known?.goal : undefined;
    let standing = known;
    if (standing === undefined || goal === undefined) {
      standing = { signal, goal, settled: undefined };
      this.#standing.set(signal.strategy, signal.symbol, standing);
    } else {
      standing.signal = signal;
      standing.settled = undefined;
    }
    if (want.kind === 'target') {
      this.#options.protection.follow(signal.strategy, signal.symbol, want);
      if (goal === undefined) this.#size(standing, want);
      else this.#options.changed(signal, goal);
    } else this.#options.changed(signal, undefined);
    return true;
  }

  /** Puts back the last wish that a journal kept, so that repeating it after a restart keeps its size. */
  restore(signal: Signal, goal: Lots): void {
    this.#standing.set(signal.strategy, signal.symbol, { signal, goal, settled: undefined });
  }

  /**
   * The next thing to do about a strategy's wish; undefined when nothing is, or nothing may be yet. `denied` is what a rule or
   * the exchange refused since this wish began to be carried out: it is not asked for again before the next time.
   */
  plan(signal: Signal, denied: readonly OrderDraft[] = noDrafts): Step | undefined {
    const { portfolio, protection } = this.#options;
    const { strategy, symbol } = signal;
    const standing = this.#standing.get(strategy, symbol);
    if (standing === undefined) return undefined;
    const mark = portfolio.lastMark(symbol);
    if (mark === undefined || this.#isSettled(standing, mark.price)) return undefined;
    const { want } = standing.signal;
    // A target wishes for one order at a time, so nothing comes after it.
    if (denied.length > 0 && want.kind === 'target') return undefined;
    // While an outcome is unknown nothing is created on its symbol; what rests there may still be cancelled.
    const blocked = portfolio.isUndecided(symbol);
    const situation = this.#situation(strategy, symbol, mark.price, blocked);
    if (standing.byAmount === true && situation.held !== 0n) {
      standing.goal = lotsIn(situation.held, situation.instrument);
      standing.byAmount = false;
    }
    const goal = want.kind === 'quotes' ? noLots : (standing.goal ?? this.#size(standing, want));
    const override = want.kind === 'quotes' ? noOverride : protection.override(strategy, symbol, want);
    const step =
      want.kind === 'quotes' ? planQuotes(want, situation, denied) : planTarget(want, goal, override, situation);
    if (blocked) return step?.do === 'cancel' ? step : undefined;
    if (step === undefined)
      this.#tell(
        want.kind === 'quotes' ? quotesTooSmall(want, situation) : targetTooSmall(want, goal, override, situation),
        strategy,
        symbol,
      );
    if (step === undefined && denied.length === 0) this.#settle(standing, goal, override, situation);
    return step?.do === 'create' && this.#options.sizing?.atFill === true
      ? this.#byAmount(standing, situation, step)
      : step;
  }

  /** What is not too small any more is told of anew when it is so again. */
  #tell(small: readonly TooSmall[], strategy: string, symbol: string): void {
    const before = this.#toldOf.get(strategy, symbol);
    if (small.length === 0) {
      if (before !== undefined) this.#toldOf.delete(strategy, symbol);
      return;
    }
    const told = new Set<string>();
    for (const { draft, denial } of small) {
      const what = `${draft.purpose} ${draft.side}`;
      if (before?.has(what) !== true && !told.has(what)) this.#options.tooSmall(draft, denial);
      told.add(what);
    }
    this.#toldOf.set(strategy, symbol, told);
  }

  /** An entry at market by a share of the equity, as the amount of that share; any other step as it is. */
  #byAmount(standing: Standing, { held, instrument: at }: Situation, step: Step & { readonly do: 'create' }): Step {
    const { want } = standing.signal;
    const { side, type, strategy, symbol } = step.draft;
    if (want.kind !== 'target' || !('share' in want.goal) || held !== 0n || side !== 'BUY' || type !== 'MARKET')
      return step;
    const share = part(this.#options.portfolio.equity(strategy, symbol), rateOf(want.goal.share), 'down');
    standing.byAmount = true;
    return { do: 'create', draft: { ...step.draft, volume: { amount: cut(share, at.pricePrecision) } } };
  }

  /** Something else than a fill or a price changed what a wish comes to. */
  wake(strategy: string, symbol: string): void {
    const standing = this.#standing.get(strategy, symbol);
    if (standing !== undefined) standing.settled = undefined;
  }

  /**
   * Nothing needs to be planned for a strategy until it wants something else, its position or its orders change, protection closes the
   * position, or the price leaves this range. undefined where something has to be done.
   */
  settled(strategy: string, symbol: string): { readonly from: number; readonly to: number } | undefined {
    const standing = this.#standing.get(strategy, symbol);
    const price = this.#options.portfolio.lastMark(symbol)?.price;
    return standing !== undefined && this.#isSettled(standing, price) ? standing.settled : undefined;
  }

  #isSettled({ signal: { strategy, symbol }, settled }: Standing, price: number | undefined): boolean {
    if (settled === undefined || price === undefined) return false;
    const { portfolio, protection } = this.#options;
    return (
      settled.version === portfolio.version(strategy, symbol) &&
      settled.revision === protection.revision &&
      price >= settled.from &&
      price <= settled.to
    );
  }

  /** Nothing is to be done at this price. The exchange's minimum in quote depends on it: where that may matter the range is asked, too. */
  #settle(standing: Standing, goal: Lots, override: ProtectionOverride, situation: Situation): void {
    const { want, strategy, symbol } = standing.signal;
    if (isUndecided(situation.orders)) return;
    const { portfolio, protection } = this.#options;
    const at = { version: portfolio.version(strategy, symbol), revision: protection.revision };
    const hasRange =
      want.kind === 'target' &&
      (situation.orders.length > 0 || override.takeProfit !== undefined || override.leave !== undefined);
    if (!hasRange) {
      standing.settled = { ...at, from: 0, to: Number.POSITIVE_INFINITY };
      return;
    }
    const [from, to] = [situation.price / 2, situation.price * 2];
    const isQuiet = (price: number): boolean => planTarget(want, goal, override, { ...situation, price }) === undefined;
    if (isQuiet(from) && isQuiet(to)) standing.settled = { ...at, from, to };
  }

  /** Gives a new wish its size. Before the first price there is none: then the first plan that has a price gives it. */
  #size(standing: Standing, want: Target): Lots {
    const { portfolio, account, changed } = this.#options;
    const { strategy, symbol } = standing.signal;
    const mark = portfolio.lastMark(symbol);
    if (mark === undefined) return noLots;
    // Only a share of the equity needs the equity, which is exact and dear.
    const equity = 'share' in want.goal ? portfolio.equity(strategy, symbol) : noUnits;
    const goal = goalLots(
      want,
      equity,
      { account, instrument: portfolio.instrument(symbol), price: mark.price },
      this.#options.sizing,
    );
    standing.goal = goal;
    changed(standing.signal, goal);
    return goal;
  }

  #situation(strategy: string, symbol: string, price: number, blocked: boolean): Situation {
    const { portfolio, account, marketBuyIn, feeInBase } = this.#options;
    const orders = portfolio.ordersOf(strategy, symbol);
    return {
      strategy,
      account,
      instrument: portfolio.instrument(symbol),
      held: portfolio.position(strategy, symbol).base,
      orders: blocked ? orders.filter(({ state }) => state !== 'unknown' && state !== 'quarantined') : orders,
      price,
      marketBuyIn,
      feeInBase,
    };
  }
}

/** True when two wants ask for the same world; their reasons may differ. */
export function sameWant(a: Want, b: Want): boolean {
  if (a === b) return true;
  if (a.kind === 'target' && b.kind === 'target') {
    return (
      sameGoal(a.goal, b.goal) &&
      a.limit === b.limit &&
      a.stop === b.stop &&
      a.takeProfit === b.takeProfit &&
      a.trailing === b.trailing &&
      a.exitAfterMs === b.exitAfterMs
    );
  }
  if (a.kind === 'quotes' && b.kind === 'quotes') {
    return a.quotes.length === b.quotes.length && a.quotes.every((quote, index) => sameQuote(quote, b.quotes[index]));
  }
  return false;
}

const sameQuote = (a: Quote, b: Quote | undefined): boolean =>
  b !== undefined && a.side === b.side && a.price === b.price && a.quantity === b.quantity;
