/** Collects drawdown, exposure and curves from the equity at kline closes, in the order of time. */
import { closeTime } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { rateOf } from './currency-rates.ts';
import { CurveBuilder } from './curves.ts';
import type { EquityInput } from './equity-input.ts';
import { type MetricSeries, rowsClosedBy } from './series.ts';

/** An unchanged position: equity is `quote + marked * close`, its value `base * close`. */
export interface Constant {
  readonly quote: number;
  readonly marked: number;
  readonly base: number;
}

const dayMs = 86_400_000;
const chartPoints = 1_200;

export class EquityRecorder {
  readonly start: number;
  readonly #hold: BuyAndHold;
  readonly #days: CurveBuilder;
  readonly #chart: CurveBuilder;
  /** When the next point of a curve is due. */
  #dueAt: number;
  /** The last close, its equity, and the value of the positions then. */
  #time: number;
  #equity: number;
  #value = 0;
  #peak: number;
  #peakAt: number;
  #worst = { fall: 0, peakAt: 0, bottomAt: 0, recoveredAt: undefined as number | undefined };
  /** The lowest equity since the peak, or since drawdown was settled. */
  #low = Number.POSITIVE_INFINITY;
  #lowAt = 0;
  #longestMs = 0;
  /** A close since the peak lay below it. */
  #isDown = false;
  #heldMs = 0;
  #exposed = 0;
  /** Until when exposure is counted: a gap counts with the position before it. */
  #countedTo = Number.NEGATIVE_INFINITY;

  constructor(input: EquityInput) {
    const { series, cash } = input;
    this.start = Math.min(...series.map(({ columns, first }) => columns.openTime[first] as number));
    const last = Math.max(
      ...series.map(({ columns, interval, end }) => closeTime(interval, columns.openTime[end - 1] as number)),
    );
    this.#hold = new BuyAndHold(input);
    this.#days = new CurveBuilder(dayMs, this.start);
    const chartStepMs = Math.max(1, Math.ceil((last - this.start) / chartPoints / 60_000)) * 60_000;
    this.#chart = new CurveBuilder(chartStepMs, this.start);
    for (const curve of [this.#days, this.#chart]) curve.add(this.start, cash, cash);
    this.#dueAt = Math.min(this.#days.dueAt, this.#chart.dueAt);
    this.#time = this.start;
    this.#peakAt = this.start;
    this.#equity = cash;
    this.#peak = cash;
  }

  get time(): number {
    return this.#time;
  }

  /** The equity at a kline close, and the value of the positions. */
  close(time: number, equity: number, value: number): void {
    if (time > this.#dueAt) this.#addPoints(time, value, equity);
    const before = this.#time;
    this.#count(time, value, equity);
    this.#time = time;
    this.#equity = equity;
    this.#value = value;
    if (equity >= this.#peak) this.#rise(time, equity, before);
    else if (equity < this.#low) {
      this.#low = equity;
      this.#lowAt = time;
    }
  }

  /** The value of the positions until a time before the next close: up to a fill, or through a gap with the last value. */
  until(time: number, value: number = this.#value): void {
    if (time <= this.#time || time <= this.#countedTo) return;
    if (time > this.#dueAt) this.#addPoints(time, value, this.#equity);
    this.#count(time, value, this.#equity);
  }

  #count(until: number, value: number, equity: number): void {
    const passedMs = until - Math.max(this.#time, this.#countedTo);
    this.#countedTo = until;
    if (value === 0) return;
    this.#heldMs += passedMs;
    const exposed = equity > 0 ? (passedMs * Math.abs(value)) / equity : 0;
    this.#exposed += exposed;
    this.#days.exposed += exposed;
    this.#chart.exposed += exposed;
  }

  /** A new peak, or the old one again; the close before was at `before`. */
  #rise(time: number, equity: number, before: number): void {
    this.#settle(before);
    // The drawdown lasts until now, not until its last close below the peak.
    if (this.#isDown) this.#longestMs = Math.max(this.#longestMs, time - this.#peakAt);
    this.#isDown = false;
    if (this.#worst.recoveredAt === undefined && this.#worst.peakAt === this.#peakAt) this.#worst.recoveredAt = time;
    this.#peak = equity;
    this.#peakAt = time;
  }

  /** Counts the drawdown of the closes up to `time`. A division at each close would cost as much as everything else. */
  #settle(time: number): void {
    if (this.#low === Number.POSITIVE_INFINITY) return;
    const fall = this.#low / this.#peak - 1;
    this.#isDown = true;
    if (time - this.#peakAt > this.#longestMs) this.#longestMs = time - this.#peakAt;
    if (fall < this.#days.drawdown) this.#days.drawdown = fall;
    if (fall < this.#chart.drawdown) this.#chart.drawdown = fall;
    if (fall < this.#worst.fall)
      this.#worst = { fall, peakAt: this.#peakAt, bottomAt: this.#lowAt, recoveredAt: undefined };
    this.#low = Number.POSITIVE_INFINITY;
  }

  /** Adds the points that are due before a time, each with the exposure up to it, even in the middle of a long kline. */
  #addPoints(time: number, value: number, equity: number): void {
    this.#settle(this.#time);
    while (this.#dueAt < time) {
      const at = this.#dueAt;
      this.#count(at, value, equity);
      const hold = this.#hold.at(at);
      for (const curve of [this.#days, this.#chart]) {
        if (curve.dueAt !== at) continue;
        curve.add(at, this.#equity, hold);
        curve.drawdown = Math.min(0, this.#equity / this.#peak - 1);
        curve.dueAt += curve.stepMs;
      }
      this.#dueAt = Math.min(this.#days.dueAt, this.#chart.dueAt);
    }
  }

  /** `close` for rows with an unchanged position, up to the next point or gap; most time is spent here. Returns where it stopped. */
  rows(
    { openTime, close }: Columns,
    from: number,
    until: number,
    lengthMs: number,
    { quote, marked, base }: Constant,
  ): number {
    const due = this.#dueAt;
    const began = this.#time;
    let [time, equity, peak, low, lowAt] = [began, this.#equity, this.#peak, this.#low, this.#lowAt];
    let [exposed, ofDay, ofChart] = [this.#exposed, this.#days.exposed, this.#chart.exposed];
    let row = from;
    let at = (openTime[from] as number) + lengthMs;
    // Where no kline is missing, times need not be read, and the rows up to the next point can be counted.
    const isSteady = (openTime[until - 1] as number) + lengthMs - at === (until - 1 - from) * lengthMs;
    const end = isSteady ? Math.min(until, from + Math.floor((due - at) / lengthMs) + 1) : until;
    for (; row < end; row++) {
      if (!isSteady) {
        at = (openTime[row] as number) + lengthMs;
        if (at > due || at - lengthMs > time) break;
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
    this.#value = base * (close[row - 1] as number);
    this.#low = low;
    this.#lowAt = lowAt;
    this.#heldMs += time - began;
    this.#exposed = exposed;
    this.#days.exposed = ofDay;
    this.#chart.exposed = ofChart;
    return row;
  }

  end() {
    this.#settle(this.#time);
    const hold = this.#hold.at(this.#time);
    for (const curve of [this.#days, this.#chart]) curve.add(this.#time, this.#equity, hold);
    const totalMs = this.#time - this.start;
    return {
      /** At UTC day closes. The first point is the start with the cash, the last one the end. */
      days: this.#days.curve(),
      chart: this.#chart.curve(),
      /** `longestMs`: the longest time below a peak, which may be another drawdown. `recoveredAt`: undefined while it lasts. */
      drawdown: { ...this.#worst, longestMs: this.#longestMs },
      /** Time with an open position. */
      heldMs: this.#heldMs,
      totalMs,
      /** Time-weighted. */
      exposure: totalMs === 0 ? 0 : this.#exposed / totalMs,
    };
  }
}

/** Buy & hold from the first open on, with the cash split evenly over the symbols. */
export class BuyAndHold {
  readonly #lines: { readonly series: MetricSeries; readonly perPrice: number; rows: number }[];
  readonly #input: EquityInput;

  constructor(input: EquityInput) {
    const { series, cash, costs, rates } = input;
    this.#input = input;
    this.#lines = series.map((one) => {
      const { symbol, columns, first } = one;
      const entry = (columns.open[first] as number) * rateOf(rates, symbol, columns.openTime[first] as number);
      return { series: one, perPrice: ((cash / series.length) * (1 - costs(symbol).entryFee)) / entry, rows: first };
    });
  }

  /** Its equity at a time, UTC ms; times ascend from call to call. */
  at(time: number): number {
    const { cash, rates } = this.#input;
    let total = 0;
    for (const line of this.#lines) {
      const { symbol, columns, interval, end, first } = line.series;
      line.rows = rowsClosedBy(columns.openTime, interval, time, { from: line.rows, end });
      total +=
        line.rows === first
          ? cash / this.#lines.length
          : line.perPrice * (columns.close[line.rows - 1] as number) * rateOf(rates, symbol, time);
    }
    return total;
  }
}
