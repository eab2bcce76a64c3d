/** Drawn runs of strategies whose exits are measured from the entry, in quote, in klines or by the time of day. */
import { intervalMs } from '../../src/domain/interval.ts';
import { fc } from '../kit/properties.ts';
import { generated } from '../reference/generated.ts';
import { measured } from '../reference/generated-exits.ts';
import type { Kline, Signal, Target } from '../reference/types.ts';
import { type Case, caseOfXz, columnsOf, scripted, xz } from './agreement.ts';

const margin = {
  ...{ maxLeverage: '3', maintenanceRatio: '0.1', liquidationFee: '0.01' },
  ...{ interest: { base: '0', quote: '0' }, interestEveryMs: 3_600_000 },
};

/** Some klines that open outside their own range, as some sources have them. */
const oddOpens = (klines: readonly Kline[]): readonly Kline[] =>
  klines.map((kline, row) => (row % 23 === 7 ? { ...kline, open: Number((kline.low - 0.8).toFixed(2)) } : kline));

export const drawn = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  account: fc.constantFrom('spot', 'long', 'short'),
  interval: fc.constantFrom<Case['interval']>('1min', '15min'),
  /** In how many klines it decides once. */
  pace: fc.constantFrom(1, 1, 4),
  /** Klines that are missing after every third. */
  missing: fc.constantFrom(0, 0, 1, 3),
  isOdd: fc.boolean(),
  changes: fc.constantFrom(0.03, 0.1, 0.25),
  precision: fc.constantFrom<readonly [number, string]>([1, '0.1'], [4, '0.001']),
  cash: fc.constantFrom('700', '3000', '100000'),
  closeAtEnd: fc.boolean(),
  delayKlines: fc.constantFrom(0, 0, 0, 1, 2),
});
export type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

/** By pace and interval: what it decides on. */
const largerOf = { '1min': '5min', '15min': '60min' } as const;

/** The run, and what the strategy says after each of its rows: by a seed of its own where others trade the same klines. */
export function measuredCase(of: Drawn, rules: Case['rules'], only?: readonly (keyof Target)[], says = of.seed) {
  const { seed, account, interval, pace, missing, isOdd, changes, precision, cash, closeAtEnd, delayKlines } = of;
  const lengthMs = intervalMs(interval, 0);
  const decidesOn = pace === 1 ? interval : largerOf[interval as '1min' | '15min'];
  const decidesMs = intervalMs(decidesOn, 0);
  const world = generated(seed, 300).klines.map((kline, row) => ({
    ...kline,
    time: (row + (pace === 1 ? Math.floor(row / 3) * missing : 0)) * lengthMs,
  }));
  const klines = isOdd ? oddOpens(world) : world;
  const options = { isShort: account === 'short', changes, intervalMs: lengthMs, ...(only && { only }) };
  const each = measured(klines, says, options);
  const said: Signal[] = [];
  const spoken = (row: number): number => Math.floor((klines[row] as Kline).time / decidesMs);
  for (const [row, signal] of each.entries()) said[spoken(row)] ??= signal;
  const [quantityPrecision, minQuantity] = precision;
  const given = caseOfXz({
    ...{ interval, rules, cash, closeAtEnd, columns: columnsOf(klines) },
    instrument: { ...xz, quantityPrecision, minQuantity },
    strategy: scripted(said, decidesMs),
    fills: { delayKlines },
    ...(pace > 1 && { decidesOn }),
    ...(account !== 'spot' && { margin }),
  });
  return { given, signal: (row: number) => said[spoken(row)] };
}
