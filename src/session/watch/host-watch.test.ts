import { expect, test } from 'vitest';
import type { Notice } from '../../journal/entries.ts';
import { hostKeeper } from './host-watch.ts';

let said: Notice[];
let remembered: (readonly [name: string, value: string])[];
let now: number;

function keeper(given: Partial<Parameters<typeof hostKeeper>[0]>): () => void {
  [said, remembered, now] = [[], [], 0];
  return hostKeeper({
    ...{ others: () => [], space: () => ({ free: 1e12, size: 1e12 }), journal: { full: false }, stateDir: 'var/live' },
    ...{ notice: (notice) => void said.push(notice), now: () => now },
    ...{ remember: (name, value) => void remembered.push([name, value]), ...given },
  });
}
const stored = (name: string): readonly string[] =>
  remembered.filter((one) => one[0] === name).map(([, value]) => value);
const texts = (): readonly string[] => said.map(({ text }) => text);

const daemon = (dir: string, pid = 1) => ({ dir, text: `process ${pid} in ${dir}` });
const minuteMs = 60_000;

test('another daemon on the account is reported once, and its end once it is gone for ten minutes', () => {
  let others: readonly ReturnType<typeof daemon>[] = [];
  const look = keeper({ others: () => others });
  const sees = (...found: typeof others): readonly string[] => {
    others = found;
    now += minuteMs / 2;
    look();
    return texts();
  };
  expect(sees()).toEqual([]);
  sees(daemon('a'));
  expect(sees(daemon('a'))).toEqual(['process 1 in a']);
  expect(said[0]).toMatchObject({ level: 'warn', topic: 'secondDaemon' });
  // A supervisor starts it again and again.
  for (let pid = 2; pid < 9; pid++) {
    sees();
    sees(daemon('a', pid));
  }
  expect(texts()).toEqual(['process 1 in a']);
  expect(sees(daemon('a', 9), daemon('b'))).toEqual(['process 1 in a', 'process 1 in b']);
  expect(stored('otherDaemons').at(-1)).toBe('process 9 in a\nprocess 1 in b');
  expect([sees().length, stored('otherDaemons').at(-1)]).toEqual([2, '']);
  now += 10 * minuteMs;
  expect(sees().slice(2)).toEqual(['no other daemon of this machine trades on this account any more']);
  expect(sees(daemon('a', 10)).slice(3)).toEqual(['process 10 in a']);
});

test('a registry that cannot be read at this moment is no end', () => {
  let fails = false;
  const look = keeper({
    others() {
      if (fails) throw new Error('EMFILE');
      return [daemon('a')];
    },
  });
  look();
  fails = true;
  now += 20 * minuteMs;
  look();
  expect(texts()).toEqual(['process 1 in a']);
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
  // For `sluice status`, while it lasts.
  expect(stored('lowDisk')).toEqual(['', texts()[0], '', texts()[2]]);
});

test('a full disk is not reported twice', () => {
  keeper({ journal: { full: true }, space: () => ({ free: 0, size: 1e9 }) })();
  expect(said).toEqual([]);
});
