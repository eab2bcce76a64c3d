/**
 * A lane of a run over klines. As the lanes of `trader.ts`, it carries out one decision at a time and keeps each strategy's latest. Decisions that
 * come while its first command is under way wait until `settle`.
 */
import type { Decision, SubmitResult } from '../../../domain/order.ts';
import { type Command, executeDecision, type Trading, Waiting } from '../../../trader.ts';

const nothing: readonly [] = [];

export class Lane {
  readonly #trading: Trading;
  readonly #execute: (command: Command) => readonly SubmitResult[];
  readonly #waiting = new Waiting();
  #running: ReturnType<typeof executeDecision> | undefined;
  #sent: readonly SubmitResult[] = nothing;

  constructor(trading: Trading, execute: (command: Command) => readonly SubmitResult[]) {
    this.#trading = trading;
    this.#execute = execute;
  }

  /** Begins to carry out a decision, or keeps it until the lane is free. */
  take(decision: Decision): void {
    if (this.#running !== undefined) {
      this.#waiting.add(decision);
      return;
    }
    const first = this.#trading.plan(decision, nothing);
    if (first === undefined) return;
    const path = executeDecision(this.#trading, decision, first);
    const next = path.next();
    if (next.done === true) return;
    this.#running = path;
    this.#sent = this.#execute(next.value);
  }

  /** Carries out everything to its end. */
  settle(): void {
    while (this.#running !== undefined) {
      const path = this.#running;
      for (let next = path.next(this.#sent); next.done !== true; next = path.next(this.#sent))
        this.#sent = this.#execute(next.value);
      this.#running = undefined;
      this.#takeWaiting();
    }
  }

  #takeWaiting(): void {
    while (this.#running === undefined) {
      const decision = this.#waiting.take();
      if (decision === undefined) return;
      this.take(decision);
    }
  }
}
