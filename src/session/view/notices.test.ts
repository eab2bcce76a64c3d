import { expect, test } from 'vitest';
import type { KillEntry } from '../../journal/entries.ts';
import { Notices } from './notices.ts';

const kill = (given: Partial<KillEntry> = {}): KillEntry => ({
  kind: 'kill',
  at: 5,
  strategy: null,
  by: 'operator',
  reason: 'looks wrong',
  ...given,
});
const resume = (strategy: string | null = null): KillEntry =>
  kill({ kind: 'resume', at: 9, strategy, reason: 'mended' });
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
      text: 'Killed by operator: looks wrong.',
      advice: 'To continue, run: npx sluice resume',
    },
  ]);
  expect(shown(after(kill(), kill({ by: 'dailyLoss', reason: 'lost 5,100 since midnight UTC' }), resume()))).toEqual([
    'info: Resumed by operator: mended.',
  ]);
});

test('a kill by the daily loss says what goes on', () => {
  expect(shown(after(kill({ by: 'dailyLoss', reason: 'lost 5,100' })))).toEqual([
    'error: Killed by the daily loss limit: lost 5,100. Exits by a stop go on.',
  ]);
});

test('resuming one strategy leaves the others killed, and everything when all were', () => {
  const notices = after(kill(), kill({ strategy: 'a' }), kill({ strategy: 'b' }), resume('a'));
  expect(shown(notices)).toEqual([
    'info: Resumed strategy a by operator: mended.',
    'error: Strategy b was killed by operator: looks wrong.',
    'error: Killed by operator: looks wrong.',
  ]);
  expect(notices.list[1]?.advice).toBe('To continue, run: npx sluice resume --strategy b');
});

test('what else was noticed stays after a resume, but no more than twenty', () => {
  const threw = { kind: 'notice', at: 3, level: 'error', text: 'strategy a threw' } as const;
  expect(shown(after(threw, kill(), resume()))).toContain('error: strategy a threw');
  const many = Array.from({ length: 30 }, () => threw);
  expect(after(kill(), ...many, resume()).list).toHaveLength(20);
});
