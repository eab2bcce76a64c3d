/** Sums over the last so many ms, for each of many names, and the greatest sum that each reached. */
export interface Spent {
  /** Adds at a time that does not step back; returns the sum of the window that ends there. */
  add(name: string, amount: number, at: number): number;
  peaks(): Record<string, number>;
}

export function openSpent(windowMs: number): Spent {
  const names = new Map<string, { at: number[]; amount: number[]; head: number; sum: number; peak: number }>();
  return {
    add(name, amount, at) {
      const one = names.get(name) ?? { at: [], amount: [], head: 0, sum: 0, peak: 0 };
      names.set(name, one);
      while (one.head < one.at.length && at - (one.at[one.head] ?? at) >= windowMs)
        one.sum -= one.amount[one.head++] ?? 0;
      if (one.head > 1_024 && one.head > one.at.length / 2) {
        one.at = one.at.slice(one.head);
        one.amount = one.amount.slice(one.head);
        one.head = 0;
      }
      one.at.push(at);
      one.amount.push(amount);
      one.sum += amount;
      one.peak = Math.max(one.peak, one.sum);
      return one.sum;
    },
    peaks: () => Object.fromEntries([...names].map(([name, { peak }]) => [name, peak])),
  };
}
