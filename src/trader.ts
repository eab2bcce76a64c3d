/**
 * The path from one signal to its orders, and the stream that feeds it. Live, paper and every backtest run `carryOut`: it waits for nothing
 * itself, but yields what has to be done and goes on with what came of it. Who answers and who moves time is not known here.
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
import type { Fill, Intent, Sent, Signal, Verdict } from './domain/order.ts';
import type { OrderDraft, Step } from './portfolio/plan.ts';
import type { WorkingOrder } from './portfolio/portfolio.ts';

/** What has to be done next. The orders of a submit leave together. */
export type Command =
  | { readonly kind: 'cancel'; readonly order: WorkingOrder }
  | { readonly kind: 'submit'; readonly intents: readonly Intent[] };

/** An order to be sent, and what was asked for: its quantity can be a few lots less, so that nothing else looks like it. */
export interface Sendable {
  readonly draft: OrderDraft;
  readonly asked: OrderDraft;
}

/** What decides on the orders of a signal. */
export interface Trading {
  /** The next thing to do about a signal: cancel an order, create one, or nothing. What was refused is not asked for again. */
  plan(signal: Signal, refused: readonly OrderDraft[]): Step | undefined;
  /** The orders that leave with one, itself among them: alone, or what else its signal lacks where several go in one request. */
  together(signal: Signal, refused: readonly OrderDraft[], first: OrderDraft): readonly Sendable[];
  /** Asks the risk rules; a denial is written down. */
  judge(draft: OrderDraft): Verdict;
  /** Gives the order its id and counts its exposure from now on. */
  reserve(draft: OrderDraft): Intent;
}

/**
 * From a signal to its orders, from the first step on that was planned for it. Every step can change what the next one should be, so each is
 * planned and judged anew. What came of the orders of a submit goes in, in their order.
 */
export function* carryOut(
  trading: Trading,
  signal: Signal,
  first: Step,
): Generator<Command, void, readonly Sent[] | undefined> {
  const refused: OrderDraft[] = [];
  for (let step: Step | undefined = first; step !== undefined; step = trading.plan(signal, refused)) {
    if (step.do === 'cancel') {
      yield { kind: 'cancel', order: step.order };
      continue;
    }
    const asked: OrderDraft[] = [];
    const intents: Intent[] = [];
    for (const order of trading.together(signal, refused, step.draft)) {
      // A purchase over the limit must not hide the sale that would bring the position under it.
      if (trading.judge(order.draft).kind === 'denied') refused.push(order.asked);
      else {
        intents.push(trading.reserve(order.draft));
        asked.push(order.asked);
      }
    }
    if (intents.length === 0) continue;
    const sent = (yield { kind: 'submit', intents }) ?? [];
    // An unknown one blocks its symbol until the exchange shows its outcome.
    if (sent.includes('unknown')) return;
    // Nor must one that the exchange rejects hide those after it until the next kline.
    refused.push(...asked.filter((_, index) => sent[index] === 'refused'));
  }
}

/** What the stream needs; `trading/` puts the parts together. */
export interface Desk extends Trading {
  /** Brings orders of an earlier run up to date. No signal is heard before it is through. */
  recover(): Promise<void>;
  /** What each strategy wants, kline by kline. */
  readonly signals: readonly Observable<Signal>[];
  /** The standing signals of positions whose stop was hit: protection has something to say about them. */
  readonly stopped: Observable<Signal>;
  /** Our executions as they become known; repeats are possible. */
  readonly fills: Observable<Fill>;

  /** Takes a signal as what its strategy wants from now on; false when that is settled already. */
  note(signal: Signal): boolean;
  cancel(order: WorkingOrder): Promise<void>;
  /** Waits for request weight, journals, sends once, and finds out what became of it. */
  execute(intent: Intent): Promise<Sent>;
  /** Sends several at once; what came of each, in their order. */
  executeAll(intents: readonly Intent[]): Promise<readonly Sent[]>;
  /** Writes a fill down; false when it is a row already. */
  record(fill: Fill): boolean;
  /** Counts a fill that has just become a row. */
  book(fill: Fill): void;
  /** Hands over signals one at a time, each strategy's latest only (execution/lane.ts). */
  latestWhenFree(carryOut: (signal: Signal) => Promise<void> | undefined): OperatorFunction<Signal, never>;
}

/** Trades live, on paper and over recorded trades and books. */
export function trade(desk: Desk): Observable<Fill> {
  // Fills enter by one door, and only a new row changes the portfolio.
  const fills = desk.fills.pipe(
    filter((fill) => desk.record(fill)),
    tap((fill) => desk.book(fill)),
  );

  // A signal that is settled already goes no further, as with most klines: not even through what merges them.
  const heard = [desk.stopped, ...desk.signals].map((some) => some.pipe(filter((signal) => desk.note(signal))));
  const signals = defer(() => desk.recover()).pipe(mergeMap(() => merge(...heard)));

  // A lane per symbol: it carries out one signal at a time, so nothing new is sent while an earlier outcome is unknown.
  const orders = signals.pipe(
    groupBy((signal) => signal.symbol),
    mergeMap((oneSymbol) => oneSymbol.pipe(desk.latestWhenFree((signal) => runAsync(desk, signal)))),
  );

  return merge(fills, orders.pipe(ignoreElements()));
}

/** Carries out a signal at an exchange that takes time to answer; undefined when there is nothing to do. */
function runAsync(desk: Desk, signal: Signal): Promise<void> | undefined {
  const first = desk.plan(signal, []);
  return first === undefined ? undefined : goOn(carryOut(desk, signal, first), desk);
}

async function goOn(path: ReturnType<typeof carryOut>, desk: Desk): Promise<void> {
  for (let next = path.next(); next.done !== true; ) {
    const command = next.value;
    if (command.kind === 'cancel') {
      await desk.cancel(command.order);
      next = path.next();
    } else next = path.next(await sent(desk, command.intents));
  }
}

async function sent(desk: Desk, intents: readonly Intent[]): Promise<readonly Sent[]> {
  const [first] = intents;
  if (first === undefined) return [];
  return intents.length === 1 ? [await desk.execute(first)] : desk.executeAll(intents);
}
