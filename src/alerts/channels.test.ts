import { afterEach, expect, test } from 'vitest';
import { closeServices, mailServer, service } from '../../test/kit/services.ts';
import { alerts as schema } from '../config/alerts.ts';
import { channelOf, type Outgoing } from './channels.ts';
import { alertSecrets } from './secrets.ts';

const message: Outgoing = { level: 'error', time: 5, text: 'killed "now"\nby rule' };
afterEach(closeServices);

test('Telegram gets the text for its chat at the address of the bot', async () => {
  const { url, taken } = await service((reply) => void reply.end('{"ok":true}'));
  const send = channelOf({ type: 'telegram', chat: '-42', server: url }, '123:token');
  expect(await send(message)).toBeUndefined();
  expect(taken[0]?.path).toBe('/bot123:token/sendMessage');
  const sent = { chat_id: '-42', text: message.text, link_preview_options: { is_disabled: true } };
  expect(JSON.parse(taken[0]?.body ?? '')).toEqual(sent);
});

test('ntfy gets the text as it is, with a priority', async () => {
  const { url, taken } = await service();
  await channelOf({ type: 'ntfy' }, `${url}/my-topic`)(message);
  expect(taken[0]).toMatchObject({
    path: '/my-topic',
    body: message.text,
    headers: { title: 'Sluice', priority: '5' },
  });
});

test('a webhook gets an object, or the template with its values as JSON', async () => {
  const { url, taken } = await service();
  await channelOf({ type: 'webhook' }, url)(message);
  const template = '{"summary": "{{level}}: {{text}}", "at": {{time}}}';
  await channelOf({ type: 'webhook', template }, url)(message);
  expect(taken.map(({ body }) => JSON.parse(body))).toEqual([message, { summary: `error: ${message.text}`, at: 5 }]);
});

test('e-mail goes by SMTP, with the first line as its subject', async () => {
  const { port, lines } = await mailServer();
  const config = { type: 'email' as const, from: 'sluice@example.org', to: ['me@example.org'] };
  const send = channelOf(config, `smtp://127.0.0.1:${port}?ignoreTLS=true`);
  expect(await send({ ...message, text: 'killed by rule\nmore' })).toBeUndefined();
  expect(lines).toContain('RCPT TO:<me@example.org>');
  expect(lines).toContain('Subject: Sluice error: killed by rule');
});

test('a secret is asked for by the name of its channel, and an address must be encrypted', () => {
  const given = schema.parse({
    channels: { 'my-phone': { type: 'ntfy' } },
    routes: [{ minLevel: 'info', to: ['my-phone'] }],
  });
  const environment = (value: string) => ({ SLUICE_ALERT_MY_PHONE: value });
  expect(() => alertSecrets(given, environment(''))).toThrow(
    'SLUICE_ALERT_MY_PHONE is not set: put the address with the topic of the channel my-phone into the environment or into .env',
  );
  expect(() => alertSecrets(given, environment('http://ntfy.sh/topic'))).toThrow(
    'SLUICE_ALERT_MY_PHONE must be the address with the topic, which begins with https://',
  );
  expect(() => alertSecrets(given, environment('my topic'))).toThrow('must be the address');
  for (const url of ['https://ntfy.sh/topic', 'http://127.0.0.1:8080/topic'])
    expect(alertSecrets(given, environment(url)).channels.get('my-phone')).toBe(url);
});

test('a ping needs its address', () => {
  const given = schema.parse({
    channels: { hook: { type: 'ntfy' } },
    routes: [{ minLevel: 'info', to: ['hook'] }],
    ping: {},
  });
  const environment = { SLUICE_ALERT_HOOK: 'https://ntfy.sh/topic' };
  expect(() => alertSecrets(given, environment)).toThrow('SLUICE_PING_URL is not set: put the address to ping');
  const SLUICE_PING_URL = 'http://127.0.0.1:1/uuid';
  expect(alertSecrets(given, { ...environment, SLUICE_PING_URL }).ping).toBe(SLUICE_PING_URL);
});
