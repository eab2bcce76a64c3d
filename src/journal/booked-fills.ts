/** Fills of a journal in exact money, each with the position of its strategy and symbol before and after it. */
import { getOrMake } from '../domain/get-or-make.ts';
import { type Instrument, instrument } from '../domain/instrument.ts';
import type { Fill } from '../domain/order.ts';
import { afterFill, noPosition, type Position } from '../domain/position.ts';
import type { FillEntry, InstrumentEntry } from './entries.ts';
import { restoreFill } from './fill-entries.ts';
import { finer } from './load.ts';

/** What is held after each fill of a strategy in a symbol; short positions have negative amounts, as in `Position`. */
export interface CostBasis {
  /** Books a fill and returns the position after it. */
  book(fill: Fill, at: Instrument): Position;
}

/** As the daemon counts. */
export function averageCost(): CostBasis {
  let position = noPosition;
  return {
    book(fill, at) {
      position = afterFill(position, fill, at);
      return position;
    },
  };
}

export interface BookedFill {
  readonly fill: Fill;
  /** In steps that the fill fits. */
  readonly at: Instrument;
  readonly before: Position;
  readonly after: Position;
}

/** What is held by strategy and symbol between two fills. */
export type PositionBooks = Map<string, { readonly basis: CostBasis; position: Position }>;

/**
 * Books fills, oldest first. Those of a symbol that is not among the instruments are left out. With the `books` of earlier fills, it goes on
 * after them.
 */
export function* bookedFills(
  fills: Iterable<FillEntry>,
  instruments: readonly InstrumentEntry[],
  basis: () => CostBasis = averageCost,
  books: PositionBooks = new Map(),
): Generator<BookedFill> {
  const known = new Map(instruments.map((entry) => [entry.symbol, instrument(entry)]));
  for (const row of fills) {
    const listed = known.get(row.symbol);
    if (listed === undefined) continue;
    const at = finer(row, listed);
    // Nobody asks a booked fill by which rule it was simulated.
    const fill = restoreFill({ ...row, evidence: null }, at);
    const booked = getOrMake(books, `${row.strategy}\n${row.symbol}`, () => ({ basis: basis(), position: noPosition }));
    const before = booked.position;
    booked.position = booked.basis.book(fill, at);
    yield { fill, at, before, after: booked.position };
  }
}
