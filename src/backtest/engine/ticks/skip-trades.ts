/**
 * Skips trades that change nothing: prints that reach no order of ours, and prices at which nothing is due. The state afterwards
 * is the same as after handling each of them (test/backtest/ticks.test.ts).
 */

import type { TradeColumns } from '../../../data/tape.ts';
import { rowAt } from '../../../domain/market.ts';
import type { TradeFills } from '../../../fill/trade-fills.ts';
import type { Held } from '../margin.ts';
import type { SkippingCursor } from './events.ts';

export interface Passing {
  readonly cursor: SkippingCursor;
  /** Up to which time, at most `until`, its events change nothing. */
  ends(until: number): number;
  /** Passes over all events before `until`, which `ends` has allowed. */
  pass(until: number): void;
}

/** Prints at the exchange; `held`: between which prices nobody is liquidated. */
export function passingPrints(
  cursor: SkippingCursor,
  trades: TradeColumns,
  to: number,
  fills: TradeFills,
  held: () => Held | undefined,
): Passing {
  return {
    cursor,
    ends(until) {
      const filling = fills.nextMattering(trades, cursor.row, to, until);
      const row = nextRuining(trades.price, cursor.row, filling, held());
      return row < to ? Math.min(until, trades.time[row] as number) : until;
    },
    pass(until) {
      const next = Math.min(to, rowAt(trades.time, until));
      fills.pass(trades, cursor.row, next);
      cursor.moveTo(next);
    },
  };
}

/** The first row before `to` at whose price somebody is liquidated, else `to`. */
function nextRuining(price: ArrayLike<number>, from: number, to: number, held: Held | undefined): number {
  if (held === undefined) return to;
  let row = from;
  while (row < to && (price[row] as number) > held.above && (price[row] as number) < held.below) row++;
  return row;
}

/** A symbol's share of the equity, as a line over its price. Above `least` no limit can be reached. */
export interface PriceLine {
  readonly fixed: number;
  readonly held: number;
  readonly least: number;
  /** UTC ms at which a new day begins, whose first price is looked at. */
  readonly dayEnds: number;
}

export interface Seeing {
  /** undefined while somebody has something to do at each price. */
  line(): PriceLine | undefined;
  /** The last price that was passed, seen at UTC ms `at`. */
  mark(price: number, at: number): void;
}

/** Prices as strategies and limits see them, `delayMs` after the print. */
export function passingPrices(
  cursor: SkippingCursor,
  { time, price }: TradeColumns,
  { to, delayMs }: { readonly to: number; readonly delayMs: number },
  seeing: Seeing,
): Passing {
  return {
    cursor,
    ends(until) {
      const line = seeing.line();
      if (line === undefined) return Math.min(until, cursor.time);
      const { fixed, held, least } = line;
      const end = Math.min(until, line.dayEnds);
      for (let row = cursor.row; row < to; row++) {
        const at = (time[row] as number) + delayMs;
        if (at >= end) return end;
        if (!(fixed + held * (price[row] as number) > least)) return at;
      }
      return end;
    },
    pass(until) {
      const next = Math.min(to, rowAt(time, until - delayMs));
      seeing.mark(price[next - 1] as number, (time[next - 1] as number) + delayMs);
      cursor.moveTo(next);
    },
  };
}
