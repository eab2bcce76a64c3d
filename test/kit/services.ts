/** Servers that stand for the services of people: they keep what they are sent, and answer as a test has it. */
import { createServer as createHttp, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { machineWall } from '../../src/clock/clock.ts';
import { until } from './until.ts';

const open: { close(): unknown }[] = [];

/** Closes every server of a test; for `afterEach`. */
export function closeServices(): void {
  for (const one of open.splice(0)) one.close();
}

async function listening(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  if ('closeAllConnections' in server) open.push({ close: () => server.closeAllConnections() });
  return (server.address() as AddressInfo).port;
}

export interface Taken {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A service on HTTP. Left out, it takes everything. */
export async function service(
  answer: (reply: ServerResponse, request: Taken) => void = (reply) => void reply.end('{}'),
): Promise<{ readonly url: string; readonly taken: readonly Taken[] }> {
  const taken: Taken[] = [];
  const server = createHttp((request, reply) => {
    let body = '';
    request.on('data', (part) => {
      body += String(part);
    });
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body };
      taken.push(one);
      answer(reply, one);
    });
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, taken };
}

/** A service on TCP. */
export async function tcpService(serve: (socket: Socket) => void): Promise<number> {
  return listening(
    createTcp((socket) => {
      open.push({ close: () => socket.destroy() });
      serve(socket.on('error', () => undefined));
    }),
  );
}

/** A mail server; it keeps every line that it is sent. */
export async function mailServer(): Promise<{ readonly port: number; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const port = await tcpService((socket) => {
    let [rest, isData] = ['', false];
    socket.write('220 here\r\n');
    socket.on('data', (data) => {
      const parts = `${rest}${String(data)}`.split('\r\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        if (isData && line !== '.') continue;
        isData = line === 'DATA';
        if (isData) socket.write('354 go on\r\n');
        else if (line.startsWith('EHLO')) socket.write('250-here\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n');
        else socket.write(line.startsWith('AUTH') ? '235 ok\r\n' : '250 ok\r\n');
      }
    });
  });
  return { port, lines };
}

/** A server of the Bot API. `getUpdates` is held until something comes, as by the real one. */
export async function botApi(token: string) {
  const sent: { readonly chat_id: number | string; readonly text: string; readonly reply_markup?: object }[] = [];
  const updates: { readonly update_id: number }[] = [];
  let held: (() => void) | undefined;
  const { url } = await service((reply, { path, body }) => {
    const answer = (result: unknown): void =>
      void reply.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, result }));
    if (path === `/bot${token}/getUpdates`) {
      const { offset = 0 } = JSON.parse(body || '{}') as { offset?: number };
      const give = (): void => answer(updates.filter(({ update_id: id }) => id >= offset));
      if (updates.some(({ update_id: id }) => id >= offset)) give();
      else held = give;
      return;
    }
    if (path === `/bot${token}/sendMessage`) sent.push(JSON.parse(body));
    answer({});
  });
  const come = (update: object): void => {
    updates.push({ update_id: updates.length + 1, ...update });
    held?.();
    held = undefined;
  };
  const from = { id: 7, is_bot: false, first_name: 'Ann' };
  return {
    url,
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
