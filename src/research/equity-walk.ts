/** Equity through time: at every kline close for falls, from fill to fill for exposure, at UTC day closes for returns, and thinned for charts. */
import { closeTime, intervalMs } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { Hold, rowsClosedBy } from './buy-and-hold.ts';
import { Balances, rateOf } from './currency-rates.ts';
import { type Curve, Points } from './curves.ts';
import type { MetricSeries, Walkable } from './equity-input.ts';
import { Held } from './fill-table.ts';

export interface Drawdown {
  /** 0 or negative. */
  readonly fall: number;
  readonly peakAt: number;
  readonly bottomAt: number;
  /** Undefined while it lasts. */
  readonly recoveredAt: number | undefined;
  /** The longest time below a peak, which may be another fall. */
  readonly longestMs: number;
}

export interface Walked {
  /** At UTC day closes; the first point is the start with the cash, the last the end. */
  readonly days: Curve;
  readonly chart: Curve;
  readonly drawdown: Drawdown;
  readonly heldMs: number;
  readonly totalMs: number;
  /** Time-weighted. */
  readonly exposure: number;
  /**
   * What the equity was multiplied by, from which time on, so that money paid in or out is no gain and no loss: every point of the curves is
   * what the cash at the start would have become (time-weighted). None where no money moved.
   */
  readonly scales: readonly { readonly from: number; readonly scale: number }[];
}

const dayMs = 86_400_000;
const chartPoints = 1_200;

class Walk {
  readonly #given: Walkable;
  readonly #hold: Hold;
  readonly #days: Points;
  readonly #chart: Points;
  readonly #start: number;
  #edge: number;
  #time: number;
  #equity: number;
  #peak: number;
  #peakAt: number;
  #worst = { fall: 0, peakAt: 0, bottomAt: 0, recoveredAt: undefined as number | undefined };
  /** The lowest equity since the peak, or since falls were counted last. */
  #low = Number.POSITIVE_INFINITY;
  #lowAt = 0;
  #longestMs = 0;
  /** A close since the peak lay below it. */
  #isDown = false;
  #heldMs = 0;
  #exposed = 0;
  /** What was held at the last close, and until when that is counted: a gap belongs to what went into it. */
  #held = 0;
  #counted = Number.NEGATIVE_INFINITY;
  readonly #scales: { readonly from: number; readonly scale: number }[] = [];

  constructor(given: Walkable) {
    const { series, cash } = given;
    this.#given = given;
    this.#start = Math.min(...series.map(({ columns, first }) => columns.openTime[first] as number));
    const last = Math.max(
      ...series.map(({ columns, interval, end }) => closeTime(interval, columns.openTime[end - 1] as number)),
    );
    this.#hold = new Hold(given);
    this.#days = new Points(dayMs, this.#start);
    this.#chart = new Points(Math.max(1, Math.ceil((last - this.#start) / chartPoints / 60_000)) * 60_000, this.#start);
    for (const points of [this.#days, this.#chart]) points.add(this.#start, cash, cash);
    this.#edge = Math.min(this.#days.edge, this.#chart.edge);
    this.#time = this.#start;
    this.#peakAt = this.#start;
    this.#equity = cash;
    this.#peak = cash;
  }

  /** The equity at a kline close, and the value of what is held then. */
  note(time: number, equity: number, held: number): void {
    if (time > this.#edge) this.#passEdges(time, held, equity);
    const before = this.#time;
    this.#count(time, held, equity);
    this.#time = time;
    this.#equity = equity;
    this.#held = held;
    if (equity >= this.#peak) this.#rise(time, equity, before);
    else if (equity < this.#low) {
      this.#low = equity;
      this.#lowAt = time;
    }
  }

  /** So much is held until a time before the next close: up to a fill, or while there is no kline. */
  #until(time: number, held: number): void {
    if (time <= this.#time || time <= this.#counted) return;
    if (time > this.#edge) this.#passEdges(time, held, this.#equity);
    this.#count(time, held, this.#equity);
  }

  /** What is held up to a time, from where it was counted last. */
  #count(until: number, held: number, equity: number): void {
    const passedMs = until - Math.max(this.#time, this.#counted);
    this.#counted = until;
    if (held === 0) return;
    this.#heldMs += passedMs;
    const exposed = equity > 0 ? (passedMs * Math.abs(held)) / equity : 0;
    this.#exposed += exposed;
    this.#days.exposed += exposed;
    this.#chart.exposed += exposed;
  }

  /** A new peak, or the old one again; the close before was at `before`. */
  #rise(time: number, equity: number, before: number): void {
    this.#settle(before);
    // The fall lasts until now, not until its last close below.
    if (this.#isDown) this.#longestMs = Math.max(this.#longestMs, time - this.#peakAt);
    this.#isDown = false;
    if (this.#worst.recoveredAt === undefined && this.#worst.peakAt === this.#peakAt) this.#worst.recoveredAt = time;
    this.#peak = equity;
    this.#peakAt = time;
  }

  /** Counts the fall since the last look, whose last close was at `time`: dividing at each close would cost as much as all else. */
  #settle(time: number): void {
    if (this.#low === Number.POSITIVE_INFINITY) return;
    const fall = this.#low / this.#peak - 1;
    this.#isDown = true;
    if (time - this.#peakAt > this.#longestMs) this.#longestMs = time - this.#peakAt;
    if (fall < this.#days.fall) this.#days.fall = fall;
    if (fall < this.#chart.fall) this.#chart.fall = fall;
    if (fall < this.#worst.fall)
      this.#worst = { fall, peakAt: this.#peakAt, bottomAt: this.#lowAt, recoveredAt: undefined };
    this.#low = Number.POSITIVE_INFINITY;
  }

  /** Points of the curves before a time up to which so much is held: each has the exposure up to itself, however long a kline is. */
  #passEdges(time: number, held: number, equity: number): void {
    this.#settle(this.#time);
    while (this.#edge < time) {
      const at = this.#edge;
      this.#count(at, held, equity);
      const hold = this.#hold.at(at);
      for (const points of [this.#days, this.#chart]) {
        if (points.edge !== at) continue;
        points.add(at, this.#equity, hold);
        points.fall = Math.min(0, this.#equity / this.#peak - 1);
        points.edge += points.stepMs;
      }
      this.#edge = Math.min(this.#days.edge, this.#chart.edge);
    }
  }

  end(): Walked {
    this.#settle(this.#time);
    const hold = this.#hold.at(this.#time);
    for (const points of [this.#days, this.#chart]) points.add(this.#time, this.#equity, hold);
    const totalMs = this.#time - this.#start;
    return {
      days: this.#days.curve(),
      chart: this.#chart.curve(),
      drawdown: { ...this.#worst, longestMs: this.#longestMs },
      heldMs: this.#heldMs,
      totalMs,
      exposure: totalMs === 0 ? 0 : this.#exposed / totalMs,
      scales: this.#scales,
    };
  }

  /**
   * The only series: while nothing is held the equity stands still, so the rows up to the next fill are passed over. What filled when
   * the last kline had closed, such as a sale at the end, counts at that close.
   */
  alone({ symbol, interval, columns, first, end }: MetricSeries): void {
    const { fills, cash, instruments, costs } = this.#given;
    const marks = costs(symbol);
    const { openTime, close } = columns;
    const held = new Held(fills, instruments.get(symbol));
    let quote = cash;
    let next = 0;
    for (let row = first; row < end; ) {
      const closes = closeTime(interval, openTime[row] as number);
      let last = row > first ? (close[row - 1] as number) : 0;
      for (; next < fills.length && (fills.time[next] as number) < closes; next++) {
        this.#until(fills.time[next] as number, held.isNothing ? 0 : held.base * last);
        quote += fills.quote[next] as number;
        held.take(fills, next);
        last = fills.price[next] as number;
      }
      const until =
        next < fills.length
          ? Math.max(
              row + 1,
              fills.openRow?.[next] ?? rowsClosedBy(openTime, interval, row, end, fills.time[next] as number),
            )
          : end;
      const { base } = held;
      const marked = base * (base > 0 ? marks.long : marks.short);
      if (held.isNothing && !held.isNone) {
        // A rest that nobody can sell is no position, and it is worth what it is worth.
        for (; row < until; row++) {
          this.#until(openTime[row] as number, this.#held);
          this.note(closeTime(interval, openTime[row] as number), quote + marked * (close[row] as number), 0);
        }
        continue;
      }
      if (held.isNothing) {
        this.#until(openTime[row] as number, this.#held);
        const worth = quote + marked * (close[row] as number);
        this.note(closes, worth, 0);
        row = until;
        this.note(closeTime(interval, openTime[row - 1] as number), worth, 0);
        continue;
      }
      while (row < until) {
        const opens = openTime[row] as number;
        const price = close[row] as number;
        this.#until(opens, this.#held);
        this.note(closeTime(interval, opens), quote + marked * price, base * price);
        row++;
        if (interval !== '1month' && row < until && openTime[row] === this.#time)
          row = this.#holding(columns, row, until, intervalMs(interval, 0), { quote, marked, base });
      }
    }
    if (next === fills.length) return;
    for (; next < fills.length; next++) {
      quote += fills.quote[next] as number;
      held.take(fills, next);
    }
    const { base } = held;
    const price = close[end - 1] as number;
    const marked = base * (base > 0 ? marks.long : marks.short);
    this.note(this.#time, quote + marked * price, held.isNothing ? 0 : base * price);
  }

  /** `note` for rows in which the same is held, up to the next edge; most of a walk is spent here. Returns where it stopped. */
  #holding(
    { openTime, close }: Columns,
    from: number,
    until: number,
    lengthMs: number,
    { quote, marked, base }: { readonly quote: number; readonly marked: number; readonly base: number },
  ): number {
    const edge = this.#edge;
    const began = this.#time;
    let [time, equity, peak, low, lowAt] = [began, this.#equity, this.#peak, this.#low, this.#lowAt];
    let [exposed, ofDay, ofChart] = [this.#exposed, this.#days.exposed, this.#chart.exposed];
    let row = from;
    let at = (openTime[from] as number) + lengthMs;
    // Where no kline is missing, times need not be read, and rows up to the edge can be counted.
    const isSteady = (openTime[until - 1] as number) + lengthMs - at === (until - 1 - from) * lengthMs;
    const end = isSteady ? Math.min(until, from + Math.floor((edge - at) / lengthMs) + 1) : until;
    for (; row < end; row++) {
      if (!isSteady) {
        at = (openTime[row] as number) + lengthMs;
        // What was held before a gap is held until its end.
        if (at > edge || at - lengthMs > time) break;
      }
      const price = close[row] as number;
      equity = quote + marked * price;
      if (equity > 0) {
        const part = ((at - time) * Math.abs(base * price)) / equity;
        exposed += part;
        ofDay += part;
        ofChart += part;
      }
      if (equity >= peak) {
        this.#low = low;
        this.#lowAt = lowAt;
        this.#rise(at, equity, time);
        peak = equity;
        low = this.#low;
      } else if (equity < low) {
        low = equity;
        lowAt = at;
      }
      time = at;
      at += lengthMs;
    }
    this.#time = time;
    this.#equity = equity;
    this.#held = base * (close[row - 1] as number);
    this.#low = low;
    this.#lowAt = lowAt;
    this.#heldMs += time - began;
    this.#exposed = exposed;
    this.#days.exposed = ofDay;
    this.#chart.exposed = ofChart;
    return row;
  }

  /** Several series: moment after moment at which klines close. */
  together(series: readonly MetricSeries[]): void {
    const { fills, instruments, costs } = this.#given;
    const held = series.map((one) => ({
      ...one,
      row: one.first,
      closes: closesAt({ ...one, row: one.first }),
      ...{ price: 0, last: 0 },
      of: new Held(fills, instruments.get(one.symbol)),
      marks: costs(one.symbol),
    }));
    const bySymbol = new Map(held.map((one) => [one.symbol, one]));
    const { flows = [], charges = [], rates } = this.#given;
    const purse = new Balances(this.#given, this.#start);
    let next = 0;
    let flow = 0;
    let charge = 0;
    let scale = 1;
    for (;;) {
      let closes = Number.POSITIVE_INFINITY;
      for (const one of held) if (one.closes < closes) closes = one.closes;
      const isOver = closes === Number.POSITIVE_INFINITY;
      // What filled when the last kline had closed, such as a sale at the end, counts at that close.
      if (isOver && next === fills.length) return;
      const at = isOver ? this.#time : closes;
      if (!isOver) {
        let opens = closes;
        for (const one of held) if (one.closes === closes) opens = Math.min(opens, opensAt(one));
        this.#until(opens, this.#held);
      }
      for (; next < fills.length && (fills.time[next] as number) < closes; next++) {
        const symbol = fills.places[fills.place[next] as number]?.symbol ?? '';
        const filledAt = fills.time[next] as number;
        if (!isOver && filledAt > this.#time)
          this.#until(filledAt, scale * exposedIn(held, (one) => rateOf(rates, one, filledAt)));
        purse.move(rates?.of.get(symbol), fills.quote[next] as number);
        const place = bySymbol.get(symbol);
        if (place === undefined) continue;
        place.of.take(fills, next);
        place.last = fills.price[next] as number;
      }
      for (; charge < charges.length && (charges[charge]?.time as number) <= at; charge++)
        purse.move(undefined, -(charges[charge]?.amount as number));
      let equity = purse.worth(at);
      let exposed = 0;
      for (const one of held) {
        if (one.closes === at) {
          one.price = one.columns.close[one.row++] as number;
          one.closes = closesAt(one);
        }
        // A long kline that is not over: its open is known, and what filled there did so at that price.
        else if (one.row < one.end && opensAt(one) < at) one.price = one.columns.open[one.row] as number;
        one.last = one.price;
        const price = one.price * rateOf(rates, one.symbol, at);
        const { base } = one.of;
        equity += base * (base > 0 ? one.marks.long : one.marks.short) * price;
        if (!one.of.isNothing) exposed += Math.abs(base * price);
      }
      this.note(at, equity * scale, exposed * scale);
      for (; flow < flows.length && (flows[flow]?.time as number) <= at; flow++) {
        const { asset, amount } = flows[flow] as NonNullable<Walkable['flows']>[number];
        const before = purse.worth(at);
        purse.move(asset, amount);
        const added = purse.worth(at) - before;
        // Of an account that was worth nothing no return can be told from here on.
        scale *= equity > 0 && equity + added > 0 ? equity / (equity + added) : 0;
        equity += added;
        this.#scales.push({ from: at, scale });
      }
    }
  }
}

/** The worth of what is held at its last prices. */
const exposedIn = (
  all: readonly { readonly symbol: string; readonly of: Held; readonly last: number }[],
  rateIn: (symbol: string) => number,
): number =>
  all.reduce((sum, { symbol, of, last }) => (of.isNothing ? sum : sum + Math.abs(of.base * last * rateIn(symbol))), 0);

const closesAt = ({ row, end, interval, columns }: MetricSeries & { readonly row: number }): number =>
  row < end ? closeTime(interval, columns.openTime[row] as number) : Number.POSITIVE_INFINITY;

const opensAt = ({ row, columns }: MetricSeries & { readonly row: number }): number => columns.openTime[row] as number;

/** Walks through a run; the series hold at least one row. */
export function walk(given: Walkable): Walked {
  const walking = new Walk(given);
  const [only] = given.series;
  const isAlone = given.series.length === 1 && !given.flows?.length && !given.charges?.length;
  if (isAlone && only !== undefined && given.rates === undefined) walking.alone(only);
  else walking.together(given.series);
  return walking.end();
}
