import { expect, test } from 'vitest';
import { day, fill, instruments, minute, series } from '../../test/kit/statistics.ts';
import { fillTable } from './fill-table.ts';
import { lateIn, lateText } from './late-fills.ts';

const late = (time: number) => fill(time, 'BUY', '100', '1', { evidence: { rule: 'kline-open-late' } });

test('what waited where klines were missing is counted, with the longest wait', () => {
  const one = series([100, 100, 100, 100, 100, 100]);
  const hole = (row: number): number => (row < 2 ? 0 : row < 4 ? 9 * minute : 327 * day);
  const openTime = one.columns.openTime.map((time, row) => time + hole(row));
  const gapped = { ...one, columns: { ...one.columns, openTime } };
  const at = (row: number): number => openTime[row] as number;
  const found = (...fills: readonly ReturnType<typeof late>[]) =>
    lateIn(fillTable(fills, instruments), [gapped], () => 0);
  expect(found(fill(at(1), 'BUY', '100', '1'))).toBeUndefined();
  expect(found(late(at(2)))).toEqual({ count: 1, longestMs: 9 * minute, longestAt: at(2) });
  const both = found(late(at(2)), fill(at(3), 'SELL', '100', '1'), late(at(4)));
  expect(both).toMatchObject({ count: 2, longestAt: at(4) });
  expect(lateText(both ?? { count: 0, longestMs: 0, longestAt: 0 })).toBe(
    '2 fills came late, where klines were missing, one after 327.0 days (1970-11-24): at whatever price came next',
  );
  // By rules by which orders take a kline to arrive, that one is no wait.
  expect(lateIn(fillTable([late(at(3))], instruments), [gapped], () => 1)?.longestMs).toBe(9 * minute);
});
