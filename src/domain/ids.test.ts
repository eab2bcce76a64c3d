import { describe, expect, test } from 'vitest';
import { fc, property } from '../../test/kit/properties.ts';
import { type ClientOrderIdParts, clientOrderIdLength, makeClientOrderId, readClientOrderId } from './ids.ts';

const key = Buffer.alloc(32, 7);
const parts: ClientOrderIdParts = { instance: 12_345, epoch: 7, strategy: 2, sequence: 99 };
const anyParts = fc.record({
  instance: fc.integer({ min: 0, max: 32 ** 5 - 1 }),
  epoch: fc.integer({ min: 0, max: 32 ** 4 - 1 }),
  strategy: fc.integer({ min: 0, max: 32 ** 3 - 1 }),
  sequence: fc.integer({ min: 0, max: 32 ** 8 - 1 }),
});

describe('a client order id', () => {
  property.prop([anyParts])('says what it was made from', (made) => {
    expect(readClientOrderId(makeClientOrderId(made, key), key)).toEqual(made);
  });

  property.prop([anyParts])('is 29 lower-case letters and digits', (made) => {
    const id = makeClientOrderId(made, key);
    expect(id).toMatch(/^[a-z0-9]{29}$/);
    expect(id.length).toBe(clientOrderIdLength);
  });

  test('is read in any case, since venues change it', () => {
    expect(readClientOrderId(makeClientOrderId(parts, key).toUpperCase(), key)).toEqual(parts);
  });

  test('made under another key is somebody else’s', () => {
    expect(readClientOrderId(makeClientOrderId(parts, Buffer.alloc(32, 8)), key)).toBeUndefined();
  });

  property.prop([
    fc.integer({ min: 0, max: clientOrderIdLength - 1 }),
    fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'.split('')),
  ])('with one character changed is refused', (index, character) => {
    const id = makeClientOrderId(parts, key);
    const forged = id.slice(0, index) + character + id.slice(index + 1);
    expect(readClientOrderId(forged, key)).toEqual(forged === id ? parts : undefined);
  });

  test.each(['', '0', 'web_12345', 's'.repeat(28), 's'.repeat(30), `s${'ä'.repeat(28)}`])('is not %j', (id) => {
    expect(readClientOrderId(id, key)).toBeUndefined();
  });

  test.each([
    ['instance', 32 ** 5],
    ['epoch', 32 ** 4],
    ['strategy', 32 ** 3],
    ['sequence', 32 ** 8],
    ['sequence', -1],
    ['sequence', 0.5],
  ])('cannot be made with %s %d', (name, value) => {
    expect(() => makeClientOrderId({ ...parts, [name]: value }, key)).toThrow(RangeError);
  });
});
