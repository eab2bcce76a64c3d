/** A position that is still open. */
export interface OpenPosition {
  /** Index into the positions of the fill table. */
  readonly position: number;
  readonly long: boolean;
  /** Of its oldest fill that is not closed. */
  readonly entryTime: number;
  readonly entryPrice: number;
}

/** All closed round trips as columns, in the order of their exits: an object for each is most of what statistics cost. */
export interface RoundTripTable {
  readonly length: number;
  /** Positions that are open after the last fill. */
  readonly open: readonly OpenPosition[];
  /** Index into the positions of the fill table. */
  readonly position: Uint16Array;
  /** 1 or 0. */
  readonly long: Uint8Array;
  /** The first fill of the entry and the last of the exit, with their times (UTC ms). */
  readonly entryFill: Uint32Array;
  readonly exitFill: Uint32Array;
  readonly entryTime: Float64Array;
  readonly exitTime: Float64Array;
  readonly quantity: Float64Array;
  /** Averages. */
  readonly entryPrice: Float64Array;
  readonly exitPrice: Float64Array;
  /** Value at the entry without fees, profit after fees, and fees: in quote, or in the currency of the fill table. */
  readonly cost: Float64Array;
  readonly profit: Float64Array;
  readonly fees: Float64Array;
  /** Maximum adverse (≤ 0) and favourable (≥ 0) excursion, as fractions of the entry price. */
  readonly worst: Float64Array;
  readonly best: Float64Array;
}
