import { expect, test } from 'vitest';
import type { Notice } from '../../execution/context.ts';
import { askAboutDenials } from './denials-question.ts';

type Given = Parameters<typeof askAboutDenials>;
const config = (controls: 'all' | 'stated') =>
  ({
    strategies: [],
    risk: { controls },
    exchange: { restUrl: 'http://127.0.0.1:1' },
  }) as unknown as Given[0]['config'];

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
    } as unknown as Given[0],
    { configured: [], instruments: [], feed: {} } as unknown as Given[1],
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
