/** What a strategy may know of its position after the close of a row, looked up anew each time. */
import { earned, isFlat, type State } from './account.ts';
import type { Facts } from './types.ts';

export function factsAfter(state: State, row: number): Facts {
  const { klines, intervalMs, decidesEveryMs = intervalMs } = state.question;
  const { enteredAt, entryPrice, exit } = state;
  const last = klines[row];
  if (last === undefined) throw new Error('no such row');
  const now = last.time + intervalMs;
  const closesSince = (time: number): number => Math.floor(now / decidesEveryMs) - Math.floor(time / decidesEveryMs);
  const facts = {
    realisedNet: earned(state).toNumber(),
    lastExit: exit && {
      ...{ time: exit.time, price: exit.price.toNumber(), reason: exit.reason },
      profit: exit.profit.toNumber(),
      klinesAgo: closesSince(exit.time),
    },
  };
  if (isFlat(state)) {
    const none = Number.NaN;
    return { ...facts, entryTime: none, klinesHeld: 0, best: none, worst: none, profit: 0 };
  }
  const prices = [entryPrice.toNumber()];
  for (const { time, high, low, close } of klines.slice(0, row + 1)) {
    const opened = Math.floor(time / decidesEveryMs) * decidesEveryMs;
    if (opened + decidesEveryMs <= enteredAt || opened + decidesEveryMs > now) continue;
    const isLastOfIts = time + intervalMs === opened + decidesEveryMs;
    if (opened >= enteredAt || !state.enteredByMaker) prices.push(high, low);
    else if (isLastOfIts) prices.push(close);
  }
  const isLong = state.base.gt(0);
  const [top, bottom] = [Math.max(...prices), Math.min(...prices)];
  return {
    ...facts,
    entryTime: enteredAt,
    klinesHeld: closesSince(enteredAt),
    best: isLong ? top : bottom,
    worst: isLong ? bottom : top,
    profit: state.base.times(last.close).minus(state.cost).toNumber(),
  };
}
