/**
 * Everything at once: rulesets and what changes them, spot and margin, quotes, limits, stops, trailing stops, time exits, shares, larger
 * intervals, money paid in and out, coarse lots. Each is compared elsewhere; errors hide where two of them meet.
 * `MIXTURES=4000 FUZZ_SEED=7 npx vitest run test/backtest/mixtures.test.ts --testTimeout 600000` draws more, and others.
 */
import { expect, test } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { fc } from '../kit/properties.ts';
import { drifting, generated, oftenShort, paused, scaledOut, shared, trailed } from '../reference/generated.ts';
import type { Signal } from '../reference/types.ts';
import {
  byColumns,
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  inputOf,
  type Rows,
  rowsOf,
  scripted,
  xz,
} from './agreement.ts';

const margin = {
  ...{ maxLeverage: '3', maintenanceRatio: '0.2', liquidationFee: '0.01' },
  ...{ interest: { base: '0.0002', quote: '0.0001' }, interestEveryMs: 3_600_000 },
};
const minuteMs = 60_000;
const flow = (minute: number, amount: string) => ({ time: minute * minuteMs, amount });
const decimals = fc.constantFrom<readonly [number, string]>([0, '1'], [1, '0.1'], [4, '0.001']);
/** In how many minutes it decides once. */
const paces = fc.constantFrom<readonly [number, Case['interval']]>([1, '1min'], [5, '5min']);

const mixtures = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  account: fc.constantFrom('spot', 'long', 'short'),
  precision: decimals,
  pace: paces,
  isShared: fc.boolean(),
  isTrailed: fc.boolean(),
  isDrifting: fc.boolean(),
  isScaledOut: fc.boolean(),
  isPaused: fc.boolean(),
  flows: fc.constantFrom<NonNullable<Case['flows']>>(
    [],
    [flow(50, '200'), flow(120, '-150'), flow(260, '55.5')],
    [flow(10, '-250'), flow(300, '1000')],
  ),
  maxPosition: fc.constantFrom(undefined, '900'),
  given: fc.record({
    rules: fc.constantFrom(...rulesetNames),
    cash: fc.constantFrom('300', '1000', '3000', '100000'),
    fees: fc.constantFrom({ maker: '0', taker: '0' }, { maker: '0.001', taker: '0.002' }),
    closeAtEnd: fc.boolean(),
    fills: fc.record(
      {
        halfSpread: fc.constantFrom('0', '0.0003', '0.002'),
        penetrationTicks: fc.constantFrom(0, 1, 7),
        limitParticipation: fc.constantFrom(null, '0.01', '0.25', '1'),
        marketParticipation: fc.constantFrom(null, '0.05', '1'),
        stopSlippageShare: fc.constantFrom('0', '0.3', '1'),
        delayKlines: fc.constantFrom(0, 1, 2),
        path: fc.constantFrom('pessimistic' as const, 'OHLC' as const, 'nearest' as const),
      },
      { requiredKeys: [] },
    ),
  }),
});

/** Orders that nothing filled are not the same ones by events, so that the others have other numbers. */
const unnumbered = ({ fills }: Pick<Rows, 'fills'>) => fills.map((fill) => ({ ...fill, order: 0 }));

type Mixture = typeof mixtures extends fc.Arbitrary<infer T> ? T : never;

function caseOf(mixture: Mixture): readonly [Case, (row: number) => Signal | undefined] {
  const {
    seed,
    account,
    precision,
    pace,
    isShared,
    isTrailed,
    isScaledOut,
    isDrifting,
    isPaused,
    flows,
    maxPosition,
    given,
  } = mixture;
  const { klines, signals: plain } = generated(seed, 400);
  const either = account === 'short' ? oftenShort(plain) : plain;
  const taken = isScaledOut ? scaledOut(either) : either;
  const sized = isShared ? shared(taken) : taken;
  const moved = isDrifting ? drifting(sized, klines) : sized;
  const [minutes, decidesOn] = pace;
  const signals = (isTrailed ? trailed(moved) : moved).filter((_, row) => row % minutes === minutes - 1);
  const [quantityPrecision, minQuantity] = precision;
  const made = caseOfXz({
    ...given,
    columns: columnsOf(isPaused ? paused(seed, klines) : klines),
    instrument: { ...xz, quantityPrecision, minQuantity },
    strategy: scripted(signals, minutes * minuteMs),
    ...(minutes > 1 && { decidesOn }),
    // Configurations refuse flows on margin.
    ...(account === 'spot' && maxPosition !== undefined && { maxPosition }),
    ...(account === 'spot' && flows.length > 0 && { flows }),
    ...(account !== 'spot' && { margin }),
  });
  return [made, (row) => signals[Math.floor(row / minutes)]];
}

test('of all that a backtest can be asked give the same rows by columns, by streams and by the reference', async () => {
  const seen = { fills: 0, stops: 0, targets: 0, canceled: 0, ambiguous: 0, charges: 0 };
  const numRuns = Number(process.env['MIXTURES'] ?? 150);
  await fc.assert(
    fc.asyncProperty(mixtures, async (mixture) => {
      const [given, signal] = caseOf(mixture);
      const expected = byReference(given, { kind: 'script', signal });
      if (given.margin === undefined) expect(byColumns(given)).toEqual(expected);
      expect(await byStream(given)).toEqual(expected);
      // By events other rulesets do not fill, and what is under way within a kline is not counted in whole ones.
      if (given.rules === 'sluice' && !given.fills?.delayKlines)
        expect(unnumbered(rowsOf(await runTape(inputOf(given))))).toEqual(unnumbered(expected));
      const count = (purpose: string): number => expected.orders.filter((order) => order.purpose === purpose).length;
      seen.fills += expected.fills.length;
      seen.stops += count('stop');
      seen.targets += count('takeProfit');
      seen.canceled += expected.orders.filter(({ state }) => state === 'canceled').length;
      seen.ambiguous += expected.ambiguousKlines;
      seen.charges += expected.charges?.length ?? 0;
    }),
    { numRuns },
  );
  expect(Object.entries(seen).filter(([, count]) => count < numRuns / 10)).toEqual([]);
});
