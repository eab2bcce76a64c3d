/** A position as its strategy sees it: amounts as numbers, and what happened since it was entered. */
import { closesSince } from '../domain/interval.ts';
import type { Exit } from '../domain/position.ts';
import type { Entry, HeldKlines } from './held-klines.ts';
import type { SubAccount } from './sub-account.ts';

/**
 * What happened since the entry. A kline counts whole, the one of the entry too. Where a resting order entered, only the close of that one
 * counts: its extremes may be from before.
 */
export abstract class HoldingFacts {
  protected abstract readonly klines: HeldKlines | undefined;
  protected abstract readonly entry: Entry;
  protected abstract readonly exit: Exit | undefined;
  /** Base asset held; 0 is flat. */
  abstract readonly quantity: number;

  /** UTC ms of the first fill of the position; NaN while flat. */
  get entryTime(): number {
    return this.quantity === 0 ? Number.NaN : this.entry.enteredAt;
  }

  /** Klines that closed since the entry, by the time; 0 while flat. */
  get klinesHeld(): number {
    return this.quantity === 0 ? 0 : this.#closesSince(this.entry.enteredAt);
  }

  /** The best price since the entry, in quote; NaN while flat. */
  get best(): number {
    return this.#extreme(this.quantity > 0);
  }

  /** The worst price since the entry, in quote; NaN while flat. */
  get worst(): number {
    return this.#extreme(this.quantity < 0);
  }

  /** The end of the position before; undefined where there was none. */
  get lastExit(): (Exit & { readonly klinesAgo: number }) | undefined {
    const { exit } = this;
    return exit && { ...exit, klinesAgo: this.#closesSince(exit.time) };
  }

  #closesSince(time: number): number {
    return this.klines === undefined ? 0 : closesSince(this.klines.interval, time, this.klines.closedAt);
  }

  #extreme(isTop: boolean): number {
    if (this.quantity === 0) return Number.NaN;
    const { entry, klines } = this;
    if (klines === undefined) return entry.entryFillPrice;
    const { top, bottom } = klines.since(entry);
    return isTop ? top : bottom;
  }
}

/** What a holding is read with. */
export interface HoldingView {
  /** The last price, in quote. */
  readonly price: () => number | undefined;
  /** Without klines, the price of the entry is the best and the worst. */
  readonly klines?: HeldKlines | undefined;
}

/** The position of a sub-account; stays true as fills and prices come. */
export class LiveHolding extends HoldingFacts {
  readonly #subAccount: SubAccount;
  readonly #price: () => number | undefined;
  protected readonly klines: HeldKlines | undefined;

  constructor(subAccount: SubAccount, { price, klines }: HoldingView) {
    super();
    this.#subAccount = subAccount;
    this.#price = price;
    this.klines = klines;
  }

  protected get entry(): Entry {
    return this.#subAccount;
  }

  protected get exit(): Exit | undefined {
    return this.#subAccount.lastExit;
  }

  /** Base asset held; 0 is flat, also when a fee in base has left less than a lot, which cannot be sold. */
  get quantity(): number {
    const { base, isFlat } = this.#subAccount.estimate;
    return isFlat ? 0 : base;
  }

  /** Average price of the position; NaN when flat. */
  get entryPrice(): number {
    const { base, cost, isFlat } = this.#subAccount.estimate;
    return isFlat ? Number.NaN : cost / base;
  }

  /** Allocation plus profit, open and closed, fees taken, in quote. */
  get equity(): number {
    const { closed, base, cost } = this.#subAccount.estimate;
    const price = base === 0 ? undefined : this.#price();
    return price === undefined ? closed : closed + base * price - cost;
  }

  /** Open profit at the last close, in quote, without fees; 0 while flat. */
  get profit(): number {
    const { base, cost, isFlat } = this.#subAccount.estimate;
    const price = isFlat ? undefined : (this.klines?.close ?? this.#price());
    return price === undefined ? 0 : base * price - cost;
  }

  /** Closed profit less fees, in quote, since the strategy began here. */
  get realisedNet(): number {
    return this.#subAccount.estimate.earned;
  }
}
