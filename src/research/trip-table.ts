/** What was opened and not closed again. */
export interface OpenPosition {
  /** Index into the places of the fill table. */
  readonly place: number;
  readonly long: boolean;
  /** Of the oldest fill of it that is left. */
  readonly entryTime: number;
  readonly entryPrice: number;
}

/** All closed round trips, in the order in which they closed: a row each, since an object for each is most of what statistics cost. */
export interface TripTable {
  readonly length: number;
  /** What is held when the fills end. */
  readonly open: readonly OpenPosition[];
  readonly place: Uint16Array;
  /** 1 or 0. */
  readonly long: Uint8Array;
  readonly entryFill: Uint32Array;
  readonly exitFill: Uint32Array;
  readonly quantity: Float64Array;
  readonly entryPrice: Float64Array;
  readonly exitPrice: Float64Array;
  readonly cost: Float64Array;
  readonly profit: Float64Array;
  readonly fees: Float64Array;
  readonly worst: Float64Array;
  readonly best: Float64Array;
  /** UTC ms. */
  readonly entryTime: Float64Array;
  readonly exitTime: Float64Array;
}
