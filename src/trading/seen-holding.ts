/** Positions of strategies that are given their klines one by one: each is seen before the strategy gets it. */
import { tap } from 'rxjs';
import type { Portfolio } from '../portfolio/portfolio.ts';
import { SeenKlines } from '../portfolio/seen-klines.ts';
import type { Hosted, Inputs } from '../strategy/host.ts';
import type { HostedMarkets, MarketsInputs } from '../strategy/markets/several-markets-host.ts';

/** These klines, and the position that they move. */
export function withHolding(
  portfolio: Portfolio,
  { id, symbol, interval }: Pick<Hosted, 'id' | 'symbol' | 'interval'>,
  { history, klines }: Pick<Inputs, 'history' | 'klines'>,
): Pick<Inputs, 'history' | 'klines' | 'holding'> {
  const seen = new SeenKlines(portfolio.subAccount(id, symbol), interval);
  for (const kline of history) seen.see(kline);
  return {
    history,
    klines: klines.pipe(tap((kline) => seen.see(kline))),
    holding: portfolio.holding(id, symbol, { klines: seen }),
  };
}

/** The same of several markets; one that is data alone has the position of the first that is traded, which nobody reads. */
export function withHoldings(
  portfolio: Portfolio,
  { id, symbol: first, markets }: HostedMarkets,
  { history, moments }: Pick<MarketsInputs, 'history' | 'moments'>,
): Pick<MarketsInputs, 'history' | 'moments' | 'holdings'> {
  const seen = markets.map(({ use, symbol, interval }) =>
    use === 'traded' ? new SeenKlines(portfolio.subAccount(id, symbol), interval) : undefined,
  );
  const see = ({ klines }: MarketsInputs['history'][number]): void => {
    for (const [index, kline] of klines.entries()) if (kline !== undefined) seen[index]?.see(kline);
  };
  for (const moment of history) see(moment);
  return {
    history,
    moments: moments.pipe(tap(see)),
    holdings: markets.map(({ use, symbol }, index) =>
      portfolio.holding(id, use === 'traded' ? symbol : first, { klines: seen[index] }),
    ),
  };
}
