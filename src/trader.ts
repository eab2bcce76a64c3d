/**
 * The path from one kline to one row in `fills`. Live, paper and backtests over ticks, on margin or with streaming strategies run this;
 * `backtest/engine/klines/` does the same without waiting.
 */
import {
  defer,
  filter,
  groupBy,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  type OperatorFunction,
  tap,
} from 'rxjs';
import type { Fill, Intent, Signal, Verdict } from './domain/order.ts';
import type { OrderDraft, Step } from './portfolio/plan.ts';
import type { WorkingOrder } from './portfolio/portfolio.ts';

/** What an order came to. */
type Carried = 'placed' | 'refused' | 'unknown';

/** An order that would be sent, and what was wished of it. */
interface Together {
  readonly draft: OrderDraft;
  readonly wished: OrderDraft;
}

/** What trading needs; `trading/` puts the parts together. */
export interface Desk {
  /** Brings orders of an earlier run up to date. Nothing is wished before it is through. */
  recover(): Promise<void>;
  /** What each strategy wants, kline by kline. */
  readonly signals: readonly Observable<Signal>[];
  /** The standing wishes of positions whose stop was hit: protection has something to say about them. */
  readonly stopped: Observable<Signal>;
  /** Our executions as they become known; repeats are possible. */
  readonly fills: Observable<Fill>;

  /** Takes a signal as its strategy's wish from now on; false when it is the one that rests already. */
  note(signal: Signal): boolean;
  /** The next thing to do about a wish: cancel an order, create one, or nothing. What was refused is not asked for again. */
  plan(signal: Signal, refused: readonly OrderDraft[]): Step | undefined;
  /** Asks the risk rules; a refusal is written down. */
  judge(draft: OrderDraft): Verdict;
  /** Gives the order its id and counts its exposure from now on. */
  reserve(draft: OrderDraft): Intent;
  /** Waits for request weight, journals, sends once, and finds out what became of it. */
  execute(intent: Intent): Promise<Carried>;
  /** The orders that leave with one, itself among them: alone, or what else its wish lacks where several go in one request. */
  together(signal: Signal, refused: readonly OrderDraft[], first: OrderDraft): readonly Together[];
  /** Sends several at once; what came of each, in their order. */
  executeAll(intents: readonly Intent[]): Promise<readonly Carried[]>;
  cancel(order: WorkingOrder): Promise<void>;
  /** Writes a fill down; false when it is a row already. */
  record(fill: Fill): boolean;
  /** Counts a fill that has just become a row. */
  book(fill: Fill): void;
  /** Hands over signals one at a time, each strategy's latest only (execution/lane.ts). */
  latestWhenFree(carryOut: (signal: Signal) => Promise<void> | undefined): OperatorFunction<Signal, never>;
}

export function trade(desk: Desk): Observable<Fill> {
  // Fills enter by one door, and only a new row changes the portfolio.
  const fills = desk.fills.pipe(
    filter((fill) => desk.record(fill)),
    tap((fill) => desk.book(fill)),
  );

  // A wish that rests already goes no further, as with most klines: not even through what merges them.
  const heard = [desk.stopped, ...desk.signals].map((some) => some.pipe(filter((signal) => desk.note(signal))));
  const signals = defer(() => desk.recover()).pipe(mergeMap(() => merge(...heard)));

  // A lane per symbol: it carries out one wish at a time, so nothing new is sent while an earlier outcome is unknown.
  const orders = signals.pipe(
    groupBy((signal) => signal.symbol),
    mergeMap((oneSymbol) => oneSymbol.pipe(desk.latestWhenFree(carryOut))),
  );

  return merge(fills, orders.pipe(ignoreElements()));

  function carryOut(signal: Signal): Promise<void> | undefined {
    const step = desk.plan(signal, []);
    return step === undefined ? undefined : stepByStep(signal, step);
  }

  /** Every step can change what the next one should be, so each is planned and judged anew. */
  async function stepByStep(signal: Signal, first: Step): Promise<void> {
    const refused: OrderDraft[] = [];
    for (let step: Step | undefined = first; step !== undefined; step = desk.plan(signal, refused)) {
      if (step.do === 'cancel') {
        await desk.cancel(step.order);
        continue;
      }
      const sent: OrderDraft[] = [];
      const intents: Intent[] = [];
      for (const { draft, wished } of desk.together(signal, refused, step.draft)) {
        // A purchase over the limit must not hide the sale that would bring the position under it.
        if (desk.judge(draft).kind === 'denied') refused.push(wished);
        else {
          intents.push(desk.reserve(draft));
          sent.push(wished);
        }
      }
      const carried = await executed(intents);
      if (carried.includes('unknown')) return;
      // Nor must one that the exchange rejects hide those after it until the next kline; an unknown one blocks its symbol.
      refused.push(...sent.filter((_, index) => carried[index] === 'refused'));
    }
  }

  async function executed(intents: readonly Intent[]): Promise<readonly Carried[]> {
    const [first] = intents;
    if (first === undefined) return [];
    return intents.length === 1 ? [await desk.execute(first)] : desk.executeAll(intents);
  }
}
