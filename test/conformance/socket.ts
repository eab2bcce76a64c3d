/** One connection to the feed in plain `ws`: it unpacks frames, answers pings and keeps what came (specification §6). */
import { ok } from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { type RawData, WebSocket } from 'ws';
import { parse } from './http.ts';
import { type Fields, fields, shown } from './shape.ts';
import { now, sleep, within } from './time.ts';

const patienceMs = 15_000;
/** Frames kept; older ones are forgotten. */
const frameLimit = 5_000;

export interface Frame {
  readonly at: number;
  readonly binary: boolean;
  readonly gzip: boolean;
  readonly value: Fields;
}

export interface Socket {
  readonly frames: readonly Frame[];
  /** Sends a client message; `text` goes out as it stands. */
  send(message: object | string | Buffer): void;
  /** The first frame that matches, of those that came since `after` (an index into `frames`) too. */
  next(
    what: string,
    matches: (value: Fields) => boolean,
    options?: { after?: number; withinMs?: number },
  ): Promise<Frame>;
  /** Resolves when the other side has closed it. */
  readonly closed: Promise<number>;
  readonly open: boolean;
  close(): void;
}

function frameOf(bytes: RawData, binary: boolean): Frame {
  const raw = Buffer.isBuffer(bytes) ? bytes : Buffer.concat(Array.isArray(bytes) ? bytes : [Buffer.from(bytes)]);
  const gzip = raw[0] === 0x1f && raw[1] === 0x8b;
  const text = (gzip ? gunzipSync(raw) : raw).toString('utf8');
  return { at: now(), binary, gzip, value: fields(parse(text), `the frame ${shown(text)}`) };
}

/** Connects; with `mute` it leaves pings unanswered. */
export async function openSocket(url: string, { mute = false } = {}): Promise<Socket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const frames: Frame[] = [];
  const faults: Error[] = [];
  socket.on('message', (bytes, binary) => {
    try {
      const frame = frameOf(bytes, binary);
      if (frames.length < frameLimit) frames.push(frame);
      if (!mute && 'ping' in frame.value) socket.send(JSON.stringify({ pong: frame.value['ping'] }));
    } catch (error) {
      faults.push(error instanceof Error ? error : new Error(String(error)));
    }
  });
  const closed = new Promise<number>((resolve) => void socket.once('close', resolve));
  await within(
    patienceMs,
    `a connection to ${url}`,
    new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.on('error', reject);
    }),
  );
  return {
    frames,
    closed,
    get open() {
      return socket.readyState === WebSocket.OPEN;
    },
    send: (message) =>
      socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
    async next(what, matches, { after = 0, withinMs = patienceMs } = {}) {
      const deadline = now() + withinMs;
      for (;;) {
        const [fault] = faults;
        if (fault !== undefined) throw fault;
        const found = frames.slice(after).find(({ value }) => matches(value));
        if (found !== undefined) return found;
        ok(
          now() < deadline,
          `waited ${withinMs} ms in vain for ${what}; the last frame is ${shown(frames.at(-1)?.value)}`,
        );
        await sleep(20);
      }
    },
    close: () => socket.terminate(),
  };
}

export const sub = (channel: string, more: object = {}): object => ({ event: 'sub', params: { channel, ...more } });
export const unsub = (channel: string): object => ({ event: 'unsub', params: { channel } });
export const req = (channel: string, more: object = {}): object => ({ event: 'req', params: { channel, ...more } });
