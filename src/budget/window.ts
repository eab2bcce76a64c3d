/** Amounts spent in a rolling window of time: a server that counts by calendar minutes never sees more. */

export interface RollingWindow {
  readonly max: number;
  /** What still counts at `now` (ms of a clock that never steps back). */
  used(now: number): number;
  /** What was taken at `now`; where that lies before what is known already it counts from then on, a little too long. */
  add(now: number, amount: number): void;
  /** When what counts will next become less; undefined when nothing counts. */
  nextRelease(now: number): number | undefined;
}

/** A list of what was taken and when, oldest first; entries of the same ms share one. */
export function rollingWindow(lengthMs: number, max: number): RollingWindow {
  const times: number[] = [];
  const amounts: number[] = [];
  let first = 0;
  let sum = 0;

  function expire(now: number): void {
    for (let time = times[first]; time !== undefined && now - time >= lengthMs; time = times[first]) {
      sum -= amounts[first] ?? 0;
      first++;
    }
    if (first < 1_024 || first * 2 < times.length) return;
    times.splice(0, first);
    amounts.splice(0, first);
    first = 0;
  }

  return {
    max,
    used(now) {
      expire(now);
      return sum;
    },
    add(now, amount) {
      const last = times.length - 1;
      const newest = times[last];
      if (last >= first && newest !== undefined && newest >= now) amounts[last] = (amounts[last] ?? 0) + amount;
      else {
        times.push(now);
        amounts.push(amount);
      }
      sum += amount;
    },
    nextRelease(now) {
      expire(now);
      const oldest = times[first];
      return oldest === undefined ? undefined : oldest + lengthMs;
    },
  };
}
