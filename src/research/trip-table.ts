/** All closed round trips, in the order in which they closed: a row each, since an object for each is most of what statistics cost. */
export interface TripTable {
  readonly length: number;
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
