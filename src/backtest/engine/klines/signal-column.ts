/**
 * The signals of a run as columns: a stop that moves with each of a million klines takes a number a kline, not an object that has to be
 * cleared away. A signal is a pattern, which many share, and the levels in which it differs from that.
 */

import type { Memory } from '../../../domain/memory.ts';
import type { Lots } from '../../../domain/money.ts';
import { type Leg, type Signal, sameSize, sizeValue, type Target } from '../../../domain/order.ts';
import {
  type ExitLevel,
  isSameKind,
  isSameKindOfTakeProfit,
  levelNumber,
  onlyTakeProfit,
  sameOthers,
  withNumber,
} from '../../../domain/target-options.ts';
import { NumberColumn } from './columns.ts';

/** The prices of a target; NaN for what it does not have. */
export interface Prices {
  limit: number;
  stop: number;
  takeProfit: number;
}

interface Pattern {
  readonly leg: Leg;
  readonly lots: Lots | undefined;
}

/** Patterns that a signal is compared with, the last ones. */
const fewPatterns = 4;

const levelNames = ['limit', 'stop', 'takeProfit', 'trailing', 'exitAfterMs'] as const;

export class SignalColumn {
  readonly #patterns: Pattern[] = [];
  readonly #pattern = new NumberColumn();
  readonly #at = new NumberColumn();
  readonly #decision = new NumberColumn();
  /** By name, from the first that differs from its pattern on; NaN is the pattern's own. */
  readonly #levels = levelNames.map((): NumberColumn | undefined => undefined);

  /** What strategies remembered with their signals, by row. */
  readonly #memories = new Map<number, Memory>();

  get length(): number {
    return this.#at.length;
  }

  push(leg: Leg, lots: Lots | undefined, decision: number): void {
    const index = this.#patternOf(leg, lots);
    const row = this.length;
    this.#at.push(leg.at);
    this.#decision.push(decision);
    this.#pattern.push(index);
    const { signal, memory } = leg;
    if (memory !== undefined) this.#memories.set(row, memory);
    const own = (this.#patterns[index] as Pattern).leg.signal;
    if (signal === own || signal.kind !== 'target' || own.kind !== 'target') return;
    this.#level(0, row, signal.limit, own.limit);
    this.#level(1, row, numberOf(signal.stop), numberOf(own.stop));
    this.#level(2, row, numberOf(onlyTakeProfit(signal)), numberOf(onlyTakeProfit(own)));
    this.#level(3, row, numberOf(signal.trailing), numberOf(own.trailing));
    this.#level(4, row, signal.exitAfterMs, own.exitAfterMs);
  }

  /** The last one again, with other prices. */
  pushMoved(at: number, decision: number, { limit, stop, takeProfit }: Prices): void {
    const row = this.length;
    const index = this.#pattern.at(row - 1);
    const own = (this.#patterns[index] as Pattern).leg.signal as Target;
    this.#at.push(at);
    this.#decision.push(decision);
    this.#pattern.push(index);
    this.#level(0, row, limit, own.limit);
    this.#level(1, row, stop, numberOf(own.stop));
    this.#level(2, row, takeProfit, numberOf(onlyTakeProfit(own)));
    // A trailing stop and a time stay as they were, which need not be as in the pattern.
    for (const name of [3, 4]) {
      const column = this.#levels[name];
      if (column?.length === row) this.#level(name, row, column.at(row - 1), undefined);
    }
  }

  /** A value of a row that differs from its pattern's; NaN is none. */
  #level(name: number, row: number, value: number | undefined, own: number | undefined): void {
    if (value === own || value === undefined || Number.isNaN(value)) return;
    const column = this.#levels[name] ?? new NumberColumn();
    this.#levels[name] = column;
    while (column.length < row) column.push(Number.NaN);
    column.push(value);
  }

  #patternOf(leg: Leg, lots: Lots | undefined): number {
    const patterns = this.#patterns;
    for (let index = patterns.length - 1; index >= 0 && index >= patterns.length - fewPatterns; index--) {
      const known = patterns[index] as Pattern;
      if (known.lots === lots && fits(known.leg, leg)) return index;
    }
    return patterns.push({ leg, lots }) - 1;
  }

  lots(row: number): Lots | undefined {
    return this.#patternAt(row).lots;
  }

  decision(row: number): number {
    return this.#decision.at(row);
  }

  /** One signal, made anew. */
  leg(row: number): Leg {
    const { leg } = this.#patternAt(row);
    const { strategy, role, symbol } = leg;
    const memory = this.#memories.get(row);
    const own = { strategy, role, symbol, at: this.#at.at(row), signal: this.#signal(leg.signal, row) };
    return memory === undefined ? own : { ...own, memory };
  }

  #signal(own: Signal, row: number): Signal {
    let signal: Target | undefined;
    for (let name = 0; name < levelNames.length; name++) {
      const column = this.#levels[name];
      const value = column === undefined || row >= column.length ? Number.NaN : column.at(row);
      if (Number.isNaN(value)) continue;
      signal ??= { ...(own as Target) };
      const key = levelNames[name] as (typeof levelNames)[number];
      Object.assign(signal, { [key]: withNumber((own as Target)[key] as ExitLevel, value) });
    }
    return signal ?? own;
  }

  #patternAt(row: number): Pattern {
    return this.#patterns[this.#pattern.at(row)] as Pattern;
  }

  /** Those whose pattern is not that of the one before: between them only levels move. */
  *changes(): Generator<Leg, void, void> {
    for (let row = 0; row < this.length; row++)
      if (row === 0 || this.#pattern.at(row) !== this.#pattern.at(row - 1)) yield this.leg(row);
  }

  *all(): Generator<Leg, void, void> {
    for (let row = 0; row < this.length; row++) yield this.leg(row);
  }

  /** Whether any has a stop. */
  get hasStop(): boolean {
    return this.#patterns.some(({ leg: { signal } }) => signal.kind === 'target' && signal.stop !== undefined);
  }

  /** Whether any is to be short. */
  get hasShort(): boolean {
    return this.#patterns.some(({ leg: { signal } }) => signal.kind === 'target' && sizeValue(signal.size) < 0);
  }
}

/** Whether a leg differs from a pattern in nothing but the values of its levels. */
function fits(pattern: Leg, leg: Leg): boolean {
  const [own, signal] = [pattern.signal, leg.signal];
  if (pattern.strategy !== leg.strategy || pattern.symbol !== leg.symbol || pattern.role !== leg.role) return false;
  if (own === signal) return true;
  if (own.kind !== 'target' || signal.kind !== 'target') return false;
  return (
    own.reason === signal.reason &&
    sameSize(own.size, signal.size) &&
    (own.limit === undefined) === (signal.limit === undefined) &&
    isSameKind(own.stop, signal.stop) &&
    isSameKindOfTakeProfit(own.takeProfit, signal.takeProfit) &&
    isSameKind(own.trailing, signal.trailing) &&
    (own.exitAfterMs === undefined) === (signal.exitAfterMs === undefined) &&
    own.exitAfterKlines === signal.exitAfterKlines &&
    sameOthers(own, signal)
  );
}

/** The number of a level; undefined for none. */
const numberOf = (level: ExitLevel | undefined): number | undefined =>
  level === undefined ? undefined : levelNumber(level);
