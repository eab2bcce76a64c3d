/** The last journalled memory of each strategy. */
import type { Memory } from '../domain/memory.ts';

export class StrategyMemories {
  readonly #memories = new Map<string, Memory>();
  readonly #changed: (strategy: string, memory: Memory) => void;

  /** `changed` is called with each that differs from the one before. */
  constructor(changed: (strategy: string, memory: Memory) => void = () => {}) {
    this.#changed = changed;
  }

  get(strategy: string): Memory | undefined {
    return this.#memories.get(strategy);
  }

  /** Journals one, unless it is the last. */
  keep(strategy: string, memory: Memory | undefined): void {
    if (memory === undefined || memory === this.#memories.get(strategy)) return;
    this.#memories.set(strategy, memory);
    this.#changed(strategy, memory);
  }

  /** Puts back what a journal kept. */
  restore(strategy: string, memory: Memory): void {
    this.#memories.set(strategy, memory);
  }
}
