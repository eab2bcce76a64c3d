import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { haltCauses } from '../execution/halt.ts';
import type { NoticeTopic } from '../journal/entries.ts';
import { alarmPage, alarmPages, alertTexts } from './alarm-pages.ts';
import type { SessionEvent } from './log/events.ts';

const folder = new URL('../../docs/how-to/alarms/', import.meta.url);
const ofNotice = { kind: 'notice', time: 0, level: 'warn', text: 'a text' } as const;
const ofOrder = { time: 0, level: 'warn', strategy: 's', symbol: 'BTCUSDT', order: 'BUY 1', text: '' } as const;
const ofKill = { time: 0, level: 'error', everything: false, strategy: null, text: '', advice: undefined } as const;

test('every topic of an alarm has a page with the same sections, and every page has a topic', () => {
  const files = readdirSync(folder).filter((file) => file !== 'README.md');
  expect(files.sort()).toEqual([...new Set(Object.values(alarmPages))].map((page) => `${page}.md`).sort());
  for (const file of files) {
    const sections = readFileSync(new URL(file, folder), 'utf8').match(/^## .*/gm);
    expect(sections, file).toEqual(['## Meaning', '## What to look at', '## What to do']);
  }
});

test('every page begins what to do with a short sentence, which the alert of its topic has', () => {
  for (const topic of Object.keys(alarmPages) as NoticeTopic[])
    expect(alertTexts()({ ...ofNotice, topic })).toMatch(
      /^a text\. What to do: [^`*[\]]{7,120}\. \(docs\/how-to\/alarms\/[a-z-]+\.md\)$/,
    );
});

test.each<[SessionEvent, string]>([
  [ofNotice, 'notice'],
  [{ ...ofNotice, topic: 'strategyStopped', text: 'strategy a threw: the disk is full' }, 'strategy-stopped'],
  [{ ...ofNotice, topic: 'exchangeAway' }, 'exchange-away'],
  [{ ...ofNotice, kind: 'alerts' }, 'channel-failed'],
  [{ ...ofKill, kind: 'kill', by: 'dailyLoss' }, 'killed-by-limit'],
  [{ ...ofKill, kind: 'kill', by: 'operator' }, 'killed'],
  [{ ...ofKill, kind: 'pause', by: 'operator' }, 'paused'],
  [{ ...ofOrder, kind: 'denied', rule: 'orderShare', repeats: 0 }, 'denied'],
  [{ ...ofOrder, kind: 'denied', rule: 'staleData', repeats: 0 }, 'exchange-away'],
  [{ ...ofOrder, kind: 'rejected', clientOrderId: 'c' }, 'rejected'],
  [{ ...ofOrder, kind: 'unknown', clientOrderId: 'c' }, 'unknown-outcome'],
  ...Object.keys(haltCauses).map((by): [SessionEvent, string] => [
    { ...ofKill, kind: 'halt', by },
    alarmPages[by as keyof typeof haltCauses],
  ]),
])('the page of an alarm follows from its kind, cause or topic: %j', (event, page) => {
  expect(alarmPage(event)).toBe(`docs/how-to/alarms/${page}.md`);
});

test('commands name the state directory, but not in the reason of a person', () => {
  const text = alertTexts(' --state /srv/x');
  const advice = 'To continue, run: npx sluice resume';
  const killed = {
    ...ofKill,
    kind: 'kill',
    text: 'All strategies were killed by operator: sluice kill --all.',
    advice,
  } as const;
  const named = 'To continue, run: npx sluice resume --state /srv/x. ';
  const start = (event: SessionEvent): string => text(event).split('What to do')[0] ?? '';
  expect(start({ ...killed, by: 'operator', typed: 'sluice kill --all' })).toBe(
    `All strategies were killed by operator: sluice kill --all. ${named}`,
  );
  expect(start({ ...killed, by: 'dailyLoss', text: 'Loss: sluice pnl.' })).toBe(
    `Loss: sluice pnl --state /srv/x. ${named}`,
  );
});

test('what is no alarm has no page, and is sent as it is', () => {
  expect(alarmPage({ ...ofNotice, level: 'info' })).toBeUndefined();
  expect(alertTexts()({ ...ofNotice, level: 'info', topic: 'diskFull', text: 'all is well' })).toBe('all is well');
  expect(alertTexts()({ ...ofNotice, kind: 'summary', text: 'a day' })).toBe('a day');
});
