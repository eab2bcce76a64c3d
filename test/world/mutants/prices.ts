/** Mutants that hear prices wrongly. */
import { concatMap, map, of } from 'rxjs';
import type { Depth, Kline } from '../../../src/domain/market.ts';
import type { Ws } from '../../../src/venue/exchange/market/ws.ts';
import type { Mutant } from './mutant.ts';

/** The first connection that is lost is the last. */
const neverAgain = (ws: Ws): Ws => {
  let lost = false;
  return (url, events) =>
    lost
      ? { send: () => {}, close: () => {} }
      : ws(url, {
          ...events,
          closed(cause) {
            lost = true;
            events.closed(cause);
          },
        });
};

export const priceMutants: readonly Mutant[] = [
  { name: 'neverConnectsAgain', about: 'a socket that broke is not opened again', bent: { ws: neverAgain } },
  {
    name: 'oneBookIsEnough',
    about: 'one book alone triggers a stop, whatever the next one says',
    bent: {
      feed: (feed) => ({
        ...feed,
        depth: (symbol) =>
          feed.depth(symbol).pipe(concatMap((book: Depth) => of(book, { ...book, time: book.time + 1 }))),
      }),
    },
  },
  {
    name: 'klinesComeTwice',
    about: 'a kline is received again after its close',
    bent: {
      feed: (feed) => ({
        ...feed,
        klines: (symbol, interval) => feed.klines(symbol, interval).pipe(concatMap((kline: Kline) => of(kline, kline))),
      }),
    },
  },
  {
    name: 'klinesAreOff',
    about: 'a kline closes at its open',
    bent: {
      feed: (feed) => ({
        ...feed,
        klines: (symbol, interval) =>
          feed.klines(symbol, interval).pipe(map((kline: Kline) => ({ ...kline, close: kline.open }))),
      }),
    },
  },
];
