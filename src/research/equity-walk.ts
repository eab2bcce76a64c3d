/** Equity through time: valued at every kline close, with positions between them. */
import { closeTime, intervalMs } from '../domain/interval.ts';
import { Balances, rateOf } from './currency-rates.ts';
import type { Costs, EquityInput } from './equity-input.ts';
import { type Constant, EquityRecorder } from './equity-recorder.ts';
import { OpenQuantity } from './fill-table.ts';
import { type MetricSeries, rowsClosedBy } from './series.ts';

export interface EquityWalk extends ReturnType<EquityRecorder['end']> {
  /**
   * Factors of the equity from times on, so that money paid in or out is no gain and no loss: all points of the curves show what the cash at
   * the start would have become (time-weighted). Empty where no money moved.
   */
  readonly scales: readonly Scale[];
}

interface Scale {
  readonly from: number;
  readonly scale: number;
}

/** The series contain at least one row. */
export function walkEquity(input: EquityInput): EquityWalk {
  const recorder = new EquityRecorder(input);
  const { series, flows = [], charges = [], rates } = input;
  const [only] = series;
  const isSimple = series.length === 1 && flows.length === 0 && charges.length === 0 && rates === undefined;
  const scales = isSimple && only !== undefined ? walkOne(recorder, input, only) : walkTogether(recorder, input);
  return { ...recorder.end(), scales };
}

const markedBase = (base: number, marks: Costs): number => base * (base > 0 ? marks.long : marks.short);

/**
 * The only series. Without a position the equity stands still, so the rows up to the next fill are skipped. What filled after the last
 * close, such as a sale at the end, counts at that close.
 */
function walkOne(
  recorder: EquityRecorder,
  { fills, cash, instruments, costs }: EquityInput,
  { symbol, interval, columns, first, end }: MetricSeries,
): readonly Scale[] {
  const marks = costs(symbol);
  const { openTime, close } = columns;
  const open = new OpenQuantity(fills, instruments.get(symbol));
  const closesAt = (row: number): number => closeTime(interval, openTime[row] as number);
  let quote = cash;
  let next = 0;
  for (let row = first; row < end; ) {
    const closes = closesAt(row);
    let lastPrice = row > first ? (close[row - 1] as number) : 0;
    for (; next < fills.length && (fills.time[next] as number) < closes; next++) {
      recorder.until(fills.time[next] as number, open.isFlat ? 0 : open.base * lastPrice);
      quote += fills.quote[next] as number;
      open.take(fills, next);
      lastPrice = fills.price[next] as number;
    }
    const until =
      next === fills.length
        ? end
        : Math.max(
            row + 1,
            fills.openRow?.[next] ?? rowsClosedBy(openTime, interval, fills.time[next] as number, { from: row, end }),
          );
    const { base } = open;
    const position: Constant = { quote, marked: markedBase(base, marks), base };
    if (open.isZero) {
      recorder.until(openTime[row] as number);
      const worth = quote + position.marked * (close[row] as number);
      recorder.close(closes, worth, 0);
      row = until;
      recorder.close(closesAt(row - 1), worth, 0);
    } else {
      walkPosition(recorder, { interval, columns, from: row, until }, position, open.isFlat);
      row = until;
    }
  }
  if (next === fills.length) return [];
  for (; next < fills.length; next++) {
    quote += fills.quote[next] as number;
    open.take(fills, next);
  }
  const price = close[end - 1] as number;
  recorder.close(recorder.time, quote + markedBase(open.base, marks) * price, open.isFlat ? 0 : open.base * price);
  return [];
}

/** Rows with an unchanged position. `isFlat`: it is a rest below the minimum order, which has a value and is no position. */
function walkPosition(
  recorder: EquityRecorder,
  { interval, columns, from, until }: Pick<MetricSeries, 'interval' | 'columns'> & { from: number; until: number },
  position: Constant,
  isFlat: boolean,
): void {
  const { openTime, close } = columns;
  for (let row = from; row < until; ) {
    const opens = openTime[row] as number;
    const price = close[row] as number;
    recorder.until(opens);
    const worth = position.quote + position.marked * price;
    recorder.close(closeTime(interval, opens), worth, isFlat ? 0 : position.base * price);
    row++;
    if (!isFlat && interval !== '1month' && row < until && openTime[row] === recorder.time)
      row = recorder.rows(columns, row, until, intervalMs(interval, 0), position);
  }
}

interface Line extends MetricSeries {
  row: number;
  /** When the next row closes; infinite after the last. */
  closes: number;
  /** The latest close, or the open of a longer kline that is not over. */
  price: number;
  /** The latest price, that of a fill included. */
  lastPrice: number;
  readonly open: OpenQuantity;
  readonly marks: Costs;
}

const opensAt = ({ row, columns }: Line): number => columns.openTime[row] as number;

/** Several series: moment after moment at which klines close. */
function walkTogether(recorder: EquityRecorder, input: EquityInput): readonly Scale[] {
  const { fills, instruments, costs, flows = [], charges = [], rates } = input;
  const balances = new Balances(input, recorder.start);
  const lines = input.series.map((one): Line => {
    const open = new OpenQuantity(fills, instruments.get(one.symbol));
    const closes = closeTime(one.interval, one.columns.openTime[one.first] as number);
    return { ...one, row: one.first, closes, price: 0, lastPrice: 0, open, marks: costs(one.symbol) };
  });
  const bySymbol = new Map(lines.map((one) => [one.symbol, one]));
  const scales: Scale[] = [];
  let [next, flow, charge, scale] = [0, 0, 0, 1];
  for (;;) {
    let closes = Number.POSITIVE_INFINITY;
    for (const line of lines) if (line.closes < closes) closes = line.closes;
    const isOver = closes === Number.POSITIVE_INFINITY;
    // What filled after the last close, such as a sale at the end, counts at that close.
    if (isOver && next === fills.length) return scales;
    const at = isOver ? recorder.time : closes;
    if (!isOver) {
      let opens = closes;
      for (const line of lines) if (line.closes === closes) opens = Math.min(opens, opensAt(line));
      recorder.until(opens);
    }
    for (; next < fills.length && (fills.time[next] as number) < closes; next++) {
      const symbol = fills.positions[fills.position[next] as number]?.symbol ?? '';
      const filledAt = fills.time[next] as number;
      if (!isOver && filledAt > recorder.time) {
        const value = (sum: number, line: Line): number =>
          line.open.isFlat
            ? sum
            : sum + Math.abs(line.open.base * line.lastPrice * rateOf(rates, line.symbol, filledAt));
        recorder.until(filledAt, scale * lines.reduce(value, 0));
      }
      balances.move(rates?.of.get(symbol), fills.quote[next] as number);
      const line = bySymbol.get(symbol);
      if (line === undefined) continue;
      line.open.take(fills, next);
      line.lastPrice = fills.price[next] as number;
    }
    for (; charge < charges.length && (charges[charge]?.time as number) <= at; charge++)
      balances.move(undefined, -(charges[charge]?.amount as number));
    let equity = balances.worth(at);
    let value = 0;
    for (const line of lines) {
      advance(line, at);
      const price = line.price * rateOf(rates, line.symbol, at);
      const { base } = line.open;
      equity += markedBase(base, line.marks) * price;
      if (!line.open.isFlat) value += Math.abs(base * price);
    }
    recorder.close(at, equity * scale, value * scale);
    for (; flow < flows.length && (flows[flow]?.time as number) <= at; flow++) {
      const { asset, amount } = flows[flow] as NonNullable<EquityInput['flows']>[number];
      const before = balances.worth(at);
      balances.move(asset, amount);
      const added = balances.worth(at) - before;
      // After the equity was zero, the account has no return.
      scale *= equity > 0 && equity + added > 0 ? equity / (equity + added) : 0;
      equity += added;
      scales.push({ from: at, scale });
    }
  }
}

/** Takes the close of a line at a time; of a longer kline that is not over the open, since fills there had that price. */
function advance(line: Line, at: number): void {
  const { columns, end, interval } = line;
  if (line.closes === at) {
    line.price = columns.close[line.row++] as number;
    line.closes = line.row < end ? closeTime(interval, opensAt(line)) : Number.POSITIVE_INFINITY;
  } else if (line.row < end && opensAt(line) < at) line.price = columns.open[line.row] as number;
  line.lastPrice = line.price;
}
