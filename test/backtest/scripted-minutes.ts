/** Few minutes that a test writes down, with what a strategy says at each, through every engine over klines and the slow reference. */
import { expect } from 'vitest';
import { runTape } from '../../src/backtest/engine/ticks/run.ts';
import type { Signal } from '../reference/types.ts';
import {
  byColumns,
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  inputOf,
  rowsOf,
  scripted,
} from './agreement.ts';

/** Minutes of open, high, low and close; the last signal is repeated. */
type Minutes = readonly (readonly number[])[];

/** A maintenance margin without interest. */
export const freeMargin = {
  ...{ maxLeverage: '3', maintenanceRatio: '0.1', liquidationFee: '0.01' },
  ...{ interest: { base: '0', quote: '0' }, interestEveryMs: 3_600_000 },
};

const signalAt = (signals: readonly Signal[], row: number): Signal =>
  signals[Math.min(row, signals.length - 1)] as Signal;

export function caseOfMinutes(signals: readonly Signal[], klines: Minutes, more: Partial<Case> = {}): Case {
  const columns = columnsOf(
    klines.map(([open = 0, high = 0, low = 0, close = 0], row) => ({
      ...{ time: row * 60_000, open, high, low, close, volume: 100_000 },
    })),
  );
  const strategy = scripted(klines.map((_, row) => signalAt(signals, row)));
  return caseOfXz({ columns, rules: 'plain', cash: '10000', strategy, fees: { maker: '0', taker: '0' }, ...more });
}

export interface FillText {
  readonly order: number;
  readonly side: string;
  readonly quantity: string;
  readonly price: string;
  readonly time: number;
}

/** The fills, alike by columns, by streams, by events and by the reference. */
export async function sameFills(given: Case, signals: readonly Signal[]): Promise<readonly FillText[]> {
  const expected = byReference(given, { kind: 'script', signal: (row) => signalAt(signals, row) });
  if (given.margin === undefined) expect(byColumns(given)).toEqual(expected);
  expect(await byStream(given)).toEqual(expected);
  const { fills } = rowsOf(await runTape(inputOf(given)));
  expect(fills.map(withoutOrder)).toEqual(expected.fills.map(withoutOrder));
  return expected.fills as readonly FillText[];
}

/** Over events orders have other numbers. */
const withoutOrder = <T extends object>(fill: T): Omit<T, 'order'> => ({ ...fill, order: undefined });
