/** Makes the markets that the options name, each at the moment where it goes on. */
import { openTimeOf } from '../../domain/interval.ts';
import type { CheckedOptions, MarketOptions } from '../options.ts';
import { emptyMarket } from './empty-market.ts';
import { klinesMarket } from './klines-market.ts';
import type { Market, MarketPast } from './market.ts';
import { syntheticMarket } from './synthetic-market.ts';
import { tapeMarket, tapeStart } from './tape-market.ts';

/** The data began at `anchor`, and a market goes on at `now` (exchange time). `pastOf` gives what an earlier run left of a symbol. */
export function openMarkets(
  { markets = [], instruments, seed = 1 }: CheckedOptions,
  anchor: number,
  now: number,
  pastOf: (symbol: string) => MarketPast | undefined,
): Market[] {
  const known = new Set(instruments.map(({ symbol }) => symbol));
  for (const { symbol } of markets) if (!known.has(symbol)) throw new Error(`the market ${symbol} has no instrument`);
  return instruments.map((instrument) => {
    const options = markets.find(({ symbol }) => symbol === instrument.symbol);
    const past = pastOf(instrument.symbol);
    if (options === undefined || options.kind === 'empty') return emptyMarket(instrument, past);
    if (options.kind === 'synthetic') return syntheticMarket(instrument, options, now, seed, past);
    if (options.kind === 'tape') return tapeMarket({ instrument, tape: options.tape, anchor, now });
    // Klines open on whole minutes, so the first one may be under way already.
    const minute = openTimeOf('1min', anchor);
    const { klines, startIndex } = options;
    return klinesMarket({ instrument, klines, startIndex, anchor: minute, now, seed });
  });
}

/** When the earliest of the recorded data begins, UTC ms; undefined when no market replays any. */
export function dataStart(markets: readonly MarketOptions[]): number | undefined {
  const starts = markets.flatMap((options) => {
    if (options.kind === 'klines') return [options.klines.openTime[options.startIndex] ?? Number.NaN];
    return options.kind === 'tape' ? [tapeStart(options.tape)] : [];
  });
  const start = Math.min(...starts);
  return Number.isFinite(start) ? start : undefined;
}
