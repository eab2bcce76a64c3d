import { expect, test } from 'vitest';
import { cellText, csvRows, csvText } from './csv.ts';

test.each([
  ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['+1+cmd', "'+1+cmd"],
  ['-2-3', "'-2-3"],
  ['-', "'-"],
  ['\t=1', "'\t=1"],
  ['-12.5', '-12.5'],
  ['+3', '+3'],
  ['a=b', 'a=b'],
  ['', ''],
])('the text %j is the cell %j', (text, cell) => {
  expect(cellText(text)).toBe(cell);
});

test('a number is one, whatever its sign', () => {
  expect([-12.5, -1e-9, Number.NEGATIVE_INFINITY, true, null, undefined].map(cellText)).toEqual([
    ...['-12.5', '-1e-9', '-Infinity', 'true', '', ''],
  ]);
});

test('what was written is read back', () => {
  const rows = [
    { a: '=1', b: '-12.5' },
    { a: "'x", b: '"@" and, more' },
  ];
  expect(csvRows(csvText(['a', 'b'], rows))).toEqual(rows);
});
