/** Indicator columns that parameter sets share: each average is computed once. */
import type { Interval } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import { isStreaming, type Strategy } from '../../strategy/contract.ts';
import type { Indicator } from '../../strategy/indicators.ts';
import { mapIndicators } from '../../strategy/named-indicators.ts';
import { over } from '../../strategy/override.ts';
import type { Params, ParamValues } from '../../strategy/params.ts';

/** Bytes of columns that one worker keeps. Beyond them the oldest is dropped, and computed again when it is needed. */
const maxBytes = 256 * 1024 * 1024;

/** The strategy with indicators that keep their columns; those without a key are computed each time. */
export function withSharedColumns(strategy: Strategy): Strategy {
  if (isStreaming(strategy)) return strategy;
  const known = new Map<Columns, Map<string, Float64Array>>();
  let bytes = 0;
  const columnOf = (indicator: Indicator, key: string, klines: Columns, interval: Interval): Float64Array => {
    const ofKlines = known.get(klines) ?? new Map<string, Float64Array>();
    known.set(klines, ofKlines);
    const there = ofKlines.get(key);
    if (there !== undefined) return there;
    const made = indicator.column(klines, interval);
    ofKlines.set(key, made);
    bytes += made.byteLength;
    for (const [of, columns] of known)
      for (const [oldest, column] of columns) {
        if (bytes <= maxBytes) return made;
        if (column === made) continue;
        columns.delete(oldest);
        if (columns.size === 0) known.delete(of);
        bytes -= column.byteLength;
      }
    return made;
  };
  return over(strategy, {
    indicators: (params: ParamValues<Params>) =>
      mapIndicators(strategy.indicators(params), (indicator) => {
        const { key } = indicator.column;
        if (key === undefined) return indicator;
        const column = (klines: Columns, interval: Interval) => columnOf(indicator, key, klines, interval);
        return { ...indicator, column: Object.assign(column, { key }) };
      }),
  });
}
