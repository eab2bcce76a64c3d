import { describe, expect, it } from 'vitest';
import { fc, property } from '../../../../test/kit/properties.ts';
import { idOf, parseExact, timeOf } from './json.ts';

describe('exact JSON', () => {
  it.each([
    ['{"id":1938321163093077686}', { id: '1938321163093077686' }],
    ['[1938321163093077686,2]', ['1938321163093077686', 2]],
    ['{"free":123456.1234567890123456}', { free: '123456.1234567890123456' }],
    ['{"fee":0E-16}', { fee: '0E-16' }],
    ['{"fee":6.6E-4}', { fee: '6.6E-4' }],
    ['{"min":0.0000100000000000}', { min: '0.0000100000000000' }],
    ['{"a":1,"b":0.5,"c":-3}', { a: 1, b: 0.5, c: -3 }],
    ['{"t":"1938321163093077686 and 1.5E7"}', { t: '1938321163093077686 and 1.5E7' }],
    [
      '{"__proto__":{"code":"0"},"id":1938321163093077686}',
      JSON.parse('{"__proto__":{"code":"0"},"id":"1938321163093077686"}'),
    ],
  ])('reads %s', (text, value) => {
    expect(parseExact(text)).toEqual(value);
  });

  it('refuses what is no JSON, and survives what is nested beyond reason', () => {
    expect(() => parseExact('{"a":')).toThrow(SyntaxError);
    const deep = `${'['.repeat(200_000)}1938321163093077686${']'.repeat(200_000)}`;
    expect(Array.isArray(parseExact(deep))).toBe(true);
    // A quote within a text is no place for a number: such a text is left to the parser's own reviver.
    expect(parseExact('{"t":",1938321163093077686,","id":1938321163093077686}')).toEqual({
      t: ',1938321163093077686,',
      id: '1938321163093077686',
    });
    expect(() => parseExact('{"id":0938321163093077686}')).toThrow(SyntaxError);
  });

  const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE]-?[0-9]{1,2})?$/);
  property.prop([digits])('never changes the digits of a number', (text) => {
    expect([text, String(Number(text))]).toContain(String((parseExact(`{"a":${text}}`) as { a: unknown }).a));
    const kept = String((parseExact(`{"a":${text}}`) as { a: unknown }).a);
    if (kept !== text) expect(Number(kept)).toBe(Number(text));
    if (/^\d{16,}$/.test(text)) expect(kept).toBe(text);
  });
});

it('ids come as number, text or a list of one; anything else is none', () => {
  expect(['12', 12, [12], ['12']].map(idOf)).toEqual(['12', '12', '12', '12']);
  expect(
    [0, '0', '', null, undefined, 'x', -1, 1.5, [], [1, 2], {}, Number.NaN].map(idOf).every((id) => id === undefined),
  ).toBe(true);
});

it('times come in ms, s, text or ISO; zero and nothing are none', () => {
  expect([1_790_134_142_000, 1_790_134_142, '1790134142000', '2026-09-23T04:38:03Z'].map(timeOf)).toEqual([
    1_790_134_142_000, 1_790_134_142_000, 1_790_134_142_000, 1_790_138_283_000,
  ]);
  expect([0, '', null, undefined, 'soon', {}].map(timeOf).every((time) => time === undefined)).toBe(true);
});
