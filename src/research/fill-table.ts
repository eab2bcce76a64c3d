/**
 * Fills of a run as columns of numbers, for statistics and charts. What is summed exactly (fees, turnover) is summed here; an
 * engine that keeps fills as columns itself can make this table without an object for each.
 */
import type { Instrument } from '../domain/instrument.ts';
import {
  notional,
  noUnits,
  plus,
  priceNumber,
  quantityNumber,
  type Units,
  unitsNumber,
  worth,
} from '../domain/money.ts';
import { type Fill, purposes } from '../domain/order.ts';

/** A strategy and one of its symbols. */
export interface StrategySymbol {
  readonly strategy: string;
  readonly symbol: string;
}

export interface FillTable {
  readonly length: number;
  readonly positions: readonly StrategySymbol[];
  /** The names of the rules that granted fills. */
  readonly rules: readonly string[];
  /** No fill has evidence beyond its rule. */
  readonly isPlain?: boolean;
  /** Equal values are one order, or an order and the order of the rest that its kline's volume did not fill. */
  readonly orders: ArrayLike<string> | ArrayLike<number>;
  /** UTC ms; ascending. */
  readonly time: Float64Array;
  /** Where all fills are at opens of the only series: their rows. */
  readonly openRow?: Float64Array;
  /** Index into `positions`. */
  readonly position: Uint16Array;
  readonly price: Float64Array;
  /** As traded; positive for a purchase. */
  readonly quantity: Float64Array;
  /** The change of the account's base and quote, fees included. */
  readonly base: Float64Array;
  readonly quote: Float64Array;
  /** In quote. */
  readonly fee: Float64Array;
  /** Of the quote currency, where quote and fee are converted to another one. */
  readonly rate?: Float64Array;
  /** Index into `purposes`. */
  readonly purpose: Uint8Array;
  /** Index into `rules`. */
  readonly rule: Uint16Array;
  readonly maker: Uint8Array;
  readonly ambiguous: Uint8Array;
  /** Sums in quote, exact. */
  readonly fees: Units;
  readonly turnover: Units;
}

/** Distinct names in the order of their first use. */
class Names {
  readonly list: string[] = [];
  readonly #known = new Map<string, number>();
  /** Most names repeat the one before. */
  #last = -1;

  indexOf(name: string): number {
    if (this.list[this.#last] === name) return this.#last;
    this.#last = this.#known.get(name) ?? this.list.push(name) - 1;
    this.#known.set(name, this.#last);
    return this.#last;
  }
}

/** Gives each fill the first of the orders that it continues. */
class OrderChains {
  readonly #last: { readonly fill: Fill; readonly first: string }[] = [];

  orderOf(position: number, fill: Fill): string {
    const before = this.#last[position];
    const { rule, participation } = before?.fill.evidence ?? {};
    const continues =
      participation === 1 &&
      rule?.startsWith('kline-') === true &&
      before?.fill.side === fill.side &&
      before.fill.purpose === fill.purpose;
    const isSame = before?.fill.clientOrderId === fill.clientOrderId;
    const first = before !== undefined && (continues || isSame) ? before.first : fill.clientOrderId;
    this.#last[position] = { fill, first };
    return first;
  }
}

/** Changes of base and quote as in `movementOf` of domain/position.ts, but as numbers: exact ones take half a microsecond a fill. */
export function fillTable(fills: readonly Fill[], instruments: ReadonlyMap<string, Instrument>): FillTable {
  const { length } = fills;
  const numbers = (): Float64Array => new Float64Array(length);
  const [time, price, quantity, base, quote, fee] = [numbers(), numbers(), numbers(), numbers(), numbers(), numbers()];
  const [purpose, maker, ambiguous] = [new Uint8Array(length), new Uint8Array(length), new Uint8Array(length)];
  const [position, rule] = [new Uint16Array(length), new Uint16Array(length)];
  const [positionNames, ruleNames, chains] = [new Names(), new Names(), new OrderChains()];
  const positions: StrategySymbol[] = [];
  const orders: string[] = new Array(length);
  let fees = noUnits;
  let turnover = noUnits;
  for (let index = 0; index < length; index++) {
    const fill = fills[index] as Fill;
    const at = instruments.get(fill.symbol) as Instrument;
    const lots = quantityNumber(fill.quantity, at);
    const sign = fill.side === 'BUY' ? 1 : -1;
    const each = priceNumber(fill.price, at);
    const inBase = fill.feeAsset === at.base;
    const feeValue = inBase ? worth(fill.fee, fill.price, at) : fill.feeAsset === at.quote ? fill.fee : noUnits;
    const paid = unitsNumber(feeValue);
    fees = plus(fees, feeValue);
    turnover = plus(turnover, notional(fill.price, fill.quantity, at));
    time[index] = fill.time;
    price[index] = each;
    quantity[index] = sign * lots;
    base[index] = sign * lots - (inBase ? unitsNumber(fill.fee) : 0);
    quote[index] = -sign * each * lots - (inBase ? 0 : paid);
    fee[index] = paid;
    purpose[index] = purposes.indexOf(fill.purpose);
    const { strategy, symbol } = fill;
    const found = positionNames.indexOf(`${strategy} ${symbol}`);
    positions[found] ??= { strategy, symbol };
    position[index] = found;
    rule[index] = ruleNames.indexOf(fill.evidence?.rule ?? '');
    maker[index] = fill.maker ? 1 : 0;
    ambiguous[index] = fill.evidence?.ambiguous === true ? 1 : 0;
    orders[index] = chains.orderOf(found, fill);
  }
  return {
    ...{ length, positions, rules: ruleNames.list, orders, time, position, price, quantity, base, quote, fee },
    ...{ purpose, rule, maker, ambiguous, fees, turnover },
  };
}

/** Quantities below this are dust that a fee in base left behind. */
export const dustOf = (at: Pick<Instrument, 'quantityPrecision'> | undefined): number =>
  at === undefined ? 0 : 0.999_999 * 10 ** -at.quantityPrecision;

type Minima = Pick<Instrument, 'pricePrecision' | 'quantityPrecision' | 'minQuantity' | 'minNotional'>;

/** `isBelowMinimum` of the domain for sums of numbers: whether a quantity at the price of its last fill is below the minimum order. */
export function restsAt(at: Minima | undefined): (base: number, price: number) => boolean {
  const dust = dustOf(at);
  // Slightly less than both minima, since sums of numbers may be slightly too small.
  const min = at === undefined ? 0 : quantityNumber(at.minQuantity, at) - 1e-6 * dust;
  const minWorth = at === undefined ? 0 : unitsNumber(at.minNotional) * 0.999_999;
  return (base, price) => {
    const size = Math.abs(base);
    return size <= dust || size < min || size * price < minWorth;
  };
}

/** Open positions of one symbol while its fills pass. Rests below the minimum order count as no position, even if their sum is larger. */
export class OpenQuantity {
  /** Sum over all strategies. */
  base = 0;
  readonly #bases: Float64Array;
  readonly #isOpen: Uint8Array;
  readonly #dust: number;
  readonly #isRest: (base: number, price: number) => boolean;
  #openCount = 0;

  constructor({ positions }: Pick<FillTable, 'positions'>, at: Minima | undefined) {
    this.#bases = new Float64Array(positions.length);
    this.#isOpen = new Uint8Array(positions.length);
    this.#dust = dustOf(at);
    this.#isRest = restsAt(at);
  }

  take({ position, base, price }: Pick<FillTable, 'position' | 'base' | 'price'>, fill: number): void {
    const of = position[fill] as number;
    const after = (this.#bases[of] as number) + (base[fill] as number);
    this.#bases[of] = after;
    this.base += base[fill] as number;
    const isOpen = this.#isRest(after, price[fill] as number) ? 0 : 1;
    this.#openCount += isOpen - (this.#isOpen[of] as number);
    this.#isOpen[of] = isOpen;
  }

  /** Nothing at all, not even a rest of less than a lot; rounding of sums aside. */
  get isZero(): boolean {
    return Math.abs(this.base) <= this.#dust * 1e-6;
  }

  /** No position, or positions of several strategies that cancel each other out. */
  get isFlat(): boolean {
    return this.#openCount === 0 || Math.abs(this.base) <= this.#dust;
  }
}
