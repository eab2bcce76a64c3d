/** Prices that leave those before them: for one row, which is a wrong print, or for good, which is another scale. */
import { outlierShare, scaleTimes, surelyOneMarketMs } from '../price-jumps.ts';
import { counted, type Finding } from './finding.ts';
import { Tally } from './tally.ts';

export const scaleEffect = 'rows of another symbol, another unit, or a hole';

/** Whether a price is so far from the one before it that `Jumps` has to know. */
export const isJump = (price: number, before: number): boolean => {
  const step = price / before;
  return (step > 1 + outlierShare || step < 1 - outlierShare) && before > 0;
};

interface At {
  readonly line: number;
  readonly time: number;
  readonly price: number;
}

/** One price of each row: the close of a kline, the price of a trade, the middle of a book. */
export class Jumps {
  readonly outliers = new Tally();
  readonly #name: string;
  readonly #scale = new Tally();
  /** Of rows close in time. */
  #isScaleClose = false;
  /** A jump to another scale that the next row may take back, which makes it a wrong print; and whether it was of rows close in time. */
  #leaving: { readonly place: Parameters<Tally['add']>; readonly isClose: boolean } | undefined;
  #last: At = { line: 0, time: Number.NaN, price: 0 };
  #priceBefore = 0;

  /** What the price is called: `close 900`. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Takes row after row. */
  add(now: At): void {
    if (isJump(now.price, this.#last.price)) this.note(now, this.#last, this.#priceBefore);
    this.#priceBefore = this.#last.price;
    this.#last = now;
  }

  /** Takes a jump from the last price alone. The last one was far from the one before it, and this one goes back; or this one leaves for another scale. */
  note({ line, time, price }: At, last: At, priceBefore: number): void {
    const step = price / last.price;
    const back = Math.abs(price / priceBefore - 1);
    if (priceBefore > 0 && back < outlierShare / 4) {
      this.outliers.add(last.line, last.time, `${this.#name} ${last.price}`);
      // Only the row before can be taken back; a jump of earlier stays one.
      if (this.#leaving?.place[1] !== last.time) this.#leave();
      this.#leaving = undefined;
    } else if (step > scaleTimes || step < 1 / scaleTimes) {
      this.#leave();
      const place = [line, time, `${this.#name} ${last.price}, then ${price}`] as const;
      this.#leaving = { place: [...place], isClose: Math.abs(time - last.time) < surelyOneMarketMs };
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
}

export function* outlierFinding(name: string, { count, places }: Tally): Generator<Finding> {
  if (count === 0) return;
  const what = `${counted(count, name)} more than 20 % from both neighbours`;
  yield { check: 'outliers', count, refused: false, what, effect: 'one wrong print can make a whole result', places };
}
