import { expect, test } from 'vitest';
import { printRows } from './table.ts';

test('each value of a row stands under its own name, in whatever order the row has them', () => {
  const lines: string[] = [];
  const rows = [
    { orderId: '1', executed: '0.5' },
    { executed: null, orderId: '2' },
  ];
  printRows(rows, { json: false, out: (line) => void lines.push(line) }, 'none');
  const [head = '', , second = ''] = lines
    .join('\n')
    .split('\n')
    .filter((line) => /\w/.test(line));
  expect(second.indexOf('2')).toBe(head.indexOf('orderId'));
});
