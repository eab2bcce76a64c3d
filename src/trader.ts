/**
 * The path from a decision to its orders, and the stream that feeds it. Live, paper and every backtest but those of the fast engine run
 * `executeDecision`. It waits for nothing: it yields each cancel and each submit, and receives the results. It knows neither venue nor clock.
 */
import { defer, filter, groupBy, ignoreElements, merge, mergeMap, Observable, type OperatorFunction, tap } from 'rxjs';
import type { Decision, Fill, Intent, SubmitResult } from './domain/order.ts';
import type { Judgement, OrderDraft, Step } from './portfolio/plan.ts';
import type { WorkingOrder } from './portfolio/portfolio.ts';

/** The next action. The orders of a submit are sent in one batch. */
export type Command =
  | { readonly kind: 'cancel'; readonly order: WorkingOrder }
  | { readonly kind: 'submit'; readonly intents: readonly Intent[] };

/** An order to send, and the one that was planned: orders of a batch are distinguished by quantities that differ by a few lots. */
export interface Sendable {
  readonly draft: OrderDraft;
  readonly planned: OrderDraft;
}

/** Plans and judges the orders of a decision. */
export interface Trading {
  /** The next thing to do about a decision: cancel an order, create one, or nothing. What was refused is not planned again. */
  plan(decision: Decision, refused: readonly OrderDraft[]): Step | undefined;
  /** The batch of this order: those that can be sent with it, itself among them. */
  together(decision: Decision, refused: readonly OrderDraft[], first: OrderDraft): readonly Sendable[];
  /** Asks the risk rules; a denial is journalled. Where a limit reduces the order, its target is reduced with it. */
  judge(draft: OrderDraft): Judgement;
  /** Gives the order its id and adds it to the exposure. */
  reserve(draft: OrderDraft): Intent;
}

/**
 * Executes a decision, beginning with `first`, the step that the caller planned. Each step can change the next, so each is planned and
 * judged again. Receives the results of a submit, in the order of its intents.
 */
export function* executeDecision(
  trading: Trading,
  decision: Decision,
  first: Step,
): Generator<Command, void, readonly SubmitResult[] | undefined> {
  const refused: OrderDraft[] = [];
  for (let step: Step | undefined = first; step !== undefined; step = trading.plan(decision, refused)) {
    if (step.do === 'cancel') {
      yield { kind: 'cancel', order: step.order };
      continue;
    }
    const planned: OrderDraft[] = [];
    const intents: Intent[] = [];
    for (const order of trading.together(decision, refused, step.draft)) {
      // Not planned again, so that a sale gets its turn behind a purchase that is over a limit.
      const judged = trading.judge(order.draft);
      if (judged.kind === 'denied') refused.push(order.planned);
      else {
        intents.push(trading.reserve(judged.kind === 'reduced' ? judged.draft : order.draft));
        planned.push(order.planned);
      }
    }
    if (intents.length === 0) continue;
    const results = (yield { kind: 'submit', intents }) ?? [];
    // While the outcome of an order is unknown, `plan` creates nothing on its symbol; other legs go on.
    if (results.includes('unknown') && decision.legs.length === 1) return;
    // What the exchange did not take is not planned again either.
    for (const [index, order] of planned.entries()) if (results[index] !== 'accepted') refused.push(order);
  }
}

/** What the stream needs; `trading/` assembles it. */
export interface Trader extends Trading {
  /** Brings orders of an earlier run up to date. No decision is taken before. */
  recover(): Promise<void>;
  /** The decisions of each strategy. */
  readonly decisions: readonly Observable<Decision>[];
  /** Decisions on positions whose stop was hit: they lead to exits. */
  readonly stopped: Observable<Decision>;
  /** Our fills as they become known; repeats are possible. */
  readonly fills: Observable<Fill>;

  /** Makes a decision its strategy's standing one; false when nothing is left to do about it. */
  note(decision: Decision): boolean;
  cancel(order: WorkingOrder): Promise<void>;
  /** Waits for request weight, journals, sends once; `unknown` where the outcome is not certain. */
  execute(intent: Intent): Promise<SubmitResult>;
  /** Sends several at once; results in their order. */
  executeAll(intents: readonly Intent[]): Promise<readonly SubmitResult[]>;
  /** Journals a fill; false when it is in the journal already. */
  record(fill: Fill): boolean;
  /** Adds such a fill to its position. */
  book(fill: Fill): void;
  /** The lane of a symbol: symbols that one strategy trades together share theirs. */
  laneOf(symbol: string): string;
  /** Whether a decision only exits what protection closes: it waits for the request under way, not for the end of another decision. */
  isProtective(decision: Decision): boolean;
  /** Work in progress: a simulated clock waits for it. */
  track(work: Promise<void>): Promise<void>;
}

/** Trades live, on paper and over recorded trades and depth. */
export function trade(trader: Trader): Observable<Fill> {
  // All fills enter here, and only a new row changes the portfolio.
  const fills = trader.fills.pipe(
    filter((fill) => trader.record(fill)),
    tap((fill) => trader.book(fill)),
  );

  // Most klines repeat a decision that is settled: filtered before the streams are merged.
  const open = [trader.stopped, ...trader.decisions].map((each) =>
    each.pipe(filter((decision) => trader.note(decision))),
  );
  const decisions = defer(() => trader.recover()).pipe(mergeMap(() => merge(...open)));

  const orders = decisions.pipe(
    groupBy(({ legs: [leg] }) => trader.laneOf(leg.symbol)),
    mergeMap((lane) => lane.pipe(latestWhenFree(trader, (decision, between) => runAsync(trader, decision, between)))),
  );

  return merge(fills, orders.pipe(ignoreElements()));
}

/** Called between two commands of a decision. */
type BetweenCommands = () => Promise<void> | undefined;

/**
 * A lane: carries out one decision at a time and keeps only the latest of each strategy. So nothing is sent while an earlier request is under
 * way, and nothing stale is sent afterwards. Protective decisions are carried out between two commands of another one, which then goes on with
 * what is left to do. `run` returns undefined when there was nothing to do. Running work is never abandoned: unsubscribing only stops new
 * decisions.
 */
export function latestWhenFree(
  trader: Pick<Trader, 'track' | 'isProtective'>,
  run: (decision: Decision, between: BetweenCommands) => Promise<void> | undefined,
): OperatorFunction<Decision, never> {
  return (decisions) =>
    new Observable((out) => {
      const protective = new Waiting();
      const waiting = new Waiting();
      let busy = false;
      let ended = false;

      function begin(decision: Decision, between: BetweenCommands): void {
        const work = run(decision, between);
        if (work === undefined) return;
        busy = true;
        trader.track(work.then(free, fail)).catch(fail);
      }
      function free(): void {
        busy = false;
        while (!busy && !out.closed) {
          const exit = protective.take();
          const decision = exit ?? waiting.take();
          if (decision === undefined) break;
          begin(decision, exit === undefined ? leaveFirst : nothing);
        }
        if (ended && !busy) out.complete();
      }
      /** The protective decisions that wait now, each once. Later ones wait for the next gap, so that the interrupted decision progresses. */
      function leaveFirst(): Promise<void> | undefined {
        return protective.isEmpty ? undefined : leaveAll(protective.takeAll());
      }
      async function leaveAll(exits: readonly Decision[]): Promise<void> {
        for (const exit of exits) if (!out.closed) await run(exit, nothing);
      }
      function fail(error: unknown): void {
        out.error(error);
      }

      return decisions.subscribe({
        next(decision) {
          const isProtective = trader.isProtective(decision);
          if (busy) (isProtective ? protective : waiting).add(decision);
          else begin(decision, isProtective ? nothing : leaveFirst);
        },
        error: fail,
        complete() {
          ended = true;
          if (!busy) out.complete();
        },
      });
    });
}

const nothing: BetweenCommands = () => undefined;

/** Decisions that wait in a lane: of each strategy one, of which a later one takes the place leg by leg. */
export class Waiting {
  readonly #byStrategy = new Map<string, Decision>();

  get isEmpty(): boolean {
    return this.#byStrategy.size === 0;
  }

  add(decision: Decision): void {
    const { strategy } = decision;
    const before = this.#byStrategy.get(strategy);
    this.#byStrategy.set(strategy, before === undefined ? decision : later(before, decision));
  }

  /** The one that has waited longest. */
  take(): Decision | undefined {
    const [decision] = this.#byStrategy.values();
    if (decision !== undefined) this.#byStrategy.delete(decision.strategy);
    return decision;
  }

  takeAll(): readonly Decision[] {
    const all = [...this.#byStrategy.values()];
    this.#byStrategy.clear();
    return all;
  }
}

/** A later decision with the legs of an earlier one about which it says nothing: nobody would carry them out. */
function later(before: Decision, { strategy, at, legs }: Decision): Decision {
  const bySymbol = new Map([...before.legs, ...legs].map((leg) => [leg.symbol, leg]));
  const [first = legs[0], ...others] = bySymbol.values();
  return { strategy, at, legs: [first, ...others] };
}

/** Carries out a decision at an exchange that takes time to answer; undefined when there is nothing to do. */
function runAsync(trader: Trader, decision: Decision, between: BetweenCommands): Promise<void> | undefined {
  const first = trader.plan(decision, []);
  return first === undefined ? undefined : drive(executeDecision(trader, decision, first), trader, between);
}

/** Protective exits run between two commands, before the next one is planned. */
async function drive(
  path: ReturnType<typeof executeDecision>,
  trader: Trader,
  between: BetweenCommands,
): Promise<void> {
  for (let next = path.next(); next.done !== true; ) {
    const sent = await execute(trader, next.value);
    const first = between();
    if (first !== undefined) await first;
    next = path.next(sent);
  }
}

async function execute(trader: Trader, command: Command): Promise<readonly SubmitResult[]> {
  if (command.kind === 'submit' && command.intents.length > 1) return trader.executeAll(command.intents);
  if (command.kind === 'submit') return Promise.all(command.intents.map((intent) => trader.execute(intent)));
  await trader.cancel(command.order);
  return [];
}
