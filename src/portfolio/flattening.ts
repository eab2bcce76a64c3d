/**
 * Positions that an operator closes with `sluice flatten`: by a LIMIT order at the best price, which rests for a moment, then by MARKET where the
 * depth shows that this stays within the slippage budget. Each step compares the position with zero, so nothing is sold twice. A restart goes on.
 */

import { averagePrice } from '../domain/depth-price.ts';
import { type Instrument, orderLots, orderPrice } from '../domain/instrument.ts';
import type { Level, Side } from '../domain/market.ts';
import {
  absolute,
  type Lots,
  lots,
  lotsIn,
  max,
  min,
  noLots,
  notional,
  noUnits,
  plus,
  priceNumber,
  priceText,
  quantityText,
  type Ticks,
  ticks,
  ticksOf,
  type Units,
  units,
  unitsText,
} from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { moment } from '../domain/words.ts';
import {
  isUndecided,
  limitDraft,
  market,
  maxTooSmallLots,
  type OrderDraft,
  type Situation,
  type Step,
} from './plan.ts';
import type { Portfolio } from './portfolio.ts';

/** A position that is being closed. */
export interface Flatten {
  readonly strategy: string;
  readonly symbol: string;
  readonly by: string;
  readonly reason: string;
  /** The worst price that it may pay. */
  readonly worst: Ticks;
  /** It ends then, whatever is left, UTC ms; not while nothing can be sent. */
  until: number;
  /** While nothing can be sent: what is left of its time, ms. */
  leftMs: number | undefined;
  /** It ends then in any case, UTC ms. */
  readonly last: number;
  /** How many kills of everything were in force over its strategy when it began: it is asked in spite of them. */
  readonly inSpiteOf: number;
  /** Until when its LIMIT order rests, UTC ms; undefined before there was one. */
  restsUntil: number | undefined;
  /** What was closed so far, and for how much in quote. */
  closed: Lots;
  value: Units;
  /** Why it was ended early. */
  ended: string | undefined;
}

/** The best prices and quantities of a symbol, each best first. */
export interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface FlatteningOptions {
  readonly portfolio: Portfolio;
  readonly now: () => number;
  /** How long a LIMIT order rests, ms of the clock. */
  readonly restMs: number;
  /** The fresh book of a symbol; undefined where there is none. */
  readonly book: (symbol: string) => Book | undefined;
  /** Whether a stop of this position may be sent now. */
  readonly mayStop: (position: Pick<Flatten, 'strategy' | 'symbol'>) => boolean;
  /** What an earlier run kept, JSON. */
  readonly kept?: string | undefined;
  readonly keep: (json: string) => void;
}

export class Flattening {
  readonly #options: FlatteningOptions;
  readonly #flattens = new Map<string, Flatten>();

  constructor(options: FlatteningOptions) {
    this.#options = options;
    for (const saved of JSON.parse(options.kept ?? '[]') as readonly Saved[]) {
      const at = options.portfolio.instrument(saved.symbol);
      const exact = { worst: ticks(saved.worst, at, 'down'), closed: lots(saved.closed, at, 'down') };
      this.#flattens.set(nameOf(saved), {
        ...{ ...saved, ...exact, value: units(saved.value) },
        ...{ restsUntil: saved.restsUntil ?? undefined, ended: saved.ended ?? undefined },
        leftMs: saved.leftMs ?? undefined,
      });
    }
  }

  get active(): readonly Flatten[] {
    return [...this.#flattens.values()];
  }

  of(strategy: string, symbol: string): Flatten | undefined {
    return this.#flattens.size === 0 ? undefined : this.#flattens.get(nameOf({ strategy, symbol }));
  }

  /** What was closed so far, and how long its LIMIT order rests, are those of the one that it replaces. */
  begin(flatten: Omit<Flatten, 'leftMs' | 'restsUntil' | 'closed' | 'value' | 'ended'>): Flatten {
    const { restsUntil, closed, value } = this.#flattens.get(nameOf(flatten)) ?? {
      ...{ restsUntil: undefined, closed: noLots, value: noUnits },
    };
    const begun = { ...flatten, leftMs: undefined, ended: undefined, restsUntil, closed, value };
    this.#flattens.set(nameOf(flatten), begun);
    this.#keep();
    return begun;
  }

  /** Those of a strategy, or all, that go on. */
  pending(strategy?: string): readonly PendingFlatten[] {
    return this.active
      .filter((flatten) => (strategy ?? flatten.strategy) === flatten.strategy && !this.isOver(flatten))
      .map((flatten) => pendingOf(flatten, flatten.leftMs !== undefined));
  }

  /** Ends those of a strategy, or all. */
  stop(strategy: string | undefined, why: string): void {
    for (const flatten of this.#flattens.values())
      if (strategy === undefined || flatten.strategy === strategy) this.end(flatten, why);
  }

  /** Ends it early: nothing more is sent, and what rests of it is cancelled. */
  end(flatten: Flatten, why: string): void {
    if (flatten.ended !== undefined) return;
    flatten.ended = why;
    this.#keep();
  }

  /** Its time stands still while nothing can be sent. */
  wait(flatten: Flatten, isBlocked: boolean): void {
    const { leftMs, until } = flatten;
    if (isBlocked === (leftMs !== undefined) || this.isOver(flatten)) return;
    const now = this.#options.now();
    if (leftMs !== undefined) flatten.until = now + leftMs;
    flatten.leftMs = isBlocked ? until - now : undefined;
    this.#keep();
  }

  /** The exchange's clock may be set back: what was ended stays so. */
  isOver({ ended, until, leftMs, last }: Flatten): boolean {
    const now = this.#options.now();
    return ended !== undefined || now >= last || (leftMs === undefined && now >= until);
  }

  /** Why a flatten order may neither be sent nor rest: its flatten is over. */
  against({ strategy, symbol, purpose }: Pick<OrderDraft, 'strategy' | 'symbol' | 'purpose'>): string | undefined {
    if (purpose !== 'flatten') return undefined;
    const flatten = this.of(strategy, symbol);
    if (flatten !== undefined && !this.isOver(flatten)) return undefined;
    return `the flatten has ended${flatten?.ended === undefined ? '' : `: ${flatten.ended}`}`;
  }

  /** Ends a flatten where protection has the position left, by a stop that was hit or a time: that sells at market, at whatever price. */
  givesWay(flatten: Flatten, exit: string | undefined): boolean {
    if (exit === undefined || !this.#options.mayStop(flatten)) return false;
    this.end(flatten, `${exit}, which closes it at market`);
    return true;
  }

  /** An order is about to be sent. */
  sent({ purpose, type, strategy, symbol }: Pick<OrderDraft, 'purpose' | 'type' | 'strategy' | 'symbol'>): void {
    const flatten = purpose === 'flatten' && type === 'LIMIT' ? this.of(strategy, symbol) : undefined;
    if (flatten === undefined) return;
    flatten.restsUntil = this.#options.now() + this.#options.restMs;
    this.#keep();
  }

  /** Counts a fill that closes: also of an exit that filled before its cancel arrived. */
  booked({ purpose, strategy, symbol, quantity, price }: Fill): void {
    const flatten = this.of(strategy, symbol);
    if (flatten === undefined || purpose === 'enter' || purpose === 'quote') return;
    flatten.closed = plus(flatten.closed, quantity);
    flatten.value = plus(flatten.value, notional(price, quantity, this.#options.portfolio.instrument(symbol)));
    this.#keep();
  }

  /** The next step of a position that is being closed. What was `refused` is not planned again. */
  step(flatten: Flatten, situation: Situation, refused: readonly OrderDraft[]): Step | undefined {
    const { orders, instrument: at, held } = situation;
    if (isUndecided(orders)) return undefined;
    const foreign = orders.find(({ intent }) => intent.purpose !== 'flatten');
    if (foreign !== undefined) return { do: 'cancel', order: foreign };
    const now = this.#options.now();
    const side: Side = held > 0n ? 'SELL' : 'BUY';
    const size = orderLots(lotsIn(absolute(held), at), at);
    const isOver = this.isOver(flatten) || size <= maxTooSmallLots(situation);
    const isRefused = (type: OrderDraft['type']): boolean => refused.some((draft) => draft.type === type);
    const book = this.#options.book(flatten.symbol);
    const hasRested = flatten.restsUntil !== undefined && now >= flatten.restsUntil;
    const reason = `flatten by ${flatten.by}: ${flatten.reason}`;
    const mayTake = (hasRested || isRefused('LIMIT')) && isWithin(flatten, side, size, book, at);
    const atMarket = mayTake ? market(side, size, 'flatten', reason, situation) : undefined;
    const price = orderPrice(side, limitOf(flatten, side, book, at), at);
    const [own] = orders;
    if (own !== undefined) {
      const isOff = own.intent.side !== side || (hasRested && (atMarket !== undefined || own.intent.price !== price));
      return isOver || isOff ? { do: 'cancel', order: own } : undefined;
    }
    if (isOver) return undefined;
    if (atMarket !== undefined) return isRefused('MARKET') ? undefined : atMarket;
    if (isRefused('LIMIT') || (flatten.restsUntil !== undefined && !hasRested)) return undefined;
    const one = { side, price, lots: size, tolerance: noLots, purpose: 'flatten', reason } as const;
    return { do: 'create', draft: limitDraft(one, situation) };
  }

  /** Takes away those that have ended, and returns them. */
  finished(): readonly Flatten[] {
    const { portfolio } = this.#options;
    const done = this.active.filter((flatten) => {
      const { strategy, symbol } = flatten;
      const orders = portfolio.ordersOf(strategy, symbol);
      if (orders.length === 0 && isTooSmall(portfolio, flatten)) return true;
      return this.isOver(flatten) && orders.every(({ state }) => state === 'unknown' || state === 'quarantined');
    });
    for (const flatten of done) this.#flattens.delete(nameOf(flatten));
    if (done.length > 0) this.#keep();
    return done;
  }

  #keep(): void {
    const saved = this.active.map((flatten): Saved => {
      const at = this.#options.portfolio.instrument(flatten.symbol);
      return {
        ...flatten,
        ...{ worst: priceText(flatten.worst, at), closed: quantityText(flatten.closed, at) },
        ...{ value: unitsText(flatten.value), restsUntil: flatten.restsUntil ?? null, ended: flatten.ended ?? null },
        leftMs: flatten.leftMs ?? null,
      };
    });
    this.#options.keep(JSON.stringify(saved));
  }
}

/** Whether nothing is held, or less than the exchange takes in an order. */
export function isTooSmall(
  portfolio: Pick<Portfolio, 'position' | 'instrument' | 'lastMark'>,
  { strategy, symbol }: Pick<Flatten, 'strategy' | 'symbol'>,
): boolean {
  const mark = portfolio.lastMark(symbol);
  const instrument = portfolio.instrument(symbol);
  const size = orderLots(lotsIn(absolute(portfolio.position(strategy, symbol).base), instrument), instrument);
  return mark === undefined ? size === 0n : size <= maxTooSmallLots({ instrument, price: mark.price });
}

/** A flatten that goes on, as people see it. */
export interface PendingFlatten extends Pick<Flatten, 'strategy' | 'symbol' | 'by' | 'reason'> {
  /** Nothing can be sent now. */
  readonly waits: boolean;
  /** It ends then, whatever is left, UTC ms. */
  readonly until: number;
}

const pendingOf = (
  {
    strategy,
    symbol,
    by,
    reason,
    until,
    last,
  }: Pick<Flatten, 'strategy' | 'symbol' | 'by' | 'reason' | 'until' | 'last'>,
  waits: boolean,
): PendingFlatten => ({ strategy, symbol, by, reason, waits, until: waits ? last : until });

/** Those that go on at `now`, UTC ms, of what was kept. */
export const pendingKept = (kept = '[]', now: number): readonly PendingFlatten[] =>
  (JSON.parse(kept) as readonly Saved[])
    .filter(({ ended }) => ended === null)
    .map((saved) => pendingOf(saved, saved.leftMs !== null))
    .filter(({ until }) => now < until);

/** Whose flatten of what it is. */
export const flattenName = ({
  strategy,
  symbol,
  by,
  reason,
}: Pick<Flatten, 'strategy' | 'symbol' | 'by' | 'reason'>): string => `${strategy} on ${symbol} by ${by} (${reason})`;

/** A pending flatten in words. Without a daemon it goes on with the next start. */
export function pendingText(flatten: PendingFlatten, isRunning = true): string {
  const { waits, until } = flatten;
  const end = `until ${moment(until)} UTC at the latest`;
  const now = !isRunning
    ? `goes on when a daemon starts, ${end}`
    : waits
      ? `waits until orders can be sent, ${end}`
      : `closes the position now, ${end}`;
  return `${flattenName(flatten)}: ${now}`;
}

/** What is kept of flattens, after those of a strategy, or all, were ended: the next daemon cancels what rests of them. */
export const endKept = (kept: string, strategy: string | undefined, ended: string): string =>
  JSON.stringify(
    (JSON.parse(kept) as readonly Saved[]).map((saved) =>
      strategy === undefined || saved.strategy === strategy
        ? { ...saved, until: 0, ended: saved.ended ?? ended }
        : saved,
    ),
  );

interface Saved extends Omit<Flatten, 'worst' | 'closed' | 'value' | 'leftMs' | 'restsUntil' | 'ended'> {
  readonly leftMs: number | null;
  readonly worst: string;
  readonly closed: string;
  readonly value: string;
  readonly restsUntil: number | null;
  readonly ended: string | null;
}

const nameOf = ({ strategy, symbol }: Pick<Flatten, 'strategy' | 'symbol'>): string => `${strategy} ${symbol}`;

/** The best price of the other side, at which it trades at once as far as that is displayed; no worse than allowed. Without a book the worst. */
function limitOf({ worst }: Flatten, side: Side, book: Book | undefined, at: Instrument): Ticks {
  const best = (side === 'SELL' ? book?.bids : book?.asks)?.[0]?.[0];
  if (best === undefined) return worst;
  return side === 'SELL' ? max(ticksOf(best, at, 'down'), worst) : min(ticksOf(best, at, 'up'), worst);
}

/** Whether the displayed depth fills all of it at no worse than the allowed price on average. */
function isWithin({ worst }: Flatten, side: Side, size: Lots, book: Book | undefined, at: Instrument): boolean {
  const average = averagePrice((side === 'SELL' ? book?.bids : book?.asks) ?? [], side, size, at);
  if (average === undefined) return false;
  return side === 'SELL' ? average >= priceNumber(worst, at) : average <= priceNumber(worst, at);
}
