/** A daemon that obeys a chat, against a server that speaks the Bot API. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { machineWall } from '../../src/clock/clock.ts';
import { rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();
const token = '123456:canary-token-of-a-bot';
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** `getUpdates` is held until something comes, as by the real one. */
async function botApi() {
  const sent: { readonly chat_id: number; readonly text: string; readonly reply_markup?: object }[] = [];
  const updates: { readonly update_id: number }[] = [];
  let held: (() => void) | undefined;
  const answer = (to: ServerResponse, result: unknown): void =>
    void to.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, result }));
  server = createServer((request, reply) => {
    let body = '';
    request.on('data', (part) => {
      body += String(part);
    });
    request.on('end', () => {
      const given = JSON.parse(body || '{}') as { offset?: number };
      if (request.url === `/bot${token}/getUpdates`) {
        const give = (): void =>
          answer(
            reply,
            updates.filter(({ update_id: id }) => id >= (given.offset ?? 0)),
          );
        if (updates.some(({ update_id: id }) => id >= (given.offset ?? 0))) give();
        else held = give;
      } else {
        if (request.url === `/bot${token}/sendMessage`) sent.push(JSON.parse(body));
        answer(reply, {});
      }
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const come = (update: object): void => {
    updates.push({ update_id: updates.length + 1, ...update });
    held?.();
    held = undefined;
  };
  const from = { id: 7, is_bot: false, first_name: 'Ann' };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    write(text: string, chat = 42): void {
      const date = Math.floor(machineWall() / 1_000);
      come({ message: { message_id: 1, date, text, from, chat: { id: chat, type: 'private' } } });
    },
    press(data: string): void {
      come({ callback_query: { id: '1', from, data, message: { message_id: 1, date: 0, chat: { id: 42 } } } });
    },
    async answer(text: RegExp) {
      await until(`an answer ${text}`, () => sent.some((one) => text.test(one.text)));
      return sent.find((one) => text.test(one.text));
    },
  };
}

test('a chat asks, kills, and resumes with a confirmation; the journal has who', async () => {
  const api = await botApi();
  Object.assign(rig.env, { SLUICE_ALERT_PHONE: token });
  rig.configure({
    alerts: {
      channels: { phone: { type: 'telegram', chat: '42', server: api.url, commandsFrom: ['42'] } },
      routes: [{ minLevel: 'error', to: ['phone'], escalate: { repeatMs: 3_600_000, to: ['phone'] } }],
    },
  });
  const daemon = await rig.start();
  api.write('/status');
  await api.answer(/^live: Trading\. 3 strategies running/);
  api.write('/kill', 666);
  api.write('/kill all strange prices');
  await api.answer(/killed, and exits stay in force/);
  expect(rig.read((journal) => journal.kills())).toMatchObject([
    { kind: 'kill', strategy: null, by: 'telegram Ann (7)', reason: 'strange prices' },
  ]);
  await api.answer(/alarm 1: sluice alerts ack 1/);
  api.write('/ack');
  await api.answer(/one alarm is acknowledged/i);
  const ask = async (question: RegExp): Promise<string> => {
    api.write('/resume');
    return /\/resume (\d{6})/.exec((await api.answer(question))?.text ?? '')?.[1] ?? '';
  };
  const early = await ask(/^Really resume everything\? In force: All strategies were killed by telegram Ann/);
  // What comes after the question is not lifted by its answer.
  await rig.run('kill', '--strategy', 'maker', '--reason', 'odd quotes');
  api.press(early);
  await api.answer(/^Not done: nothing was lifted: .* Now in force: Strategy maker was killed by operator: odd quotes/);
  expect(rig.read((journal) => journal.kills())).toHaveLength(2);
  api.press(await ask(/^Really resume everything\? In force: Strategy maker was killed/));
  await api.answer(/may create orders again/);
  expect(rig.read((journal) => journal.kills())).toEqual([]);
  await daemon.end('SIGINT');
  expect(daemon.lines.filter((line) => line.includes('666'))).toHaveLength(1);
  expect(api.sent.filter(({ chat_id: chat }) => Number(chat) !== 42)).toEqual([]);
  expect(`${daemon.lines.join('\n')}${JSON.stringify(api.sent)}`).not.toContain(token);
});
