/** What was journalled last of each strategy beside its signals: its memory, and when its schedule was due. */
import type { Kept } from '../domain/memory.ts';

export class StrategyMemories {
  readonly #kept = new Map<string, Kept>();
  readonly #changed: (strategy: string, changed: Kept) => void;

  /** `changed` is called with what differs from before. */
  constructor(changed: (strategy: string, changed: Kept) => void = () => {}) {
    this.#changed = changed;
  }

  get(strategy: string): Kept {
    return this.#kept.get(strategy) ?? nothing;
  }

  /** Journals what is not the last. */
  keep(strategy: string, { memory, askedAt }: Kept): void {
    if (memory === undefined && askedAt === undefined) return;
    const last = this.get(strategy);
    const changed = {
      ...(memory !== undefined && memory !== last.memory && { memory }),
      ...(askedAt !== undefined && askedAt !== last.askedAt && { askedAt }),
    };
    if (Object.keys(changed).length === 0) return;
    this.restore(strategy, changed);
    this.#changed(strategy, changed);
  }

  /** Puts back what a journal kept. */
  restore(strategy: string, kept: Kept): void {
    this.#kept.set(strategy, { ...this.get(strategy), ...kept });
  }
}

const nothing: Kept = {};
