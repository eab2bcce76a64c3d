/** What was journalled last of each strategy beside its signals: its memory, and when its schedule was due. */
import type { KeptState } from '../domain/memory.ts';

export class StrategyMemories {
  readonly #kept = new Map<string, KeptState>();
  readonly #changed: (strategy: string, changed: KeptState) => void;

  /** `changed` is called with what differs from before. */
  constructor(changed: (strategy: string, changed: KeptState) => void = () => {}) {
    this.#changed = changed;
  }

  get(strategy: string): KeptState {
    return this.#kept.get(strategy) ?? nothing;
  }

  /** Journals what is not the last. */
  keep(strategy: string, { memory, askedAt }: KeptState): void {
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
  restore(strategy: string, kept: KeptState): void {
    this.#kept.set(strategy, { ...this.get(strategy), ...kept });
  }
}

const nothing: KeptState = {};
