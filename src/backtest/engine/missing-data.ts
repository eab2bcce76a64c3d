/** Data that a strategy uses and a run does not have. */
import { Observable } from 'rxjs';
import type { Tape } from '../../data/tape.ts';
import type { Depth, Trade } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Source } from '../../trading/hot-streams.ts';
import type { NamedHosted } from '../../trading/strategies.ts';

const todo = {
  trades: (symbol: string) =>
    `import them (sluice data import FILE --as trades) or name a file (trades: { ${symbol}: FILE }); if they exist, set fidelity: auto or trades, because klines ignores them`,
  depth: (symbol: string) =>
    `import them (sluice data import FILE --as depth) or name a file (depth: { ${symbol}: FILE }); if they exist, set fidelity: auto or depth, because klines and trades ignore depth`,
  ticker: () => 'tickers are not recorded: use klines, trades or depth',
} as const;

/** A stream without data. A subscriber would wait forever, so the run is refused. */
export const absent = (
  what: keyof typeof todo,
  { id, symbol }: Pick<NamedHosted, 'id' | 'symbol'>,
  faults: unknown[],
): Observable<never> =>
  new Observable(() => {
    faults.push(new Refusal(`${id} uses ${what} of ${symbol}, which this run does not have: ${todo[what](symbol)}`));
  });

/** The recorded trades and depth that a strategy gets, where there are any. */
export const strategyTape = (
  {
    tape,
    trades,
    depth,
  }: { readonly tape: Tape | undefined; readonly trades: Source<Trade>; readonly depth: Source<Depth> },
  hosted: Pick<NamedHosted, 'id' | 'symbol'>,
  faults: unknown[],
) => ({
  trades: tape?.trades === undefined ? absent('trades', hosted, faults) : trades.stream,
  depth: tape?.books === undefined ? absent('depth', hosted, faults) : depth.stream,
  ticker: absent('ticker', hosted, faults),
});
