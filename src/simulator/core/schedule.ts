/** Future actions of the exchange, the earliest first; equal times in the order of their registration. */
export function openSchedule() {
  const waiting: { readonly time: number; readonly fn: () => void }[] = [];
  return {
    at(time: number, fn: () => void): void {
      const index = waiting.findLastIndex((entry) => entry.time <= time);
      waiting.splice(index + 1, 0, { time, fn });
    },
    /** Infinite when nothing waits. */
    nextAt: (): number => waiting[0]?.time ?? Number.POSITIVE_INFINITY,
    runDue(time: number): void {
      for (let next = waiting[0]; next !== undefined && next.time <= time; next = waiting[0]) {
        waiting.shift();
        next.fn();
      }
    },
  };
}
