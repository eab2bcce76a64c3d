/** The page of the docs that explains an alarm: its meaning, what to look at, what to do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { home } from '../config/shipped.ts';
import { type HaltCause, haltCauseOf } from '../execution/halt.ts';
import type { NoticeTopic } from '../journal/entries.ts';
import { isLimit } from './control/control-files.ts';
import { eventText, type SessionEvent } from './log/events.ts';
import { withState } from './state-in-commands.ts';

/** Kinds of event that are an alarm whatever their text; a notice counts by its topic, and a HALT by its cause. */
type AlarmKind = 'kill' | 'pause' | 'resume' | 'denied' | 'rejected' | 'unknown' | 'notice' | 'alerts';
export type AlarmTopic = AlarmKind | 'killByLimit' | HaltCause | NoticeTopic;

/** The page of each topic. Topics with the same remedy share one. */
export const alarmPages: Readonly<Record<AlarmTopic, string>> = {
  kill: 'killed',
  killByLimit: 'killed-by-limit',
  pause: 'paused',
  resume: 'paused',
  denied: 'denied',
  rejected: 'rejected',
  unknown: 'unknown-outcome',
  alerts: 'channel-failed',
  // HALTs, by what the operator must do.
  changedFill: 'ledger-differs',
  keyRefused: 'key-refused',
  noEcho: 'foreign-order',
  notDedicated: 'foreign-order',
  futureId: 'restored-journal',
  foundAfterAll: 'halt',
  fullList: 'halt',
  // Of a HALT and of a notice.
  ledger: 'ledger-differs',
  // Notices.
  notice: 'notice',
  exchangeAway: 'exchange-away',
  banned: 'banned',
  clock: 'clock',
  diskFull: 'disk-full',
  notStarted: 'not-started',
  quarantined: 'quarantined',
  stopReached: 'stop-reached',
  strategyStopped: 'strategy-stopped',
  secondDaemon: 'second-daemon',
  cancelledByOthers: 'order-cancelled',
};

/** Where an event is explained, in the folder of the program; undefined where it is no alarm. */
export function alarmPage(event: SessionEvent): string | undefined {
  const topic = event.level === 'info' ? undefined : topicOf(event);
  return topic === undefined ? undefined : pathOf(alarmPages[topic]);
}

/** The first sentence below "What to do" of each page, without its marks. */
function advices(): ReadonlyMap<string, string> {
  return new Map(
    [...new Set(Object.values(alarmPages))].flatMap((page) => {
      const path = pathOf(page);
      const text = readFileSync(join(home(), path), 'utf8');
      const [, sentence] = /^## What to do\n\n- (.*?\.)(?=\s)/m.exec(text) ?? [];
      return sentence === undefined ? [] : [[path, sentence.replaceAll(/[`*]|\[|\]\([^)]*\)/g, '')] as const];
    }),
  );
}

/**
 * Makes the text of an alert: an alarm has the first thing to do, because a phone cannot open its page. Commands have the option that names the state
 * directory. Reads the pages now: later a disk may be full.
 */
export function alertTexts(stateOption = ''): (event: SessionEvent) => string {
  const found = advices();
  return (event) => {
    const text = withState(eventText(event), stateOption, event.typed);
    const page = alarmPage(event);
    if (page === undefined) return text;
    const advice = withState(found.get(page) ?? '', stateOption);
    return `${text}${advice === '' ? '' : `${text.endsWith('.') ? '' : '.'} What to do: ${advice}`} (${page})`;
  };
}

/** What denies every order of a strategy, whatever its limits are. */
const stops: ReadonlySet<string> = new Set(['killed', 'paused', 'halted', 'blocked']);

/** Not the strategy is at fault: no fresh prices come. */
const oldPrices: ReadonlySet<string> = new Set(['staleData', 'depthAge']);

const pathOf = (page: string): string => `docs/how-to/alarms/${page}.md`;

function topicOf(event: SessionEvent): AlarmTopic | undefined {
  switch (event.kind) {
    case 'kill':
      return isLimit(event.by) ? 'killByLimit' : 'kill';
    case 'halt':
      return haltCauseOf(event.by);
    case 'notice':
      return event.topic ?? 'notice';
    case 'fill':
    case 'resolved':
    case 'state':
    case 'summary':
      return undefined;
    case 'denied':
      // What stops all orders has a page and an alarm of its own.
      if (stops.has(event.rule)) return undefined;
      return oldPrices.has(event.rule) ? 'exchangeAway' : 'denied';
    case 'pause':
    case 'resume':
    case 'rejected':
    case 'unknown':
    case 'alerts':
      return event.kind;
  }
}
