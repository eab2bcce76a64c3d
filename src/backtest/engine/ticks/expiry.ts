/** When entries by a resting order expire: by trades and books at their time, also where nothing is traded then; by klines at a close. */
import type { Leg } from '../../../domain/order.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import type { Stage } from '../phases.ts';

type Expiring = Pick<Stage, 'clock' | 'again'> & { readonly assembled: Pick<Assembled, 'planner'> };

/** At the close of a kline. */
export function* expireAtClose(
  { clock, assembled: { planner }, again }: Expiring,
  symbol: string,
): Generator<undefined> {
  for (const leg of planner.expiries.expire(symbol, clock.now())) {
    again(leg);
    yield;
  }
}

/** Gives what has to be called with each leg that was decided. */
export function expiresInTime(
  { clock, assembled: { planner }, again }: Expiring,
  isByTape: (symbol: string) => boolean,
): (leg: Leg) => void {
  const next = new Map<string, number>();
  const look = (symbol: string): void => {
    const due = planner.expiries.due(symbol);
    if (due === Number.POSITIVE_INFINITY || next.get(symbol) === due) return;
    next.set(symbol, due);
    clock.at(due, () => {
      if (!isByTape(symbol)) return;
      for (const leg of planner.expiries.expire(symbol, clock.now())) again(leg);
      look(symbol);
    });
  };
  return ({ symbol }) => look(symbol);
}
