/** What a run came to, in the numbers that traders recognise; conventions as in fill-engine §3, undefined where they mean nothing. */
import type { Instrument } from '../domain/instrument.ts';
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { absolute, baseUnits, noUnits, plus, type Units, unitsNumber } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { afterFill, movementOf, noPosition, type Position } from '../domain/position.ts';

/** Klines of one symbol, and the rows of them that the run covered. */
export interface MetricSeries {
  readonly symbol: string;
  readonly interval: Interval;
  readonly columns: Columns;
  readonly first: number;
  readonly end: number;
}

export interface Metrics {
  /** Flat to flat, of one strategy and symbol; an open one is not counted. */
  readonly roundTrips: number;
  /** Share of round trips that earned something after fees. */
  readonly winRate: number | undefined;
  /** Money won over money lost by round trips. */
  readonly profitFactor: number | undefined;
  /** Largest fall from a peak at kline closes, as a positive fraction; the initial capital is a peak. */
  readonly maxDrawdown: number;
  /** Yearly, from equity at UTC day closes, 365 days, no risk-free rate; undefined below `leastDays` and when equity never changed. */
  readonly sharpe: number | undefined;
  /** Daily returns that the run has: UTC days, the first and the last often not whole. */
  readonly days: number;
  /** Share of klines at whose close something was held. */
  readonly timeInMarket: number;
  /** Return of buying at the first open and holding, fees left out, averaged over the symbols. */
  readonly holdReturn: number;
  readonly fees: Units;
  readonly turnover: Units;
}

const dayMs = 86_400_000;
/** Fewer daily returns than this say nothing about a year. */
export const leastDays = 30;

/** `cash` is the equity before the first fill; fills are in the order of time. */
export function metrics(
  fills: readonly Fill[],
  series: readonly MetricSeries[],
  cash: number,
  instruments: ReadonlyMap<string, Instrument>,
): Metrics {
  const trips = roundTrips(fills, instruments);
  const wins = trips.filter((profit) => profit > 0);
  const lost = trips.reduce((sum, profit) => sum + Math.min(0, profit), 0);
  const won = wins.reduce((sum, profit) => sum + profit, 0);
  const { drawdown, days, held, klines } = equityWalk(fills, series, cash, instruments);
  let fees = noUnits;
  let turnover = noUnits;
  for (const fill of fills) {
    const moved = movementOf(fill, instruments.get(fill.symbol) as Instrument);
    fees = plus(fees, moved.feeValue);
    turnover = plus(turnover, moved.gross);
  }
  return {
    roundTrips: trips.length,
    winRate: trips.length === 0 ? undefined : wins.length / trips.length,
    profitFactor: lost === 0 ? undefined : won / -lost,
    maxDrawdown: drawdown,
    sharpe: sharpeOf(days),
    days: days.length - 1,
    timeInMarket: klines === 0 ? 0 : held / klines,
    holdReturn: series.reduce((sum, one) => sum + holdOf(one), 0) / Math.max(1, series.length),
    fees,
    turnover,
  };
}

function holdOf({ columns, first, end }: MetricSeries): number {
  const from = columns.open[first];
  const to = columns.close[end - 1];
  return from === undefined || to === undefined ? 0 : to / from - 1;
}

/** What is left under this is dust that a fee in base left behind: the position counts as flat. */
const isFlat = (position: Position, at: Instrument): boolean =>
  absolute(position.base) < baseUnits(1n as Fill['quantity'], at);

/** Profit after fees of each time from flat to flat, by strategy and symbol. */
function roundTrips(fills: readonly Fill[], instruments: ReadonlyMap<string, Instrument>): readonly number[] {
  const books = new Map<string, { position: Position; before: number }>();
  const profits: number[] = [];
  const closedProfit = ({ realised, fees }: Position): number => unitsNumber(realised) - unitsNumber(fees);
  for (const fill of fills) {
    const at = instruments.get(fill.symbol) as Instrument;
    const key = `${fill.strategy}|${fill.symbol}`;
    const book = books.get(key) ?? { position: noPosition, before: 0 };
    const wasHeld = !isFlat(book.position, at);
    book.position = afterFill(book.position, fill, at);
    if (wasHeld && isFlat(book.position, at)) {
      profits.push(closedProfit(book.position) - book.before);
      book.before = closedProfit(book.position);
    }
    books.set(key, book);
  }
  return profits;
}

interface Walked {
  readonly drawdown: number;
  /** Equity at the close of each UTC day. */
  readonly days: readonly number[];
  readonly held: number;
  readonly klines: number;
}

/** Walks every series through time with what was held, in numbers: these are ratios, not money that is traded on. */
function equityWalk(
  fills: readonly Fill[],
  series: readonly MetricSeries[],
  cash: number,
  instruments: ReadonlyMap<string, Instrument>,
): Walked {
  const one = series.length === 1 ? series[0] : undefined;
  const closes = one === undefined ? mergedCloses(series) : singleCloses(one);
  const held = new Map(
    series.map(({ symbol }) => {
      const at = instruments.get(symbol);
      return [symbol, { base: 0, price: 0, dust: at === undefined ? 0 : 10 ** -at.quantityPrecision }];
    }),
  );
  const days: number[] = [];
  let quote = cash;
  let next = 0;
  let peak = cash;
  let drawdown = 0;
  let heldKlines = 0;
  let day = Number.NaN;
  let equity = cash;
  for (let index = 0; index < closes.length; index++) {
    const { symbol, time, close } = closes.at(index);
    for (let fill = fills[next]; fill !== undefined && fill.time < time; fill = fills[++next]) {
      const moved = movementOf(fill, instruments.get(fill.symbol) as Instrument);
      quote += unitsNumber(moved.quote);
      const place = held.get(fill.symbol);
      if (place !== undefined) place.base += unitsNumber(moved.base);
    }
    const today = Math.floor((time - 1) / dayMs);
    if (today !== day && !Number.isNaN(day)) days.push(equity);
    day = today;
    const place = held.get(symbol);
    if (place !== undefined) place.price = close;
    equity = quote;
    let any = false;
    for (const { base, price, dust } of held.values()) {
      equity += base * price;
      if (Math.abs(base) >= dust * 0.999_999) any = true;
    }
    if (any) heldKlines++;
    peak = Math.max(peak, equity);
    drawdown = Math.max(drawdown, peak > 0 ? 1 - equity / peak : 0);
  }
  if (closes.length > 0) days.push(equity);
  return { drawdown, days: [cash, ...days], held: heldKlines, klines: closes.length };
}

interface Close {
  symbol: string;
  time: number;
  close: number;
}
interface Closes {
  readonly length: number;
  at(index: number): Close;
}

function singleCloses({ symbol, interval, columns, first, end }: MetricSeries): Closes {
  const shown: Close = { symbol, time: 0, close: 0 };
  return {
    length: Math.max(0, end - first),
    at(index) {
      shown.time = closeTime(interval, columns.openTime[first + index] as number);
      shown.close = columns.close[first + index] as number;
      return shown;
    },
  };
}

function mergedCloses(series: readonly MetricSeries[]): Closes {
  const all: Close[] = series.flatMap((one) => {
    const closes = singleCloses(one);
    return Array.from({ length: closes.length }, (_, index) => ({ ...closes.at(index) }));
  });
  all.sort((a, b) => a.time - b.time);
  return { length: all.length, at: (index) => all[index] as Close };
}

function sharpeOf(days: readonly number[]): number | undefined {
  const returns = days.slice(1).map((equity, index) => equity / (days[index] as number) - 1);
  if (returns.length < leastDays) return undefined;
  const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
  const variance = returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (returns.length - 1);
  return variance === 0 ? undefined : (mean / Math.sqrt(variance)) * Math.sqrt(365);
}
