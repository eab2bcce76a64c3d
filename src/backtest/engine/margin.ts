/**
 * Margin in backtests, by the configured rules: what strategies borrow, their interest, and liquidations. Each strategy is liable for its
 * own position alone.
 */
import type { SimClock } from '../../clock/sim-clock.ts';
import type { Kline } from '../../domain/market.ts';
import {
  feeOn,
  greatest,
  negate,
  noRate,
  notional,
  noUnits,
  plus,
  priceNumber,
  rateText,
  ruinPrice,
  timesRate,
  type Units,
  unitsText,
  worth,
} from '../../domain/money.ts';
import { decisionOf, type Fill, mainRole, type Signal } from '../../domain/order.ts';
import type { Stop } from '../../fill/orders.ts';
import { orLiquidation } from '../../fill/stops.ts';
import type { Entry } from '../../journal/entries.ts';
import { ByPosition } from '../../portfolio/positions.ts';
import type { ArmedStop } from '../../portfolio/protection.ts';
import type { Assembled } from '../../trading/assemble.ts';
import type { Charge, MarginRules, MarginSums } from '../prepare/run-money.ts';
import type { RunInput } from '../run.ts';

/** What a strategy owed at most since interest was charged last. */
interface Debt {
  quote: Units;
  base: Units;
  chargedAt: number;
  /** The exchange is leaving its position: what that sells pays the fee. */
  isLeaving: boolean;
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
  readonly #sums = { interest: noUnits, liquidationFees: noUnits, liquidations: 0 };

  constructor(rules: MarginRules, parts: MarginParts) {
    this.#rules = rules;
    this.#parts = parts;
    for (const { strategy, symbol } of parts.assembled.portfolio.places())
      this.#debts.set(strategy, symbol, {
        quote: noUnits,
        base: noUnits,
        chargedAt: parts.clock.now(),
        isLeaving: false,
      });
  }

  result(): MarginSums & { readonly charges: readonly Charge[] } {
    return { ...this.#sums, charges: this.#charges };
  }

  /** Between which prices every position on the symbol is held; undefined where none could be liquidated. */
  held(symbol: string): Held | undefined {
    const at = this.#parts.assembled.portfolio.instrument(symbol);
    let [above, below] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const { side, price } of this.#ruins(symbol)) {
      if (side === 'SELL') above = Math.max(above, priceNumber(price, at));
      else below = Math.min(below, priceNumber(price, at));
    }
    return above === Number.NEGATIVE_INFINITY && below === Number.POSITIVE_INFINITY ? undefined : { above, below };
  }

  /** A price at the exchange, or the best of a book: it leaves what that ruins at the market, an order's way from now. */
  leaveRuined(symbol: string, bid: number, ask = bid): void {
    const at = this.#parts.assembled.portfolio.instrument(symbol);
    for (const { strategy, side, price } of this.#ruins(symbol)) {
      const level = priceNumber(price, at);
      if (side === 'SELL' ? bid <= level : ask >= level) this.leave(strategy, symbol, side === 'SELL' ? bid : ask);
    }
  }

  /** The exchange leaves a position at the market, for a price that it has reached. */
  leave(strategy: string, symbol: string, price: number): void {
    const { assembled, clock } = this.#parts;
    const why = `liquidated at ${price}: equity fell below ${rateText(this.#rules.maintenanceRatio)} of the position`;
    assembled.portfolio.mark(symbol, price, clock.now());
    this.#liquidate(strategy, symbol, why);
    assembled.hitStop({ strategy, symbol }, why);
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
    if (debt !== undefined) debt.isLeaving = true;
    this.#sums.liquidations++;
    if (planner.standing(strategy, symbol)?.signal.kind !== 'target') {
      const flat: Signal = { kind: 'target', size: { quantity: 0 }, reason: why };
      planner.note(decisionOf({ strategy, role: mainRole, symbol, at: clock.now(), signal: flat }));
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
    if (fill.purpose !== 'stop') debt.isLeaving = false;
    if (debt.isLeaving) {
      const value = notional(fill.price, fill.quantity, portfolio.instrument(symbol));
      this.#charge(fill, 'liquidation', fill.time, feeOn(value, this.#rules.liquidationFee));
    }
    if (portfolio.isFlat(strategy, symbol)) debt.isLeaving = false;
    this.#owe(strategy, symbol, debt);
  }

  /** When interest falls due next on a symbol, UTC ms; infinity where nothing is owed. `charge` has seen the last close. */
  interestDue(symbol: string): number {
    const { interestEveryMs } = this.#rules;
    let due = Number.POSITIVE_INFINITY;
    for (const { value } of this.#debts.on(symbol)) {
      const { quote, base, chargedAt } = value;
      if (quote > 0n || base > 0n) due = Math.min(due, (Math.floor(chargedAt / interestEveryMs) + 1) * interestEveryMs);
    }
    return due;
  }

  /**
   * Interest that fell due by a kline's close, UTC ms, on the most that was owed since it was charged last: a begun hour counts whole.
   * True when anything was charged.
   */
  charge(symbol: string, at: number): boolean {
    let isCharged = false;
    const { interestEveryMs, interest } = this.#rules;
    const { portfolio } = this.#parts.assembled;
    const { base: baseAsset, quote: quoteAsset } = portfolio.instrument(symbol);
    for (const { strategy, value: debt } of this.#debts.on(symbol)) {
      const due = Math.floor(at / interestEveryMs) - Math.floor(debt.chargedAt / interestEveryMs);
      debt.chargedAt = at;
      if (due === 0) continue;
      const price = portfolio.markTicks(symbol);
      const owedBase = price === undefined ? noUnits : worth(debt.base, price, portfolio.instrument(symbol));
      const amount = plus(
        feeOn(debt.quote, timesRate(interest.get(quoteAsset) ?? noRate, due)),
        feeOn(owedBase, timesRate(interest.get(baseAsset) ?? noRate, due)),
      );
      debt.quote = noUnits;
      debt.base = noUnits;
      if (amount > 0n) {
        this.#charge({ strategy, symbol }, 'interest', at, amount);
        isCharged = true;
      }
      this.#owe(strategy, symbol, debt);
    }
    return isCharged;
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

  #owe(strategy: string, symbol: string, debt: Debt): void {
    const { portfolio } = this.#parts.assembled;
    debt.quote = greatest(debt.quote, negate(portfolio.cash(strategy, symbol)));
    debt.base = greatest(debt.base, negate(portfolio.position(strategy, symbol).base));
  }

  /** At and beyond which price the exchange leaves a position that is not being left already. */
  #ruin(strategy: string, symbol: string): Stop | undefined {
    const { portfolio, planner, protection } = this.#parts.assembled;
    if (portfolio.isFlat(strategy, symbol)) return undefined;
    const isLeft = protection.isLeaving(strategy, symbol);
    if (isLeft && planner.standing(strategy, symbol)?.signal.kind === 'target') return undefined;
    const { base } = portfolio.position(strategy, symbol);
    const cash = portfolio.cash(strategy, symbol);
    const price = ruinPrice(base, cash, this.#rules.maintenanceRatio, portfolio.instrument(symbol));
    return price === undefined ? undefined : { strategy, side: base > 0n ? 'SELL' : 'BUY', price };
  }
}
