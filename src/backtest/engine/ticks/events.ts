/** Recorded data as events in time order: the earliest of several cursors is next; at equal times, the one of lower rank. */

/** A place in one recording. */
export interface Cursor {
  /** UTC ms of its next event; infinity at its end. */
  time: number;
  /** Ranks at equal times: trade < book < kline < what strategies see < what they decide < the kline that opens. */
  rank: number;
  /** Lets its next event happen and moves on. */
  fire(): Promise<void> | undefined;
}

/** A cursor whose rows can be passed over while they change nothing. */
export interface SkippingCursor extends Cursor {
  readonly row: number;
  /** Moves on to a row. */
  moveTo(row: number): void;
}

export const ranks = {
  /** The resting orders of a kline, a moment before it closes. */
  rest: -1,

  trade: 0,
  gap: 1,
  book: 2,
  kline: 3,
  seenTrade: 4,
  seenBook: 5,
  seenKline: 6,
  /** Every kline of the moment is the last price of its symbol by now. */
  decide: 7,
  moment: 8,
  late: 9,
  seenGap: 10,
  open: 11,
  /** Every kline of the moment has opened by now. */
  reopen: 12,
} as const;

/** The cursor whose event is next; undefined when all have ended. */
export function earliest(cursors: readonly Cursor[]): Cursor | undefined {
  let first: Cursor | undefined;
  for (const cursor of cursors) {
    if (first === undefined || cursor.time < first.time || (cursor.time === first.time && cursor.rank < first.rank))
      first = cursor;
  }
  return first === undefined || first.time === Number.POSITIVE_INFINITY ? undefined : first;
}

/** A cursor over rows whose times ascend. */
export function cursorOver(
  {
    time,
    from,
    to,
    delayMs,
    rank,
  }: {
    readonly time: ArrayLike<number>;
    readonly from: number;
    readonly to: number;
    readonly delayMs: number;
    readonly rank: number;
  },
  happen: (row: number) => Promise<void> | undefined,
): SkippingCursor {
  let row = from;
  const timeAt = (at: number): number => (at < to ? (time[at] as number) + delayMs : Number.POSITIVE_INFINITY);
  const cursor: SkippingCursor = {
    time: timeAt(row),
    get row() {
      return row;
    },
    moveTo(next) {
      row = next;
      cursor.time = timeAt(row);
    },
    rank,
    fire() {
      const now = row++;
      cursor.time = timeAt(row);
      return happen(now);
    },
  };
  return cursor;
}
