/**
 * Klines of several markets side by side, by the moments at which they close. A kline that is missing stays missing: no moment has the one
 * before in its place. A kline of a larger interval counts until the next of them is due.
 */
import { closeTime, type Interval } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import { didYouMean } from '../../domain/refusal.ts';
import { SignalError } from '../fault.ts';
import { type Indicator, type PriceName, type TimedPrices, wholeColumn } from '../indicator.ts';
import { calculated } from '../indicators/calculated.ts';

/** One market. */
export interface MarketRows {
  readonly columns: Columns;
  readonly interval: Interval;
  /** By moment, the row of the kline that counts; -1 where it is missing. */
  readonly rowAt: Int32Array;
  /** A kline closes at each moment: rows are moments. */
  readonly isEach: boolean;
}

/** Rows are moments: `openTime` is when klines closed, UTC ms. Prices are those of a market, which an indicator names by `of`. */
export interface JoinedColumns extends Columns {
  readonly markets: Readonly<Record<string, MarketRows>>;
}

/** The same as it grows: what one moment adds. */
export interface JoinedPrices extends TimedPrices {
  /** By role: the kline that closed at this moment, and its interval; undefined where none did. */
  readonly markets: Readonly<Record<string, { readonly kline: TimedPrices; readonly interval: Interval } | undefined>>;
  /** The moment of these klines has passed without them: they count from the next one on, and no market has a value now. */
  readonly isLate?: boolean;
}

/** `knownAt`: when each kline was known, UTC ms, where that can be later than its close. */
type Klines = Readonly<
  Record<string, { readonly columns: Columns; readonly interval: Interval; readonly knownAt?: Float64Array }>
>;

function withoutMarket(price: string): never {
  throw new SignalError(
    `an indicator reads the ${price} of no market: a strategy of several markets names it, as in of('lead', sma('close', 20))`,
  );
}

/** Rows or prices of a moment, without prices of their own. */
function joined<T extends object>(members: T): T & Record<Exclude<PriceName, 'hl2' | 'hlc3' | 'ohlc4'>, never> {
  for (const price of ['open', 'high', 'low', 'close', 'volume'])
    Object.defineProperty(members, price, { get: () => withoutMarket(price) });
  return members as T & Record<Exclude<PriceName, 'hl2' | 'hlc3' | 'ohlc4'>, never>;
}

/** One moment, for the streams of indicators. */
export const joinedPrices = (time: number, markets: JoinedPrices['markets'], isLate = false): JoinedPrices =>
  joined({ openTime: time, markets, isLate });

/** All moments at which a kline of any market closes. */
export function joinKlines(markets: Klines): JoinedColumns {
  const all: { readonly role: string; readonly market: Klines[string]; readonly closes: Float64Array }[] = [];
  for (const [role, market] of Object.entries(markets)) {
    // Most markets close at the times of the one before: comparing them is faster than working them out.
    const before = all.at(-1);
    const closes = before !== undefined && closeTogether(before.market, market) ? before.closes : closesOf(market);
    all.push({ role, market, closes });
  }
  let moments: Float64Array = new Float64Array();
  for (const { closes } of all) moments = merged(moments, closes);
  const each = Int32Array.from(moments, (_, row) => row);
  const rows = all.map(({ role, market: { columns, interval }, closes }) => {
    const isEach = areSame(closes, moments);
    const rowAt = isEach ? each : rowsAt(moments, closes, columns.openTime, interval);
    return [role, { columns, interval, rowAt, isEach }] as const;
  });
  return joined({ openTime: moments, markets: Object.fromEntries(rows) });
}

/** When klines closed, or were known where that is later, UTC ms. */
const closesOf = ({ columns: { openTime }, interval, knownAt }: Klines[string]): Float64Array =>
  knownAt ?? openTime.map((time) => closeTime(interval, time));

const closeTogether = (a: Klines[string], b: Klines[string]): boolean =>
  a.interval === b.interval &&
  a.knownAt === undefined &&
  b.knownAt === undefined &&
  areSame(a.columns.openTime, b.columns.openTime);

function areSame(a: Float64Array, b: Float64Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let row = 0; row < a.length; row++) if (a[row] !== b[row]) return false;
  return true;
}

/** The times of both, in order, each once. */
function merged(a: Float64Array, b: Float64Array): Float64Array {
  if (b.length === 0 || areSame(a, b)) return a;
  const out = new Float64Array(a.length + b.length);
  let [count, inA, inB] = [0, 0, 0];
  while (inA < a.length || inB < b.length) {
    const [nextA, nextB] = [a[inA] ?? Number.POSITIVE_INFINITY, b[inB] ?? Number.POSITIVE_INFINITY];
    const next = Math.min(nextA, nextB);
    while (a[inA] === next) inA++;
    while (b[inB] === next) inB++;
    out[count++] = next;
  }
  return out.slice(0, count);
}

function rowsAt(moments: Float64Array, closes: Float64Array, openTime: Float64Array, interval: Interval): Int32Array {
  const rowAt = new Int32Array(moments.length);
  let row = -1;
  for (let moment = 0; moment < moments.length; moment++) {
    const time = moments[moment] as number;
    while (row + 1 < closes.length && (closes[row + 1] as number) <= time) row++;
    rowAt[moment] = row >= 0 && isInForce(interval, openTime[row] as number, time) ? row : -1;
  }
  return rowAt;
}

/** Whether the kline that opened at `openTime` is the last that can have closed by a moment. */
export const isInForce = (interval: Interval, openTime: number, moment: number): boolean =>
  moment < closeTime(interval, closeTime(interval, openTime));

/**
 * An indicator, or a price, of one market of a strategy that has several. It has no value at moments when that market's kline is missing.
 * Throws for an indicator of a market already.
 */
export function of(role: string, source: Indicator | PriceName): Indicator {
  const inner = typeof source === 'string' ? priceOf(source) : source;
  const { key } = inner.column;
  const column = (klines: Columns): Float64Array => {
    const rows = rowsOf(klines, role);
    const values = wholeColumn(inner, rows.columns, rows.interval);
    const { rowAt, isEach } = rows;
    const first = inner.of === undefined ? inner.warmup - 1 : 0;
    if (isEach && values.subarray(0, first).every(Number.isNaN)) return values;
    const out = new Float64Array(rowAt.length);
    for (let moment = 0; moment < out.length; moment++) {
      const row = rowAt[moment] as number;
      out[moment] = row < first ? Number.NaN : (values[row] as number);
    }
    return out;
  };
  return {
    warmup: inner.warmup,
    ...(inner.of !== undefined && { of: inner.of }),
    ...(inner.after !== undefined && { after: inner.after }),
    market: role,
    column: key === undefined ? column : Object.assign(column, { key: `${key} of ${role}` }),
    stream() {
      let next: ((kline: TimedPrices) => number) | undefined;
      let [value, count, until] = [Number.NaN, 0, Number.NEGATIVE_INFINITY];
      return (prices) => {
        const { markets, isLate } = prices as JoinedPrices;
        if (markets === undefined) throw withoutRoles(role);
        if (!Object.hasOwn(markets, role)) throw unknownRole(role, Object.keys(markets));
        const closed = markets[role];
        if (closed !== undefined) {
          const { kline, interval } = closed;
          next ??= inner.stream(interval);
          value = next(kline);
          count++;
          until = closeTime(interval, closeTime(interval, kline.openTime));
        }
        if (isLate === true) return Number.NaN;
        return prices.openTime < until && (inner.of !== undefined || count >= inner.warmup) ? value : Number.NaN;
      };
    },
  };
}

function rowsOf(klines: Columns, role: string): MarketRows {
  const { markets } = klines as JoinedColumns;
  if (markets === undefined) throw withoutRoles(role);
  const rows = Object.hasOwn(markets, role) ? markets[role] : undefined;
  if (rows === undefined) throw unknownRole(role, Object.keys(markets));
  return rows;
}

const withoutRoles = (role: string): SignalError =>
  new SignalError(
    `of('${role}', …): this strategy has one market: leave of() out, or name its markets (markets: { ${role}: 'traded' })`,
  );

const unknownRole = (role: string, known: readonly string[]): SignalError =>
  new SignalError(
    `of('${role}', …): the strategy has no market ${role}${didYouMean(role, known)}; it has ${known.join(', ')}`,
  );

/** A price as an indicator. */
const priceOf = (source: PriceName): Indicator =>
  calculated({
    ...{ name: 'price', sources: [source], warmup: 1 },
    begin:
      () =>
      ([values], [out], count) =>
        out.set(values.subarray(0, count)),
  });
