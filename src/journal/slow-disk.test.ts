import { expect, test } from 'vitest';
import { watchedHost } from './writer-hosts.ts';

test('commits that take long are reported once, and again when they were fast in between', async () => {
  let now = 0;
  let takesMs = 5;
  const texts: string[] = [];
  const host = watchedHost(
    {
      write() {
        now += takesMs;
        return 'written';
      },
      close: () => Promise.resolve(),
    },
    (text) => texts.push(text),
    () => now,
  );
  const commit = async (times: number): Promise<void> => {
    for (let count = 0; count < times; count++) await host.write([]);
  };
  await commit(50);
  takesMs = 300;
  await commit(1);
  expect(texts).toEqual([]);
  await commit(5);
  expect(texts).toEqual([expect.stringContaining('the longest 300 ms')]);
  takesMs = 5;
  await commit(150);
  takesMs = 300;
  await commit(2);
  expect(texts).toHaveLength(2);
});
