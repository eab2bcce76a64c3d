/** A strategy that decides on closed klines, over the columns of its series. */
import type { Interval } from '../../../domain/interval.ts';
import type { Columns } from '../../../domain/market.ts';
import { type Decision, decisionOf, mainRole, type Signal, sameSignal } from '../../../domain/order.ts';
import type { DecidingStrategy, Holding } from '../../../strategy/contract.ts';
import { wholeColumn } from '../../../strategy/indicator.ts';
import type { Indicator } from '../../../strategy/indicators.ts';
import { memoryOf, type StrategyMemory } from '../../../strategy/memory.ts';
import { type Indicators, namedIndicators } from '../../../strategy/named-indicators.ts';
import type { Params } from '../../../strategy/params.ts';
import { type Getter, source, type Values, valuesOf } from '../../../strategy/values.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import type { RunSeries } from '../../run.ts';
import type { KlineCursor } from './kline-cursor.ts';

type Deciding = DecidingStrategy<Params, Indicators>;
type Moment = Parameters<Deciding['decide']>[1];

/** Klines of a larger interval, and the row of the base series from which each was known. */
export interface LargerKlines {
  readonly cursor: KlineCursor;
  readonly knownAt: Int32Array;
  /** The row that closes next. */
  next: number;
}

/**
 * Decisions that were made ahead of the engine, by row. A strategy is called once per kline, as live, because one that keeps state would
 * answer a second call differently.
 */
export interface StrategyAnswers {
  /** One past the last row at which it was asked. */
  readonly to: number;
  /** By row; none where it said nothing, or the same again. */
  readonly signals: ReadonlyMap<number, Signal>;
}

const noAnswers: StrategyAnswers = { to: 0, signals: new Map() };

/** What a strategy decides by; the kline is made where it is looked at. */
class CursorMoment implements Moment {
  readonly #cursor: KlineCursor;
  readonly holding: Moment['holding'];
  readonly params: Moment['params'];

  constructor(cursor: KlineCursor, holding: Moment['holding'], params: Moment['params'], memory?: StrategyMemory) {
    this.#cursor = cursor;
    this.holding = holding;
    this.params = params;
    Object.defineProperty(this, 'kline', ownKline);
    if (memory !== undefined) Object.defineProperty(this, 'memory', { enumerable: true, get: () => memory.value });
  }

  get kline(): Moment['kline'] {
    return this.#cursor.kline;
  }
}

/** Its own, so that a copy of a moment has it. */
const ownKline = { ...Object.getOwnPropertyDescriptor(CursorMoment.prototype, 'kline'), enumerable: true };

export class StrategyCursor {
  readonly hosted: NamedHosted;
  /** The first row on which it may decide. */
  readonly from: number;
  lastSignal: Signal | undefined;
  /** Nothing needs to be planned until its signal changes or something happens to its orders. */
  quiet = true;
  readonly #larger: LargerKlines | undefined;
  readonly #strategy: Deciding;
  readonly #cursor: KlineCursor;
  readonly #window: ValueWindow;
  readonly #behind: Behind;
  readonly #values: Values;
  readonly #moment: Moment;
  readonly #memory: StrategyMemory | undefined;
  readonly #answers: StrategyAnswers;
  /** It was asked at the rows before this one; and the last row at which it said something else, and what. */
  #askedTo = -1;
  #answerAt = -1;
  #answer: Signal | undefined;

  constructor(
    hosted: NamedHosted,
    { columns, interval, first }: RunSeries,
    cursor: KlineCursor,
    holding: Holding,
    {
      larger,
      answers = noAnswers,
    }: { readonly larger?: LargerKlines; readonly answers?: StrategyAnswers | undefined } = {},
  ) {
    this.#larger = larger;
    this.#answers = answers;
    this.hosted = hosted;
    const strategy = hosted.strategy as Deciding;
    const indicators = namedIndicators(strategy.indicators(hosted.params));
    const own = strategy.warmup?.(hosted.params) ?? 0;
    const warmup = Math.max(own, ...indicators.map(({ indicator }) => indicator.warmup));
    this.from = Math.max(first, warmup - 1);
    this.#strategy = strategy;
    this.#cursor = cursor;
    this.#window = new ValueWindow(
      indicators.map(({ indicator }) => indicator),
      columns,
      interval,
    );
    this.#behind = new Behind(this.#window);
    this.#values = valuesOf(indicators, this.#behind, getter);
    this.#memory = memoryOf(strategy);
    this.#moment = new CursorMoment(cursor, holding, hosted.params, this.#memory);
  }

  /** Its klines are those of the state. */
  get isOwn(): boolean {
    return this.#larger === undefined;
  }

  get hasMemory(): boolean {
    return this.#memory !== undefined;
  }

  /** Goes on to its next kline that is known with this row of the state, warm-up klines too; false when there is none any more. */
  advance(row: number): boolean {
    const larger = this.#larger;
    if (larger === undefined || larger.next >= larger.knownAt.length) return false;
    if ((larger.knownAt[larger.next] as number) > row) return false;
    larger.cursor.row = larger.next++;
    return true;
  }

  /** The rows of the state before this one were passed over: what it was asked at its klines that were known by then is done. */
  passOver(row: number): void {
    const larger = this.#larger;
    if (larger === undefined) return;
    while (larger.next < larger.knownAt.length && (larger.knownAt[larger.next] as number) < row) larger.next++;
  }

  /** Whether it may decide at its cursor's row. */
  get mayDecide(): boolean {
    return this.#cursor.row >= this.from;
  }

  /** Its signal at the cursor's row; undefined also while an indicator is not warm. `null`, which JavaScript often says for nothing, is that. */
  decide(): Signal | undefined {
    const { row } = this.#cursor;
    if (row < this.#answers.to) return this.#answers.signals.get(row);
    if (row < this.#askedTo) return row === this.#answerAt ? this.#answer : undefined;
    this.#askedTo = row + 1;
    const window = this.#window;
    window.reach(row);
    if (!isWarm(window.columns, row - window.from)) return undefined;
    this.#behind.look(row);
    const said = this.#strategy.decide(this.#values, this.#moment) ?? undefined;
    const memory = this.#memory;
    const signal = memory === undefined ? said : (memory.takeAt(said, this.hosted, this.#cursor) as Signal | undefined);
    if (signal === undefined) return undefined;
    this.#answerAt = row;
    this.#answer = signal;
    return signal;
  }

  /** Asks at a row, as `decide`. It moves its cursor. */
  ask(row: number): Signal | undefined {
    this.#cursor.row = row;
    return this.decide();
  }

  /** These signals, and what it said at a row where it was asked there. */
  answersTo(row: number, signals: Map<number, Signal>): StrategyAnswers {
    if (row !== this.#answerAt) return { to: Math.max(row, this.#askedTo), signals };
    if (this.#answer !== undefined) signals.set(row, this.#answer);
    return { to: row + 1, signals };
  }

  /** Its signal, unless nothing is left to do about it. Saying nothing repeats what was said last, as the host of live strategies does. */
  pending(): Signal | undefined {
    if (!this.mayDecide) return undefined;
    const signal = this.decide() ?? this.lastSignal;
    return this.rests(signal) ? undefined : signal;
  }

  /** Its signal at UTC ms `at`, with what it remembers: rows behind that of a signal are asked once it is known what came of it. */
  decision(at: number, signal: Signal): Decision {
    const { id: strategy, symbol } = this.hosted;
    const memory = this.#memory?.value;
    return decisionOf({ strategy, role: mainRole, symbol, at, signal, ...(memory !== undefined && { memory }) });
  }

  /** True when nothing has to be done about a signal: it repeats the last one. */
  rests(signal: Signal | undefined): boolean {
    if (signal === undefined) return true;
    return (
      this.quiet && this.lastSignal !== undefined && (signal === this.lastSignal || sameSignal(signal, this.lastSignal))
    );
  }

  /** Asks at a row: whether it says nothing else than before there, its reason included. It moves its cursor. */
  repeats(row: number): boolean {
    this.#cursor.row = row;
    const [said, last] = [this.decide(), this.lastSignal];
    if (said === undefined || said === last) return true;
    return last !== undefined && sameSignal(said, last) && said.reason === last.reason;
  }

  /**
   * Asks at the rows from `row` up to, not including, `end`, in their order, until it says something else than what is done already; returns
   * that row, or `end`. What was asked already is remembered. It moves its cursor. Only while it is quiet. Most rows of a backtest end here:
   * everything is spelt out, so that the engine sees the whole loop at once and drops the signals that nobody keeps.
   */
  next(row: number, end: number): number {
    if (this.#larger !== undefined) return this.#nextLarger(this.#larger, end);
    if (this.#answerAt >= row) return Math.min(this.#answerAt, end);
    let at = Math.max(row, this.#askedTo, this.from);
    while (at < end && this.#answerAt < row) {
      this.#window.reach(at);
      const to = Math.min(end, this.#window.to);
      if (at < this.#answers.to) at = this.#nextAnswer(at, Math.min(to, this.#answers.to));
      else at = this.#next(at, to);
    }
    this.#askedTo = Math.max(this.#askedTo, Math.min(at, end));
    return this.#answerAt >= row ? this.#answerAt : end;
  }

  #next(row: number, end: number): number {
    const cursor = this.#cursor;
    const strategy = this.#strategy;
    const behind = this.#behind;
    const values = this.#values;
    const moment = this.#moment;
    const memory = this.#memory;
    const last = this.lastSignal;
    const { from, columns } = this.#window;
    const a = columns[0] ?? none;
    const b = columns[1] ?? none;
    const isPair = columns.length === 2;
    // As an integer of the machine: it is looked at with each row.
    const to = end | 0;
    for (let at = row; at < to; at++) {
      cursor.row = at;
      if (isPair) {
        const one = a[at - from] as number;
        const other = b[at - from] as number;
        if (Number.isNaN(one) || Number.isNaN(other)) continue;
        behind.a = one;
        behind.b = other;
      } else {
        if (!isWarm(columns, at - from)) continue;
        behind.look(at);
      }
      const said = strategy.decide(values, moment);
      const signal = memory === undefined ? said : (memory.takeAt(said, this.hosted, cursor) as Signal | undefined);
      if (signal === last || signal === undefined || signal === null) continue;
      if (last !== undefined && sameSignal(signal, last)) continue;
      this.#answerAt = at;
      this.#answer = signal;
      return at + 1;
    }
    return to;
  }

  #nextAnswer(row: number, end: number): number {
    for (let at = row; at < end; at++) {
      const signal = this.#answers.signals.get(at);
      if (signal === undefined || (this.lastSignal !== undefined && sameSignal(signal, this.lastSignal))) continue;
      this.#answerAt = at;
      this.#answer = signal;
      return at + 1;
    }
    return end;
  }

  /** The same over its own klines, which `end` counts by the rows at which they are known. */
  #nextLarger(larger: LargerKlines, end: number): number {
    const { cursor, knownAt } = larger;
    if (this.#answerAt >= larger.next) return Math.min(knownAt[this.#answerAt] as number, end);
    for (
      let next = Math.max(larger.next, this.#askedTo);
      next < knownAt.length && (knownAt[next] as number) < end;
      next++
    ) {
      cursor.row = next;
      if (this.mayDecide && !this.rests(this.decide())) return knownAt[next] as number;
      this.#answerAt = -1;
    }
    return end;
  }
}

function isWarm(columns: readonly Float64Array[], at: number): boolean {
  for (const column of columns) if (Number.isNaN(column[at])) return false;
  return true;
}

/**
 * Rows at a time: a few columns of them stay in a processor's cache. Whole ones are fresh memory whenever the allocator gave that of the
 * run before back, and then their first touch costs as much again as all else of a run with two averages.
 */
const pieceRows = 4_096;

type Fill = (from: number, to: number) => Float64Array;

/** Goes forward only, by whole pieces. */
export class ValueWindow {
  readonly #fills: readonly Fill[];
  readonly #rows: number;
  /** The values of the rows `from` up to, not including, `to`, by indicator. */
  columns: readonly Float64Array[] = [];
  from = 0;
  to = 0;

  constructor(indicators: readonly Indicator[], klines: Columns, interval: Interval) {
    this.#rows = klines.close.length;
    this.#fills = indicators.map((indicator) => filling(indicator, klines, interval));
  }

  /** Goes on until it holds the values of a row. */
  reach(row: number): void {
    while (row >= this.to && this.to < this.#rows) this.#next();
  }

  #next(): void {
    this.from = this.to;
    this.to = Math.min(this.from + pieceRows, this.#rows);
    this.columns = this.#fills.map((fill) => fill(this.from, this.to));
  }
}

function filling(indicator: Indicator, klines: Columns, interval: Interval): Fill {
  const piece = indicator.column.pieces?.(klines, interval);
  if (piece === undefined) {
    const whole = wholeColumn(indicator, klines, interval);
    return (from, to) => whole.subarray(from, to);
  }
  const values = new Float64Array(pieceRows);
  return (from, to) => {
    piece(values, from, to);
    return values;
  };
}

/** The indicators' values at one row; the first four by name: reading one through a list costs a loop over klines half as much again. */
class Behind {
  readonly #window: ValueWindow;
  #at = 0;
  a = Number.NaN;
  b = Number.NaN;
  c = Number.NaN;
  d = Number.NaN;

  constructor(window: ValueWindow) {
    this.#window = window;
  }

  /** Takes the values of a row; a column that is not there leaves a number, or the engine would keep no numbers in its place. */
  look(row: number): void {
    const { columns, from } = this.#window;
    const [a, b, c, d] = columns;
    const at = row - from;
    this.#at = at;
    if (a !== undefined) this.a = a[at] as number;
    if (b !== undefined) this.b = b[at] as number;
    if (c !== undefined) this.c = c[at] as number;
    if (d !== undefined) this.d = d[at] as number;
  }

  /** The value of any column. */
  of(place: number): number {
    return (this.#window.columns[place] as Float64Array)[this.#at] as number;
  }
}
const none = new Float64Array();

/** Getters by place. */
const getters: Getter<Behind>[] = [
  function () {
    return this[source].a;
  },
  function () {
    return this[source].b;
  },
  function () {
    return this[source].c;
  },
  function () {
    return this[source].d;
  },
];
const getter = (place: number): Getter<Behind> =>
  (getters[place] ??= function () {
    return this[source].of(place);
  });
