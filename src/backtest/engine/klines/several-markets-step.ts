/** The strategies of several markets in a run over klines: when each is asked, and how its legs are carried out. */
import { tradedBy } from '../../../trading/lanes.ts';
import type { RunInput } from '../../run.ts';
import { MarketsCursor } from './markets-cursor.ts';
import { opensAt, type SeriesState } from './series-state.ts';
import type { KlineTrader } from './trader.ts';

export class SeveralMarketsStep {
  readonly #cursors: readonly MarketsCursor[];
  readonly #trader: KlineTrader;
  readonly #settle: (symbol: string) => void;
  #states = new Map<string, readonly SeriesState[]>();

  constructor(input: RunInput, trader: KlineTrader, settle: (symbol: string) => void) {
    this.#trader = trader;
    this.#settle = settle;
    this.#cursors = input.hosted.flatMap((one) =>
      one.markets === undefined ? [] : [new MarketsCursor(one, input.series, trader.portfolio)],
    );
  }

  get isEmpty(): boolean {
    return this.#cursors.length === 0;
  }

  /** Those that trade a symbol. */
  on(symbol: string): readonly MarketsCursor[] {
    return this.#cursors.filter(({ hosted }) => tradedBy(hosted).includes(symbol));
  }

  /** The states of each, by strategy. */
  statesIn(states: readonly SeriesState[]): ReadonlyMap<string, readonly SeriesState[]> {
    this.#states = new Map(
      this.#cursors.map((one) => [one.hosted.id, states.filter(({ symbol }) => one.reads(symbol))] as const),
    );
    return this.#states;
  }

  /** When one that reads a symbol has to be looked at next, UTC ms. */
  nextAt(symbol: string): number {
    let next = Number.POSITIVE_INFINITY;
    for (const one of this.#cursors)
      if (one.reads(symbol)) next = Math.min(next, one.nextAt, this.#trader.legsAlone.dueAt);
    return next;
  }

  /** Something happened to the orders of a strategy. */
  changed(strategy: string): void {
    for (const one of this.#cursors) if (one.hosted.id === strategy) one.quiet = false;
  }

  /** Asks those whose moment has come, and carries out what their signals still lack. `begin` is called before the first. */
  ask(at: number, begin: () => void): void {
    const { planner } = this.#trader;
    for (const one of this.#cursors) {
      if (one.nextAt > at) continue;
      begin();
      const decision = one.decide(at);
      if (decision !== undefined && this.#trader.note(decision)) {
        this.#trader.take(decision);
        this.#settle(decision.legs[0].symbol);
      }
      const { id } = one.hosted;
      one.quiet = [...one.legs.values()].every(({ symbol }) => planner.settled(id, symbol) !== undefined);
    }
    for (const decision of this.#trader.legsAlone.look(at)) {
      begin();
      this.#trader.note(decision);
      this.#trader.take(decision);
      this.#settle(decision.legs[0].symbol);
      this.changed(decision.strategy);
    }
  }

  /**
   * Purchases that waited for sales at this open: the sales have paid for them, and they fill at it, too. A kline that opened before is not
   * one of theirs. `open` opens a kline once more.
   */
  enterAfterExits(now: number, open: (state: SeriesState) => void): void {
    for (const { hosted } of this.#cursors) {
      const waiting = this.#trader.planner.waiting(hosted.id);
      if (waiting === undefined) continue;
      this.#trader.take({ strategy: hosted.id, at: now, legs: waiting.legs });
      this.#settle(waiting.legs[0].symbol);
      for (const state of this.#states.get(hosted.id) ?? [])
        if (state.opened === state.row && opensAt(state, state.row) === now && !state.market.fills.idle) open(state);
    }
  }
}
