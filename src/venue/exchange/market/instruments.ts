/** The exchange's instruments, fetched once: orders and trades are read in the steps of their symbol. */
import type { Instrument } from '../../../domain/instrument.ts';
import { type Answer, failed, ok } from '../../venue.ts';
import type { Count } from '../counters.ts';
import { endpoints } from '../rest/endpoints.ts';
import type { Rest } from '../rest/rest.ts';
import { readSymbols } from './read-market.ts';

export type Instruments = ReturnType<typeof instruments>;

export function instruments(rest: Rest, count: Count) {
  const known = new Map<string, Instrument>();

  /** Queries the exchange. */
  async function all(): Promise<Answer<readonly Instrument[]>> {
    const answer = await rest.ask({ endpoint: endpoints.symbols, lane: 'reconcile' }, (value) => {
      const list = readSymbols(value, count);
      return list === undefined || list.length === 0 ? 'the answer lists no symbols' : list;
    });
    // Known instruments stay: orders and trades keep the steps in which the program calculates.
    if (answer.kind === 'ok') for (const one of answer.value) if (!known.has(one.symbol)) known.set(one.symbol, one);
    return answer;
  }

  return {
    all,
    /** Queries the exchange once; fails for a symbol that it does not list. */
    async of(symbol: string): Promise<Answer<Instrument>> {
      const remembered = known.get(symbol);
      if (remembered !== undefined) return ok(remembered);
      const answer = await all();
      if (answer.kind === 'failed') return answer;
      const found = known.get(symbol);
      return found === undefined ? failed(`the exchange lists no symbol ${symbol}`) : ok(found);
    },
    /** Stores an instrument of the caller. */
    remember: (instrument: Instrument): void => void known.set(instrument.symbol, instrument),
  };
}
