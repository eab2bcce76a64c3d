/** The exchange's symbols, fetched once and remembered, since orders and trades can only be read in their symbol's steps. */
import type { Instrument } from '../../../domain/instrument.ts';
import { type Answer, failed, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { endpoints } from '../rest/endpoints.ts';
import { failure } from '../rest/failure.ts';
import type { Rest } from '../rest/rest.ts';
import { readSymbols } from './read-market.ts';

export interface Instruments {
  /** Asks the exchange. */
  readonly all: () => Promise<Answer<readonly Instrument[]>>;
  /** From memory, or by asking once; fails for a symbol that the exchange does not list. */
  of(symbol: string): Promise<Answer<Instrument>>;
  /** What the caller already knows. */
  remember(instrument: Instrument): void;
}

export function instruments(rest: Rest, count: Count): Instruments {
  const known = new Map<string, Instrument>();

  async function all(): Promise<Answer<readonly Instrument[]>> {
    const reply = await rest.call({ endpoint: endpoints.symbols, lane: 'reconcile' });
    if (reply.kind !== 'ok') return failure(endpoints.symbols, reply);
    const list = readSymbols(reply.value, count);
    if (list === undefined || list.length === 0)
      return rest.unreadable(endpoints.symbols, 'the answer lists no symbols', reply.value);
    // What is known stays: orders and trades go on being read in the steps in which they are reckoned with.
    for (const one of list) if (!known.has(one.symbol)) known.set(one.symbol, one);
    return ok(list);
  }

  return {
    all,
    async of(symbol) {
      const remembered = known.get(symbol);
      if (remembered !== undefined) return ok(remembered);
      const answer = await all();
      if (answer.kind === 'failed') return answer;
      const found = known.get(symbol);
      return found === undefined ? failed(`the exchange lists no symbol ${symbol}`) : ok(found);
    },
    remember: (instrument) => void known.set(instrument.symbol, instrument),
  };
}
