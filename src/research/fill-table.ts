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
import type { Fill, Purpose } from '../domain/order.ts';

/** A strategy at a symbol. */
export interface Place {
  readonly strategy: string;
  readonly symbol: string;
}

export const purposes: readonly Purpose[] = ['enter', 'exit', 'quote', 'stop', 'takeProfit'];

export interface FillTable {
  readonly length: number;
  readonly places: readonly Place[];
  /** By which rules fills were granted. */
  readonly rules: readonly string[];
  /** The evidence of none of them says more than its rule. */
  readonly isPlain?: boolean;
  /** Of which orders they are: the same id, or number, is the same order, or the rest of one that took all a kline had and was ordered again. */
  readonly orders: ArrayLike<string> | ArrayLike<number>;
  /** UTC ms; ascending. */
  readonly time: Float64Array;
  /** The row at whose open each was, where all were at opens of the only series: others are looked for by their time. */
  readonly openRow?: Float64Array;
  /** Index into `places`. */
  readonly place: Uint16Array;
  readonly price: Float64Array;
  /** Signed, as traded: positive when bought. */
  readonly quantity: Float64Array;
  /** What it moves base and quote of the account by, the fee already taken. */
  readonly base: Float64Array;
  readonly quote: Float64Array;
  /** Its fee, in quote. */
  readonly fee: Float64Array;
  /** What a unit of its quote was worth, where quote and fee have been counted in another currency. */
  readonly rate?: Float64Array;
  /** Index into `purposes`. */
  readonly purpose: Uint8Array;
  /** Index into `rules`. */
  readonly rule: Uint16Array;
  readonly maker: Uint8Array;
  readonly ambiguous: Uint8Array;
  /** Of all of them, in quote, exact. */
  readonly fees: Units;
  readonly turnover: Units;
}

/** Names in the order in which they come, by index. */
function names(): { readonly list: string[]; at(name: string): number } {
  const list: string[] = [];
  const known = new Map<string, number>();
  let last = '';
  let lastAt = -1;
  return {
    list,
    at(name) {
      if (name === last && lastAt >= 0) return lastAt;
      let found = known.get(name);
      if (found === undefined) {
        found = list.push(name) - 1;
        known.set(name, found);
      }
      last = name;
      lastAt = found;
      return found;
    },
  };
}

/** Of each place the order of its last fill. */
function chained(): { at(place: number, fill: Fill): string } {
  const last: { readonly fill: Fill; readonly first: string }[] = [];
  return {
    at(place, fill) {
      const before = last[place];
      const { rule, participation } = before?.fill.evidence ?? {};
      const goesOn =
        participation === 1 &&
        rule?.startsWith('kline-') === true &&
        before?.fill.side === fill.side &&
        before.fill.purpose === fill.purpose;
      const isSame = before?.fill.clientOrderId === fill.clientOrderId;
      const first = before !== undefined && (goesOn || isSame) ? before.first : fill.clientOrderId;
      last[place] = { fill, first };
      return first;
    },
  };
}

/** The same movements as `movementOf` of domain/position.ts, in numbers: exact ones for each would cost half a microsecond a fill. */
export function fillTable(fills: readonly Fill[], instruments: ReadonlyMap<string, Instrument>): FillTable {
  const { length } = fills;
  const numbers = (): Float64Array => new Float64Array(length);
  const [time, price, quantity, base, quote, fee] = [numbers(), numbers(), numbers(), numbers(), numbers(), numbers()];
  const [purpose, maker, ambiguous] = [new Uint8Array(length), new Uint8Array(length), new Uint8Array(length)];
  const [place, rule] = [new Uint16Array(length), new Uint16Array(length)];
  const placeNames = names();
  const ruleNames = names();
  const places: Place[] = [];
  const orders: string[] = new Array(length);
  const chains = chained();
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
    const found = placeNames.at(`${strategy} ${symbol}`);
    places[found] ??= { strategy, symbol };
    place[index] = found;
    rule[index] = ruleNames.at(fill.evidence?.rule ?? '');
    maker[index] = fill.maker ? 1 : 0;
    ambiguous[index] = fill.evidence?.ambiguous === true ? 1 : 0;
    orders[index] = chains.at(found, fill);
  }
  return {
    ...{ length, places, rules: ruleNames.list, orders, time, place, price, quantity, base, quote, fee },
    ...{ purpose, rule, maker, ambiguous, fees, turnover },
  };
}

/** Less than this of a symbol is dust that a fee in base left behind: nothing is held. */
export const dustOf = (at: Pick<Instrument, 'quantityPrecision'> | undefined): number =>
  at === undefined ? 0 : 0.999_999 * 10 ** -at.quantityPrecision;

type Minima = Pick<Instrument, 'pricePrecision' | 'quantityPrecision' | 'minQuantity' | 'minNotional'>;

/** `isRest` of the domain in sums of numbers: whether nobody can order away so much, at the price of the fill that left it. */
export function restsAt(at: Minima | undefined): (base: number, price: number) => boolean {
  const dust = dustOf(at);
  // A little less of both, since sums may lie below what they are.
  const least = at === undefined ? 0 : quantityNumber(at.minQuantity, at) - 1e-6 * dust;
  const leastWorth = at === undefined ? 0 : unitsNumber(at.minNotional) * 0.999_999;
  return (base, price) => {
    const size = Math.abs(base);
    return size <= dust || size < least || size * price < leastWorth;
  };
}

/**
 * What strategies hold of a symbol while its fills go by, each by itself: the rests that fees and purchases for an amount leave, which nobody can
 * order away, are no position, however much those of several come to.
 */
export class Held {
  /** Of all of them. */
  base = 0;
  readonly #of: Float64Array;
  readonly #isHeld: Uint8Array;
  readonly #dust: number;
  readonly #isRest: (base: number, price: number) => boolean;
  #positions = 0;

  constructor({ places }: Pick<FillTable, 'places'>, at: Minima | undefined) {
    this.#of = new Float64Array(places.length);
    this.#isHeld = new Uint8Array(places.length);
    this.#dust = dustOf(at);
    this.#isRest = restsAt(at);
  }

  take({ place, base, price }: Pick<FillTable, 'place' | 'base' | 'price'>, fill: number): void {
    const whose = place[fill] as number;
    const after = (this.#of[whose] as number) + (base[fill] as number);
    this.#of[whose] = after;
    this.base += base[fill] as number;
    const isHeld = this.#isRest(after, price[fill] as number) ? 0 : 1;
    this.#positions += isHeld - (this.#isHeld[whose] as number);
    this.#isHeld[whose] = isHeld;
  }

  /** But for what sums of numbers make of it, nothing at all: not even a rest of less than a lot. */
  get isNone(): boolean {
    return Math.abs(this.base) <= this.#dust * 1e-6;
  }

  /** Also where what one is short of is what another holds. */
  get isNothing(): boolean {
    return this.#positions === 0 || Math.abs(this.base) <= this.#dust;
  }
}
