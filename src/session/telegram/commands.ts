/** What a person may say to the bot, and what the threads send each other about it. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { redact } from '../../domain/redaction.ts';
import { issuesText } from '../../domain/refusal.ts';

const strategy = z.string().min(1).max(100).optional();
const reason = z.string().min(1).max(500);

export const command = z.discriminatedUnion('name', [
  z.strictObject({ name: z.enum(['status', 'positions', 'profit', 'help']) }),
  /** `subject`: a strategy, or an order's id or its end. */
  z.strictObject({ name: z.literal('why'), subject: z.string().max(100).optional() }),
  z.strictObject({ name: z.enum(['kill', 'pause']), strategy, reason }),
  z.strictObject({ name: z.literal('flatten'), strategy, symbol: z.string().max(40).optional(), reason }),
  /** `order`: its id, ours or the exchange's, or the beginning or end of one. */
  z.strictObject({ name: z.literal('cancel'), order: z.string().min(4).max(100), reason }),
  /** `seen`: the mark of what was in force when the person was asked. */
  z.strictObject({ name: z.literal('resume'), strategy, reason, seen: z.string().max(64).optional() }),
  z.strictObject({ name: z.literal('ack'), alarm: z.int().min(1).optional() }),
]);
export type Command = z.output<typeof command>;

export const fromBot = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ask'), request: z.int(), by: z.string().min(1).max(100), command }),
  z.strictObject({ kind: z.literal('inForce'), request: z.int() }),
  z.strictObject({ kind: z.literal('notice'), level: z.enum(['info', 'warn', 'error']), text: z.string().max(1_000) }),
]);
export type FromBot = z.output<typeof fromBot>;

export const toBot = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('answer'), request: z.int(), text: z.string() }),
  z.strictObject({ kind: z.literal('inForce'), request: z.int(), mark: z.string(), text: z.string() }),
  z.strictObject({ kind: z.literal('end') }),
]);
export type ToBot = z.output<typeof toBot>;

export const helpText = `/status – state, equity, what is open
/positions – what is held, with stops
/profit – of today and since the start, by strategy
/why [STRATEGY or ORDER] – the last decisions, or what happened to an order
/pause [STRATEGY] – no entries, exits go on
/kill [STRATEGY] – at once: no orders but exits
/flatten [STRATEGY [SYMBOL]] – close positions; asks first
/cancel ORDER – cancel one order, by its id or its last characters
/resume [STRATEGY] – lift kills and pauses; asks first
/ack [ALARM] – acknowledge an alarm, or all
A word after the strategy is the reason: /kill trend looks wrong
/kill and /pause with a first word that names no strategy stop all: /kill looks wrong`;

/** What a message asks for: a command, a code that confirms one, or words for whoever sent something else. */
export type Parsed =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'unreadable'; readonly text: string };

const codeDigits = 6;
/** In capitals throughout, as no word of a reason is by chance. A symbol that is not traded is refused. */
const looksLikeSymbol = /^[A-Z\d]{5,20}$/;

const reasonOf = (words: readonly string[], name: string): string => redact(words.join(' ')).slice(0, 500) || name;

export function parse(text: string): Parsed {
  const [first = '', ...words] = text.trim().split(/\s+/);
  const name = first.replace(/@\w+$/, '').toLowerCase();
  const [subject] = words;
  switch (name) {
    case '/status':
    case '/positions':
    case '/profit':
    case '/help':
      return of({ name: name.slice(1) });
    case '/start':
      return of({ name: 'help' });
    case '/why':
      return of({ name: 'why', subject });
    case '/ack':
      return of({ name: 'ack', alarm: subject === undefined ? undefined : Number(subject) });
    case '/kill':
    case '/pause':
    case '/resume':
    case '/flatten': {
      if (name !== '/kill' && name !== '/pause' && words.length === 1 && /^\d{6}$/.test(subject ?? ''))
        return { kind: 'code', code: subject ?? '' };
      const given = subject === 'all' ? undefined : subject;
      const symbol = name === '/flatten' && looksLikeSymbol.test(words[1] ?? '') ? words[1] : undefined;
      const said =
        symbol === undefined
          ? { reason: reasonOf(words.slice(1), name) }
          : { symbol, reason: reasonOf(words.slice(2), name) };
      return of({ name: name.slice(1), strategy: given, ...said });
    }
    case '/cancel':
      return of({ name: 'cancel', order: subject ?? '', reason: reasonOf(words.slice(1), name) });
    default:
      return { kind: 'unreadable', text: `I know these commands:\n${helpText}` };
  }
}

function of(given: object): Parsed {
  const read = command.safeParse(given);
  return read.success
    ? { kind: 'command', command: read.data }
    : { kind: 'unreadable', text: `${issuesText(read.error.issues)}\n/help shows the commands` };
}

/** Commands that loosen, or that trade: they wait for a second word. */
export const asksFirst = ({ name }: Command): boolean => name === 'resume' || name === 'flatten';

/** A confirmation holds for so long, ms. */
export const confirmMs = 120_000;

/** Commands that wait for their confirmation, one for each person in a chat. They are kept in memory: a restart voids them. */
export class Confirmations {
  readonly #waiting = new Map<string, { readonly code: string; readonly command: Command; readonly until: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the code that confirms it; an earlier one of this person is void. */
  ask(who: string, command: Command): string {
    const code = String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0');
    this.#waiting.set(who, { code, command, until: this.#now() + confirmMs });
    return code;
  }

  /** What was confirmed. Each code works once; a wrong one voids what waits. */
  take(who: string, code: string): Command | undefined {
    const waiting = this.#waiting.get(who);
    this.#waiting.delete(who);
    return waiting?.code === code && this.#now() <= waiting.until ? waiting.command : undefined;
  }
}
