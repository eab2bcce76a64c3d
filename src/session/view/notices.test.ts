import { expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import type { KillEntry } from '../../journal/entries.ts';
import { forbiddenText } from '../watch/exchange-watch.ts';
import { Notices } from './notices.ts';

const kill = (given: Partial<KillEntry> = {}): KillEntry => ({
  kind: 'kill',
  everything: false,
  at: 5,
  strategy: null,
  by: 'operator',
  reason: 'looks wrong',
  ...given,
});
const resume = (strategy: string | null = null): KillEntry =>
  kill({ kind: 'resume', everything: false, at: 9, strategy, reason: 'mended' });
const shown = ({ list }: Notices): readonly string[] => list.map(({ level, text }) => `${level}: ${text}`);

function after(...entries: readonly Parameters<Notices['see']>[0][]): Notices {
  const notices = new Notices();
  for (const entry of entries) notices.see(entry);
  return notices;
}

test('a kill stands there in red with the way on until it is resumed, and not after that', () => {
  expect(after(kill()).list).toEqual([
    {
      at: 5,
      level: 'error',
      text: 'All strategies were killed by operator: looks wrong. Exits go on.',
      advice: 'To continue, run: npx sluice resume',
    },
  ]);
  expect(shown(after(kill(), kill({ by: 'dailyLoss', reason: 'lost 5,100 since midnight UTC' }), resume()))).toEqual([
    'info: Resumed by operator: mended.',
  ]);
});

test('a kill by the daily loss says what goes on', () => {
  expect(shown(after(kill({ by: 'dailyLoss', reason: 'lost 5,100' })))).toEqual([
    'error: All strategies were killed by the daily loss limit: lost 5,100. Exits go on.',
  ]);
});

test('a kill under a ban says until when no exit can be sent', () => {
  const notices = new Notices();
  notices.see(kill(), forbiddenText(startTime));
  notices.see(kill({ everything: true }), forbiddenText(startTime));
  expect(shown(notices)).toEqual([
    'error: All strategies were killed by operator: looks wrong. No exit is created either.',
    expect.stringMatching(
      /wrong\. Exits stay in force, but nothing is sent meanwhile: the exchange forbids requests until 2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d UTC, stops/,
    ),
  ]);
});

test('a pause stands there as a warning, and a kill of everything says what does not go on', () => {
  expect(shown(after(kill({ kind: 'pause', strategy: 'a' }), kill({ everything: true, by: 'dashboard' })))).toEqual([
    'error: All strategies were killed by dashboard: looks wrong. No exit is created either.',
    'warn: Strategy a was paused by operator: looks wrong. Exits go on.',
  ]);
});

test('resuming one strategy leaves the others killed, and everything when all were', () => {
  const notices = after(kill(), kill({ strategy: 'a' }), kill({ strategy: 'b' }), resume('a'));
  expect(shown(notices)).toEqual([
    'info: Resumed strategy a by operator: mended.',
    'error: Strategy b was killed by operator: looks wrong. Exits go on.',
    'error: All strategies were killed by operator: looks wrong. Exits go on.',
  ]);
  expect(notices.list[1]?.advice).toBe('To continue, run: npx sluice resume --strategy b');
});

test('what else was noticed stays after a resume, but no more than twenty', () => {
  const threw = { kind: 'notice', at: 3, level: 'error', text: 'strategy a threw' } as const;
  expect(shown(after(threw, kill(), resume()))).toContain('error: strategy a threw');
  const many = Array.from({ length: 30 }, () => threw);
  expect(after(kill(), ...many, resume()).list).toHaveLength(20);
});

test('HALTs of one cause are one banner with their count, and a resume takes it away', () => {
  const halt = (at: number) => kill({ kind: 'halt', at, by: 'futureId', reason: `order ${at}` });
  const halts = [...Array(20).keys()].map(halt);
  const notices = after(kill({ strategy: 'a' }), ...halts);
  expect(shown(notices)).toEqual([
    expect.stringMatching(/^error: HALT, no order is created: order 19 \(and 19 more of this cause; sluice status\); /),
    'error: Strategy a was killed by operator: looks wrong. Exits go on.',
  ]);
  notices.see(resume());
  expect(shown(notices)).toEqual(['info: Resumed by operator: mended.']);
});

test('commands name the state directory, and what a person typed stays as it is', () => {
  const notices = new Notices(' --state /srv/x');
  notices.see({ kind: 'kill', everything: false, at: 1, strategy: null, by: 'operator', reason: 'see sluice status' });
  expect(notices.list).toMatchObject([
    {
      text: 'All strategies were killed by operator: see sluice status. Exits go on.',
      advice: 'To continue, run: npx sluice resume --state /srv/x',
    },
  ]);
});
