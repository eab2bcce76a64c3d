/** Recorded minutes as an endless series: the rows before the start once, then the rows from the start over and over. */
import type { ColumnValues } from '../../domain/market.ts';
import type { MinuteRow } from './market.ts';

/** Recorded one-minute klines as columns of one length, the oldest first; times are UTC ms of the open. */
export type MinuteColumns = ColumnValues;

export type ReplayedRows = ReturnType<typeof replayedRows>;

const minuteMs = 60_000;

export function replayedRows(klines: MinuteColumns, startIndex: number, anchor: number) {
  const rows = klines.openTime.length;
  if (!(startIndex >= 0 && startIndex < rows))
    throw new RangeError(`startIndex ${startIndex} is outside the ${rows} klines`);
  const round = rows - startIndex;
  const firstTime = klines.openTime[startIndex] as number;
  const roundMs = (klines.openTime[rows - 1] as number) + minuteMs - firstTime;

  /** Any row from 0 on; times are moved so that row `startIndex` opens at the anchor and later rounds follow on. */
  function row(index: number): MinuteRow {
    const rounds = index < startIndex ? 0 : Math.floor((index - startIndex) / round);
    const at = index - rounds * round;
    return {
      openTime: (klines.openTime[at] as number) - firstTime + anchor + rounds * roundMs,
      open: klines.open[at] as number,
      high: klines.high[at] as number,
      low: klines.low[at] as number,
      close: klines.close[at] as number,
      volume: klines.volume[at] as number,
    };
  }
  return {
    row,
    /** Rows in one round. */
    round,
    /** The row that is under way at a time, at or after the anchor. */
    indexAt(time: number): number {
      let index = startIndex + Math.max(0, Math.floor((time - anchor) / roundMs)) * round;
      while (row(index + 1).openTime <= time) index++;
      return index;
    },
  };
}
