import { expect, test } from 'vitest';
import { roundTripFigures } from './round-trip-figures.ts';
import type { RoundTripTable } from './round-trip-table.ts';

/** Round trips that earned so much and took a second each. */
function roundTripsOf(...profits: readonly number[]): RoundTripTable {
  const { length } = profits;
  const zeros = new Float64Array(length);
  const indices = new Uint32Array(length);
  return {
    length,
    open: [],
    position: new Uint16Array(length),
    long: new Uint8Array(length),
    ...{ entryFill: indices, exitFill: indices, quantity: zeros, entryPrice: zeros, exitPrice: zeros },
    ...{ cost: zeros, fees: zeros, worst: zeros, best: zeros, entryTime: zeros },
    profit: Float64Array.from(profits),
    exitTime: new Float64Array(length).fill(1_000),
  };
}

test('counts wins and losses, and the longest rows of each', () => {
  expect(roundTripFigures(roundTripsOf(-1, -1, 2, -1, -1, -1, 3, 3, -2, 0))).toMatchObject({
    roundTrips: 10,
    winRate: 0.3,
    profitFactor: 8 / 7,
    expectancy: expect.closeTo(0.1, 12),
    averageWin: expect.closeTo(8 / 3, 12),
    averageLoss: -7 / 6,
    bestRoundTrip: 3,
    worstRoundTrip: -2,
    maxConsecutiveWins: 2,
    maxConsecutiveLosses: 3,
    averageDurationMs: 1_000,
  });
});

test('gives nothing where there is nothing to divide by', () => {
  expect(roundTripFigures(roundTripsOf())).toMatchObject({
    roundTrips: 0,
    winRate: null,
    expectancy: null,
    bestRoundTrip: null,
  });
  expect(roundTripFigures(roundTripsOf(1, 2))).toMatchObject({
    winRate: 1,
    profitFactor: null,
    averageLoss: null,
    kelly: null,
  });
});
