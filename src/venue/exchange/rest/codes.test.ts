import { describe, expect, it } from 'vitest';
import { definiteCodes } from './classify.ts';
import { codeMeaning, knownCodes } from './codes.ts';

describe('the meaning of codes', () => {
  it('is there for each code that decides something, and each says what to do', () => {
    for (const code of [...Object.keys(definiteCodes), '-1006', '-1007', '-2013', '-1145', '-2018', '40'])
      expect([code, codeMeaning(code)?.means]).toEqual([code, expect.stringMatching(/.{10,}/)]);
    for (const code of knownCodes) expect(codeMeaning(code)?.advice).toMatch(/.{9,}/);
  });

  it('of an outcome that is not known says to query it, never to send again at once', () => {
    for (const code of ['-1000', '-1001', '-1006', '-1007'])
      expect(codeMeaning(code)?.advice).toMatch(/^query the order/);
  });

  it('is missing for what nobody described, also for names of every object', () => {
    for (const code of ['-9999', '__proto__', 'constructor', '']) expect(codeMeaning(code)).toBeUndefined();
  });
});
