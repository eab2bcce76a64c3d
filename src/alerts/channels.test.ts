import { createServer as createHttp, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Server as TcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { alerts as schema } from '../config/alerts.ts';
import { channelOf, type Outgoing } from './channels.ts';
import { alertSecrets, secretTexts } from './secrets.ts';

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

async function listening(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
  return { url: await listening(server), taken };
}

test('Telegram gets the text for its chat at the address of the bot', async () => {
  const { url, taken } = await service();
  const send = channelOf({ type: 'telegram', chat: '-42', server: url }, '123:token');
  expect(await send(message)).toBeUndefined();
  expect(taken[0]?.path).toBe('/bot123:token/sendMessage');
  const sent = { chat_id: '-42', text: message.text, link_preview_options: { is_disabled: true } };
  expect(JSON.parse(taken[0]?.body ?? '')).toEqual(sent);
});

test('Slack and Discord get text that mentions nobody', async () => {
  const { url, taken } = await service();
  await channelOf({ type: 'slack' }, `${url}/services/T0/secret`)(message);
  await channelOf({ type: 'discord' }, `${url}/api/webhooks/1/secret`)(message);
  expect(taken.map(({ path }) => path)).toEqual(['/services/T0/secret', '/api/webhooks/1/secret']);
  expect(JSON.parse(taken[0]?.body ?? '')).toMatchObject({
    text: 'killed &lt;!channel&gt; @everyone "now"\nby rule',
    mrkdwn: false,
  });
  expect(JSON.parse(taken[1]?.body ?? '')).toMatchObject({
    content: 'killed \\<!channel\\> \\@everyone "now"\nby rule',
    allowed_mentions: { parse: [] },
  });
});

test('a link behind other words shows its address on Discord', async () => {
  const { url, taken } = await service();
  const text = '[Sluice says resume](https://evil.example) **now**';
  await channelOf({ type: 'discord' }, url)({ ...message, text });
  expect(JSON.parse(taken[0]?.body ?? '').content).toBe(
    '\\[Sluice says resume\\]\\(https\\://evil.example\\) \\*\\*now\\*\\*',
  );
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

describe('a service that', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('takes the message and never answers is cut off', async () => {
    const asked = Promise.withResolvers<void>();
    const server = createHttp(() => asked.resolve());
    const send = channelOf({ type: 'ntfy' }, `${await listening(server)}/topic`);
    const sending = send(message);
    await asked.promise;
    await vi.advanceTimersByTimeAsync(10_001);
    expect(await sending).toBe('no answer in time');
  });

  test('answers without end is cut off', async () => {
    const closed = Promise.withResolvers<void>();
    const server = createHttp((_, answer) => {
      answer.on('close', closed.resolve).writeHead(200);
      Readable.from(endless()).pipe(answer);
    });
    expect(await channelOf({ type: 'slack' }, await listening(server))(message)).toBe('an answer without end');
    await closed.promise;
  });

  test('talks SMTP for ever is cut off', async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const server = createTcp((socket) => {
      socket.on('close', () => ended.resolve()).on('error', () => undefined);
      socket.write('220-here\r\n', () => begun.resolve());
    });
    await listening(server);
    const { port } = server.address() as AddressInfo;
    const mail = { type: 'email' as const, from: 'a@example.org', to: ['b@example.org'] };
    const sending = channelOf(mail, `smtp://127.0.0.1:${port}`)(message);
    await begun.promise;
    await vi.advanceTimersByTimeAsync(10_001);
    expect(await sending).toBe('no answer in time');
    await ended.promise;
  });
});

function* endless(): Generator<string> {
  for (;;) yield 'x'.repeat(10_000);
}

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
  await listening(server);
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

test('what no message may contain: secrets, and what names an account in an address', () => {
  const channels = new Map([
    ['phone', '123456789:AAbbCCddEEff-token'],
    ['mail', 'smtps://me:pass%20word%21x@mail.example.org:465'],
    ['team', 'https://hooks.slack.com/services/T000/B000/abcdefghijklmnop'],
  ]);
  const texts = secretTexts({ channels, ping: 'https://hc-ping.com/5e0b9a1c-77aa-4c5c-8f9a-000000000000' });
  expect(texts).toEqual(
    expect.arrayContaining([
      ...channels.values(),
      ...['AAbbCCddEEff-token', 'pass word!x', 'abcdefghijklmnop', '5e0b9a1c-77aa-4c5c-8f9a-000000000000'],
    ]),
  );
  // Words of an address that everybody knows stay readable.
  expect(texts).not.toContain('services');
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
