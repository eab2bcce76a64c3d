import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { alerts as schema } from '../config/alerts.ts';
import { channelOf, type Outgoing } from './channels.ts';
import { channelSecrets } from './secrets.ts';

const message: Outgoing = { level: 'error', time: 5, text: 'killed <!channel> @everyone "now"\nby rule' };
const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

interface Taken {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server of a service: it keeps what it is sent, and answers with a status. */
async function service(status = 200, headers: Record<string, string> = {}) {
  const taken: Taken[] = [];
  const server: Server = createHttp((request, answer) => {
    let body = '';
    request.on('data', (part) => {
      body += String(part);
    });
    request.on('end', () => {
      taken.push({ path: request.url ?? '', headers: request.headers, body });
      answer.writeHead(status, headers).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, taken };
}

test('Telegram gets the text for its chat at the address of the bot', async () => {
  const { url, taken } = await service();
  const send = channelOf({ type: 'telegram', chat: '-42', server: url }, '123:token');
  expect(await send(message)).toBeUndefined();
  expect(taken[0]?.path).toBe('/bot123:token/sendMessage');
  expect(JSON.parse(taken[0]?.body ?? '')).toEqual({ chat_id: '-42', text: message.text });
});

test('Slack and Discord get text that mentions nobody', async () => {
  const { url, taken } = await service();
  await channelOf({ type: 'slack' }, `${url}/services/T0/secret`)(message);
  await channelOf({ type: 'discord' }, `${url}/api/webhooks/1/secret`)(message);
  expect(taken.map(({ path }) => path)).toEqual(['/services/T0/secret', '/api/webhooks/1/secret']);
  expect(JSON.parse(taken[0]?.body ?? '')).toEqual({ text: 'killed &lt;!channel&gt; @everyone "now"\nby rule' });
  expect(JSON.parse(taken[1]?.body ?? '')).toEqual({ content: message.text, allowed_mentions: { parse: [] } });
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

test('a failure is a status or a code, without the address, and a redirect is not followed', async () => {
  const { url } = await service(500);
  expect(await channelOf({ type: 'slack' }, `${url}/secret`)(message)).toBe('HTTP 500');
  const moved = await service(302, { location: url });
  expect(await channelOf({ type: 'ntfy' }, `${moved.url}/secret`)(message)).toBe('HTTP 302');
  expect(await channelOf({ type: 'slack' }, 'http://127.0.0.1:1/secret')(message)).toBe('ECONNREFUSED');
});

test('e-mail goes by SMTP, with the first line as its subject', async () => {
  const lines: string[] = [];
  let isData = false;
  const server = createTcp((socket) => {
    socket.write('220 here\r\n');
    socket.on('data', (data) => {
      for (const line of String(data).split('\r\n').slice(0, -1)) {
        lines.push(line);
        if (isData && line !== '.') continue;
        if (line === 'DATA') {
          isData = true;
          socket.write('354 go on\r\n');
        } else {
          isData = false;
          socket.write(line.startsWith('EHLO') ? '250-here\r\n250 8BITMIME\r\n' : '250 ok\r\n');
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  const { port } = server.address() as AddressInfo;
  const send = channelOf(
    { type: 'email', from: 'sluice@example.org', to: ['me@example.org'] },
    `smtp://127.0.0.1:${port}?ignoreTLS=true`,
  );
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
  expect(() => channelSecrets(given, environment(''))).toThrow(
    'SLUICE_ALERT_MY_PHONE is not set: put the address with the topic of the channel my-phone into the environment or into .env',
  );
  expect(() => channelSecrets(given, environment('http://ntfy.sh/topic'))).toThrow(
    'SLUICE_ALERT_MY_PHONE must be the address with the topic, which begins with https://',
  );
  expect(() => channelSecrets(given, environment('my topic'))).toThrow('must be the address');
  for (const url of ['https://ntfy.sh/topic', 'http://127.0.0.1:8080/topic'])
    expect(channelSecrets(given, environment(url)).get('my-phone')).toBe(url);
});
