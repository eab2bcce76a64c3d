/**
 * The channels of the alerts against services that lie, hang, flood and send us elsewhere, and against texts of an exchange that mean something to a
 * service. Every attack meets every channel.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { channelOf, type Outgoing, type Send } from '../../src/alerts/channels.ts';
import { Outbox } from '../../src/alerts/outbox.ts';
import { Ping } from '../../src/alerts/ping.ts';
import { Sender } from '../../src/alerts/sender.ts';
import { alerts as schema } from '../../src/config/alerts.ts';
import { closeServices, mailServer, service, tcpService } from '../kit/services.ts';

const message: Outgoing = { level: 'error', time: 5, text: 'killed' };
const secret = 'canary-secret-path';
afterEach(closeServices);

const web = ['telegram', 'slack', 'discord', 'ntfy', 'webhook'] as const;
const configOf = (type: (typeof web)[number], url: string) =>
  type === 'telegram' ? ({ type, chat: '-42', server: url } as const) : ({ type } as const);
/** A channel whose service is at an address. */
const channelAt = (type: (typeof web)[number], url: string): Send =>
  channelOf(configOf(type, url), type === 'telegram' ? secret : `${url}/${secret}`);

type Answering = (reply: ServerResponse) => void;
/** What a channel reports of a service that answers so. */
async function reported(type: (typeof web)[number], answering: Answering): Promise<string | undefined> {
  const { url } = await service(answering);
  return channelAt(type, url)(message);
}

describe.each(web)('%s', (type) => {
  test.each<[string, Answering, string]>([
    ['fails', (reply) => void reply.writeHead(500).end(secret), 'HTTP 500'],
    ['names the address in its answer', (reply) => void reply.writeHead(404, secret).end(secret), 'HTTP 404'],
    ['breaks off', (reply) => void reply.destroy(), 'the other side cut the connection (ECONNRESET)'],
    ['speaks no HTTP', (reply) => void reply.socket?.end('garbage\r\n\r\n'), 'HPE_INVALID_CONSTANT'],
    [
      'sends headers without end',
      (reply) => void reply.socket?.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(9_999)}`),
      'HPE_HEADER_OVERFLOW',
    ],
  ])('a service that %s is reported without its address', async (_, answering, why) => {
    expect(await reported(type, answering)).toBe(why);
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect %i is not followed, and the other host gets nothing',
    async (status) => {
      const other = await service();
      expect(await reported(type, (reply) => void reply.writeHead(status, { location: `${other.url}/x` }).end())).toBe(
        `HTTP ${status}`,
      );
      expect(other.taken).toEqual([]);
    },
  );

  test('an answer without end is cut off', async () => {
    const closed = Promise.withResolvers<void>();
    const answering: Answering = (reply) => {
      reply.on('close', closed.resolve).writeHead(200);
      Readable.from(endless()).pipe(reply);
    };
    expect(await reported(type, answering)).toBe('an answer without end');
    await closed.promise;
  });

  test('an answer that unpacks to gigabytes is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const why = await reported(type, (reply) => void reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    expect(why).toBe(type === 'telegram' ? 'the service refused it' : undefined);
  });

  test.each<[string, (reply: ServerResponse) => void]>([
    ['never answers', () => undefined],
    ['answers a byte at a time', (reply) => void setInterval(() => reply.write(' '), 1_000)],
  ])('a service that %s is cut off after ten seconds', async (_, answering) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    try {
      const asked = Promise.withResolvers<void>();
      const { url } = await service((reply) => {
        answering(reply);
        asked.resolve();
      });
      const sending = channelAt(type, url)(message);
      await asked.promise;
      await vi.advanceTimersByTimeAsync(10_001);
      expect(await sending).toBe('no answer in time');
    } finally {
      vi.useRealTimers();
    }
  });
});

function* endless(): Generator<string> {
  for (;;) yield 'x'.repeat(10_000);
}

describe('a status of success is no proof', () => {
  const page = '<!doctype html><title>Welcome to the hotel</title>';
  const no = '{"ok":false,"error_code":403,"description":"bot was blocked, canary-secret-path"}';
  test.each<[(typeof web)[number], string, string | undefined]>([
    ['telegram', no, 'the service refused it (403)'],
    ['telegram', page, 'the service refused it'],
    ['telegram', '', 'the service refused it'],
    ['telegram', '{"ok":"true"}', 'the service refused it'],
    ['telegram', '{"ok":true,"result":{}}', undefined],
    ['slack', '{"ok":false,"error":"invalid_auth"}', 'the service refused it'],
    ['slack', page, 'a web page answered instead of the service'],
    ['slack', 'ok', undefined],
    ['discord', '{"error":"canary-secret-path","code":50035}', 'the service refused it (50035)'],
    ['discord', page, 'a web page answered instead of the service'],
    ['discord', '', undefined],
    ['ntfy', '{"code":40301,"error":"forbidden"}', 'the service refused it (40301)'],
    ['ntfy', page, 'a web page answered instead of the service'],
    ['ntfy', '{"id":"x","event":"message"}', undefined],
    // What your own service answers is its own affair.
    ['webhook', page, undefined],
  ])('%s answers %s', async (type, answer, why) => {
    expect(await reported(type, (reply) => void reply.end(answer))).toBe(why);
  });
});

test('a ping follows no redirect, and its failure names no address', async () => {
  const other = await service();
  const { url } = await service((reply) => void reply.writeHead(302, { location: other.url }).end());
  const notices: string[] = [];
  const ping = new Ping({
    url: `${url}/${secret}`,
    everyMs: 1,
    now: () => 1,
    notice: (_, text) => void notices.push(text),
  });
  ping.well();
  await ping.send();
  expect(notices).toEqual([expect.stringMatching(/^the ping fails: HTTP 302\./)]);
  expect(other.taken).toEqual([]);
});

const mail = { type: 'email' as const, from: 'a@example.org', to: ['b@example.org'] };

test.each<[string, string, string]>([
  ['talks for ever', '220-here\r\n', 'no answer in time'],
  ['refuses the password', '220 here\r\n', 'EAUTH'],
])('a mail server that %s is reported without the password', async (_, greeting, why) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const begun = Promise.withResolvers<void>();
    const port = await tcpService((socket) => {
      socket.write(greeting, () => begun.resolve());
      socket.on('data', (data) => {
        if (greeting.startsWith('220-')) return;
        const isHello = String(data).startsWith('EHLO');
        socket.write(isHello ? '250-here\r\n250 AUTH PLAIN\r\n' : `535 wrong ${String(data)}\r\n`);
      });
    });
    const sending = channelOf(mail, `smtp://me:${secret}@127.0.0.1:${port}?ignoreTLS=true`)(message);
    await begun.promise;
    if (why === 'no answer in time') await vi.advanceTimersByTimeAsync(10_001);
    expect(await sending).toBe(why);
  } finally {
    vi.useRealTimers();
  }
});

describe('what an exchange says', () => {
  const hostile =
    'rejected <!channel> <@U1> @everyone @here\r\nBcc: evil@example.org\r\n\r\n<a href="https://evil.example">ok</a> [Sluice](https://evil.example) *b* `c` \u202egnp.\u0000 {{level}} ","x":"';
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'sluice-markup-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  /** Sends it as a daemon does, by one channel. */
  async function alerted(config: object, send: Send): Promise<void> {
    const outbox = new Outbox(dir);
    const given = schema.parse({ channels: { one: config }, routes: [{ minLevel: 'info', to: ['one'] }] });
    const sender = new Sender({ config: given, channels: new Map([['one', send]]), outbox, now: () => 1 });
    sender.add({ kind: 'rejected', level: 'warn', time: 1, text: hostile });
    await sender.send();
    expect(outbox.waiting().size).toBe(0);
    outbox.close();
  }
  async function bodyBy(type: (typeof web)[number], more: object = {}): Promise<string> {
    const { url, taken } = await service((reply) => void reply.end('{"ok":true}'));
    const config = { ...configOf(type, url), ...more };
    await alerted(config, channelOf(config, type === 'telegram' ? secret : url));
    expect(taken[0]?.headers).not.toHaveProperty('bcc');
    return taken[0]?.body ?? '';
  }

  test('is plain text on Telegram', async () => {
    const sent = JSON.parse(await bodyBy('telegram'));
    expect(Object.keys(sent).sort()).toEqual(['chat_id', 'link_preview_options', 'text']);
    expect(sent.text).toContain(String.raw`@here\u000d`);
    expect(sent.text).not.toMatch(/[\r\0\u202e]/);
  });

  test('mentions nobody on Slack, and hides no link', async () => {
    const sent = JSON.parse(await bodyBy('slack'));
    expect(sent).toMatchObject({ mrkdwn: false, unfurl_links: false });
    expect(sent.text).toContain('&lt;!channel&gt; &lt;@U1&gt;');
    expect(sent.text).not.toMatch(/[<>]/);
  });

  test('mentions nobody on Discord, and hides no link', async () => {
    const sent = JSON.parse(await bodyBy('discord'));
    expect(sent).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
    expect(sent.content).toContain(String.raw`\\@everyone`.slice(1));
    expect(sent.content).toContain(String.raw`\[Sluice\]\(https\://evil.example\) \*b\*`);
  });

  test('is no header on ntfy', async () => {
    expect(await bodyBy('ntfy')).toMatch(/^WARN rejected <!channel>/);
  });

  test('is one JSON string for a webhook, also in a template', async () => {
    expect(JSON.parse(await bodyBy('webhook'))).toMatchObject({
      level: 'warn',
      text: expect.stringContaining('","x":"'),
    });
    const sent = JSON.parse(await bodyBy('webhook', { template: '{"a": "{{text}}"}' }));
    expect(Object.keys(sent)).toEqual(['a']);
    expect(sent.a).toContain('{{level}}');
  });

  /** Names of the headers of the only mail. */
  const namesIn = (lines: readonly string[]): readonly string[] =>
    lines
      .slice(lines.indexOf('DATA') + 1, lines.indexOf('', lines.indexOf('DATA')))
      .filter((line) => /^\S/.test(line))
      .map((line) => line.slice(0, line.indexOf(':')));

  test('adds no header, no recipient and no HTML to an e-mail', async () => {
    const { port, lines } = await mailServer();
    await alerted(mail, channelOf(mail, `smtp://127.0.0.1:${port}?ignoreTLS=true`));
    expect(namesIn(lines)).toEqual([
      'From',
      'To',
      'Subject',
      'Message-ID',
      'Content-Transfer-Encoding',
      'Date',
      'MIME-Version',
      'Content-Type',
    ]);
    expect(lines.find((line) => line.startsWith('Content-Type'))).toBe('Content-Type: text/plain; charset=utf-8');
    expect(lines.filter((line) => line.startsWith('RCPT'))).toEqual(['RCPT TO:<b@example.org>']);
  });

  test('adds no header to an e-mail where nothing escaped it either', async () => {
    const { port, lines } = await mailServer();
    const send = channelOf(mail, `smtp://127.0.0.1:${port}?ignoreTLS=true`);
    expect(await send({ ...message, text: 'killed\rBcc: evil@example.org\r\nCc: evil@example.org' })).toBeUndefined();
    expect(namesIn(lines)).not.toContain('Bcc');
    expect(namesIn(lines)).not.toContain('Cc');
    expect(lines.filter((line) => line.startsWith('RCPT'))).toEqual(['RCPT TO:<b@example.org>']);
  });
});
