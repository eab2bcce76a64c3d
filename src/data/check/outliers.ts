/** Prices that jump: for one row, which is a wrong print, or for good, which is another scale. */
import { counted } from '../../domain/words.ts';
import { outlierShare, sameMarketMs, scaleTimes } from '../price-jumps.ts';
import type { Finding } from './finding.ts';
import { Tally } from './tally.ts';

export const scaleEffect = 'rows of another symbol, another unit, or a hole';

/** Whether a price is so far from the one before it that `Jumps` has to know. */
export const isJump = (price: number, before: number): boolean => {
  const step = price / before;
  return (step > 1 + outlierShare || step < 1 - outlierShare) && before > 0;
};

interface PriceRow {
  readonly line: number;
  readonly time: number;
  readonly price: number;
}

/** Takes one price of each row: the close of a kline, the price of a trade, the middle of a book. */
export class Jumps {
  readonly outliers = new Tally();
  readonly #name: string;
  readonly #scale = new Tally();
  /** A jump to another scale happened within a day. */
  #isScaleClose = false;
  /** A jump to another scale; if the next row takes it back, it was a wrong print. */
  #pending: { readonly from: PriceRow; readonly to: PriceRow } | undefined;
  #last: PriceRow = { line: 0, time: Number.NaN, price: 0 };
  #priceBefore = 0;

  /** What messages call the price: `close 900`. */
  constructor(name: string) {
    this.#name = name;
  }

  add(row: PriceRow): void {
    if (isJump(row.price, this.#last.price)) this.addJump(row, this.#last, this.#priceBefore);
    this.#priceBefore = this.#last.price;
    this.#last = row;
  }

  /** Takes a row for which `isJump`, the row before it, and the price before that. */
  addJump(row: PriceRow, last: PriceRow, priceBefore: number): void {
    const step = row.price / last.price;
    if (priceBefore > 0 && Math.abs(row.price / priceBefore - 1) < outlierShare / 4) {
      this.outliers.add(last.line, last.time, `${this.#name} ${last.price}`);
      // Only the row before can be taken back.
      if (this.#pending?.to.time === last.time) this.#pending = undefined;
      this.#settle();
    } else if (step > scaleTimes || step < 1 / scaleTimes) {
      this.#settle();
      this.#pending = { from: last, to: row };
    }
  }

  /** Nothing took the last jump back. */
  #settle(): void {
    if (this.#pending === undefined) return;
    const { from, to } = this.#pending;
    this.#scale.add(to.line, to.time, `${this.#name} ${from.price}, then ${to.price}`);
    this.#isScaleClose ||= Math.abs(to.time - from.time) < sameMarketMs;
    this.#pending = undefined;
  }

  /** Hardly a market jumps like that within a day: the user has to confirm it. Thin markets of trades and depth do (`mayRefuse` false). */
  scaleFinding(mayRefuse = true): readonly Finding[] {
    this.#settle();
    const what = `${counted(this.#scale.count, 'jump')} to more than ${scaleTimes} times or less than a third of the price`;
    const advice = 'split the file by symbol or unit; if the market really moved so far, use --accept-jumps';
    return mayRefuse && this.#isScaleClose
      ? this.#scale.fault('scale', what, scaleEffect, advice)
      : this.#scale.warning('scale', what, scaleEffect);
  }
}

export const outlierFinding = (name: string, tally: Tally): readonly Finding[] =>
  tally.warning(
    'outliers',
    `${counted(tally.count, name)} more than 20 % from both neighbours`,
    'one wrong print can decide the result',
  );
