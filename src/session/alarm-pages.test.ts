import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alarmPage, alarmPages } from './alarm-pages.ts';

const folder = new URL('../../docs/how-to/alarms/', import.meta.url);
const named = [...new Set(Object.values(alarmPages))].filter((page) => page !== undefined);

test('every page that an alarm names is there, with the same sections, and no other', () => {
  const files = readdirSync(folder).filter((file) => file !== 'README.md');
  expect(files.sort()).toEqual(named.map((page) => `${page}.md`).sort());
  for (const file of files) {
    const sections = readFileSync(new URL(file, folder), 'utf8').match(/^## .*/gm);
    expect(sections, file).toEqual(['## Meaning', '## What to look at', '## What to do']);
  }
});

test('a kill by a limit has another page than one by a person, and what is no warning has none', () => {
  const kill = { kind: 'kill', time: 0, level: 'error', strategy: null, text: '', advice: undefined } as const;
  const of = (by: string) => alarmPage({ ...kill, by, everything: false });
  expect([of('dailyLoss'), of('operator')]).toEqual([
    'docs/how-to/alarms/killed-by-limit.md',
    'docs/how-to/alarms/killed.md',
  ]);
  expect(alarmPage({ kind: 'notice', time: 0, level: 'info', text: 'all is well' })).toBeUndefined();
});
