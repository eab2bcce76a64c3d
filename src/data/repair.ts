/** Rows in the order of time, each time once: refused when they are not, mended only when asked. */
import type { Columns } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';

export interface Sorted {
  readonly columns: Columns;
  readonly duplicatesDropped: number;
  readonly rowsOutOfOrder: number;
}

/**
 * The rows sorted by time without repetitions. Rows out of order and rows repeated exactly are refused unless `repair` is
 * asked for; two different rows of one time are always refused, since nobody knows which is true.
 */
export function sortedOnce(
  { path, repair = false }: { readonly path: string; readonly repair?: boolean },
  read: Columns,
): Sorted {
  const { openTime } = read;
  let firstBack = -1;
  let firstSame = -1;
  let back = 0;
  let same = 0;
  for (let row = 1; row < openTime.length; row++) {
    const step = (openTime[row] as number) - (openTime[row - 1] as number);
    if (step > 0) continue;
    if (step < 0 && back++ === 0) firstBack = row;
    if (step === 0 && same++ === 0) firstSame = row;
  }
  if (back === 0 && same === 0) return { columns: read, duplicatesDropped: 0, rowsOutOfOrder: 0 };
  if (!repair) {
    const [row, what] =
      back > 0
        ? [firstBack, `${back} rows are earlier than the row before`]
        : [firstSame, `${same} rows repeat the time of the row before`];
    const time = new Date(openTime[row] as number).toISOString();
    throw new Refusal(
      `${path}, line ${row + 2} (${time}): ${what}, this is the first: correct the file, or ask for a repair (repair: true), which sorts and drops rows that say the same`,
    );
  }
  return mend(path, read, back);
}

function mend(path: string, read: Columns, rowsOutOfOrder: number): Sorted {
  const { openTime } = read;
  const order = Uint32Array.from(openTime, (_, row) => row);
  order.sort((a, b) => (openTime[a] as number) - (openTime[b] as number) || a - b);
  const kept: number[] = [];
  for (const row of order) {
    const last = kept.at(-1);
    if (last === undefined || openTime[last] !== openTime[row]) kept.push(row);
    else if (!equalRows(read, last, row)) {
      const time = new Date(openTime[row] as number).toISOString();
      throw new Refusal(
        `${path}, lines ${last + 2} and ${row + 2}: two different klines of ${time}; remove the wrong one`,
      );
    }
  }
  const pick = (column: Float64Array): Float64Array => Float64Array.from(kept, (row) => column[row] as number);
  return {
    columns: {
      openTime: pick(read.openTime),
      open: pick(read.open),
      high: pick(read.high),
      low: pick(read.low),
      close: pick(read.close),
      volume: pick(read.volume),
    },
    duplicatesDropped: openTime.length - kept.length,
    rowsOutOfOrder,
  };
}

const equalRows = (columns: Columns, a: number, b: number): boolean =>
  columns.open[a] === columns.open[b] &&
  columns.high[a] === columns.high[b] &&
  columns.low[a] === columns.low[b] &&
  columns.close[a] === columns.close[b] &&
  columns.volume[a] === columns.volume[b];
