/** Of a run in several currencies whose data are gone, nothing that would mix them is shown. */
import { expect, test } from 'vitest';
import { fill, instruments, minute } from '../../test/kit/statistics.ts';
import { fillTable } from '../research/fill-table.ts';
import { roundTripsOf, roundTripTable } from '../research/round-trips.ts';
import type { CurrencyRow, Summary } from '../research/summary.ts';
import type { ReportInput, ReportSeries } from './input.ts';
import { roundTripSection } from './round-trip-section.ts';
import { costSection } from './tables.ts';

const table = fillTable([fill(0, 'BUY', '100', '1'), fill(minute, 'SELL', '110', '1')], instruments);
const of = (assets: readonly string[], series: readonly Partial<ReportSeries>[]): ReportInput => {
  const metrics: Partial<Summary['metrics']> = {
    fees: '0.63',
    turnover: '630',
    roundTrips: 1,
    turnoverYearly: null,
    breakEvenFees: null,
  };
  const currencies = assets.map((asset) => ({ asset }) as CurrencyRow);
  const sums: Partial<Summary> = {
    cash: '1000',
    finalEquity: '1030',
    metrics: metrics as Summary['metrics'],
    ...{ currencies, cashFlows: [], margin: null, impact: null, withoutImpact: null },
  };
  const trips = roundTripsOf(roundTripTable(table, [], instruments));
  const given: Partial<ReportInput> = {
    asset: 'W',
    trips,
    table,
    summary: sums as Summary,
    series: series as readonly ReportSeries[],
  };
  return given as ReportInput;
};
const textOf = (given: ReportInput): string => `${roundTripSection(given).html}${costSection(given).html}`;

test('round trips and the fees of fills are left out, with the reason; the sums are those of the run', () => {
  const text = textOf(of(['W', 'Z'], []));
  expect(text).toContain('nothing says at which rates they count together');
  expect(text).not.toMatch(/Profit, W|Fees of takers/);
  expect(text).toMatch(/Earned before fees.*\+30\.63.*Fees<.*-0\.63.*A round trip.*0\.63/s);
});

test('of one currency, or with the data at hand, they are there', () => {
  for (const given of [of([], []), of(['W', 'Z'], [{ symbol: 'XZ' }])])
    expect(textOf(given)).toMatch(/Profit, W.*Fees of takers/s);
});
