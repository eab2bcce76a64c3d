import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { alarmPage, alarmPages, alertTexts, haltPages, noticePages } from './alarm-pages.ts';

const folder = new URL('../../docs/how-to/alarms/', import.meta.url);
const noticed = noticePages.map(([, page]) => page);
const named = [
  ...new Set(
    [...Object.values(alarmPages), ...Object.values(haltPages), ...noticed].filter((page) => page !== undefined),
  ),
];

test.each(noticePages)('a notice with the words "%s" is one that the program sends', (words) => {
  const source = fileURLToPath(new URL('..', import.meta.url));
  const files = execFileSync('grep', [
    '-rlF',
    '--include=*.ts',
    '--exclude=alarm-pages*',
    '--exclude=*.test.ts',
    words,
    source,
  ]);
  expect(String(files)).not.toBe('');
});

test('every page that an alarm names is there, with the same sections, and no other', () => {
  const files = readdirSync(folder).filter((file) => file !== 'README.md');
  expect(files.sort()).toEqual(named.map((page) => `${page}.md`).sort());
  for (const file of files) {
    const sections = readFileSync(new URL(file, folder), 'utf8').match(/^## .*/gm);
    expect(sections, file).toEqual(['## Meaning', '## What to look at', '## What to do']);
  }
});

test.each(noticePages)(
  'an alert with the words "%s" says in a short sentence what to do, and names its page',
  (words) => {
    const text = alertTexts()({ kind: 'notice', time: 0, level: 'warn', text: words });
    expect(text).toMatch(/^[^.]*\. What to do: [^`*[\]]{7,120}\. \(docs\/how-to\/alarms\/[a-z-]+\.md\)$/);
  },
);

test('what is no alarm is sent as it is', () => {
  expect(alertTexts()({ kind: 'notice', time: 0, level: 'info', text: 'all is well' })).toBe('all is well');
});

test('notices and halts have pages by what must be done', () => {
  const notice = (text: string) => alarmPage({ kind: 'notice', time: 0, level: 'warn', text });
  expect(notice('no market data: gone; retrying')).toBe('docs/how-to/alarms/exchange-away.md');
  expect(notice('strategy a threw and was stopped: the disk is full')).toBe('docs/how-to/alarms/strategy-stopped.md');
  expect(notice('something else')).toBe('docs/how-to/alarms/notice.md');
  const halt = { kind: 'halt', time: 0, level: 'error', strategy: null, text: '', advice: undefined } as const;
  expect(alarmPage({ ...halt, by: 'keyRefused', everything: false })).toBe('docs/how-to/alarms/key-refused.md');
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
