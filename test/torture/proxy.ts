/**
 * Stands between a daemon and its exchange and cuts connections in every phase of a request and of a socket. It reads only as much
 * HTTP as it needs: the head of each message and its length.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pass } from '../kit/until.ts';
import type { Opened } from './exchange-words.ts';

export const requestPhases = [
  'head half sent',
  'body half sent',
  'sent but never delivered',
  'awaiting the answer',
  'answer half there',
  'after the answer',
] as const;
/** The phases of the socket that pushes prices, and the one that has no request yet. */
export const otherPhases = [
  'connecting',
  'socket opening',
  'socket just open',
  'frame half there',
  'socket silent',
] as const;
export type Phase = (typeof requestPhases)[number] | (typeof otherPhases)[number];

/** Where the next connection is cut; `request` is how its first line begins, of phases that have one. */
export interface Cut {
  readonly phase: Phase;
  readonly request: string;
}

export interface CuttingProxy extends Opened {
  /** Cuts the next connection that comes there. Resolves true when it was cut, false when it was called off. */
  cutNext(cut: Cut): Promise<boolean>;
  callOff(): void;
  close(): Promise<void>;
}

/** Real ms for which a silent socket stays open. */
const silentMs = 1_500;

/** How long a message is, its body included; undefined while its head is not whole. */
function lengthOf(bytes: Buffer): { readonly head: number; readonly whole: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = end + 4;
  const body = /\r\ncontent-length: *(\d+)/i.exec(bytes.subarray(0, end).toString('latin1'))?.[1];
  return { head, whole: head + Number(body ?? 0) };
}

const half = (bytes: Buffer, from = 0): Buffer => bytes.subarray(0, from + Math.ceil((bytes.length - from) / 2));

/** Says once whether a phase is to be cut here: an armed cut is used up by it. */
type Takes = (phase: Phase, request?: string) => boolean;

interface Link {
  readonly client: Socket;
  /** The socket that pushes prices. */
  isPushing: boolean;
  /** Between a request and the end of its answer. */
  isBusy: boolean;
}

/** Joins a connection of the daemon to one of the exchange, until one of them ends or is cut. */
function join(link: Link, exchange: Socket, takes: Takes): void {
  const { client } = link;
  let asked = Buffer.alloc(0);
  let answered = Buffer.alloc(0);
  let request = '';
  const cut = (): void => {
    client.destroy();
    // What was passed on reaches the exchange: only what is on its way to the daemon is lost.
    exchange.end();
  };

  function pushed(data: Buffer): void {
    if (takes('frame half there')) client.write(half(data), cut);
    else if (takes('socket silent')) {
      exchange.pause();
      void pass(silentMs).then(cut);
    } else client.write(data);
    if (takes('socket just open')) cut();
  }

  function whole(message: Buffer, head: number): void {
    link.isBusy = true;
    if (takes('head half sent', request)) exchange.write(half(message.subarray(0, head)), cut);
    else if (message.length > head && takes('body half sent', request)) exchange.write(half(message, head), cut);
    else if (takes('sent but never delivered', request)) cut();
    else {
      exchange.write(message);
      if (takes('awaiting the answer', request)) cut();
    }
  }

  client.on('data', (data: Buffer) => {
    if (link.isPushing) {
      exchange.write(data);
      return;
    }
    asked = Buffer.concat([asked, data]);
    const length = lengthOf(asked);
    if (length === undefined || asked.length < length.whole) return;
    const message = asked.subarray(0, length.whole);
    asked = asked.subarray(length.whole);
    request = message.subarray(0, message.indexOf('\r\n')).toString('latin1');
    link.isPushing = /\r\nupgrade: websocket/i.test(message.toString('latin1'));
    if (link.isPushing && takes('socket opening')) cut();
    else if (link.isPushing) exchange.write(message);
    else whole(message, length.head);
  });
  exchange.on('data', (data: Buffer) => {
    if (link.isPushing) {
      pushed(data);
      return;
    }
    answered = Buffer.concat([answered, data]);
    const length = lengthOf(answered);
    if (length === undefined || answered.length < length.whole) return;
    const message = answered.subarray(0, length.whole);
    answered = answered.subarray(length.whole);
    link.isBusy = false;
    if (takes('answer half there', request)) client.write(half(message), cut);
    else if (takes('after the answer', request)) client.write(message, cut);
    else client.write(message);
  });
  for (const [one, other] of [
    [client, exchange],
    [exchange, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.end());
  }
}

export async function openProxy(exchange: Opened): Promise<CuttingProxy> {
  const { port } = new URL(exchange.restUrl);
  const links = new Set<Link>();
  let armed: (Cut & { readonly done: (wasCut: boolean) => void }) | undefined;

  const takes: Takes = (phase, request = '') => {
    if (armed?.phase !== phase || !request.startsWith(armed.request)) return false;
    armed.done(true);
    armed = undefined;
    return true;
  };

  const server = createServer((client) => {
    const link: Link = { client, isPushing: false, isBusy: false };
    client.on('error', () => undefined);
    if (takes('connecting')) {
      client.resetAndDestroy();
      return;
    }
    links.add(link);
    client.on('close', () => links.delete(link));
    join(link, connect(Number(port), '127.0.0.1'), takes);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port: ours } = server.address() as AddressInfo;

  /** New connections come only where the old ones are gone. */
  function makeRoom(phase: Phase): void {
    for (const { client, isPushing, isBusy } of links) {
      const isIdle = phase === 'connecting' && !isPushing && !isBusy;
      const isSocket = isPushing && (phase === 'socket opening' || phase === 'socket just open');
      if (isIdle || isSocket) client.destroy();
    }
  }

  return {
    restUrl: `http://127.0.0.1:${ours}`,
    wsUrl: `ws://127.0.0.1:${ours}${new URL(exchange.wsUrl).pathname}`,
    cutNext: (cut) =>
      new Promise((resolve) => {
        armed = { ...cut, done: resolve };
        makeRoom(cut.phase);
      }),
    callOff() {
      armed?.done(false);
      armed = undefined;
    },
    async close() {
      for (const { client } of links) client.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
