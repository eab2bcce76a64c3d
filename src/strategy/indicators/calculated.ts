/**
 * Makes indicators of calculations. A calculation takes its sources in pieces of any length; a stream gives it pieces of one row. So column
 * and stream agree to the last bit. It begins with the first row at which each of its sources has a value.
 */
import type { Interval } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import { SignalError } from '../fault.ts';
import {
  type Column,
  type Indicator,
  type Piece,
  type PriceName,
  type Source,
  type TimedPrices,
  wholeColumn,
} from '../indicator.ts';
import { innerOf, on } from '../larger-klines.ts';
import { type Arguments, refuseInvalid } from './refuse.ts';
import type { Kernel } from './windows.ts';

/**
 * Reads the first `count` values of each source and writes as many of each line: NaN where a line is not warm. Each call continues after
 * the last.
 */
export type Calculation = (sources: Arrays, lines: Arrays, count: number) => void;
/** As many as the recipe has sources or lines. */
type Arrays = readonly [...Three, ...Three];
type Three = readonly [Float64Array, Float64Array, Float64Array];

/** `openTime` is the time at which a kline opens, UTC ms. */
type Input = Source | 'openTime';

/** A recipe with all that it reads. */
type Reading<Line extends string = string> = Omit<Recipe<Line>, 'sources' | 'prices'> & {
  readonly sources: readonly Input[];
};

/** An indicator with lines, by what it is made of. */
export interface Recipe<Line extends string> extends Arguments {
  /** As users call it: of messages, and of the key that columns are shared by. */
  readonly name: string;
  readonly sources?: readonly Source[];
  /** What else of the klines it reads, after its sources. */
  readonly prices?: readonly (PriceName | 'openTime')[];
  /** How many values of its sources each line needs before its first one. */
  readonly lines: Readonly<Record<Line, number>>;
  /** As `after` of an indicator. */
  readonly after?: Interval;
  /** What else its values depend on, for the key. */
  readonly variant?: string | number;
  /** False: its columns are not shared between runs. */
  readonly isShared?: false;
  /** A calculation that has seen nothing. */
  readonly begin: () => Calculation;
}

/** An indicator of one line. */
export const calculated = ({
  warmup,
  ...recipe
}: Omit<Recipe<'value'>, 'lines'> & { readonly warmup: number }): Indicator =>
  linesOf({ ...recipe, lines: { value: warmup } }).value;

/** An indicator of one line over one source, by its kernel. */
export const overOne = (
  name: string,
  source: Source,
  period: number,
  kernel: () => Kernel,
  more: Partial<Pick<Recipe<'value'>, 'minPeriod' | 'variant' | 'factors'>> & { readonly warmup?: number } = {},
): Indicator =>
  calculated({
    ...{ name, sources: [source], periods: { period }, warmup: period, ...more },
    begin() {
      const next = kernel();
      return ([values], [out], count) => next(values, out, count);
    },
  });

/** The lines of an indicator. Wrong arguments are refused. */
export function linesOf<Line extends string>(recipe: Recipe<Line>): Readonly<Record<Line, Indicator>> {
  refuseInvalid(recipe.name, recipe);
  const { sources = [], prices = [], ...others } = recipe;
  const reads: Reading<Line> = { ...others, sources: [...sources, ...prices] };
  const of = commonInterval(reads);
  if (of === undefined) return ownLines(reads);
  // Over values of larger klines it is calculated once for each of those, not for each kline of the strategy.
  const inner = ownLines({ ...reads, sources: reads.sources.map(overLarger) });
  return Object.fromEntries(
    Object.entries<Indicator>(inner).map(([line, indicator]) => [line, on(of, indicator)]),
  ) as Record<Line, Indicator>;
}

function overLarger(source: Input): Input {
  if (typeof source === 'string') return source;
  const inner = innerOf(source);
  if (inner === undefined)
    throw new SignalError(`an indicator of ${source.of} klines that on() did not make cannot be the source of another`);
  return inner;
}

/** The larger interval of the sources; undefined where it is the strategy's own. */
function commonInterval({ name, sources }: Reading): Interval | undefined {
  const all = new Set(sources.map((source) => (typeof source === 'string' ? undefined : source.of)));
  if (all.size > 1) {
    const names = [...all].map((of) => of ?? "the strategy's own interval");
    throw new SignalError(`${name}(…): its sources are of ${names.join(' and of ')}; name one interval, around it`);
  }
  return [...all][0];
}

function ownLines<Line extends string>(recipe: Reading<Line>): Readonly<Record<Line, Indicator>> {
  const { sources } = recipe;
  const indicators = sources.filter((source) => typeof source !== 'string');
  const before = Math.max(1, ...indicators.map(({ warmup }) => warmup)) - 1;
  const after = recipe.after ?? indicators.find((one) => one.after !== undefined)?.after;
  const key = keyOf(recipe);
  const names = Object.keys(recipe.lines) as Line[];
  const runs = new SharedRuns(recipe);
  const lineOf = (line: Line, index: number): Indicator => ({
    warmup: before + recipe.lines[line],
    ...(after === undefined ? {} : { after }),
    column: columnOf(
      key === undefined || names.length === 1 ? key : `${key} ${line}`,
      names.length === 1 ? single(recipe) : (klines, interval) => runs.line(index, klines, interval),
    ),
    stream: (interval) => streamOf(recipe, names.length, index, interval),
  });
  return Object.fromEntries(names.map((line, index) => [line, lineOf(line, index)])) as Record<Line, Indicator>;
}

/** Undefined where a source has none: it is a user's. */
function keyOf({ name, sources, isShared, periods = {}, factors = {}, variant }: Reading): string | undefined {
  if (isShared === false) return undefined;
  const keys = sources.map((source) => (typeof source === 'string' ? source : source.column.key));
  if (keys.includes(undefined)) return undefined;
  const parts = keys.map((key = '') => (key.includes(' ') ? `(${key})` : key));
  const settings = [...Object.values(periods), ...Object.values(factors), ...(variant === undefined ? [] : [variant])];
  return [name, ...parts, ...settings].join(' ');
}

/** Rows at a time: a few arrays of them stay in a processor's cache. */
const pieceRows = 4_096;

/** A column, made by pieces. */
function columnOf(key: string | undefined, pieces: NonNullable<Column['pieces']>): Column {
  const column = (klines: Columns, interval: Interval): Float64Array => {
    const out = new Float64Array(klines.openTime.length);
    const piece = pieces(klines, interval);
    for (let from = 0; from < out.length; from += pieceRows) {
      const to = Math.min(from + pieceRows, out.length);
      piece(out.subarray(from, to), from, to);
    }
    return out;
  };
  return Object.assign(column, key === undefined ? { pieces } : { key, pieces });
}

const single =
  (recipe: Reading) =>
  (klines: Columns, interval: Interval): Piece => {
    const next = calculating(recipe, klines, interval);
    return (into, from, to) => next([into], from, to);
  };

/** Calculates rows `from` to `to` of all lines. */
function calculating(
  { sources, begin }: Reading,
  klines: Columns,
  interval: Interval,
): (lines: readonly Float64Array[], from: number, to: number) => void {
  const reads = sources.map((source) => reading(source, klines, interval));
  const calculate = begin() as Calculate;
  const isOverIndicator = sources.some((source) => typeof source !== 'string');
  return (lines, from, to) => {
    const values = reads.map((read) => read(from, to));
    if (isOverIndicator) whereKnown(calculate, values, lines, to - from);
    else calculate(values, lines, to - from);
  };
}

type Calculate = (sources: readonly Float64Array[], lines: readonly Float64Array[], count: number) => void;

/** Leaves out the rows at which a source has no value: those before it is warm. */
function whereKnown(
  calculate: Calculate,
  sources: readonly Float64Array[],
  lines: readonly Float64Array[],
  count: number,
): void {
  if (sources.every((values) => isWhole(values, count))) {
    calculate(sources, lines, count);
    return;
  }
  for (let from = 0, to = 0; from < count; from = to) {
    const isKnown = areKnown(sources, from);
    for (to = from + 1; to < count && areKnown(sources, to) === isKnown; ) to++;
    if (!isKnown) for (const line of lines) line.fill(Number.NaN, from, to);
    else {
      const part = (values: Float64Array): Float64Array => values.subarray(from, to);
      calculate(sources.map(part), lines.map(part), to - from);
    }
  }
}

function isWhole(values: Float64Array, count: number): boolean {
  let unknown = 0;
  for (let row = 0; row < count; row++) unknown += Number(Number.isNaN(values[row]));
  return unknown === 0;
}

function areKnown(sources: readonly Float64Array[], row: number): boolean {
  for (let index = 0; index < sources.length; index++)
    if (Number.isNaN((sources[index] as Float64Array)[row])) return false;
  return true;
}

/** The values of a source in rows `from` to `to`, from index 0 on; valid until the next call. */
type Read = (from: number, to: number) => Float64Array;

function reading(source: Input, klines: Columns, interval: Interval): Read {
  if (source === 'hl2' || source === 'hlc3' || source === 'ohlc4') return readingMean(source, klines);
  if (typeof source === 'string') return (from, to) => klines[source].subarray(from, to);
  const piece = source.column.pieces?.(klines, interval);
  if (piece === undefined) {
    const whole = wholeColumn(source, klines, interval);
    return (from, to) => whole.subarray(from, to);
  }
  const buffer = growing();
  return (from, to) => {
    const values = buffer(to - from);
    piece(values, from, to);
    return values;
  };
}

function readingMean(source: keyof typeof meanOf, { open, high, low, close }: Columns): Read {
  const buffer = growing();
  const mean = meanOf[source];
  return (from, to) => {
    const values = buffer(to - from);
    for (let row = from; row < to; row++)
      values[row - from] = mean(open[row] as number, high[row] as number, low[row] as number, close[row] as number);
    return values;
  };
}

const meanOf = {
  hl2: (_: number, high: number, low: number): number => (high + low) / 2,
  hlc3: (_: number, high: number, low: number, close: number): number => (high + low + close) / 3,
  ohlc4: (open: number, high: number, low: number, close: number): number => (open + high + low + close) / 4,
};

/** A buffer for at least so many values; what it holds is lost when it grows. */
export function growing(): (count: number) => Float64Array {
  let values = new Float64Array(1);
  return (count) => {
    if (values.length < count) values = new Float64Array(count);
    return values;
  };
}

function streamOf(
  { sources, begin }: Reading,
  lineCount: number,
  index: number,
  interval: Interval,
): (kline: TimedPrices) => number {
  const reads = sources.map((source) => priceOf(source, interval));
  const isOverIndicator = sources.some((source) => typeof source !== 'string');
  const values = sources.map(() => new Float64Array(1));
  const lines = Array.from({ length: lineCount }, () => new Float64Array(1));
  const calculate = begin() as Calculate;
  return (kline) => {
    for (let at = 0; at < reads.length; at++)
      (values[at] as Float64Array)[0] = (reads[at] as (kline: TimedPrices) => number)(kline);
    if (isOverIndicator && !areKnown(values, 0)) return Number.NaN;
    calculate(values, lines, 1);
    return (lines[index] as Float64Array)[0] as number;
  };
}

function priceOf(source: Input, interval: Interval): (kline: TimedPrices) => number {
  if (source === 'hl2' || source === 'hlc3' || source === 'ohlc4') {
    const mean = meanOf[source];
    return ({ open, high, low, close }) => mean(open, high, low, close);
  }
  return typeof source === 'string' ? (kline) => kline[source] : source.stream(interval);
}

/** One calculation of all lines over klines, and its last piece. */
class Run {
  readonly interval: Interval;
  /** The lines that read it. */
  readonly readers = new Set<number>();
  readonly #next: ReturnType<typeof calculating>;
  readonly #buffers: readonly ReturnType<typeof growing>[];
  from = 0;
  to = 0;
  lines: readonly Float64Array[] = [];

  constructor(recipe: Reading, klines: Columns, interval: Interval) {
    this.interval = interval;
    this.#next = calculating(recipe, klines, interval);
    this.#buffers = Object.keys(recipe.lines).map(growing);
  }

  advance(to: number): void {
    this.from = this.to;
    this.to = to;
    this.lines = this.#buffers.map((buffer) => buffer(to - this.from));
    this.#next(this.lines, this.from, to);
  }
}

/**
 * Lines that are read piece by piece over the same klines share one calculation: the first that asks for a piece has it calculated, and the
 * others copy it. A line that is read out of step with the others gets a calculation of its own.
 */
class SharedRuns {
  readonly #recipe: Reading;
  readonly #runs = new WeakMap<Columns, Run>();

  constructor(recipe: Reading) {
    this.#recipe = recipe;
  }

  line(index: number, klines: Columns, interval: Interval): Piece {
    let run = this.#join(index, klines, interval);
    return (into, from, to) => {
      if (run.from !== from || run.to !== to) {
        if (run.to !== from) run = this.#ownRun(klines, interval, from);
        run.advance(to);
      }
      into.set((run.lines[index] as Float64Array).subarray(0, to - from));
    };
  }

  /** A run that has not begun and that this line does not read yet. */
  #join(index: number, klines: Columns, interval: Interval): Run {
    const known = this.#runs.get(klines);
    const isFree = known?.to === 0 && known.interval === interval && !known.readers.has(index);
    const run = isFree ? known : new Run(this.#recipe, klines, interval);
    run.readers.add(index);
    this.#runs.set(klines, run);
    return run;
  }

  #ownRun(klines: Columns, interval: Interval, to: number): Run {
    const run = new Run(this.#recipe, klines, interval);
    while (run.to < to) run.advance(Math.min(run.to + pieceRows, to));
    return run;
  }
}
