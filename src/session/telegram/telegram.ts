/**
 * Commands by Telegram: a bot in a thread of its own takes messages from the chats of the configuration; this side carries them out, with who
 * asked and why, and answers. Begin with `commands.ts`, then `bot.ts`.
 */

import { Worker } from 'node:worker_threads';
import type { DashboardSource } from '../../dashboard/dashboard.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import { registeredSecrets } from '../../domain/redaction.ts';
import type { Notice } from '../../journal/entries.ts';
import type { SessionOptions, Undo } from '../options.ts';
import { daemonName } from '../state-in-commands.ts';
import { equityByStrategy } from '../summary/summary-text.ts';
import { type Answering, answer } from './answers.ts';
import { fromBot, type ToBot } from './commands.ts';
import type { BotData } from './thread.ts';

/** A Bot API that floods must not take the memory of the daemon, MB. */
const maxMemoryMb = 200;

/** Obeys the chats that the configuration allows, until the session ends. */
export function obeyTelegram(
  { config, alertSecrets, stateDir }: SessionOptions,
  { source, notice }: { readonly source: DashboardSource; readonly notice: (notice: Notice) => void },
  undo: Undo,
): void {
  for (const [name, channel] of Object.entries(config.alerts?.channels ?? {})) {
    if (alertSecrets === undefined || channel.type !== 'telegram' || channel.commandsFrom === undefined) continue;
    const data = {
      server: channel.server,
      token: alertSecrets.channels.get(name) ?? '',
      chats: channel.commandsFrom,
      redacted: registeredSecrets(),
      stateDir,
      daemon: config.alerts?.name ?? daemonName(stateDir),
    };
    undo.unshift(startTelegram(data, { view: () => source.view(), history: source.history, actions: source, notice }));
  }
}

/** Starts the bot; what it gives ends it. */
function startTelegram(
  data: BotData,
  parts: Omit<Answering, 'atStart'> & { readonly notice: (notice: Notice) => void },
): () => Promise<void> {
  const worker = new Worker(moduleUrl('./thread', import.meta.url), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  let isEnded = false;
  let started: Readonly<Record<string, string>> | undefined;
  const answering: Answering = { ...parts, atStart: () => started ?? {} };
  const say = (message: ToBot): void => {
    if (!isEnded) worker.postMessage(message);
  };
  worker.on('message', (given) => {
    const read = fromBot.safeParse(given);
    if (!read.success) return;
    const message = read.data;
    if (message.kind === 'notice') {
      parts.notice({ level: message.level, text: message.text });
      return;
    }
    const { request } = message;
    const shown = parts.view();
    if (message.kind === 'inForce') {
      say({ kind: 'inForce', request, ...shown.inForce });
      return;
    }
    started ??= equityByStrategy(shown);
    const { by, command } = message;
    void answer(answering, by, command).then((text) => say({ kind: 'answer', request, text }));
  });
  const ended = new Promise<void>((resolve) => {
    worker.once('error', (error: Error) => {
      parts.notice({ level: 'warn', text: `commands by Telegram have stopped, trading goes on: ${error.name}` });
    });
    worker.once('exit', () => {
      isEnded = true;
      resolve();
    });
  });
  return () => {
    say({ kind: 'end' });
    return ended;
  };
}
