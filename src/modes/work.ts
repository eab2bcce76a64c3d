/** What is under way, so that ending can wait for it. */

/** Work that is under way. */
export interface Work {
  during<T>(work: Promise<T>): Promise<T>;
  /** Resolves once there is none. */
  idle(): Promise<void>;
}

/** Counts work from its beginning to its end, however it ends. */
export function counting(): Work {
  const running = new Set<Promise<unknown>>();
  return {
    during(work) {
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
