/** The standing signal of each strategy at each symbol, its size in lots, and the next step towards it. */
import { type Lots, lotsIn, minus, noLots, noUnits, plus, priceText } from '../domain/money.ts';
import { type Decision, type Fill, type Leg, sameSignal, sameSize, sizeValue, type Target } from '../domain/order.ts';
import { ByPosition } from './by-position.ts';
import { Expiries, enteredOf, isSameEntry, never } from './expiries.ts';
import {
  asMoved,
  type Create,
  isReached,
  isUndecided,
  isWhole,
  noDrafts,
  noOverride,
  type OrderDraft,
  type ProtectionOverride,
  planQuotes,
  planTarget,
  type Situation,
  type Step,
} from './plan.ts';
import type { PlannerOptions } from './planner-options.ts';
import { canPay } from './pool-exposure.ts';
import type { WorkingOrder } from './portfolio.ts';
import { isOfLimit, makingStep } from './post-only.ts';
import { type KeptEntry, mayMove, type Settled, type Standing } from './standing.ts';
import { StrategyMemories } from './strategy-memories.ts';
import type { SubAccount } from './sub-account.ts';
import { inAmount, sizeInLots } from './target-size.ts';
import { quotesTooSmall, targetTooSmall, type Unsent, UnsentReports, withheld } from './too-small.ts';

export type { PlannerOptions, Restriction } from './planner-options.ts';

export class Planner {
  readonly memories: StrategyMemories;
  readonly expiries: Expiries;
  readonly #options: PlannerOptions;
  readonly #standing = new ByPosition<Standing>();
  /** By strategy. */
  readonly #waiting = new Map<string, Pick<Decision, 'legs'>>();
  /** Number of decisions so far. */
  #decisions = 0;
  #mayChange: boolean | undefined;
  readonly #unsent: UnsentReports;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.memories = new StrategyMemories(options.remembered);
    this.expiries = new Expiries(this.#standing, options.entryKept);
    this.#unsent = new UnsentReports(options.unsent);
  }

  /** The last signal of a strategy at a symbol. */
  standing(strategy: string, symbol: string): Leg | undefined {
    return this.#standing.get(strategy, symbol)?.leg;
  }

  /** What stands at a symbol; undefined before the first signal of a strategy there. */
  at(strategy: string, symbol: string): Standing | undefined {
    return this.#standing.get(strategy, symbol);
  }

  /**
   * True if the leg repeats the current signal and nothing needs to be ordered at this price. Then the leg is kept as the current one, as by `note`. For
   * strategies of many markets, most legs of which change nothing.
   */
  repeats(standing: Standing, leg: Leg, price: number | undefined): boolean {
    if (!sameSignal(standing.leg.signal, leg.signal) || !this.isSettled(standing, price)) return false;
    standing.leg = leg;
    this.memories.keep(leg.strategy, leg);
    return true;
  }

  /** Makes the signals of a decision the standing ones. False when they stand already and `plan` would give nothing. */
  note(decision: Decision): boolean {
    let isOpen = false;
    const before = this.#decisions;
    this.#mayChange = undefined;
    for (const leg of decision.legs) if (this.#note(leg, before + 1)) isOpen = true;
    return isOpen;
  }

  #note(leg: Leg, decision: number): boolean {
    const { signal } = leg;
    const known = this.#standing.get(leg.strategy, leg.symbol);
    const before = known?.leg.signal;
    if (known !== undefined && before !== undefined && sameSignal(before, signal)) {
      known.leg = leg;
      if (leg.at >= known.expiresAt) this.expiries.pass(known, leg.at);
      // What has no size yet is not journalled yet.
      if (signal.kind === 'quotes' || known.lots !== undefined) this.memories.keep(leg.strategy, leg);
      return !this.isSettled(known, this.#options.portfolio.lastMark(leg.symbol)?.price);
    }
    this.#mayChange ??= this.#options.mayChange?.(leg) ?? true;
    if (!this.#mayChange) return false;
    this.#decisions = decision;
    const isSameSize = before?.kind === 'target' && signal.kind === 'target' && sameSize(before.size, signal.size);
    // A stop that moves with every kline must not resize a share of equity with every kline.
    if (known === undefined || !isSameSize || known.lots === undefined)
      return this.#begin(leg, decision, known?.subAccount);
    if (!mayMove(known, before, signal)) known.settled = undefined;
    this.#replace(known, leg, signal);
    this.#changed(leg, known.lots, decision);
    return !this.isSettled(known, this.#options.portfolio.lastMark(leg.symbol)?.price);
  }

  /** A target of the same size takes the place of the one that stands. */
  #replace(known: Standing, leg: Leg, target: Target): void {
    const before = known.leg.signal;
    known.leg = leg;
    known.decision = this.#decisions;
    if (isSameEntry(before, target)) this.expiries.pass(known, leg.at);
    else this.expiries.begin(known, leg.at);
    this.#options.protection.follow(leg.strategy, leg.symbol, target);
  }

  /** The prices of a standing target have moved so often, and are now those of `target`. Nothing is to be done about it, and it is recorded already. */
  moved(standing: Standing, leg: Leg, target: Target, times: number): void {
    this.#decisions += times;
    this.#replace(standing, leg, target);
    this.memories.keep(leg.strategy, leg);
  }

  /** Number of the last decision. */
  get decisions(): number {
    return this.#decisions;
  }

  #begin(
    leg: Leg,
    decision: number,
    subAccount: SubAccount = this.#options.portfolio.subAccount(leg.strategy, leg.symbol),
  ): true {
    const { signal } = leg;
    const standing = this.#stand(subAccount, leg, undefined, decision);
    this.expiries.begin(standing, leg.at);
    if (signal.kind === 'target') {
      this.#options.protection.follow(leg.strategy, leg.symbol, signal);
      this.#size(standing, signal);
    } else this.#changed(leg, undefined, decision);
    return true;
  }

  /** What is kept goes into the same transaction as its signal. */
  #changed(leg: Leg, lots: Lots | undefined, decision: number): void {
    this.#options.changed(leg, lots, decision);
    this.memories.keep(leg.strategy, leg);
  }

  /** Puts back the last signal of a journal, so that repeating it after a restart keeps its size, and what was kept of its entry. */
  restore(leg: Leg, lots: Lots, decision: number, entry: KeptEntry = {}): void {
    this.#decisions = Math.max(this.#decisions, decision);
    const subAccount = this.#options.portfolio.subAccount(leg.strategy, leg.symbol);
    this.expiries.restore(this.#stand(subAccount, leg, lots, decision), entry);
  }

  /** Takes the place of what stood there. */
  #stand(subAccount: SubAccount, leg: Leg, lots: Lots | undefined, decision: number): Standing {
    const { strategy, symbol } = leg;
    const fresh = { byAmount: false, settled: undefined, expiresAt: never, isExpired: false, movedTo: undefined };
    const standing = { subAccount, leg, decision, lots, ...fresh };
    const known = this.#standing.get(strategy, symbol);
    if (known !== undefined) return Object.assign(known, standing);
    this.#standing.set(strategy, symbol, standing);
    return standing;
  }

  /**
   * The next step of a decision; undefined when there is none, or none may be taken yet. `refused` is what a rule or the exchange
   * refused since the decision began to be carried out: it is not planned again.
   */
  plan(decision: Pick<Decision, 'legs'>, refused: readonly OrderDraft[] = noDrafts): Step | undefined {
    const { legs } = decision;
    return legs.length === 1 ? this.#plan(legs[0], refused) : this.#planLegs(decision, refused);
  }

  /** Of several legs, what leaves a position comes first: it pays for what enters one. */
  #planLegs(decision: Pick<Decision, 'legs'>, refused: readonly OrderDraft[]): Step | undefined {
    const { portfolio } = this.#options;
    const { strategy } = decision.legs[0];
    const entries: Create[] = [];
    let isFreeing = false;
    this.#waiting.delete(strategy);
    for (const leg of decision.legs) {
      const own = refused.length === 0 ? refused : refused.filter(({ symbol }) => symbol === leg.symbol);
      const step = this.#plan(leg, own);
      if (step?.do === 'cancel' || (step !== undefined && step.draft.purpose !== 'enter')) return step;
      if (step !== undefined) entries.push(step);
      isFreeing ||= portfolio.ordersOf(strategy, leg.symbol).some(freesMoney);
    }
    const [first] = entries;
    if (first === undefined || !isFreeing) return first;
    const paid = entries.find(({ draft }) => canPay(portfolio, draft, this.#options.maxLeverage));
    if (paid === undefined) this.#waiting.set(strategy, decision);
    return paid;
  }

  /** What stands now of a decision of which a purchase waits for sales on other symbols to pay for it. */
  waiting(strategy: string): Pick<Decision, 'legs'> | undefined {
    const waiting = this.#waiting.get(strategy);
    if (waiting === undefined) return undefined;
    const [first, ...others] = waiting.legs.map((leg) => this.standing(strategy, leg.symbol) ?? leg);
    return { legs: [first as Leg, ...others] };
  }

  #plan({ strategy, symbol }: Leg, refused: readonly OrderDraft[]): Step | undefined {
    const { portfolio, protection } = this.#options;
    const standing = this.#standing.get(strategy, symbol);
    if (standing === undefined) return undefined;
    const mark = portfolio.lastMark(symbol);
    if (mark === undefined || this.isSettled(standing, mark.price)) return undefined;
    const { signal } = standing.leg;
    const flattening = this.#options.flattening?.();
    const flatten = flattening?.of(strategy, symbol);
    const override = signal.kind === 'quotes' ? noOverride : protection.override(strategy, symbol, signal);
    if (flattening !== undefined && flatten !== undefined && !flattening.givesWay(flatten, override.exit)) {
      const step = flattening.step(flatten, this.#situation(standing, mark.price, false), refused);
      return step?.do === 'create' && portfolio.isUndecided(symbol) ? undefined : step;
    }
    // A target needs one order at a time, so nothing comes after a refusal; but each of its take-profits stands for itself.
    if (signal.kind === 'target' && refused.some(({ purpose }) => purpose !== 'takeProfit')) return undefined;
    // While an outcome is unknown nothing is created on its symbol; what rests there may still be cancelled.
    const blocked = portfolio.isUndecided(symbol);
    const restriction = signal.kind === 'target' ? this.#options.restriction?.(strategy) : undefined;
    const situation = this.#situation(standing, mark.price, blocked, restriction?.may);
    if (standing.byAmount && situation.held !== 0n) {
      standing.lots = lotsIn(situation.held, situation.instrument);
      standing.byAmount = false;
    }
    const sized = signal.kind === 'quotes' ? noLots : (standing.lots ?? this.#size(standing, signal));
    const entered = standing.isExpired ? enteredOf(sized, override.taken, standing) : sized;
    const lots = isWhole(entered, sized, situation) ? sized : entered;
    const step =
      signal.kind === 'quotes'
        ? planQuotes(signal, situation, refused)
        : planTarget(asMoved(signal, standing), lots, override, situation, refused);
    if (blocked) return step?.do === 'cancel' ? step : undefined;
    if (restriction !== undefined && signal.kind === 'target') {
      // An order under way may be what it would withhold; once that is decided, the next plan reports.
      if (isUndecided(situation.orders)) return step;
      const unsentAt = (price: number): readonly Unsent[] => {
        const aimed = (may: Situation['may']): Step | undefined =>
          planTarget(asMoved(signal, standing), lots, override, { ...situation, orders: [], may, price });
        return withheld(aimed('all'), aimed(restriction.may), restriction);
      };
      const unsent = step?.do === 'cancel' ? [] : unsentAt(situation.price);
      this.#unsent.see(unsent, strategy, symbol);
      const isSame = (price: number): boolean => unsentAt(price).length === unsent.length;
      if (step === undefined && refused.length === 0) this.#settle(standing, lots, override, situation, isSame);
      return step;
    }
    if (step === undefined)
      this.#unsent.see(
        signal.kind === 'quotes'
          ? quotesTooSmall(signal, situation)
          : targetTooSmall(signal, standing.isExpired ? sized : lots, override, situation),
        strategy,
        symbol,
      );
    if (step === undefined && refused.length === 0) this.#settle(standing, lots, override, situation);
    if (step?.do !== 'create' || signal.kind === 'quotes') return step;
    if (signal.postOnly === true && isOfLimit(step))
      return makingStep(standing, step, situation, this.#options.best?.(symbol), this.expiries);
    if (this.#options.sizing?.atFill !== true) return step;
    return inAmount(standing, situation.held, step, () => portfolio.equity(strategy, symbol));
  }

  /** Counts a fill that was booked. A position that its take-profit closed stays closed until the strategy changes its target. */
  booked({ purpose, strategy, symbol, side, quantity, price, time, clientOrderId }: Fill): void {
    if (purpose !== 'takeProfit') return;
    const { portfolio, protection } = this.#options;
    const signal = this.standing(strategy, symbol)?.signal;
    // It filled while its cancel was under way, and the target has turned round: nothing of the new one is taken.
    if (signal?.kind === 'target' && sizeValue(signal.size) * (side === 'SELL' ? 1 : -1) < 0) return;
    protection.tookProfit(strategy, symbol, quantity);
    const order = portfolio.order(clientOrderId);
    if (signal?.kind !== 'target' || (order !== undefined && order.filled < order.intent.expectedLots)) return;
    if (!protection.hasTakenAll(strategy, symbol, this.#standing.get(strategy, symbol)?.lots ?? noLots)) return;
    const why = `profit was taken at ${priceText(price, portfolio.instrument(symbol))}`;
    protection.exit(strategy, symbol, signal.size, why, time);
  }

  /** After an exit the standing target may be entered again, from UTC ms on: it is sized anew. */
  sizeAnew(strategy: string, symbol: string, now: number): void {
    const standing = this.#standing.get(strategy, symbol);
    if (standing === undefined) return;
    standing.lots = undefined;
    standing.settled = undefined;
    this.expiries.begin(standing, now);
  }

  /** A limit reduced an order: the target is smaller by as much, or the rest would be ordered next. */
  reduced({ strategy, symbol, side, expectedLots, reduced }: OrderDraft): void {
    const standing = this.#standing.get(strategy, symbol);
    if (standing?.lots === undefined || reduced === undefined) return;
    const less = minus(reduced.from, expectedLots);
    standing.lots = side === 'BUY' ? minus(standing.lots, less) : plus(standing.lots, less);
    this.#options.changed(standing.leg, standing.lots, standing.decision);
  }

  /** Something else than a fill or a price changed what is left to do. */
  wake(strategy: string, symbol: string): void {
    const standing = this.#standing.get(strategy, symbol);
    if (standing !== undefined) standing.settled = undefined;
  }

  /**
   * The price range in which nothing needs to be planned until the signal, the position, its orders or its protection change;
   * undefined where something has to be done.
   */
  settled(strategy: string, symbol: string): Settled | undefined {
    const standing = this.#standing.get(strategy, symbol);
    const price = this.#options.portfolio.lastMark(symbol)?.price;
    return standing !== undefined && this.isSettled(standing, price) ? standing.settled : undefined;
  }

  /** Whether nothing has to be done about what stands, at a price. */
  isSettled({ subAccount, leg, settled }: Standing, price: number | undefined): boolean {
    return (
      settled !== undefined &&
      price !== undefined &&
      (settled.may === 'all' || settled.may === this.#options.restriction?.(leg.strategy)?.may) &&
      settled.revision === subAccount.revision &&
      price >= settled.from &&
      price <= settled.to
    );
  }

  /** Nothing is to be done at this price. The exchange's minimum in quote depends on it, so both ends of a range are tried, too: also by `isSame`. */
  #settle(
    standing: Standing,
    lots: Lots,
    override: ProtectionOverride,
    situation: Situation,
    isSame?: (price: number) => boolean,
  ): void {
    const { signal } = standing.leg;
    if (isUndecided(situation.orders)) return;
    const { may } = situation;
    const at = { revision: standing.subAccount.revision, may };
    const isBound = situation.orders.length > 0 || override.takeProfits.length > 0 || override.exit !== undefined;
    const hasRange = signal.kind === 'target' && (isBound || isSame !== undefined);
    const isThere = signal.kind === 'target' && isReached(signal, lots, override, situation);
    if (!hasRange) {
      const to = Number.POSITIVE_INFINITY;
      standing.settled = { ...at, from: 0, to, mayMoveExits: isThere, mayMoveLimit: isThere };
      return;
    }
    const [from, to] = [situation.price / 2, situation.price * 2];
    const isQuiet = (price: number): boolean =>
      planTarget(asMoved(signal, standing), lots, override, { ...situation, price }) === undefined &&
      isSame?.(price) !== false;
    if (!isQuiet(from) || !isQuiet(to)) return;
    const mayMoveExits = override.exit === undefined || isThere;
    standing.settled = { ...at, from, to, mayMoveExits, mayMoveLimit: isThere };
  }

  /** Gives a new target its size in lots; without a price the first plan that has one does. */
  #size(standing: Standing, signal: Target): Lots {
    const { portfolio, account } = this.#options;
    const { strategy, symbol } = standing.leg;
    const { instrument } = standing.subAccount;
    const mark = portfolio.lastMark(symbol);
    if (mark === undefined) return noLots;
    // Only a share needs the equity, which is exact and expensive.
    const equity = 'share' in signal.size ? portfolio.equity(strategy, symbol) : noUnits;
    const lots = sizeInLots(signal, equity, { account, instrument, price: mark.price }, this.#options.sizing);
    standing.lots = lots;
    this.#changed(standing.leg, lots, standing.decision);
    return lots;
  }

  #situation(
    { leg, decision, subAccount }: Standing,
    price: number,
    blocked: boolean,
    may: Situation['may'] = 'all',
  ): Situation {
    const { strategy, role } = leg;
    const { account, marketBuyIn, feeInBase } = this.#options;
    const { instrument, orders, position } = subAccount;
    return {
      may,
      decision,
      strategy,
      role,
      account,
      instrument,
      held: position.base,
      orders: blocked ? orders.filter(({ state }) => state !== 'unknown' && state !== 'quarantined') : orders,
      price,
      marketBuyIn,
      feeInBase,
    };
  }
}

/** True if the order frees money soon: an exit, or an order that is being cancelled. A take-profit may rest for ever, and a filled order has freed its money. */
const freesMoney = ({ intent: { purpose, expectedLots }, cancelRequested, filled }: WorkingOrder): boolean =>
  filled < expectedLots && (purpose === 'exit' || purpose === 'stop' || cancelRequested);
