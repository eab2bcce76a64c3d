/**
 * Margin in backtests, by the configured rules: what strategies borrow, their interest, and liquidations. Each strategy is liable for its
 * own positions alone: those of a strategy of several markets are one account.
 */
import type { SimClock } from '../../clock/sim-clock.ts';
import type { Kline } from '../../domain/market.ts';
import {
  feeOn,
  negate,
  noRate,
  notional,
  noUnits,
  plus,
  priceNumber,
  rateText,
  timesRate,
  type Units,
  unitsText,
  worth,
} from '../../domain/money.ts';
import { decisionOf, type Fill, mainRole, type Signal } from '../../domain/order.ts';
import type { Stop } from '../../fill/orders.ts';
import { orLiquidation } from '../../fill/stops.ts';
import type { Entry } from '../../journal/entries.ts';
import { ByPosition } from '../../portfolio/by-position.ts';
import type { ArmedStop } from '../../portfolio/protection.ts';
import type { SubAccount } from '../../portfolio/sub-account.ts';
import type { Assembled } from '../../trading/assemble.ts';
import type { Charge, MarginRules, MarginSums } from '../prepare/run-money.ts';
import type { RunInput } from '../run.ts';
import {
  dueAt,
  hasOthers,
  maxOwedOf,
  nothingOwed,
  type Owed,
  owe,
  oweAfter,
  periodsUntil,
  ruinOf,
} from './margin-pool.ts';

/** What a strategy owes at one of its markets. */
interface Debt {
  /** In quote, of all its markets together: the same of each. */
  readonly quote: Owed;
  readonly base: Owed;
  /** The exchange is leaving its position: what that sells pays the fee. */
  isExiting: boolean;
}

/** When a strategy was liquidated, UTC ms, and the market that reached the price. */
interface Liquidation {
  readonly symbol: string;
  readonly at: number;
}

/** Prices between which nothing is liquidated: long positions at those above one, short ones at those below the other. */
export interface Held {
  readonly above: number;
  readonly below: number;
}

interface MarginParts {
  readonly clock: SimClock;
  readonly assembled: Pick<Assembled, 'portfolio' | 'planner' | 'protection' | 'hitStop'>;
  /** Moves money of the account. */
  readonly transfer: (asset: string, amount: Units) => unknown;
  readonly write: (entry: Entry) => void;
}

/** Who charges and liquidates by the rules of a run; undefined on spot. */
export function marginOn(
  { margin }: Pick<RunInput, 'margin'>,
  clock: SimClock,
  assembled: MarginParts['assembled'],
  write: (entry: Entry) => void,
  venue: { transfer(asset: string, amount: Units): boolean },
): MarginAccounts | undefined {
  if (margin === undefined) return undefined;
  const transfer = (asset: string, amount: Units): boolean => venue.transfer(asset, amount);
  return new MarginAccounts(margin, { clock, assembled, transfer, write });
}

export class MarginAccounts {
  readonly #rules: MarginRules;
  readonly #parts: MarginParts;
  readonly #debts = new ByPosition<Debt>();
  readonly #charges: Charge[] = [];
  /** Of each strategy the last. */
  readonly #liquidated = new Map<string, Liquidation>();
  readonly #sums = { interest: noUnits, liquidationFees: noUnits, liquidations: 0 };

  constructor(rules: MarginRules, parts: MarginParts) {
    this.#rules = rules;
    this.#parts = parts;
    const now = parts.clock.now();
    const pools = new Map<string, Owed>();
    for (const { strategy, symbol } of parts.assembled.portfolio.subAccounts()) {
      const quote = pools.get(strategy) ?? nothingOwed(now);
      pools.set(strategy, quote);
      this.#debts.set(strategy, symbol, { quote, base: nothingOwed(now), isExiting: false });
    }
  }

  result(): MarginSums & { readonly charges: readonly Charge[] } {
    return { ...this.#sums, charges: this.#charges };
  }

  /** Between which prices every position on the symbol is held; undefined where none could be liquidated. */
  held(symbol: string): Held | undefined {
    const { portfolio } = this.#parts.assembled;
    const at = portfolio.instrument(symbol);
    let [above, below] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    // Where the prices of other markets decide as well, no price of this one is far enough from it.
    for (const { strategy } of this.#debts.on(symbol)) {
      const subAccount = portfolio.subAccount(strategy, symbol);
      if (!subAccount.isFlat && hasOthers(subAccount)) above = Number.POSITIVE_INFINITY;
    }
    for (const { side, price } of this.#ruins(symbol)) {
      if (side === 'SELL') above = Math.max(above, priceNumber(price, at));
      else below = Math.min(below, priceNumber(price, at));
    }
    return above === Number.NEGATIVE_INFINITY && below === Number.POSITIVE_INFINITY ? undefined : { above, below };
  }

  /** A price at the exchange, or the best of a book: it liquidates what that ruins at the market, an order's way from now. */
  liquidateRuined(symbol: string, bid: number, ask = bid): void {
    const at = this.#parts.assembled.portfolio.instrument(symbol);
    for (const { strategy, side, price } of this.#ruins(symbol)) {
      const level = priceNumber(price, at);
      if (side === 'SELL' ? bid <= level : ask >= level)
        this.liquidateAll(strategy, symbol, side === 'SELL' ? bid : ask);
    }
  }

  /** The exchange liquidates all positions of a strategy at the market, for a price that one of its markets has reached. */
  liquidateAll(strategy: string, symbol: string, price: number): void {
    const { assembled, clock } = this.#parts;
    const { portfolio, planner } = assembled;
    const { subAccounts } = portfolio.subAccount(strategy, symbol).pool;
    const ratio = rateText(this.#rules.maintenanceRatio);
    const [where, what] = subAccounts.length > 1 ? [` of ${symbol}`, 'positions'] : ['', 'position'];
    const why = `liquidated at ${price}${where}: equity fell below ${ratio} of the ${what}`;
    portfolio.mark(symbol, price, clock.now());
    this.#liquidated.set(strategy, { symbol, at: clock.now() });
    this.#liquidate(strategy, symbol, why);
    assembled.hitStop({ strategy, symbol }, why);
    for (const { instrument, isFlat } of subAccounts) {
      const other = instrument.symbol;
      // What is not entered yet is not entered any more either.
      if (other === symbol || (isFlat && planner.standing(strategy, other) === undefined)) continue;
      this.#liquidate(strategy, other, why);
      assembled.hitStop({ strategy, symbol: other }, why);
    }
  }

  /** Whether a position is liquidated at UTC ms for what another market reached. That market's own remainder waits for its next open, as after a stop. */
  isLiquidatedByAnother(strategy: string, symbol: string, at: number): boolean {
    const last = this.#liquidated.get(strategy);
    return last?.at === at && last.symbol !== symbol;
  }

  #ruins(symbol: string): readonly Stop[] {
    return this.#debts.on(symbol).flatMap(({ strategy }) => this.#ruin(strategy, symbol) ?? []);
  }

  /** Some position on the symbol could be liquidated. */
  isAtRisk(symbol: string): boolean {
    return this.#debts.on(symbol).some(({ strategy }) => this.#ruin(strategy, symbol) !== undefined);
  }

  /** The stops that a kline may set off: those of the strategies, and the prices at which the exchange leaves their positions. */
  stops(kline: Kline, armed: readonly ArmedStop[]): readonly (ArmedStop & Stop)[] {
    const { symbol } = kline;
    const { planner, portfolio } = this.#parts.assembled;
    const left = new Map(armed.map((stop) => [stop.strategy, stop]));
    const all: (ArmedStop & Stop)[] = [];
    for (const { strategy } of this.#debts.on(symbol)) {
      const ruin = this.#ruin(strategy, symbol);
      // A stop of a target that has given way to quotes leaves nothing.
      const own = planner.standing(strategy, symbol)?.signal.kind === 'target' ? left.get(strategy) : undefined;
      const at = portfolio.instrument(symbol);
      const first = ruin === undefined ? own : orLiquidation(kline, own, ruin, at);
      if (first !== undefined) all.push({ ...first, symbol });
    }
    return all;
  }

  /** Quotes give way to nothing, and a target stays left while the strategy repeats it. */
  #liquidate(strategy: string, symbol: string, why: string): void {
    const { assembled, clock } = this.#parts;
    const { planner, protection } = assembled;
    const debt = this.#debts.get(strategy, symbol);
    if (!assembled.portfolio.isFlat(strategy, symbol)) {
      if (debt !== undefined) debt.isExiting = true;
      this.#sums.liquidations++;
    }
    const standing = planner.standing(strategy, symbol);
    if (standing?.signal.kind !== 'target') {
      const flat: Signal = { kind: 'target', size: { quantity: 0 }, reason: why };
      planner.note(decisionOf({ strategy, role: standing?.role ?? mainRole, symbol, at: clock.now(), signal: flat }));
    }
    const signal = planner.standing(strategy, symbol)?.signal;
    if (signal?.kind === 'target') protection.guard(strategy, symbol, signal.size);
    planner.wake(strategy, symbol);
  }

  /** A fill that the portfolio has booked. */
  booked(fill: Fill): void {
    const { strategy, symbol } = fill;
    const { portfolio } = this.#parts.assembled;
    const debt = this.#debts.get(strategy, symbol);
    if (debt === undefined) return;
    if (fill.purpose !== 'stop') debt.isExiting = false;
    if (debt.isExiting) {
      const value = notional(fill.price, fill.quantity, portfolio.instrument(symbol));
      this.#charge(fill, 'liquidation', fill.time, feeOn(value, this.#rules.liquidationFee));
    }
    if (portfolio.isFlat(strategy, symbol)) debt.isExiting = false;
    const subAccount = portfolio.subAccount(strategy, symbol);
    if (subAccount.pool.subAccounts.length === 1) this.#owe(subAccount, debt);
    else {
      oweAfter(debt.quote, subAccount.pool.cash, fill.time);
      owe(debt.base, subAccount.position.base);
    }
  }

  /** When interest falls due next on a symbol, UTC ms; infinity where nothing is owed. `charge` has seen the last close. */
  interestDue(symbol: string): number {
    const { interestEveryMs } = this.#rules;
    let due = Number.POSITIVE_INFINITY;
    for (const { value } of this.#debts.on(symbol))
      due = Math.min(due, dueAt(value.quote, interestEveryMs), dueAt(value.base, interestEveryMs));
    return due;
  }

  /**
   * Interest that fell due by a kline's close, UTC ms, on the most that was owed since it was charged last: a begun hour counts whole. What
   * a strategy owes in quote is charged at the first close of any of its markets. True when anything was charged.
   */
  charge(symbol: string, at: number): boolean {
    let isCharged = false;
    for (const { strategy, value } of this.#debts.on(symbol)) {
      const amount = this.#interest(symbol, at, value);
      if (amount === undefined) continue;
      if (amount > 0n) {
        this.#charge({ strategy, symbol }, 'interest', at, amount);
        isCharged = true;
      }
      this.#owe(this.#parts.assembled.portfolio.subAccount(strategy, symbol), value);
    }
    return isCharged;
  }

  /** Undefined where no period has ended. */
  #interest(symbol: string, at: number, { quote, base }: Debt): Units | undefined {
    const { interestEveryMs, interest } = this.#rules;
    const [ofQuote, ofBase] = [periodsUntil(at, quote, interestEveryMs), periodsUntil(at, base, interestEveryMs)];
    if (ofQuote === 0 && ofBase === 0) return undefined;
    const { portfolio } = this.#parts.assembled;
    const instrument = portfolio.instrument(symbol);
    const price = portfolio.markTicks(symbol);
    const owedBase = price === undefined ? noUnits : worth(maxOwedOf(base), price, instrument);
    const amount = plus(
      feeOn(maxOwedOf(quote), timesRate(interest.get(instrument.quote) ?? noRate, ofQuote)),
      feeOn(owedBase, timesRate(interest.get(instrument.base) ?? noRate, ofBase)),
    );
    if (ofQuote > 0) quote.maxOwed = noUnits;
    if (ofBase > 0) base.maxOwed = noUnits;
    return amount;
  }

  #charge({ strategy, symbol }: Pick<Charge, 'strategy' | 'symbol'>, kind: Charge['kind'], at: number, amount: Units) {
    const { assembled, transfer, write } = this.#parts;
    const asset = assembled.portfolio.instrument(symbol).quote;
    assembled.portfolio.charge(strategy, symbol, amount);
    transfer(asset, negate(amount));
    const sum = kind === 'interest' ? 'interest' : 'liquidationFees';
    this.#sums[sum] = plus(this.#sums[sum], amount);
    this.#charges.push({ at, strategy, symbol, kind, asset, amount });
    const reason = `${kind === 'interest' ? 'interest' : 'liquidation fee'} of ${strategy} on ${symbol}`;
    const moved = unitsText(negate(amount));
    write({ kind: 'adjustment', at, what: 'adjust', asset, amount: moved, by: 'margin rules', reason });
  }

  #owe(subAccount: SubAccount, { quote, base }: Debt): void {
    owe(quote, subAccount.pool.cash);
    owe(base, subAccount.position.base);
  }

  /** At and beyond which price the exchange leaves a position that is not being left already. */
  #ruin(strategy: string, symbol: string): Stop | undefined {
    const { portfolio, planner, protection } = this.#parts.assembled;
    if (portfolio.isFlat(strategy, symbol)) return undefined;
    const isLeft = protection.isExiting(strategy, symbol);
    if (isLeft && planner.standing(strategy, symbol)?.signal.kind === 'target') return undefined;
    const subAccount = portfolio.subAccount(strategy, symbol);
    const price = ruinOf(portfolio, subAccount, this.#rules.maintenanceRatio);
    return price === undefined ? undefined : { strategy, side: subAccount.isLong ? 'SELL' : 'BUY', price };
  }
}
