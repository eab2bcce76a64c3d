import { expect, test } from 'vitest';
import { fc } from '../../test/kit/properties.ts';
import { SmallMap } from './small-map.ts';

test('holds what a Map holds, in its order, however many entries come and go', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'),
    value: fc.option(fc.nat(9), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const few = new SmallMap<number>();
      const map = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === undefined) {
          few.delete(key);
          map.delete(key);
        } else {
          few.set(key, value);
          map.set(key, value);
        }
        expect(few.get(key)).toBe(map.get(key));
        expect(few.size).toBe(map.size);
        expect([...few.values()]).toEqual([...map.values()]);
      }
    }),
  );
});

test('its values can be walked through while entries go', () => {
  const few = new SmallMap<string>();
  for (const key of ['a', 'b', 'c']) few.set(key, key);
  const seen: string[] = [];
  for (const value of few.values()) {
    seen.push(value);
    few.delete(value);
  }
  expect(seen).toEqual(['a', 'b', 'c']);
});
