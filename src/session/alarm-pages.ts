/** The page of the docs that explains an alarm: its meaning, what to look at, what to do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { home } from '../config/shipped.ts';
import type { HaltCause } from '../execution/halt.ts';
import { isLimit } from './control/kill-file.ts';
import { eventText, type SessionEvent } from './log/events.ts';

/** Pages by kind of event; undefined for kinds that are never a warning. */
export const alarmPages: Readonly<Record<SessionEvent['kind'] | 'killByLimit', string | undefined>> = {
  kill: 'killed',
  killByLimit: 'killed-by-limit',
  halt: 'halt',
  pause: 'paused',
  resume: 'paused',
  denied: 'denied',
  rejected: 'rejected',
  unknown: 'unknown-outcome',
  notice: 'notice',
  alerts: 'channel-failed',
  resolved: undefined,
  state: undefined,
  fill: undefined,
  summary: undefined,
};

/** Pages of halts by what the operator must do. */
export const haltPages: Readonly<Record<HaltCause, string>> = {
  ledger: 'ledger-differs',
  changedFill: 'ledger-differs',
  keyRefused: 'key-refused',
  noEcho: 'foreign-order',
  notDedicated: 'foreign-order',
  futureId: 'restored-journal',
  foundAfterAll: 'halt',
  fullList: 'halt',
};

/** Pages of notices by their words: the journal keeps nothing else of them. The first that is in a text counts. */
export const noticePages: readonly (readonly [words: string, page: string])[] = [
  // First: what a strategy threw may say anything.
  ['threw and was stopped', 'strategy-stopped'],
  ['no market data', 'exchange-away'],
  ['time could not be read', 'exchange-away'],
  ['the exchange forbids requests', 'banned'],
  ['the disk is full', 'disk-full'],
  ['was reached', 'stop-reached'],
  ['is quarantined', 'quarantined'],
  ['from our clock', 'clock'],
  ['has not been compared', 'ledger-differs'],
  ['what fills, foreign trades and adjustments explain', 'ledger-differs'],
];

/** Where an event is explained, in the folder of the program; undefined where it is no alarm. */
export function alarmPage(event: SessionEvent): string | undefined {
  const page = event.level === 'info' ? undefined : pageOf(event);
  return page === undefined ? undefined : pathOf(page);
}

/** The first sentence below "What to do" of each page, without its marks. */
function advices(): ReadonlyMap<string, string> {
  const pages = [...Object.values(alarmPages), ...Object.values(haltPages), ...noticePages.map(([, page]) => page)];
  return new Map(
    [...new Set(pages)].flatMap((page) => {
      if (page === undefined) return [];
      const path = pathOf(page);
      const text = readFileSync(join(home(), path), 'utf8');
      const [, sentence] = /^## What to do\n\n- (.*?\.)(?=\s)/m.exec(text) ?? [];
      return sentence === undefined ? [] : [[path, sentence.replaceAll(/[`*]|\[|\]\([^)]*\)/g, '')] as const];
    }),
  );
}

/** Makes the text of an alert: an alarm has the first thing to do, because a phone cannot open its page. Reads the pages now: later a disk may be full. */
export function alertTexts(): (event: SessionEvent) => string {
  const found = advices();
  return (event) => {
    const text = eventText(event);
    const page = alarmPage(event);
    if (page === undefined) return text;
    const advice = found.get(page);
    return `${text}${advice === undefined ? '' : `${text.endsWith('.') ? '' : '.'} What to do: ${advice}`} (${page})`;
  };
}

const pathOf = (page: string): string => `docs/how-to/alarms/${page}.md`;

function pageOf(event: SessionEvent): string | undefined {
  if (event.kind === 'kill' && isLimit(event.by)) return alarmPages.killByLimit;
  if (event.kind === 'halt') return haltPages[event.by as HaltCause] ?? alarmPages.halt;
  const ofNotice = event.kind === 'notice' && noticePages.find(([words]) => event.text.includes(words));
  return ofNotice ? ofNotice[1] : alarmPages[event.kind];
}
