import { expect, test } from 'vitest';
import type { Strategy } from './contract.ts';
import { over } from './override.ts';

class Pair {
  readonly name = 'pair';
  readonly about = '';
  readonly params = {};
  readonly markets = { first: 'traded', second: 'traded' } as const;
  readonly legsAlone = { afterMs: 60_000, action: 'unwind' } as const;
  readonly memory = { n: 0 };
  readonly allowMissing = true;
  indicators = () => ({});
  decide = () => undefined;
}

test('a strategy that is an instance of a class keeps all that it declares', () => {
  const given: Strategy = new Pair();
  const changed = over(given, { about: 'changed' });
  const { markets, legsAlone, memory, allowMissing } = new Pair();
  expect(changed).toMatchObject({ name: 'pair', about: 'changed', markets, legsAlone, memory, allowMissing });
});
