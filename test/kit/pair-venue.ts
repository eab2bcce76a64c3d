/** The order port of an account with two symbols, each an exchange of its own that answers as a test tells it to. */
import { plus } from '../../src/domain/money.ts';
import { type Answer, type Balance, type OrderEntry, ok } from '../../src/venue/venue.ts';
import type { ScriptedVenue } from './scripted-venue.ts';

type Port = ReturnType<ScriptedVenue['port']>;

export function pairPort(first: Port, second: Port, secondSymbol: string): Port {
  const of = (symbol: string): Port => (symbol === secondSymbol ? second : first);
  return {
    ...first,
    cut() {
      first.cut();
      second.cut();
    },
    prepare: (...asked) => of(asked[0].symbol).prepare(...asked),
    cancel: (order) => of(order.symbol).cancel(order),
    query: (order) => of(order.symbol).query(order),
    openOrders: (symbol) => of(symbol).openOrders(symbol),
    tradesSince: (symbol, fromId) => of(symbol).tradesSince(symbol, fromId),
    async balances(): Promise<Answer<readonly Balance[]>> {
      const both = await Promise.all([first.balances(), second.balances()]);
      const sums = new Map<string, Balance>();
      for (const answer of both) {
        if (answer.kind !== 'ok') return answer;
        for (const one of answer.value) {
          const sum = sums.get(one.asset);
          const { asset, free, locked } = one;
          sums.set(
            asset,
            sum === undefined ? one : { asset, free: plus(sum.free, free), locked: plus(sum.locked, locked) },
          );
        }
      }
      return ok([...sums.values()]);
    },
  } satisfies OrderEntry & Pick<Port, 'cut' | 'balances'>;
}
