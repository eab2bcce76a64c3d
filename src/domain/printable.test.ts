import { expect, test } from 'vitest';
import { escapeLine, escapeText } from './printable.ts';

test.each([
  ['1,2;é 比特币 µs', '1,2;é 比特币 µs'],
  ['\x1b[31mred\x07\r\n\t\0', '\\u001b[31mred\\u0007\\u000d\\u000a\\u0009\\u0000'],
  ['\x9b2J\u202eevil\u2028', '\\u009b2J\\u202eevil\\u2028'],
  ['\u{e0041}\ud800', '\\udb40\\udc41\\ud800'],
])('%j is shown as %j', (text, safe) => {
  expect(escapeLine(text)).toBe(safe);
});

test('output of several lines keeps its lines, and JSON its meaning', () => {
  expect(escapeText('a\tb\nc\r\x1b]0;title\x07\u2066d\u2029')).toBe(
    'a\tb\nc\\u000d\\u001b]0;title\\u0007\\u2066d\\u2029',
  );
  const value = { text: 'a"\n\x1b\x7f\x9b\u202e\u2028\u{e0041}\ud800' };
  expect(JSON.parse(escapeText(JSON.stringify(value)))).toEqual(value);
});
