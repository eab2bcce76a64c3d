import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { btcusdt, client, intent, letGo, stubServer } from '../../../../test/kit/exchange-stub.ts';
import type { HttpReply, HttpTimeouts } from './http.ts';
import { openHttp } from './http-client.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const body = '{"symbol":"BTCUSDT"}';
const request = (url: string) =>
  ({ method: 'POST', url: new URL('/sapi/v1/order', url), headers: { 'x-ch-apikey': 'k' }, body }) as const;

function http(timeouts?: HttpTimeouts) {
  const made = openHttp(timeouts);
  undo.push(() => made.close());
  return made;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  undo.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of open) socket.destroy();
      }),
  );
  return (server.address() as AddressInfo).port;
}

const tcp = (onSocket: (socket: Socket) => void): Promise<number> => listening(createTcpServer(onSocket));
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n{}';

/** Orders wait for a gate and go by another client than all other requests. Both give the same proofs. */
const ways = [
  { way: 'without a gate', gateOf: () => undefined },
  { way: 'behind an open gate', gateOf: () => Promise.resolve(undefined) },
] as const;
const sender = (gateOf: (typeof ways)[number]['gateOf'], timeouts?: HttpTimeouts) => {
  const made = http(timeouts);
  return { send: (given: ReturnType<typeof request>) => made.send(given, gateOf()) };
};

describe.each(ways)('$way, a request is proven not sent', ({ gateOf }) => {
  const http = (timeouts?: HttpTimeouts) => sender(gateOf, timeouts);
  const notSent = (reply: HttpReply) => expect(reply).toMatchObject({ kind: 'failed', written: false });

  it('when nobody listens', async () => {
    const port = await tcp(() => {});
    await undo.pop()?.();
    notSent(await http().send(request(`http://127.0.0.1:${port}`)));
  });

  it('when the name is not known', async () => {
    notSent(await http().send(request('http://sluice.invalid')));
  });

  it('when the connection does not come about in time', async () => {
    // A listener whose queue is full drops what comes; an address that is not routed does the same or refuses.
    notSent(await http({ connectMs: 50, requestMs: 200 }).send(request('http://192.0.2.1')));
  });

  it('when the other side speaks no TLS, or hangs up in the middle of its handshake', async () => {
    const plain = await tcp((socket) => socket.once('data', () => socket.write('no TLS here\r\n')));
    notSent(await http().send(request(`https://127.0.0.1:${plain}`)));
    const rude = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    notSent(await http().send(request(`https://127.0.0.1:${rude}`)));
  });

  it('when its certificate is not trusted: and it did receive nothing', async () => {
    let received = 0;
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received += chunk.length;
      });
    });
    server.on('tlsClientError', () => {});
    const port = await listening(server);
    for (let index = 0; index < 20; index++) notSent(await http().send(request(`https://127.0.0.1:${port}`)));
    expect(received).toBe(0);
  });
});

describe('a gate', () => {
  const counted = async () => {
    const seen = { port: 0, received: 0 };
    seen.port = await tcp((socket) =>
      socket.on('data', (chunk) => {
        seen.received += chunk.length;
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      }),
    );
    return seen;
  };

  it('holds back every byte until it lets them go', async () => {
    const seen = await counted();
    let open: (against: string | undefined) => void = () => {};
    const gate = new Promise<string | undefined>((resolve) => {
      open = resolve;
    });
    const reply = http().send(request(`http://127.0.0.1:${seen.port}`), gate);
    // A request beside it, through another client, has come and gone meanwhile.
    expect(await http().send(request(`http://127.0.0.1:${seen.port}`))).toMatchObject({ kind: 'reply' });
    const alone = seen.received;
    open(undefined);
    expect(await reply).toMatchObject({ kind: 'reply', status: 200 });
    expect(seen.received).toBeGreaterThan(alone);
  });

  it('that gives a reason ends the request, of which nothing left', async () => {
    const seen = await counted();
    const reply = await http().send(request(`http://127.0.0.1:${seen.port}`), Promise.resolve('killed'));
    expect(reply).toEqual({ kind: 'failed', cause: 'killed', written: false });
    expect(seen.received).toBe(0);
  });

  it('that breaks ends the request as well', async () => {
    const seen = await counted();
    const gate = Promise.reject(new Error('the journal broke'));
    expect(await http().send(request(`http://127.0.0.1:${seen.port}`), gate)).toMatchObject({ written: false });
    expect(seen.received).toBe(0);
  });

  it('that opens after the time for the request is over lets nothing go', async () => {
    const seen = await counted();
    let open: (against: string | undefined) => void = () => {};
    const gate = new Promise<string | undefined>((resolve) => {
      open = resolve;
    });
    const hurried = http({ connectMs: 1_000, requestMs: 50 });
    const reply = await hurried.send(request(`http://127.0.0.1:${seen.port}`), gate);
    expect(reply).toMatchObject({ kind: 'failed', written: false });
    open(undefined);
    // By then a byte of it would have come.
    expect(await http().send(request(`http://127.0.0.1:${seen.port}`))).toMatchObject({ kind: 'reply' });
    const alone = seen.received;
    await http().send(request(`http://127.0.0.1:${seen.port}`));
    expect(seen.received).toBe(2 * alone);
  });

  it('lets the same bytes go that a request without one is', async () => {
    const texts: string[] = [];
    const port = await tcp((socket) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (!text.endsWith(body)) return;
        texts.push(text);
        socket.end(answer);
      });
    });
    await http().send(request(`http://127.0.0.1:${port}`));
    await http().send(request(`http://127.0.0.1:${port}`), Promise.resolve(undefined));
    expect(texts).toHaveLength(2);
    const [plain, gated] = texts.map((text) => text.toLowerCase().split('\r\n').sort());
    expect(gated).toEqual(plain);
  });

  /** An exchange that keeps its connections, a client that has one, and a gate that somebody else opens. */
  const kept = async (onSecond: (socket: Socket) => void) => {
    const sockets: Socket[] = [];
    let requests = 0;
    const port = await tcp((socket) => {
      sockets.push(socket);
      socket.on('data', () => {
        requests++;
        if (requests === 1) socket.write(answer);
        else onSecond(socket);
      });
    });
    const one = http();
    await one.send(request(`http://127.0.0.1:${port}`));
    let open: (against: string | undefined) => void = () => {};
    const gate = new Promise<string | undefined>((resolve) => {
      open = resolve;
    });
    const reply = one.send(request(`http://127.0.0.1:${port}`), gate);
    // The connection is taken while the gate is shut.
    await one.send(request('http://127.0.0.1:1'));
    return { sockets, open, reply, requests: () => requests };
  };

  it('waits with a connection taken, and what breaks after it opened may have been sent', async () => {
    const { sockets, open, reply } = await kept((socket) => socket.resetAndDestroy());
    open(undefined);
    expect(await reply).toMatchObject({ kind: 'failed', written: true });
    expect(sockets).toHaveLength(1);
  });

  it('behind which the connection is closed ends the request, of which nothing left', async () => {
    const { sockets, open, reply, requests } = await kept(() => {});
    const closed = new Promise((resolve) => sockets[0]?.once('close', resolve));
    sockets[0]?.end();
    await closed;
    open(undefined);
    expect(await reply).toMatchObject({ kind: 'failed', written: false });
    expect(requests()).toBe(1);
  });

  it('that gives a reason leaves a kept connection without a byte of the request', async () => {
    const { open, reply, requests } = await kept(() => {});
    open('killed');
    expect(await reply).toEqual({ kind: 'failed', cause: 'killed', written: false });
    expect(requests()).toBe(1);
  });
});

describe.each(ways)('$way, a request may have been sent', ({ gateOf }) => {
  const http = (timeouts?: HttpTimeouts) => sender(gateOf, timeouts);
  const sent = (reply: HttpReply) => expect(reply).toMatchObject({ kind: 'failed', written: true });

  it('when the connection is reset after it was accepted', async () => {
    const port = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    sent(await http().send(request(`http://127.0.0.1:${port}`)));
  });

  it('when no answer comes in time', async () => {
    const port = await tcp((socket) => socket.on('data', () => {}));
    sent(await http({ connectMs: 1_000, requestMs: 100 }).send(request(`http://127.0.0.1:${port}`)));
  });

  it('when the answer breaks off', async () => {
    const port = await tcp((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"orderId"')),
    );
    sent(await http().send(request(`http://127.0.0.1:${port}`)));
  });

  it('when the answer is no HTTP, or never ends', async () => {
    const odd = await tcp((socket) => socket.once('data', () => socket.end('hello\r\n\r\n')));
    sent(await http().send(request(`http://127.0.0.1:${odd}`)));
    const endless = await tcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n');
        socket.write('x'.repeat(20_000_000));
      });
    });
    const reply = await http().send(request(`http://127.0.0.1:${endless}`));
    sent(reply);
    expect(reply).toMatchObject({ cause: expect.stringContaining('larger than') });
  });

  it('when a kept connection turns out to be stale, and then it is not tried again', async () => {
    let requests = 0;
    const port = await tcp((socket) => {
      socket.on('data', () => {
        requests++;
        if (requests === 1) socket.write(answer);
        else socket.resetAndDestroy();
      });
    });
    const one = http();
    expect(await one.send(request(`http://127.0.0.1:${port}`))).toMatchObject({ kind: 'reply', status: 200 });
    sent(await one.send(request(`http://127.0.0.1:${port}`)));
    expect(requests).toBe(2);
  });
});

it('a request may have been sent when the kept connection is being closed in the same moment', async () => {
  const sockets: Socket[] = [];
  const port = await tcp((socket) => {
    sockets.push(socket);
    socket.once('data', () => socket.write(answer));
  });
  const one = http();
  await one.send(request(`http://127.0.0.1:${port}`));
  sockets[0]?.resetAndDestroy();
  const reply = await one.send(request(`http://127.0.0.1:${port}`));
  if (reply.kind === 'failed') expect(reply.written).toBe(true);
  else expect(sockets).toHaveLength(2);
});

describe.each(ways)('$way, an answer', ({ gateOf }) => {
  const http = (timeouts?: HttpTimeouts) => sender(gateOf, timeouts);
  it('of any status is an answer: errors are not thrown, redirects not followed, nothing repeated', async () => {
    const stub = await stubServer();
    undo.push(stub.close);
    const one = http();
    for (const status of [200, 302, 400, 404, 418, 429, 500, 503]) {
      stub.answer = (_, response) =>
        void response.writeHead(status, { location: '/other', 'retry-after': '1' }).end('x');
      expect(await one.send(request(stub.url))).toEqual({ kind: 'reply', status, retryAfter: '1', body: 'x' });
    }
    expect(stub.requests).toHaveLength(8);
    expect(new Set(stub.requests.map(({ target }) => target))).toEqual(new Set(['/sapi/v1/order']));
  });

  it('comes over one kept connection', async () => {
    const stub = await stubServer();
    undo.push(stub.close);
    let connections = 0;
    stub.server.on('connection', () => connections++);
    const one = http();
    for (let index = 0; index < 5; index++) await one.send(request(stub.url));
    expect(connections).toBe(1);
  });
});

describe('key, secret and signature', () => {
  it('print nowhere, whatever goes wrong', async () => {
    const key = 'CANARYKEY5f0c';
    const secret = 'CANARYSECRET77ab';
    const stub = await stubServer();
    undo.push(stub.close);
    const signatures: string[] = [];
    const { exchange, lines } = client(stub.url, { apiKey: key, apiSecret: secret });
    undo.push(() => exchange.close());
    const seen: unknown[] = [exchange, exchange.orders.prepare(intent(), btcusdt), lines];
    const ask = async (): Promise<void> => {
      seen.push(await exchange.orders.prepare(intent(), btcusdt).send(letGo));
      seen.push(await exchange.orders.cancel({ symbol: 'BTCUSDT', orderId: '1' }));
      seen.push(await exchange.account.balances());
    };
    for (const status of [200, 400, 403, 429, 500, 302]) {
      // The worst of exchanges: it sends back all that it was given, in every place there is.
      stub.answer = ({ headers }, response) => {
        signatures.push(String(headers['x-ch-sign']));
        response.statusCode = status;
        return { code: -9_999, msg: `${key} ${secret} ${JSON.stringify(headers)}`, orderId: key, balances: key };
      };
      await ask();
    }
    stub.answer = (_, response) => void response.destroy();
    await ask();
    await stub.close();
    await ask();
    const printed = [
      inspect(seen, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
      JSON.stringify(seen, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ];
    const sink = { write: (line: string) => void printed.push(line) };
    const log = pino({ level: 'trace' }, sink);
    for (const value of seen) log.error({ value }, 'x');
    const text = printed.join('\n');
    expect(signatures.length).toBeGreaterThan(10);
    for (const canary of [key, secret, ...signatures]) expect(text.includes(canary)).toBe(false);
  });
});

/** Self-signed, for this test alone. */
const key = [
  '-----BEGIN PRIVATE KEY-----',
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgApxbrwhs/TdJ8e1d',
  'QGH0CN40pcz8a6c65pPOvCA+WPKhRANCAARJ7evfCznTgNU12oj0j8KXIIDaDrV4',
  '8/Ar6a4PandeCGfYivNRR7K3w7ycmtiB8BMuIh1nc5mrVgkqfNJxt/0J',
  '-----END PRIVATE KEY-----',
].join('\n');
const cert = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBfzCCASWgAwIBAgIUcaN4GU2GLWEbdoAP9b/S9TWohRcwCgYIKoZIzj0EAwIw',
  'FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE0MTg0OVoYDzIxMjYxMDI4',
  'MTQxODQ5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO',
  'PQMBBwNCAARJ7evfCznTgNU12oj0j8KXIIDaDrV48/Ar6a4PandeCGfYivNRR7K3',
  'w7ycmtiB8BMuIh1nc5mrVgkqfNJxt/0Jo1MwUTAdBgNVHQ4EFgQUiNX0y4iQfBIL',
  'm0UKdV7TicBYgOkwHwYDVR0jBBgwFoAUiNX0y4iQfBILm0UKdV7TicBYgOkwDwYD',
  'VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAEzrk5P5J54LoRrzbxz71n',
  'rJgUcvGfVFpSbgiKsozmTQIhAM3A69YwPKpxuR5j7eeFg4aW1A3l4wSPQnfEVcWN',
  'pR1X',
  '-----END CERTIFICATE-----',
].join('\n');
