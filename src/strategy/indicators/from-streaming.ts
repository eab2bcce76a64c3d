/** Indicators of other libraries that take one value after another. */
import { inspect } from 'node:util';
import { SignalError } from '../fault.ts';
import type { Indicator, Source, TimedPrices } from '../indicator.ts';
import { linesOf } from './calculated.ts';

export interface StreamingOptions<Made, Line extends string = never> {
  /** How many klines it needs before its first value. */
  readonly warmup: number;
  /** What it takes: a price (the close, where this is left out), another indicator, or whole klines as `{ open, high, low, close, volume, openTime }`. */
  readonly source?: Source | 'kline';
  /** The names of its lines, where it gives an object instead of a number. */
  readonly lines?: readonly Line[];
  /** Gives it a value and returns what it says then. Left out: by its method `add(value)` or `update(value, false)`. */
  readonly next?: (made: Made, value: never) => unknown;
}

/**
 * Wraps a class that takes one value after another, such as those of `trading-signals`: `fromStreaming(() => new RSI(14), { warmup: 15 })`.
 * `make` is called for each run. The class gives a number, or null or undefined before it has one. With `lines`, it gives an object
 * of numbers, and one indicator for each line is returned, by name.
 */
export function fromStreaming<Made>(make: () => Made, options: StreamingOptions<Made>): Indicator;
export function fromStreaming<Made, const Line extends string>(
  make: () => Made,
  options: StreamingOptions<Made, Line> & { readonly lines: readonly Line[] },
): Readonly<Record<Line, Indicator>>;
export function fromStreaming<Made>(
  make: () => Made,
  { warmup, source = 'close', lines, next }: StreamingOptions<Made, string>,
): Indicator | Readonly<Record<string, Indicator>> {
  if (!Number.isInteger(warmup) || warmup < 1)
    throw new SignalError(
      `fromStreaming(…, { warmup: ${inspect(warmup)} }): it must be a whole number of klines, 1 or more`,
    );
  const names = lines ?? ['value'];
  const prices = ['openTime', 'open', 'high', 'low', 'close', 'volume'] as const;
  const made = linesOf({
    name: 'fromStreaming',
    // Two of them may differ in what nobody can see: their columns are not shared.
    isShared: false,
    ...(source === 'kline' ? { prices } : { sources: [source] }),
    lines: Object.fromEntries(names.map((name) => [name, warmup])),
    begin() {
      const take = taker(make(), next as ((made: Made, value: unknown) => unknown) | undefined);
      return (sources: readonly Float64Array[], into: readonly Float64Array[], count) => {
        for (let row = 0; row < count; row++) {
          const [first] = sources as [Float64Array];
          const result = take(source === 'kline' ? klineAt(sources, row) : first[row]);
          for (let line = 0; line < into.length; line++)
            (into[line] as Float64Array)[row] = numberOf(result, lines?.[line]);
        }
      };
    },
  });
  return lines === undefined ? (made['value'] as Indicator) : made;
}

const klineAt = (sources: readonly Float64Array[], row: number): TimedPrices => {
  const [openTime, open, high, low, close, volume] = sources.map((source) => source[row] as number) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  return { openTime, open, high, low, close, volume };
};

interface Taking {
  readonly add?: (value: unknown) => unknown;
  readonly update?: (value: unknown, replaces: boolean) => unknown;
}

function taker<Made>(made: Made, next?: (made: Made, value: unknown) => unknown): (value: unknown) => unknown {
  if (next !== undefined) return (value) => next(made, value);
  const taking = made as Taking | null | undefined;
  if (typeof taking?.add === 'function') return (value) => taking.add?.(value);
  if (typeof taking?.update === 'function') return (value) => taking.update?.(value, false);
  throw new SignalError(
    `fromStreaming(): ${inspect(made, { depth: 0 })} has neither add() nor update(): say with next how it takes a value`,
  );
}

/** NaN for null and undefined, which mean that there is no value yet. */
function numberOf(result: unknown, line: string | undefined): number {
  if (result === null || result === undefined) return Number.NaN;
  const value: unknown = line === undefined ? result : (result as Readonly<Record<string, unknown>>)[line];
  if (typeof value === 'number') return value;
  throw new SignalError(
    line === undefined
      ? `fromStreaming(): it gave ${inspect(result, { depth: 0 })} instead of a number: name the lines that you need, as lines: ['upper']`
      : `fromStreaming(): it gave ${inspect(result, { depth: 0 })}, of which ${line} is not a number`,
  );
}
