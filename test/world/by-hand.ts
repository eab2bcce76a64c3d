/** A human who stops strategies, closes positions and cancels single orders, and what of it is in force. What a restart has lost he asks again. */
import type { Database } from 'better-sqlite3';
import { Refusal } from '../../src/domain/refusal.ts';
import type { Entry, KillEntry } from '../../src/journal/entries.ts';
import { isTooSmall } from '../../src/portfolio/flattening.ts';
import { flatten } from '../../src/session/control/flatten.ts';
import { flattenMemory } from '../../src/trading/flatten.ts';
import type { StopKind } from './plan.ts';
import type { Process } from './process.ts';
import type { Verdict } from './step-checks.ts';

export const by = 'operator';

/** One command. Its reason is its own, so that its rows in the journal can be counted. */
interface Action {
  readonly kind: StopKind | 'resume' | 'flatten';
  readonly strategy: string | undefined;
  /** Of a flatten. */
  readonly symbol?: string | undefined;
  readonly maxSlippage?: string;
  readonly reason: string;
  /** How many rows of kills, pauses and resumes it has. */
  rows: number;
  /** Of a flatten: it found a position or orders, and a price. */
  begins: boolean;
  /** It was on disk. */
  isConfirmed: boolean;
  /** A later command took its place, or it was refused: nobody asks it again. */
  isOver: boolean;
}

/** Something that a command began, and another one ends. */
interface Lasting {
  /** The world's ms. */
  readonly since: number;
  readonly asked: Action;
  ended: { readonly by: Action; readonly at: number } | undefined;
}

export interface Stop extends Lasting {
  readonly kind: StopKind;
  readonly strategy: string | undefined;
}

/** A position that is being closed. */
export interface AskedFlatten extends Lasting {
  readonly strategy: string;
  readonly symbol: string;
  /** The lowest price of a sale and the highest one of a purchase. */
  readonly lowest: number;
  readonly highest: number;
}

export interface ByHandOptions {
  readonly now: () => number;
  readonly process: () => Process | undefined;
  readonly db: () => Database;
  readonly after: (ms: number, fn: () => void) => void;
  readonly fatal: (error: unknown) => void;
}

/** Before he repeats what was not done, ms. */
const repeatMs = 1_000;

export class ByHand {
  readonly #options: ByHandOptions;
  readonly #actions: Action[] = [];
  #stops: Stop[] = [];
  #flattens: AskedFlatten[] = [];

  constructor(options: ByHandOptions) {
    this.#options = options;
  }

  /** Those that were ended, too: orders may have been on their way then. */
  get stops(): readonly Stop[] {
    return this.#stops;
  }

  get flattens(): readonly AskedFlatten[] {
    return this.#flattens;
  }

  stop(kind: StopKind, strategy: string | undefined): void {
    void this.#ask({ kind, strategy });
  }

  flatten(asked: Pick<Action, 'strategy' | 'symbol' | 'maxSlippage'>): void {
    void this.#ask({ kind: 'flatten', ...asked });
  }

  /** Lifts what stops a strategy, or everything. */
  resume(strategy: string | undefined): Promise<void> {
    return this.#actions.length === 0 ? Promise.resolve() : this.#ask({ kind: 'resume', strategy });
  }

  /** Lifts a halt, and with it all that is in force, which is asked again. */
  async liftHalt(): Promise<void> {
    const lasting = [...this.#stops, ...this.#flattens].filter(({ ended }) => ended === undefined);
    const asked = new Set(lasting.map((one) => one.asked));
    await this.#ask({ kind: 'resume', strategy: undefined });
    for (const action of asked) void this.#ask(action);
  }

  /** Cancels one of the orders that rest, as `sluice cancel ORDER` does. */
  cancelOne(which: number): void {
    const { process, fatal } = this.#options;
    const running = process();
    if (running?.life.alive !== true) return;
    const { assembled } = running;
    const open = [...assembled.portfolio.orders()].filter(({ state }) => state === 'open');
    const order = open[Math.floor(which * open.length)];
    if (order !== undefined) void assembled.cancelOrders([order]).catch(fatal);
  }

  /** What was not on disk is forgotten with the process. */
  crashed(): void {
    const isKept = ({ asked }: Lasting): boolean => this.#isWritten(asked);
    const isEnded = ({ ended }: Lasting): boolean => ended !== undefined && this.#isWritten(ended.by);
    const kept = <T extends Lasting>(list: readonly T[]): T[] =>
      list.filter(isKept).map((one) => (isEnded(one) ? one : { ...one, ended: undefined }));
    this.#stops = kept(this.#stops);
    this.#flattens = kept(this.#flattens);
  }

  /** A pause of a flatten is on disk together with the flatten: by itself, nobody would go on closing after a crash. */
  pausesAreWithFlattens(entries: readonly Entry[]): Verdict {
    for (const entry of entries) {
      if (entry.kind !== 'pause' || entry.by !== by) continue;
      const asked = this.#actions.find(({ reason }) => reason === entry.reason);
      const isKept = (other: Entry): boolean =>
        other.kind === 'memory' && other.name === flattenMemory && other.value.includes(`"${entry.reason}"`);
      if (asked?.kind === 'flatten' && asked.begins && !entries.some(isKept))
        return `the pause of ${entry.reason} is written without its flatten`;
    }
    return undefined;
  }

  /** After a start: what the journal does not hold is asked again, in the same order. */
  started(): void {
    for (const action of this.#actions.filter(({ isConfirmed, isOver }) => !isConfirmed && !isOver)) {
      if (action.kind === 'flatten') this.#repeat(action);
      else if (!this.#isWritten(action)) void this.#say(action);
    }
  }

  #isWritten({ reason }: Action): boolean {
    const db = this.#options.db();
    const row = db.prepare('SELECT 1 FROM kills WHERE by = ? AND reason = ?').get(by, reason);
    const kept = db.prepare('SELECT value FROM memories WHERE name = ?').pluck().get(flattenMemory);
    return row !== undefined || String(kept).includes(`"${reason}"`);
  }

  /** Each command has as many rows as it stopped or resumed scopes, and there are no others. */
  rowsAreExact(): Verdict {
    const rows = this.#options.db().prepare('SELECT * FROM kills WHERE by = ?').all(by) as KillEntry[];
    const counts = Map.groupBy(rows, ({ reason }) => reason);
    for (const { kind, reason, rows: most, isConfirmed } of this.#actions) {
      const count = counts.get(reason)?.length ?? 0;
      counts.delete(reason);
      if (count > most || (isConfirmed && count < most))
        return `${reason}, a ${kind}, has ${count} rows in the journal, and stopped or resumed ${most} scopes`;
    }
    const [unasked] = counts.keys();
    return unasked === undefined ? undefined : `the journal has a row of ${by} that nobody asked for: ${unasked}`;
  }

  #ask(asked: Pick<Action, 'kind' | 'strategy' | 'symbol' | 'maxSlippage'>): Promise<void> {
    const reason = `command ${this.#actions.length + 1}`;
    const action: Action = { ...asked, reason, rows: 1, begins: false, isConfirmed: false, isOver: false };
    this.#takePlaces(action);
    this.#actions.push(action);
    return this.#say(action);
  }

  /** What was asked before and is undone by this is not asked again. */
  #takePlaces({ kind, strategy }: Action): void {
    const isUndone = (before: Action): boolean =>
      before.kind !== 'resume' && (kind === 'resume' || (kind === 'killEverything' && before.kind === 'flatten'));
    for (const before of this.#actions)
      if (isUndone(before) && (strategy === undefined || before.strategy === strategy)) before.isOver = true;
  }

  async #say(action: Action): Promise<void> {
    const { process, fatal } = this.#options;
    const running = process();
    // He finds nobody there, and asks again after the start.
    if (running?.life.alive !== true) return;
    const done = this.#carryOut(action, running);
    void running.durable().then((isOnDisk) => {
      action.isConfirmed ||= isOnDisk;
    });
    await done.catch(fatal);
  }

  #carryOut(action: Action, running: Process): Promise<unknown> {
    const { kind, strategy, reason } = action;
    const { assembled, life } = running;
    const since = this.#options.now();
    if (kind === 'flatten') return this.#flattenNow(action, running);
    this.#end(action, since);
    if (kind === 'resume') return assembled.resume(strategy, by, reason);
    this.#stops.push({ kind, strategy, since, asked: action, ended: undefined });
    const how = { kind: kind === 'pause' ? 'pause' : 'kill', everything: kind === 'killEverything' } as const;
    return assembled.kill({ ...how, at: life.clock.now(), strategy, by, reason });
  }

  /** A resume ends all that it lifts, and a kill of everything ends flattens. */
  #end(action: Action, at: number): void {
    const { kind, strategy } = action;
    const isOf = (one: { readonly strategy: string | undefined }): boolean =>
      strategy === undefined || one.strategy === strategy;
    const ends = [
      ...(kind === 'resume' ? this.#stops.filter(isOf) : []),
      ...(kind === 'resume' || kind === 'killEverything' ? this.#flattens.filter(isOf) : []),
    ];
    for (const one of ends) one.ended ??= { by: action, at };
  }

  async #flattenNow(action: Action, { assembled, life }: Process): Promise<void> {
    const { strategy, symbol, maxSlippage = '0.01', reason } = action;
    const isHalted = assembled.execution.halts.inForce.length > 0;
    action.isOver ||= isHalted;
    action.rows = 0;
    if (!isHalted) this.#begin(action, assembled, Number(maxSlippage));
    try {
      const asked = { strategy, symbol, maxSlippage, by, reason };
      const text = await flatten(asked, {
        assembled,
        clock: life.clock,
        away: () => undefined,
        refuseNobody: () => {},
      });
      if (/nothing was done/.test(text)) this.#options.after(repeatMs, () => this.#repeat(action));
      if (isHalted) throw new Error('a flatten was begun under a HALT');
    } catch (error) {
      if (!isHalted || !(error instanceof Refusal)) throw error;
    }
  }

  /** He tries again what was not done, as soon after a start, when no price is known. */
  #repeat(action: Action): void {
    if (action.isOver) return;
    action.isOver = true;
    void this.#ask(action);
  }

  /** What it pauses, and which positions it is to close at which prices. */
  #begin(asked: Action, { portfolio, risk }: Process['assembled'], slippage: number): void {
    const { strategy, symbol } = asked;
    const [since, ended] = [this.#options.now(), undefined];
    const isOf = (one: { readonly strategy: string; readonly symbol: string }): boolean =>
      (strategy ?? one.strategy) === one.strategy && (symbol ?? one.symbol) === one.symbol;
    const places = portfolio.subAccounts().filter(isOf);
    const isOfAll = strategy === undefined && symbol === undefined;
    const scopes = isOfAll
      ? [undefined]
      : new Set(strategy === undefined ? places.map((one) => one.strategy) : [strategy]);
    for (const one of scopes) {
      const isStopped = one === undefined ? risk.switch.ofAll !== undefined : risk.switch.of(one) !== undefined;
      if (isStopped) continue;
      asked.rows++;
      this.#stops.push({ kind: 'pause', strategy: one, since, asked, ended });
    }
    for (const place of places) {
      const best = risk.best(place.symbol);
      const price = best === undefined ? portfolio.lastMark(place.symbol)?.price : (best.bid + best.ask) / 2;
      if (price === undefined) continue;
      asked.begins ||= portfolio.ordersOf(place.strategy, place.symbol).length > 0 || !isTooSmall(portfolio, place);
      const prices = { lowest: price * (1 - slippage), highest: price * (1 + slippage) };
      this.#flattens.push({ strategy: place.strategy, symbol: place.symbol, ...prices, since, asked, ended });
    }
  }
}
