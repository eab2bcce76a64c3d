import { expect, test } from 'vitest';
import type { Notice } from '../../journal/entries.ts';
import { marketKeeper } from './exchange-watch.ts';

function kept() {
  const at = { cause: undefined as string | undefined };
  const said: Notice[] = [];
  const remembered: string[] = [];
  const look = marketKeeper({
    exchange: { noMarketData: () => at.cause },
    notice: (notice) => said.push(notice),
    remember: (cause) => remembered.push(cause),
  });
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) look();
  };
  return { at, said, remembered, pass };
}

test('a connection that stays away is told of once, and its end', () => {
  const { at, said, remembered, pass } = kept();
  at.cause = 'ws://x: refused';
  pass(5);
  expect(said).toMatchObject([
    { topic: 'exchangeAway', text: expect.stringContaining('no market data: ws://x: refused;') },
  ]);
  at.cause = 'ws://x: gone';
  pass(2);
  expect(remembered).toEqual(['', 'ws://x: refused', 'ws://x: gone']);
  at.cause = undefined;
  pass(2);
  expect(said.slice(1)).toEqual([{ level: 'info', text: 'market data has resumed' }]);
  expect(remembered.at(-1)).toBe('');
  at.cause = 'again';
  pass(4);
  expect(said).toHaveLength(3);
});

test('what an earlier daemon left is forgotten at the first look', () => {
  const { said, remembered, pass } = kept();
  pass(3);
  expect([said, remembered]).toEqual([[], ['']]);
});
