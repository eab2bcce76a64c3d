import { expect, test } from 'vitest';
import type { Notice } from '../../journal/entries.ts';
import { hostKeeper } from './host-watch.ts';

let said: Notice[];
let remembered: string[];

function keeper(given: Partial<Parameters<typeof hostKeeper>[0]>): () => void {
  [said, remembered] = [[], []];
  return hostKeeper({
    ...{ others: () => [], space: () => ({ free: 1e12, size: 1e12 }), journal: { full: false }, stateDir: 'var/live' },
    ...{ notice: (notice) => void said.push(notice), remember: (value) => void remembered.push(value), ...given },
  });
}
const texts = (): readonly string[] => said.map(({ text }) => text);

test('another daemon on the account is reported once, also by the one that ran before, and so is its end', () => {
  let others: readonly string[] = [];
  const look = keeper({ others: () => others });
  look();
  expect([said, remembered]).toEqual([[], ['']]);
  others = ['another daemon'];
  look();
  look();
  expect(said).toEqual([{ level: 'warn', topic: 'secondDaemon', text: 'another daemon' }]);
  others = ['another daemon', 'a third'];
  look();
  expect(texts()).toEqual(['another daemon', 'a third']);
  others = [];
  look();
  expect(texts().at(-1)).toBe('no other daemon of this machine trades on this account any more');
  expect(remembered).toEqual(['', 'another daemon', 'another daemon\na third', '']);
});

test('a registry that cannot be read at this moment is no end', () => {
  let fails = false;
  const look = keeper({
    others() {
      if (fails) throw new Error('EMFILE');
      return ['another daemon'];
    },
  });
  look();
  fails = true;
  look();
  expect(texts()).toEqual(['another daemon']);
});

test.each([
  ['a large disk', 1e12, 200e6],
  ['a small disk', 1e9, 100e6],
])('little space on %s is reported once, until there is clearly more', (_, size, low) => {
  let free = low;
  const look = keeper({ space: () => ({ free, size }) });
  const seen = (bytes: number): readonly string[] => {
    free = bytes;
    look();
    return texts();
  };
  expect(seen(low)).toEqual([]);
  expect(seen(low - 1)).toEqual([expect.stringMatching(/^the disk of var\/live has only \d+ MB left: /)]);
  expect(said[0]).toMatchObject({ level: 'warn', topic: 'diskFull' });
  expect(seen(low * 1.4)).toHaveLength(1);
  expect(seen(low - 1)).toHaveLength(1);
  expect(seen(low * 1.6)).toHaveLength(2);
  expect(seen(low - 1)).toHaveLength(3);
});

test('a full disk is not reported twice', () => {
  keeper({ journal: { full: true }, space: () => ({ free: 0, size: 1e9 }) })();
  expect(said).toEqual([]);
});
