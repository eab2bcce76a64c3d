import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { stateOptionFor, withState } from './state-in-commands.ts';

const option = ' --state /srv/x';

test.each([
  [
    'To continue, run: npx sluice resume --strategy a',
    'To continue, run: npx sluice resume --state /srv/x --strategy a',
  ],
  [
    'sluice why 1f shows each step, sluice resolve 1f decides',
    'sluice why --state /srv/x 1f shows each step, sluice resolve --state /srv/x 1f decides',
  ],
  [
    'sluice.log has them; sluice order cancel, sluice doctor',
    'sluice.log has them; sluice order cancel, sluice doctor',
  ],
  ['sluice resolve-trade 7 --accept', 'sluice resolve-trade --state /srv/x 7 --accept'],
  ['sluice limits raise a 1 --state /srv/y --reason "…"', 'sluice limits raise a 1 --state /srv/y --reason "…"'],
])('%s', (text, named) => {
  expect(withState(text, option)).toBe(named);
  expect(withState(text, '')).toBe(text);
});

test('only another directory than the standard one is named, as a word of a shell', () => {
  expect(stateOptionFor('live', 'var/live')).toBe('');
  expect(stateOptionFor('live', 'var/paper')).toBe(` --state ${resolve('var/paper')}`);
  expect(stateOptionFor('live', "/srv/my 'x'")).toBe(` --state '/srv/my '\\''x'\\'''`);
});

test.each([
  [
    'flatten of s by operator (see sluice why s): closes 1 BTC; sluice status',
    'see sluice why s',
    'flatten of s by operator (see sluice why s): closes 1 BTC; sluice status --state /srv/x',
  ],
  ['Resolved by hand as filled: sluice fills.', 'sluice fills', 'Resolved by hand as filled: sluice fills.'],
  ['killed by operator: s. Run sluice resume', 's', 'killed by operator: s. Run sluice resume --state /srv/x'],
  ['Trading. Run sluice resume', 'sluice resume', 'Trading. Run sluice resume --state /srv/x'],
])('what a person typed stays as it is: %s', (text, typed, named) => {
  expect(withState(text, option, typed)).toBe(named);
});
