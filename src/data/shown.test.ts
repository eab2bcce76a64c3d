import { expect, test } from 'vitest';
import { shown } from './shown.ts';

test.each([
  ['1,2;é 比特币 µs', '1,2;é 比特币 µs'],
  ['\x1b[31mred\x07\r\n\t\0', '\\x1b[31mred\\x07\\x0d\\x0a\\x09\\x00'],
  ['\x9b2J\u202eevil\u2028', '\\x9b2J\\u202eevil\\u2028'],
  ['\u{e0041}', '\\u{e0041}'],
])('%j is shown as %j', (text, safe) => {
  expect(shown(text)).toBe(safe);
});
