/** Things the exchange will do by itself at a later exchange time, the earliest first; equal times in the order asked for. */
export interface Schedule {
  at(time: number, fn: () => void): void;
  /** Infinite when nothing waits. */
  nextAt(): number;
  runDue(time: number): void;
}

export function openSchedule(): Schedule {
  const waiting: { readonly time: number; readonly fn: () => void }[] = [];
  return {
    at(time, fn) {
      const index = waiting.findLastIndex((entry) => entry.time <= time);
      waiting.splice(index + 1, 0, { time, fn });
    },
    nextAt: () => waiting[0]?.time ?? Number.POSITIVE_INFINITY,
    runDue(time) {
      for (let next = waiting[0]; next !== undefined && next.time <= time; next = waiting[0]) {
        waiting.shift();
        next.fn();
      }
    },
  };
}
