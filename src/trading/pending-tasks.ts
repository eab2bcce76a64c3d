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
      // Not `finally`, which makes three promises of one.
      return work.then(
        (value) => {
          running.delete(work);
          return value;
        },
        (error: unknown) => {
          running.delete(work);
          throw error;
        },
      );
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
