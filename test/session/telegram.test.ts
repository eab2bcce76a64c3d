/** A daemon that obeys a chat, against a server that speaks the Bot API. */
import { afterEach, expect, test } from 'vitest';
import { rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { botApi, closeServices } from '../kit/services.ts';

rigForEachTest();
afterEach(closeServices);
const token = '123456:canary-token-of-a-bot';

test('a chat asks, kills, and resumes with a confirmation; the journal has who', async () => {
  const api = await botApi(token);
  Object.assign(rig.env, { SLUICE_ALERT_PHONE: token });
  rig.configure({
    alerts: {
      channels: { phone: { type: 'telegram', chat: '42', server: api.url, commandsFrom: ['42'] } },
      routes: [{ minLevel: 'error', to: ['phone'], escalate: { repeatMs: 3_600_000, to: ['phone'] } }],
    },
  });
  const daemon = await rig.start();
  api.write('/status');
  await api.answer(/^\[state\] live: Trading\. 3 strategies running/);
  api.write('/kill', 666);
  api.write('/kill all strange prices');
  await api.answer(/killed, and exits stay in force/);
  expect(rig.read((journal) => journal.kills())).toMatchObject([
    { kind: 'kill', strategy: null, by: 'telegram Ann (7)', reason: 'strange prices' },
  ]);
  await api.answer(/alarm 1: sluice alerts ack --state \S+ 1/);
  api.write('/ack');
  await api.answer(/one alarm is acknowledged/i);
  const ask = async (question: RegExp): Promise<string> => {
    api.write('/resume');
    return /\/resume (\d{6})/.exec((await api.answer(question))?.text ?? '')?.[1] ?? '';
  };
  const early = await ask(/^\[state\] Really resume everything\? In force: All strategies were killed by telegram Ann/);
  // What comes after the question is not lifted by its answer.
  await rig.run('kill', '--strategy', 'maker', '--reason', 'odd quotes');
  api.press(early);
  await api.answer(
    /^\[state\] Not done: nothing was lifted: .* Now in force: Strategy maker was killed by operator: odd quotes/,
  );
  expect(rig.read((journal) => journal.kills())).toHaveLength(2);
  api.press(await ask(/^\[state\] Really resume everything\? In force: Strategy maker was killed/));
  await api.answer(/may create orders again/);
  expect(rig.read((journal) => journal.kills())).toEqual([]);
  await daemon.end('SIGINT');
  expect(daemon.lines.filter((line) => line.includes('666'))).toHaveLength(1);
  expect(api.sent.filter(({ chat_id: chat }) => Number(chat) !== 42)).toEqual([]);
  expect(`${daemon.lines.join('\n')}${JSON.stringify(api.sent)}`).not.toContain(token);
});
