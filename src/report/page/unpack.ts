/** The packed columns of the page as rows: `pack.ts` and `levels.ts` the other way round. */
import type { Level, Payload, PayloadSeries } from '../chart-data.ts';

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

/** Reads number after number. */
async function numbersOf(text: string): Promise<() => number> {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let at = 0;
  return () => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * factor;
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      factor *= 128;
    }
  };
}

export async function klinesOf(level: Level, { pricePrecision }: PayloadSeries, unitMs: number): Promise<Kline[]> {
  const next = await numbersOf(level.data);
  const scale = 10 ** pricePrecision;
  let time = 0;
  let last = 0;
  return Array.from({ length: level.rows }, () => {
    time += next();
    const open = last + next();
    const above = next();
    const below = next();
    const close = open + next();
    const volume = (next() / 255) ** 2;
    last = close;
    return {
      time: time * unitMs,
      open: open / scale,
      high: (Math.max(open, close) + above) / scale,
      low: (Math.min(open, close) - below) / scale,
      close: close / scale,
      volume,
    };
  });
}

export async function fillsOf(series: PayloadSeries, payload: Payload): Promise<ShownFill[]> {
  const next = await numbersOf(series.fillData);
  const scale = 10 ** series.pricePrecision;
  let time = 0;
  let price = 0;
  return Array.from({ length: series.fills }, (_, index) => {
    time += next();
    const strategy = payload.strategies[next()] ?? '';
    price += next();
    const quantity = next() / 10 ** series.quantityPrecision;
    const fee = next() / 1e8;
    const purpose = payload.purposes[next()] ?? '';
    const rule = payload.rules[next()] ?? '';
    const marks = next();
    const maker = marks % 2 === 1;
    return { index, time, strategy, price: price / scale, quantity, fee, purpose, rule, maker, ambiguous: marks >= 2 };
  });
}

/** The first place in an ascending list whose time is at or after one. */
export function placeAt(list: readonly { readonly time: number }[], time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.time ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Timed {
  readonly time: number;
}

/** What lies in the klines of a span, both lists ascending: to the end of the one in which the span ends, not to where that opens. */
export function withinKlines<T extends Timed>(
  all: readonly T[],
  klines: readonly Timed[],
  from: number,
  to: number,
): readonly T[] {
  const next = klines[placeAt(klines, to + 1)]?.time ?? Number.POSITIVE_INFINITY;
  return all.slice(placeAt(all, from), placeAt(all, next));
}
