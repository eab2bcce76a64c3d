/** The fills of a run as columns. Objects of them are made when somebody asks for fills or for the journal; statistics read the columns. */
import type { Instrument } from '../../../domain/instrument.ts';
import {
  feeDecimals,
  type Lots,
  lotsOfSafe,
  noLots,
  noTicks,
  notional,
  noUnits,
  plus,
  priceNumber,
  quantityNumber,
  safeNumber,
  safeUnits,
  type Ticks,
  ticksOfSafe,
  type Units,
  unitsNumber,
  unitsOfSafe,
  worth,
} from '../../../domain/money.ts';
import { type Evidence, type Fill, purposes } from '../../../domain/order.ts';
import type { FillTable, StrategySymbol } from '../../../research/fill-table.ts';
import { ExactColumn, NumberColumn } from './columns.ts';
import { clientIdOf, sequenceOf } from './order-column.ts';

/** What many fills have in common. */
export type FillKind = Pick<
  Fill,
  'strategy' | 'account' | 'symbol' | 'side' | 'feeAsset' | 'maker' | 'purpose' | 'evidence'
>;

/** What every fill has of its own; the fee in steps of 10^-8. */
export interface FillNumbers {
  readonly sequence: number;
  readonly orderId: number;
  readonly tradeId: number;
  /** UTC ms. */
  readonly time: number;
  readonly fee: number;
}

/** Kinds that a fill is compared with, the last ones: evidence that says more than its rule makes one for each fill. */
const fewKinds = 16;

export class FillColumn {
  readonly #kinds: FillKind[] = [];
  readonly #kind = new NumberColumn();
  readonly #sequence = new NumberColumn();
  readonly #orderId = new NumberColumn();
  readonly #tradeId = new NumberColumn();
  readonly #time = new NumberColumn();
  readonly #price = new ExactColumn<Ticks>();
  readonly #quantity = new ExactColumn<Lots>();
  /** In steps of 10^-8, by which fees are rounded; NaN where it is not whole or not safe. */
  readonly #fee = new NumberColumn();
  readonly #largeFees = new Map<number, Units>();
  #fills: readonly Fill[] | undefined;

  get length(): number {
    return this.#kind.length;
  }

  push(fill: Fill): void {
    const { length } = this;
    const fee = safeUnits(fill.fee, feeDecimals);
    if (Number.isNaN(fee)) this.#largeFees.set(length, fill.fee);
    this.#price.push(fill.price);
    this.#quantity.push(fill.quantity);
    const [sequence, orderId, tradeId] = [sequenceOf(fill.clientOrderId), Number(fill.orderId), Number(fill.tradeId)];
    this.#push(this.kindOf(fill), { sequence, orderId, tradeId, time: fill.time, fee });
  }

  /** A fill whose price and quantity are safe integers. */
  pushSafe(kind: number, ticks: number, lots: number, numbers: FillNumbers): void {
    this.#price.numbers.push(ticks);
    this.#quantity.numbers.push(lots);
    this.#push(kind, numbers);
  }

  #push(kind: number, { sequence, orderId, tradeId, time, fee }: FillNumbers): void {
    this.#kind.push(kind);
    this.#sequence.push(sequence);
    this.#orderId.push(orderId);
    this.#tradeId.push(tradeId);
    this.#time.push(time);
    this.#fee.push(fee);
  }

  /** The index of a kind. */
  kindOf({ strategy, account, symbol, side, feeAsset, maker, purpose, evidence }: FillKind): number {
    const kinds = this.#kinds;
    for (let index = kinds.length - 1; index >= 0 && index >= kinds.length - fewKinds; index--) {
      const kind = kinds[index] as FillKind;
      if (
        kind.side === side &&
        kind.purpose === purpose &&
        kind.strategy === strategy &&
        kind.symbol === symbol &&
        kind.feeAsset === feeAsset &&
        kind.maker === maker &&
        sameEvidence(kind.evidence, evidence)
      )
        return index;
    }
    return kinds.push({ strategy, account, symbol, side, feeAsset, maker, purpose, ...(evidence && { evidence }) }) - 1;
  }

  /** One object for each fill, made when it is first asked for. */
  get fills(): readonly Fill[] {
    if (this.#fills?.length !== this.length)
      this.#fills = Array.from({ length: this.length }, (_, row) => this.fill(row));
    return this.#fills;
  }

  /** One of them, made anew. */
  fill(row: number): Fill {
    const { evidence, ...shared } = this.#kinds[this.#kind.at(row)] as FillKind;
    return {
      tradeId: String(this.#tradeId.at(row)),
      orderId: String(this.#orderId.at(row)),
      clientOrderId: clientIdOf(this.#sequence.at(row)),
      ...shared,
      price: this.#price.at(row) ?? noTicks,
      quantity: this.#quantity.at(row) ?? noLots,
      fee: this.#feeOf(row),
      time: this.#time.at(row),
      ...(evidence && { evidence }),
    };
  }

  #feeOf(row: number): Units {
    const fee = this.#fee.at(row);
    return Number.isNaN(fee) ? (this.#largeFees.get(row) ?? noUnits) : unitsOfSafe(fee, feeDecimals);
  }

  /** The columns of `fillTable`, to the last bit. */
  table(instruments: ReadonlyMap<string, Instrument>): FillTable {
    const { length } = this;
    const numbers = (): Float64Array => new Float64Array(length);
    const [price, quantity, base, quote, fee] = [numbers(), numbers(), numbers(), numbers(), numbers()];
    const [purpose, maker, ambiguous] = [new Uint8Array(length), new Uint8Array(length), new Uint8Array(length)];
    const [position, rule, orders] = [new Uint16Array(length), new Uint16Array(length), new Float64Array(length)];
    const known = new Kinds(this.#kinds, instruments);
    const [ticks, lots, charges] = [this.#price.numbers.values, this.#quantity.numbers.values, this.#fee.values];
    const fees = new SafeSum((steps) => unitsOfSafe(steps, feeDecimals));
    for (let row = 0; row < length; row++) {
      const kind = known.at(this.#kind.at(row));
      const { at, sign, isFeeInBase, priceSteps, lotSteps } = kind;
      const exactPrice = (): Ticks => this.#price.at(row) ?? noTicks;
      const [safePrice, safeLots, safeFee] = [ticks[row] as number, lots[row] as number, charges[row] as number];
      const each = Number.isNaN(safePrice) ? priceNumber(exactPrice(), at) : safePrice / priceSteps;
      const traded = Number.isNaN(safeLots)
        ? quantityNumber(this.#quantity.at(row) ?? noLots, at)
        : safeLots / lotSteps;
      const charged = Number.isNaN(safeFee) ? unitsNumber(this.#feeOf(row)) : safeNumber(safeFee, feeDecimals);
      let paid = charged;
      if (isFeeInBase || Number.isNaN(safeFee)) {
        const feeValue = isFeeInBase ? worth(this.#feeOf(row), exactPrice(), at) : this.#feeOf(row);
        paid = unitsNumber(feeValue);
        fees.addExact(feeValue);
      } else fees.add(safeFee);
      if (!kind.turnover.add(safePrice * safeLots))
        kind.turnover.addExact(notional(exactPrice(), this.#quantity.at(row) ?? noLots, at));
      price[row] = each;
      quantity[row] = sign * traded;
      base[row] = sign * traded - (isFeeInBase ? charged : 0);
      quote[row] = -sign * each * traded - (isFeeInBase ? 0 : paid);
      fee[row] = paid;
      purpose[row] = kind.purpose;
      position[row] = kind.position;
      rule[row] = kind.rule;
      maker[row] = kind.maker;
      ambiguous[row] = kind.ambiguous;
      orders[row] = known.firstOf(kind, this.#sequence.at(row));
    }
    return {
      ...{
        length,
        positions: known.positions,
        rules: known.rules,
        orders,
        time: this.#time.values,
        position,
        price,
        quantity,
      },
      ...{ base, quote, fee, purpose, rule, maker, ambiguous },
      ...{ isPlain: this.#kinds.every(isPlain), fees: fees.total, turnover: known.turnover() },
    };
  }
}

const sameEvidence = (a: Evidence | undefined, b: Evidence | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.rule === b.rule &&
    a.ambiguous === b.ambiguous &&
    a.participation === b.participation &&
    a.dayShare === b.dayShare &&
    a.unmoved === b.unmoved &&
    a.eventSeq === b.eventSeq &&
    a.queueAhead === b.queueAhead);

/** Without evidence beyond its rule. */
const isPlain = ({ evidence = { rule: '' } }: FillKind): boolean => Object.keys(evidence).length === 1;

/** A kind in the words of the table. */
interface TableKind {
  readonly at: Instrument;
  readonly priceSteps: number;
  readonly lotSteps: number;
  readonly sign: 1 | -1;
  readonly isFeeInBase: boolean;
  readonly purpose: number;
  readonly position: number;
  readonly rule: number;
  readonly maker: number;
  readonly ambiguous: number;
  /** It took all that its kline had: what is ordered next is the rest of its order. */
  readonly goesOn: boolean;
  readonly turnover: SafeSum;
}

class Kinds {
  readonly positions: StrategySymbol[] = [];
  readonly rules: string[] = [];
  readonly #kinds: readonly FillKind[];
  readonly #known: TableKind[] = [];
  readonly #instruments: ReadonlyMap<string, Instrument>;
  readonly #turnovers = new Map<string, SafeSum>();
  /** The last fill of each position. */
  readonly #last: { kind: TableKind; sequence: number; first: number }[] = [];

  constructor(kinds: readonly FillKind[], instruments: ReadonlyMap<string, Instrument>) {
    this.#kinds = kinds;
    this.#instruments = instruments;
  }

  at(index: number): TableKind {
    this.#known[index] ??= this.#made(this.#kinds[index] as FillKind);
    return this.#known[index] as TableKind;
  }

  #made({ strategy, symbol, side, feeAsset, maker, purpose, evidence }: FillKind): TableKind {
    const at = this.#instruments.get(symbol) as Instrument;
    const turnover =
      this.#turnovers.get(symbol) ?? new SafeSum((steps) => notional(ticksOfSafe(1), lotsOfSafe(steps), at));
    this.#turnovers.set(symbol, turnover);
    const known = this.positions.findIndex((position) => position.strategy === strategy && position.symbol === symbol);
    const { rule = '', ambiguous, participation } = evidence ?? {};
    const ruleAt = this.rules.indexOf(rule);
    return {
      ...{ priceSteps: 10 ** at.pricePrecision, lotSteps: 10 ** at.quantityPrecision },
      ...{ at, turnover, sign: side === 'BUY' ? 1 : -1, isFeeInBase: feeAsset === at.base },
      purpose: purposes.indexOf(purpose),
      position: known < 0 ? this.positions.push({ strategy, symbol }) - 1 : known,
      rule: ruleAt < 0 ? this.rules.push(rule) - 1 : ruleAt,
      ...{ maker: maker ? 1 : 0, ambiguous: ambiguous === true ? 1 : 0 },
      goesOn: participation === 1 && rule.startsWith('kline-'),
    };
  }

  /** The order of which a fill is, or the one of which that is the rest. */
  firstOf(kind: TableKind, sequence: number): number {
    const before = this.#last[kind.position];
    if (before === undefined) {
      this.#last[kind.position] = { kind, sequence, first: sequence };
      return sequence;
    }
    const isRest = before.kind.goesOn && before.kind.sign === kind.sign && before.kind.purpose === kind.purpose;
    if (!isRest && before.sequence !== sequence) before.first = sequence;
    before.kind = kind;
    before.sequence = sequence;
    return before.first;
  }

  turnover(): Units {
    return [...this.#turnovers.values()].reduce((sum, { total }) => plus(sum, total), noUnits);
  }
}

/** An exact sum, mostly of safe integers. */
class SafeSum {
  readonly #unitsOf: (steps: number) => Units;
  #whole = noUnits;
  #safe = 0;

  constructor(unitsOf: (steps: number) => Units) {
    this.#unitsOf = unitsOf;
  }

  /** False, and nothing is added, for a number that is not safe: then `addExact` takes the amount. */
  add(steps: number): boolean {
    if (!(steps <= Number.MAX_SAFE_INTEGER)) return false;
    if (this.#safe + steps > Number.MAX_SAFE_INTEGER) {
      this.#whole = this.total;
      this.#safe = 0;
    }
    this.#safe += steps;
    return true;
  }

  addExact(amount: Units): void {
    this.#whole = plus(this.#whole, amount);
  }

  get total(): Units {
    return plus(this.#whole, this.#unitsOf(this.#safe));
  }
}
