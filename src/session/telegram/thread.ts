/** The thread of the bot: it waits for the Bot API, and delays no order. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Api, GrammyError } from 'grammy';
import { machineWall, systemClock } from '../../clock/clock.ts';
import { escapeText, signed } from '../../domain/printable.ts';
import { redact, registerSecrets } from '../../domain/redaction.ts';
import { Bot, type Wire } from './bot.ts';
import { type FromBot, type ToBot, toBot } from './commands.ts';
import { SeenUpdates } from './seen-updates.ts';

export interface BotData {
  readonly server: string;
  readonly token: string;
  readonly chats: readonly string[];
  /** Texts that no message may contain. */
  readonly redacted: readonly string[];
  readonly stateDir: string;
  /** Its name stands before each answer. */
  readonly daemon: string;
}

/** How long the Bot API holds a question for updates, and how long it may take, s. */
const [holdS, patienceS] = [25, 40];
/** Longest answer of the Bot API: 100 updates are less than half of it. */
const maxAnswerBytes = 8_000_000;
/** Longest text of a message, characters (Telegram: 4096). */
const maxCharacters = 4_000;
/** Failures in a row that are reported, and the longest wait between two tries, real ms. */
const [reportedFailures, longestWaitMs] = [3, 60_000];

function wireOf({ server, token, daemon }: BotData): Wire {
  // A redirect could carry what is sent elsewhere. Both are options of node-fetch, which grammy uses.
  const baseFetchConfig = { redirect: 'error', size: maxAnswerBytes } as const;
  const api = new Api(token, { apiRoot: server, timeoutSeconds: patienceS, baseFetchConfig });
  return {
    updates: (from) => api.getUpdates({ offset: from, timeout: holdS, allowed_updates: ['message', 'callback_query'] }),
    async send(chat, text, button) {
      const plain = `${signed(redact(daemon))}${escapeText(redact(text))}`.slice(0, maxCharacters);
      await api.sendMessage(chat, plain, {
        link_preview_options: { is_disabled: true },
        ...(button && { reply_markup: { inline_keyboard: [[{ text: button[0], callback_data: button[1] }]] } }),
      });
    },
    async pressed(id) {
      await api.answerCallbackQuery(id);
    },
  };
}

function serve(port: MessagePort, data: BotData): void {
  const say = (message: FromBot): void => port.postMessage(message);
  const notice = (level: 'info' | 'warn', text: string): void => say({ kind: 'notice', level, text });
  registerSecrets(data.redacted);
  const seen = new SeenUpdates(data.stateDir);
  const waiting = new Map<number, (message: Exclude<ToBot, { kind: 'end' }>) => void>();
  let requests = 0;
  const ask = (message: (request: number) => FromBot) =>
    new Promise<Exclude<ToBot, { kind: 'end' }>>((resolve) => {
      const request = requests++;
      waiting.set(request, resolve);
      say(message(request));
    });
  const bot = new Bot({
    wire: wireOf(data),
    chats: new Set(data.chats),
    isNew: (update) => seen.isNew(update),
    act: async (by, command) => (await ask((request) => ({ kind: 'ask', request, by, command }))).text,
    async inForce() {
      const answer = await ask((request) => ({ kind: 'inForce', request }));
      return { mark: 'mark' in answer ? answer.mark : '', text: answer.text };
    },
    notice,
    now: machineWall,
  });
  port.on('message', (given: ToBot) => {
    const message = toBot.parse(given);
    if (message.kind === 'end') {
      seen.close();
      process.exit(0);
    }
    waiting.get(message.request)?.(message);
    waiting.delete(message.request);
  });
  void pollForEver(bot, notice);
}

async function pollForEver(bot: Bot, notice: (level: 'info' | 'warn', text: string) => void): Promise<never> {
  for (let failures = 0; ; ) {
    try {
      await bot.poll();
      if (failures >= reportedFailures) notice('info', 'commands by Telegram arrive again');
      failures = 0;
    } catch (error) {
      failures += 1;
      // An error of the transport names the address, which has the token.
      const why = error instanceof GrammyError ? `HTTP ${error.error_code}, ${error.description}` : 'no answer';
      if (failures === reportedFailures) notice('warn', `commands by Telegram do not arrive: ${why}`);
      await systemClock.sleep(Math.min(longestWaitMs, 500 * 2 ** failures));
    }
  }
}

if (parentPort !== null) serve(parentPort, workerData as BotData);
