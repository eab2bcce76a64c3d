/**
 * A lane of a run over klines: it carries out one signal at a time and keeps each strategy's latest, as `execution/lane.ts` does where answers
 * take time. What comes while its first command is under way waits until `settle`.
 */
import type { Sent, Signal } from '../../../domain/order.ts';
import { type Command, carryOut, type Trading } from '../../../trader.ts';

const nothing: readonly [] = [];

export class Lane {
  readonly #trading: Trading;
  readonly #execute: (command: Command) => readonly Sent[];
  readonly #waiting = new Map<string, Signal>();
  #running: ReturnType<typeof carryOut> | undefined;
  #sent: readonly Sent[] = nothing;

  constructor(trading: Trading, execute: (command: Command) => readonly Sent[]) {
    this.#trading = trading;
    this.#execute = execute;
  }

  /** Begins to carry out a signal, or keeps it until the lane is free. */
  take(signal: Signal): void {
    if (this.#running !== undefined) {
      this.#waiting.set(signal.strategy, signal);
      return;
    }
    const first = this.#trading.plan(signal, nothing);
    if (first === undefined) return;
    const path = carryOut(this.#trading, signal, first);
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
    for (const [strategy, signal] of this.#waiting) {
      if (this.#running !== undefined) return;
      this.#waiting.delete(strategy);
      this.take(signal);
    }
  }
}
