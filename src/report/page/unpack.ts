/** The packed columns of the page as rows; see `chart-data.ts`. */
import type { Payload, PayloadSeries, ZoomLevel } from '../chart-data.ts';

export interface Kline {
  /** UTC ms. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** Of the largest in its level, 0 to 1. */
  readonly volume: number;
}

export interface ShownFill {
  readonly index: number;
  readonly time: number;
  readonly strategy: string;
  readonly price: number;
  /** Positive when bought. */
  readonly quantity: number;
  readonly fee: number;
  readonly purpose: string;
  readonly rule: string;
  readonly maker: boolean;
  readonly ambiguous: boolean;
}

/** How many rows packed columns have, and the number in a column of a row. */
export async function unpack(text: string) {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const columns: readonly (readonly (number | null)[])[] = await new Response(unpacked).json();
  return {
    length: columns[0]?.length ?? 0,
    at: (column: number, row: number) => columns[column]?.[row] ?? 0,
    isThere: (column: number, row: number) => typeof columns[column]?.[row] === 'number',
  };
}

export async function klinesOf(level: ZoomLevel, { pricePrecision }: PayloadSeries, unitMs: number): Promise<Kline[]> {
  const { length, at } = await unpack(level.data);
  const scale = 10 ** pricePrecision;
  let [time, close] = [0, 0];
  return Array.from({ length }, (_, row) => {
    time += at(0, row);
    const open = close + at(1, row);
    close = open + at(4, row);
    return {
      time: time * unitMs,
      open: open / scale,
      high: (Math.max(open, close) + at(2, row)) / scale,
      low: (Math.min(open, close) - at(3, row)) / scale,
      close: close / scale,
      volume: (at(5, row) / 255) ** 2,
    };
  });
}

/** By line of an indicator, its value after each kline of a level. */
export async function valuesOf(level: ZoomLevel, { indicators }: PayloadSeries): Promise<readonly Float64Array[]> {
  const { length, at, isThere } = await unpack(level.indicators);
  return indicators.map(({ step }, line) => {
    let steps = 0;
    return Float64Array.from({ length }, (_, row) => {
      if (!isThere(line, row)) return Number.NaN;
      steps += at(line, row);
      return steps * step;
    });
  });
}

export async function fillsOf(series: PayloadSeries, payload: Payload): Promise<ShownFill[]> {
  const { length, at } = await unpack(series.fillData);
  let [time, ticks] = [0, 0];
  return Array.from({ length }, (_, index) => {
    time += at(0, index);
    ticks += at(2, index);
    const marks = at(7, index);
    return {
      ...{ index, time, fee: at(4, index) / 1e8, maker: marks % 2 === 1, ambiguous: marks >= 2 },
      price: ticks / 10 ** series.pricePrecision,
      quantity: at(3, index) / 10 ** series.quantityPrecision,
      strategy: payload.strategies[at(1, index)] ?? '',
      purpose: payload.purposes[at(5, index)] ?? '',
      rule: payload.rules[at(6, index)] ?? '',
    };
  });
}

/** The index of the first entry of an ascending list at or after a time. */
export function indexAt(list: readonly { readonly time: number }[], time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.time ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What lies in the klines of a span, both lists ascending, up to the end of the kline in which the span ends. */
export function withinKlines<T extends { readonly time: number }>(
  all: readonly T[],
  klines: readonly { readonly time: number }[],
  from: number,
  to: number,
): readonly T[] {
  const next = klines[indexAt(klines, to + 1)]?.time ?? Number.POSITIVE_INFINITY;
  return all.slice(indexAt(all, from), indexAt(all, next));
}
