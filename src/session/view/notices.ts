/** The banners of a daemon: notices, and the kills, pauses and HALTs in force. */

import type { NoticeView } from '../../dashboard/view.ts';
import { type HaltCause, haltCauses } from '../../execution/halt.ts';
import type { Entry, KillEntry, NoticeEntry } from '../../journal/entries.ts';
import { ByPosition, type PositionKey } from '../../portfolio/by-position.ts';
import { pastOf } from '../../risk/kill.ts';
import { withState } from '../state-in-commands.ts';

/** The oldest are dropped. */
const maxNotices = 20;

export class Notices {
  /** What commands in the texts need to find the state directory. */
  readonly #stateOption: string;
  /** Newest first. */
  readonly list: NoticeView[] = [];
  /** Of the list, the kills in force, and whom each stops; `null`: all. */
  readonly #kills = new Map<NoticeView, string | null>();
  /** Of each cause that halts, its notice and how many halts it stands for. */
  readonly #halts = new Map<string, { readonly notice: NoticeView; readonly count: number }>();

  readonly #rejectedExits = new ByPosition<NoticeView>();

  constructor(stateOption = '') {
    this.#stateOption = stateOption;
  }

  /** The exchange rejected the order that closes a position. It stands there until the position or the target of its strategy changes. */
  exitRejected({ strategy, symbol }: PositionKey, at: number, text: string): void {
    this.positionChanged({ strategy, symbol });
    this.#rejectedExits.set(strategy, symbol, this.#add({ at, level: 'error', text, advice: undefined }));
  }

  positionChanged({ strategy, symbol }: PositionKey): void {
    const rejected = this.#rejectedExits.get(strategy, symbol);
    if (rejected !== undefined) this.#drop(rejected);
  }

  /** `ban`: why nothing can be sent now, exits included. */
  see(entry: NoticeEntry | KillEntry, ban?: string): void {
    const { at } = entry;
    if (entry.kind === 'notice')
      this.#add({ at, level: entry.level, text: entry.text, advice: undefined }, entry.typed);
    else if (entry.kind === 'resume') {
      this.#lift(entry.strategy);
      this.#add({ at, level: 'info', ...killText(entry) }, entry.reason);
    } else {
      const before = entry.kind === 'halt' ? this.#halts.get(entry.by) : undefined;
      if (before !== undefined) this.#drop(before.notice);
      const count = (before?.count ?? 0) + 1;
      const text = killText(entry, { more: count - 1, ban });
      const notice = this.#add({ at, level: killLevel(entry), ...text }, entry.kind === 'halt' ? '' : entry.reason);
      this.#kills.set(notice, entry.kind === 'halt' ? null : entry.strategy);
      if (entry.kind === 'halt') this.#halts.set(entry.by, { notice, count });
    }
  }

  #drop(notice: NoticeView): void {
    this.#kills.delete(notice);
    if (this.list.includes(notice)) this.list.splice(this.list.indexOf(notice), 1);
  }

  /** `typed`: what a person typed of the text, which stays as it is. */
  #add({ text, advice, ...rest }: NoticeView, typed = ''): NoticeView {
    const named = (part: string): string => withState(part, this.#stateOption, typed);
    const notice = { ...rest, text: named(text), advice: advice === undefined ? undefined : named(advice) };
    this.list.unshift(notice);
    for (const dropped of this.list.splice(maxNotices)) this.#kills.delete(dropped);
    return notice;
  }

  /** What a resume ended must not go on to stand there in red. */
  #lift(strategy: string | null): void {
    if (strategy === null) this.#halts.clear();
    for (const [notice, whom] of this.#kills) if (strategy === null || whom === strategy) this.#drop(notice);
  }
}

export const isKillEntry = (entry: Entry): entry is KillEntry =>
  entry.kind === 'kill' || entry.kind === 'pause' || entry.kind === 'resume' || entry.kind === 'halt';

/** How urgent it is. */
export const killLevel = ({ kind }: Pick<KillEntry, 'kind'>): NoticeEntry['level'] =>
  kind === 'pause' || kind === 'resume' ? 'warn' : 'error';

/**
 * A kill, a pause, their end or a HALT in words, on the page, in the terminal, in the log and by `status`. `more`: HALTs of the same cause.
 * `ban`: why nothing can be sent now, exits included.
 */
export function killText(
  { kind, everything, strategy, by, reason }: KillEntry,
  { more = 0, ban }: { readonly more?: number; readonly ban?: string | undefined } = {},
): Pick<NoticeView, 'text' | 'advice'> {
  if (kind === 'resume')
    return {
      text: `Resumed${strategy === null ? '' : ` strategy ${strategy}`} by ${by}: ${reason}.`,
      advice: undefined,
    };
  const advice = `To continue, run: npx sluice resume${strategy === null ? '' : ` --strategy ${strategy}`}`;
  if (kind === 'halt') {
    const meaning = Object.hasOwn(haltCauses, by) ? haltCauses[by as HaltCause] : by;
    const count = more === 0 ? '' : ` (and ${more} more of this cause; sluice status)`;
    return { text: `HALT, no order is created: ${reason}${count}; ${meaning}.`, advice };
  }
  const whom = strategy === null ? 'All strategies were' : `Strategy ${strategy} was`;
  const whose = by === 'dailyLoss' ? 'the daily loss limit' : by;
  const goOn = ban === undefined ? 'Exits go on.' : `Exits stay in force, but nothing is sent meanwhile: ${ban}.`;
  const exits = everything ? 'No exit is created either.' : goOn;
  return { text: `${whom} ${pastOf[kind]} by ${whose}: ${reason}. ${exits}`, advice };
}
