/** The strategies of several markets in a run over klines: when each is asked, and how its legs are carried out. */
import type { Decision } from '../../../domain/order.ts';
import { tradedBy } from '../../../trading/lanes.ts';
import type { RunInput } from '../../run.ts';
import { MarketsCursor } from './markets-cursor.ts';
import { opensAt, type SeriesState } from './series-state.ts';
import type { KlineTrader } from './trader.ts';

export class SeveralMarketsStep {
  readonly #cursors: readonly MarketsCursor[];
  readonly #trader: KlineTrader;
  readonly #settle: (symbol: string) => void;
  readonly #awake: (symbol: string) => void;
  #states = new Map<string, readonly SeriesState[]>();

  constructor(
    input: RunInput,
    trader: KlineTrader,
    { settle, awake }: Readonly<Record<'settle' | 'awake', (symbol: string) => void>>,
  ) {
    this.#trader = trader;
    this.#settle = settle;
    this.#awake = awake;
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

  /**
   * Until when klines may be passed over, where nothing else happens before `to`, both UTC ms: `to`, or right before the moment at which one has to
   * be looked at. Those that nothing happens to are asked ahead.
   */
  before(to: number): number {
    let before = Math.min(to, this.#trader.legsAlone.dueAt - 1);
    for (const one of this.#cursors) before = Math.min(before, one.nextAt(before) - 1);
    return before;
  }

  /** Something happened to the orders of a strategy. */
  changed(strategy: string): void {
    for (const one of this.#cursors) if (one.hosted.id === strategy) one.quiet = false;
  }

  /** Asks those whose moment has come, and carries out what their signals still lack. `begin` is called before the first. */
  ask(at: number, begin: () => void): void {
    const { planner } = this.#trader;
    for (const one of this.#cursors) {
      if (!one.isDue(at)) continue;
      begin();
      const decision = one.decide(at, planner);
      if (decision !== undefined) {
        // Klines that were passed over until now may be followed by an order, or by another stop.
        for (const symbol of this.#concerned(decision)) this.#awake(symbol);
        if (this.#trader.note(decision)) {
          this.#trader.take(decision);
          this.#settle(decision.legs[0].symbol);
        }
      }
      one.quiet = one.isSettled(planner);
    }
    for (const decision of this.#trader.legsAlone.look(at)) {
      begin();
      this.#trader.note(decision);
      this.#trader.take(decision);
      this.#settle(decision.legs[0].symbol);
      this.changed(decision.strategy);
      for (const symbol of this.#concerned(decision)) this.#awake(symbol);
    }
  }

  /** The symbols of a decision; on margin all of its strategy, as one account. */
  #concerned({ strategy, legs }: Decision): readonly string[] {
    const all = this.#trader.margin === undefined ? legs : (this.#states.get(strategy) ?? legs);
    return all.map(({ symbol }) => symbol);
  }

  /**
   * Purchases that waited for sales at this open: the sales have paid for them, and they fill at it, too. So do the other positions of a
   * strategy of which this open liquidated one. A kline that opened before is not one of theirs. `open` opens a kline once more.
   */
  enterAfterExits(now: number, open: (state: SeriesState) => void): void {
    for (const { hosted } of this.#cursors) {
      const waiting = this.#trader.planner.waiting(hosted.id);
      if (waiting !== undefined) {
        this.#trader.take({ strategy: hosted.id, at: now, legs: waiting.legs });
        this.#settle(waiting.legs[0].symbol);
      } else if (this.#trader.margin?.liquidatedAt(hosted.id) !== now) continue;
      for (const state of this.#states.get(hosted.id) ?? [])
        if (state.opened === state.row && opensAt(state, state.row) === now && !state.market.fills.idle) open(state);
    }
  }
}
