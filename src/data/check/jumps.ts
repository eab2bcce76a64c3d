/** Prices that leave those before them: for one row, which is a wrong print, or for good, which is another scale. */
import { outlierShare, scaleTimes, surelyOneMarketMs } from '../leaps.ts';
import { counted, type Finding } from './finding.ts';
import { Tally } from './tally.ts';

export const scaleEffect = 'rows of another symbol, another unit, or a hole';

/** Takes one price of each row: the close of a kline, the price of a trade, the middle of a book. */
export class Jumps {
  readonly outliers = new Tally();
  readonly #name: string;
  readonly #scale = new Tally();
  /** Of rows close in time. */
  #isScaleClose = false;
  /** A jump to another scale that the next row may take back, which makes it a wrong print; and whether it was of rows close in time. */
  #leaving: { readonly place: Parameters<Tally['add']>; readonly isClose: boolean } | undefined;
  // Of the row before, and the price before that.
  #line = 0;
  #time = Number.NaN;
  #price = 0;
  #priceBefore = 0;

  /** What the price is called: `close 900`. */
  constructor(name: string) {
    this.#name = name;
  }

  add(line: number, time: number, price: number): void {
    const step = price / this.#price;
    if ((step > 1 + outlierShare || step < 1 - outlierShare) && this.#price > 0) this.#jump(line, time, price);
    this.#priceBefore = this.#price;
    this.#line = line;
    this.#time = time;
    this.#price = price;
  }

  /** The row before was far from the one before it, and this row goes back; or this one leaves for another scale. */
  #jump(line: number, time: number, price: number): void {
    const step = price / this.#price;
    const back = Math.abs(price / this.#priceBefore - 1);
    if (this.#priceBefore > 0 && back < outlierShare / 4) {
      this.outliers.add(this.#line, this.#time, `${this.#name} ${this.#price}`);
      // Only the row before can be taken back; a jump of earlier stays one.
      if (this.#leaving?.place[1] !== this.#time) this.#leave();
      this.#leaving = undefined;
    } else if (step > scaleTimes || step < 1 / scaleTimes) {
      this.#leave();
      const place = [line, time, `${this.#name} ${this.#price}, then ${price}`] as const;
      this.#leaving = { place: [...place], isClose: Math.abs(time - this.#time) < surelyOneMarketMs };
    }
  }

  /** Nothing took the last jump back. */
  #leave(): void {
    if (this.#leaving === undefined) return;
    this.#scale.add(...this.#leaving.place);
    this.#isScaleClose ||= this.#leaving.isClose;
    this.#leaving = undefined;
  }

  /** Within a day hardly a market did it: then somebody has to say so. Of single trades and books, which jump in thin markets, it is told alone. */
  *scaleFinding(mayRefuse = true): Generator<Finding> {
    this.#leave();
    const { count, places } = this.#scale;
    if (count === 0) return;
    const refused = mayRefuse && this.#isScaleClose;
    const advice = 'cut the file up by symbol or unit; if the market did it, say so (--accept-jumps)';
    yield {
      check: 'scale',
      count,
      refused,
      what: `${counted(count, 'jump')} to more than ${scaleTimes} times or less than a third of the price`,
      effect: scaleEffect,
      ...(refused && { advice }),
      places,
    };
  }

  *outlierFinding(): Generator<Finding> {
    const { count, places } = this.outliers;
    if (count === 0) return;
    const what = `${counted(count, 'price')} more than 20 % from both neighbours`;
    yield { check: 'outliers', count, refused: false, what, effect: 'one wrong print can make a whole result', places };
  }
}
