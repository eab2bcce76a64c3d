import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Update } from 'grammy/types';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loopTurn } from '../../clock/clock.ts';
import { Bot } from './bot.ts';
import { confirmMs } from './commands.ts';
import { SeenUpdates } from './seen-updates.ts';

const ann = { id: 7, is_bot: false, first_name: 'Ann', username: 'ann' };
const minute = 60_000;

let dir: string;
let now: number;
let next: number;
let coming: Update[];
let sent: { readonly chat: number; readonly text: string; readonly code: string | undefined }[];
let acted: string[];
let said: string[];
let seen: SeenUpdates;
let inForce: string;
let bot: Bot;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-bot-'));
  now = Date.UTC(2026, 0, 5);
  [next, coming, sent, acted, said] = [1, [], [], [], []];
  inForce = 'one kill';
  restart();
});
afterEach(() => {
  seen.close();
  rmSync(dir, { recursive: true });
});

function restart(): void {
  seen?.close();
  seen = new SeenUpdates(dir);
  bot = new Bot({
    wire: {
      updates: async (from) => coming.filter(({ update_id: id }) => id >= from),
      send: async (chat, text, button) => void sent.push({ chat, text, code: button?.[1] }),
      pressed: async () => undefined,
    },
    chats: new Set(['42', '-100']),
    isNew: (update) => seen.isNew(update),
    async act(by, command) {
      acted.push(`${by}: ${JSON.stringify(command)}`);
      return `done ${command.name}`;
    },
    inForce: async () => ({ mark: inForce, text: 'Strategy trend was killed by operator: odd.' }),
    notice: (level, text) => void said.push(`${level} ${text}`),
    now: () => now,
  });
}

async function poll(): Promise<void> {
  await bot.poll();
  await loopTurn();
}
/** A person writes; `ageMs`: so long ago. */
async function write(text: string, { chat = 42, ageMs = 0, from = ann } = {}): Promise<void> {
  const date = Math.floor((now - ageMs) / 1_000);
  const message = { message_id: next, date, text, from, chat: { id: chat, type: 'private', first_name: 'x' } };
  coming.push({ update_id: next++, message } as Update);
  await poll();
}
async function press(data: string, from = ann): Promise<void> {
  const message = { message_id: 1, date: 0, chat: { id: 42, type: 'private', first_name: 'x' } };
  coming.push({ update_id: next++, callback_query: { id: 'q', from, data, message, chat_instance: '' } } as Update);
  await poll();
}
const passTooLong = (): void => {
  now += confirmMs + 1;
};
const answers = (): readonly string[] => sent.map(({ text }) => text);

describe('a command', () => {
  test.each([
    ['/status', { name: 'status' }],
    ['/STATUS@MyBot', { name: 'status' }],
    ['/kill', { name: 'kill', reason: '/kill' }],
    ['/kill trend looks wrong', { name: 'kill', strategy: 'trend', reason: 'looks wrong' }],
    ['/kill all the exchange is odd', { name: 'kill', reason: 'the exchange is odd' }],
    ['/pause trend', { name: 'pause', strategy: 'trend', reason: '/pause' }],
    ['/why 4821ab', { name: 'why', subject: '4821ab' }],
    ['/ack 3', { name: 'ack', alarm: 3 }],
  ])('%s acts at once, and says who asked', async (text, command) => {
    await write(text);
    expect(acted).toEqual([`telegram ann (7): ${JSON.stringify(command)}`]);
    expect(answers()).toEqual([`done ${command.name}`]);
  });

  test.each(['/ack three', 'kill everything', '/sell', ''.padEnd(600, '/')])(
    '%s is answered, and does nothing',
    async (text) => {
      await write(text);
      expect(acted).toEqual([]);
      expect(sent).toHaveLength(1);
    },
  );

  test('is taken once, also over a restart', async () => {
    await write('/kill');
    await poll();
    restart();
    await poll();
    expect(acted).toHaveLength(1);
  });

  test.each(['/kill', '/resume', '/status'])('%s that is older than a minute is refused in words', async (text) => {
    await write(text, { ageMs: 2 * minute });
    expect(acted).toEqual([]);
    expect(answers()).toEqual([expect.stringMatching(/^Not done: .* was sent 2 min ago/)]);
  });
});

describe('what loosens', () => {
  test('waits for its code, by a message or the button', async () => {
    await write('/resume trend');
    expect(acted).toEqual([]);
    expect(answers()[0]).toMatch(/^Really resume trend\? In force: Strategy trend was killed by operator: odd\. /);
    inForce = 'two kills';
    await write(`/resume ${sent[0]?.code}`);
    await write('/flatten');
    await press(sent.at(-1)?.code ?? '');
    expect(acted.map((one) => JSON.parse(one.slice(one.indexOf('{'))))).toEqual([
      // As it was when the question was sent.
      { name: 'resume', strategy: 'trend', reason: '/resume', seen: 'one kill' },
      { name: 'flatten', reason: '/flatten' },
    ]);
  });

  test('a flatten of one symbol asks about that', async () => {
    await write('/flatten trend BTCUSDT before the news');
    expect(answers()[0]).toMatch(/^Really flatten trend on BTCUSDT\?/);
    await press(sent[0]?.code ?? '');
    expect(acted.map((one) => JSON.parse(one.slice(one.indexOf('{'))))).toEqual([
      { name: 'flatten', strategy: 'trend', symbol: 'BTCUSDT', reason: 'before the news' },
    ]);
  });

  test('a confirmation works once', async () => {
    await write('/resume');
    const code = sent[0]?.code ?? '';
    await press(code);
    await press(code);
    expect(acted).toHaveLength(1);
    expect(answers().at(-1)).toMatch(/^Not done/);
  });

  test.each([
    ['too late', passTooLong, ann],
    ['after a restart', restart, ann],
    ['by another person', () => undefined, { ...ann, id: 8 }],
  ])('a confirmation %s is refused', async (_, meanwhile, from) => {
    await write('/resume');
    meanwhile();
    await press(sent[0]?.code ?? '', from);
    expect(acted).toEqual([]);
    expect(answers().at(-1)).toMatch(/^Not done/);
  });

  test('a wrong code voids the right one', async () => {
    await write('/resume');
    const code = sent[0]?.code ?? '';
    await write(`/resume ${code === '000000' ? '000001' : '000000'}`);
    await press(code);
    expect(acted).toEqual([]);
  });
});

test('a foreign chat gets no answer and is reported once', async () => {
  await write('/kill', { chat: 666 });
  await write('/status', { chat: 666 });
  expect([acted, sent]).toEqual([[], []]);
  expect(said).toEqual(['warn a Telegram chat that is not in commandsFrom sent a message, and got no answer: 666']);
});

test('a name of a person is one line without control characters', async () => {
  await write('/kill', { from: { ...ann, username: 'x\n\u202eoperator' } });
  expect(acted[0]).toMatch(/^telegram x\\u000a\\u202eoperator \(7\): /);
});

test('updates that the Bot API numbers anew from a lower number are still taken', async () => {
  next = 500;
  await write('/status');
  await poll();
  coming = [];
  await poll();
  next = 3;
  await write('/kill');
  expect(acted.map((one) => one.split(': ')[1])).toHaveLength(2);
});
