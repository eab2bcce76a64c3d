/** The bot: it takes messages from the chats of the configuration, once each, and passes commands on. It trades nothing itself. */
import type { Update } from 'grammy/types';
import type { InForceView } from '../../dashboard/view.ts';
import { escapeLine } from '../../domain/printable.ts';
import { asksFirst, type Command, Confirmations, parse } from './commands.ts';

/** What it asks of the Bot API. */
export interface Wire {
  /** Updates that were not taken yet, from this id on; waits a while when there are none. */
  updates(from: number): Promise<readonly Update[]>;
  /** `button`: a label and what its press sends back. */
  send(chat: number, text: string, button?: readonly [label: string, data: string]): Promise<void>;
  /** Ends the waiting of a pressed button. */
  pressed(id: string): Promise<void>;
}

export interface BotParts {
  readonly wire: Wire;
  /** Chats whose commands are obeyed. */
  readonly chats: ReadonlySet<string>;
  /** Remembers an update on disk; false where it was taken before, also by an earlier run. */
  readonly isNew: (update: number) => boolean;
  /** Carries a command out, and answers in words. */
  readonly act: (by: string, command: Command) => Promise<string>;
  /** What is in force now. */
  readonly inForce: () => Promise<InForceView>;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** UTC ms of the machine. */
  readonly now: () => number;
}

/** A command that arrives later is not carried out, ms. */
export const maxAgeMs = 60_000;
/** Foreign chats that are reported; beyond that none is. */
const maxForeign = 100;

export class Bot {
  readonly #parts: BotParts;
  readonly #confirmations: Confirmations;
  readonly #foreign = new Set<string>();
  #next = 0;

  constructor(parts: BotParts) {
    this.#parts = parts;
    this.#confirmations = new Confirmations(parts.now);
  }

  /** Takes what has come. Throws when the Bot API does not answer. */
  async poll(): Promise<void> {
    const updates = await this.#parts.wire.updates(this.#next);
    // The Bot API may number updates anew after a quiet week, then from lower numbers on.
    if (updates.length === 0) this.#next = 0;
    for (const update of updates) {
      this.#next = Math.max(this.#next, update.update_id + 1);
      // Noted before it acts: after a crash nothing is done twice.
      if (!this.#parts.isNew(update.update_id)) continue;
      // Not awaited: a kill must not wait until an earlier answer is through.
      void this.#take(update).catch(() => this.#parts.notice('warn', 'an answer by Telegram could not be sent'));
    }
  }

  async #take({ message, callback_query: press }: Update): Promise<void> {
    const { wire } = this.#parts;
    if (press !== undefined) {
      const chat = press.message?.chat.id;
      if (chat === undefined || !this.#isAllowed(chat)) return;
      await wire.pressed(press.id);
      return this.#confirm(chat, press.from, press.data ?? '');
    }
    if (message?.text === undefined || message.from === undefined) return;
    const { chat, from, date, text } = message;
    if (!this.#isAllowed(chat.id)) return;
    const parsed = parse(text);
    const ageMs = this.#parts.now() - date * 1_000;
    if (ageMs > maxAgeMs) {
      const minutes = Math.round(ageMs / 60_000);
      return wire.send(
        chat.id,
        `Not done: ${escapeLine(text).slice(0, 50)} was sent ${minutes} min ago, by the clock of this machine. Much may have changed since. Send it again if it still applies.`,
      );
    }
    if (parsed.kind === 'code') return this.#confirm(chat.id, from, parsed.code);
    if (parsed.kind === 'unreadable') return wire.send(chat.id, parsed.text);
    if (!asksFirst(parsed.command)) return this.#act(chat.id, from, parsed.command);
    return this.#ask(chat.id, from, parsed.command);
  }

  /** The answer to a resume lifts what is in force as it is asked, and no more. */
  async #ask(chat: number, from: Person, command: Command): Promise<void> {
    const inForce = command.name === 'resume' ? await this.#parts.inForce() : undefined;
    const asked = inForce === undefined ? command : { ...command, seen: inForce.mark };
    const code = this.#confirmations.ask(who(chat, from), asked);
    const where = command.name === 'flatten' && command.symbol !== undefined ? ` on ${command.symbol}` : '';
    const what = `${command.name} ${'strategy' in command ? (command.strategy ?? 'everything') : ''}${where}`;
    const named = inForce === undefined || inForce.text === '' ? '' : ` In force: ${inForce.text}`;
    return this.#parts.wire.send(
      chat,
      `Really ${what}?${named} Press the button, or send /${command.name} ${code} within two minutes.`,
      [`Yes, ${what}`, code],
    );
  }

  /** A foreign chat gets no answer, and is reported once. */
  #isAllowed(chat: number): boolean {
    const id = String(chat);
    if (this.#parts.chats.has(id)) return true;
    if (!this.#foreign.has(id) && this.#foreign.size < maxForeign) {
      this.#foreign.add(id);
      this.#parts.notice(
        'warn',
        `a Telegram chat that is not in commandsFrom sent a message, and got no answer: ${id}`,
      );
    }
    return false;
  }

  async #confirm(chat: number, from: Person, code: string): Promise<void> {
    const command = this.#confirmations.take(who(chat, from), code);
    if (command === undefined)
      return this.#parts.wire.send(
        chat,
        'Not done: this confirmation is wrong, used or too old. Send the command again.',
      );
    return this.#act(chat, from, command);
  }

  async #act(chat: number, from: Person, command: Command): Promise<void> {
    await this.#parts.wire.send(chat, await this.#parts.act(nameOf(from), command));
  }
}

interface Person {
  readonly id: number;
  readonly first_name: string;
  readonly username?: string | undefined;
}

const who = (chat: number, { id }: Person): string => `${chat} ${id}`;

/** As the journal has it. */
const nameOf = ({ id, username, first_name: first }: Person): string =>
  `telegram ${escapeLine(username ?? first).slice(0, 40)} (${id})`;
