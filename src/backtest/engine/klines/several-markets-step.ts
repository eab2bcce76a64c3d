/** The strategies of several markets in a run over klines: when each is asked, and how its legs are carried out. */
import type { Decision, Purpose } from '../../../domain/order.ts';
import { tradedBy } from '../../../trading/lanes.ts';
import type { RunInput } from '../../run.ts';
import { MarketsCursor } from './markets-cursor.ts';
import { opensNow, type SeriesState } from './series-state.ts';
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
   * strategy of which it liquidated one. A kline that opened before is not one of theirs. `fill` fills what is ordered by now.
   */
  enterAtOpen(now: number, fill: (state: SeriesState) => void): void {
    this.#enterAfterExits(now, (state) => opensNow(state, now), fill);
  }

  /** The same by rules that fill at the close decided on, of the klines that close now. */
  enterAtClose(now: number, closing: readonly SeriesState[], fill: (state: SeriesState) => void): void {
    this.#enterAfterExits(now, (state) => closing.includes(state), fill);
  }

  #enterAfterExits(now: number, fillNow: (state: SeriesState) => boolean, fill: (state: SeriesState) => void): void {
    for (const { hosted } of this.#cursors) {
      const planned = this.#takeWaiting(hosted.id, now);
      const isLeft = (symbol: string): boolean =>
        this.#trader.margin?.isLiquidatedByAnother(hosted.id, symbol, now) === true;
      for (const state of this.#states.get(hosted.id) ?? [])
        if ((isLeft(state.symbol) || planned.has(state.symbol)) && fillNow(state) && !state.market.fills.idle)
          fill(state);
    }
  }

  /**
   * Plans again what enters or leaves, and gives the symbols of that. What rests is placed with the next close: it could fill by the kline that
   * entered its position. What the volume of this kline left of an exit waits for the next one.
   */
  #takeWaiting(strategy: string, at: number): ReadonlySet<string> {
    const { planner } = this.#trader;
    const waiting = planner.waiting(strategy);
    if (waiting === undefined) return nobody;
    const planned = new Set<string>();
    const [first, ...others] = waiting.legs.filter((leg) => {
      const step = planner.plan({ legs: [leg] });
      if (step === undefined) return true;
      if (step.do === 'cancel' || rests.has(step.draft.purpose)) return false;
      planned.add(leg.symbol);
      return true;
    });
    if (first === undefined || planned.size === 0) return planned;
    this.#trader.take({ strategy, at, legs: [first, ...others] });
    this.#settle(first.symbol);
    return planned;
  }
}

const nobody: ReadonlySet<string> = new Set();
const rests: ReadonlySet<Purpose> = new Set(['takeProfit', 'quote']);
