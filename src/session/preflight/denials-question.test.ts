import { expect, test } from 'vitest';
import { tradingSchema } from '../../config/schema.ts';
import type { Notice } from '../../journal/entries.ts';
import { ok } from '../../venue/venue.ts';
import { askAboutDenials } from './denials-question.ts';

const config = (controls: 'all' | 'stated') =>
  tradingSchema.parse({
    exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' },
    strategies: [{ id: 's', use: 'sma-cross', symbol: 'BTCUSDT', interval: '1min', allocation: '1' }],
    risk: { maxOrderValue: '1', maxPosition: '1', controls },
  });
const reached = { configured: [], instruments: [], feed: { history: async () => ok([]) } };

async function begin(options: { text?: string; answer?: boolean; controls?: 'all' | 'stated' } = {}) {
  const { text, answer, controls = 'all' } = options;
  const said: string[] = [];
  const notices: Notice[] = [];
  let replays = 0;
  const report = await askAboutDenials(
    {
      ...{ config: config(controls), configured: [], say: (line: string) => said.push(line) },
      replayDenials: async () => {
        replays++;
        return text;
      },
      ...(answer !== undefined && { confirm: async () => answer }),
    },
    reached,
    [],
  );
  report((notice) => notices.push(notice));
  await Promise.resolve();
  return { said, notices, replays };
}

test('on a terminal the answer decides whether it starts', async () => {
  await expect(begin({ text: '212 of 212 entries denied', answer: false })).rejects.toThrow('not started: lower');
  const { said, notices } = await begin({ text: '212 of 212 entries denied', answer: true });
  expect(said).toEqual(['The limits may be too tight: 212 of 212 entries denied.']);
  expect(notices).toEqual([]);
  expect((await begin({ answer: false })).said).toEqual([]);
});

test('without one it starts, and warns', async () => {
  expect((await begin({ text: 'all denied' })).notices).toEqual([
    { level: 'warn', text: 'the limits may be too tight: all denied' },
  ]);
});

test('nothing is replayed where only stated limits hold', async () => {
  expect((await begin({ text: 'all denied', answer: false, controls: 'stated' })).replays).toBe(0);
});
