/** The extremes of a position from klines that come one by one: live, on paper and over recorded trades. */
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import type { Entry, Extremes, HeldKlines } from './held-klines.ts';
import type { SubAccount } from './sub-account.ts';

/** Klines that are remembered: fills can become known later than the kline in which they were. */
const maxKlines = 500;

type Seen = Pick<Kline, 'openTime' | 'high' | 'low' | 'close'>;

export class SeenKlines implements HeldKlines {
  readonly interval: Interval;
  readonly #subAccount: SubAccount;
  readonly #seen: Seen[] = [];
  #last: Seen | undefined;

  constructor(subAccount: SubAccount, interval: Interval) {
    this.#subAccount = subAccount;
    this.interval = interval;
  }

  get close(): number | undefined {
    return this.#last?.close;
  }

  get closedAt(): number {
    return this.#last === undefined ? Number.NaN : closeTime(this.interval, this.#last.openTime);
  }

  /** Takes the next closed kline, of the warm-up too; one that was seen already counts once. */
  see({ openTime, high, low, close }: Seen): void {
    if (this.#last !== undefined && openTime <= this.#last.openTime) return;
    this.#last = { openTime, high, low, close };
    this.#seen.push(this.#last);
    if (this.#seen.length >= 2 * maxKlines) this.#seen.splice(0, maxKlines);
    const { extremes, entryNumber, isFlat } = this.#subAccount;
    if (isFlat) return;
    const isKnown = extremes?.entryNumber === entryNumber;
    const known = isKnown ? extremes : this.#sinceEntry();
    this.#keep(isKnown ? this.#widened(known, this.#last) : known);
  }

  since({ entryNumber }: Entry): Extremes {
    if (this.#subAccount.extremes?.entryNumber !== entryNumber) this.#keep(this.#sinceEntry());
    return this.#subAccount.extremes as Extremes;
  }

  #sinceEntry(): Extremes {
    const { entryFillPrice } = this.#subAccount;
    let extremes: Extremes = { top: entryFillPrice, bottom: entryFillPrice };
    for (const kline of this.#seen) extremes = this.#widened(extremes, kline);
    return extremes;
  }

  #widened(known: Extremes, { openTime, high, low, close }: Seen): Extremes {
    const { enteredAt, byMaker } = this.#subAccount;
    if (closeTime(this.interval, openTime) <= enteredAt) return known;
    const isInside = byMaker && openTime < enteredAt;
    const top = Math.max(known.top, isInside ? close : high);
    const bottom = Math.min(known.bottom, isInside ? close : low);
    return top === known.top && bottom === known.bottom ? known : { top, bottom };
  }

  #keep({ top, bottom }: Extremes): void {
    const { extremes, entryNumber } = this.#subAccount;
    if (extremes?.entryNumber === entryNumber && extremes.top === top && extremes.bottom === bottom) return;
    this.#subAccount.extremes = { entryNumber, top, bottom };
  }
}
