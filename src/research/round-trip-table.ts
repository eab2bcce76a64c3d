/** A position that is still open. */
export interface OpenPosition {
  /** Index into the positions of the fill table. */
  readonly position: number;
  readonly long: boolean;
  /** Of its oldest fill that is not closed. */
  readonly entryTime: number;
  readonly entryPrice: number;
}

const doubles = (rows: number): Float64Array => new Float64Array(rows);

/** Columns of round trips, all of one length. */
export const emptyColumns = (rows: number) => ({
  /** Index into the positions of the fill table. */
  position: new Uint16Array(rows),
  /** 1 or 0. */
  long: new Uint8Array(rows),
  /** The first fill of the entry and the last of the exit, with their times (UTC ms). */
  ...{ entryFill: new Uint32Array(rows), exitFill: new Uint32Array(rows) },
  ...{ entryTime: doubles(rows), exitTime: doubles(rows), quantity: doubles(rows) },
  /** Averages. */
  ...{ entryPrice: doubles(rows), exitPrice: doubles(rows) },
  /** Value at the entry without fees, profit after fees, and fees: in quote, or in the currency of the fill table. */
  ...{ cost: doubles(rows), profit: doubles(rows), fees: doubles(rows) },
  /** Maximum adverse (≤ 0) and favourable (≥ 0) excursion, as fractions of the entry price. */
  ...{ worst: doubles(rows), best: doubles(rows) },
});
export type RoundTripColumns = Readonly<ReturnType<typeof emptyColumns>>;

/** All closed round trips as columns, in the order of their exits: an object for each is most of what statistics cost. */
export interface RoundTripTable extends RoundTripColumns {
  readonly length: number;
  /** Positions that are open after the last fill. */
  readonly open: readonly OpenPosition[];
}
