/** What leaves a socket in place of a frame: nothing, others, or bytes that are none. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Clock } from '../../clock/clock.ts';
import type { FaultAction, SocketAction } from './actions.ts';
import type { Faults, Hit } from './engine.ts';

/** The frames to send for this one, in order, or that the socket is to be cut. */
export type Spoiler = (channel: string, frame: Buffer) => readonly Buffer[] | 'cut';

/** Inflated size of a bomb: far above any frame, and 64 KiB on the wire. */
const bombBytes = 64 * 1_048_576;

/** Makes the spoiler of one socket. */
export function openSpoiler(faults: Faults, clock: Clock, onFault: (hit: Hit, channel: string) => void): Spoiler {
  let silentUntil = Number.NEGATIVE_INFINITY;
  const before = new Map<string, Buffer>();
  const heldBack = new Map<string, Buffer>();

  function spoilt(action: SocketAction, channel: string, frame: Buffer): readonly Buffer[] | 'cut' {
    switch (action.socket) {
      case 'disconnect':
        return 'cut';
      case 'silence':
        silentUntil = action.forMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + clock.machine(action.forMs);
        return [];
      case 'skip':
        return [];
      case 'repeat':
        return Array.from({ length: 1 + action.times }, () => frame);
      case 'stale':
        return [before.get(channel) ?? frame];
      case 'swap':
        heldBack.set(channel, frame);
        return [];
      case 'garbage':
        return [gzipSync(`{"channel":"${channel}","tick":{"asks":[[`)];
      case 'half':
        return [frame.subarray(0, Math.floor(frame.length / 2))];
      case 'bomb':
        return [gzipSync(Buffer.alloc(bombBytes, 0x20), { level: 9 })];
      case 'crossed':
      case 'empty':
      case 'zero':
        return [editedBook(frame, action.socket)];
    }
  }

  return (channel, frame) => {
    if (faults.socketQuiet && heldBack.size === 0 && silentUntil === Number.NEGATIVE_INFINITY) return [frame];
    const hit = faults.pick({ method: 'WS', path: channel });
    if (hit !== undefined) onFault(hit, channel);
    const late = heldBack.get(channel);
    heldBack.delete(channel);
    const sent = hit !== undefined && isSocket(hit.action) ? spoilt(hit.action, channel, frame) : [frame];
    before.set(channel, frame);
    if (sent === 'cut') return sent;
    if (clock.now() < silentUntil) return [];
    return late === undefined ? sent : [...sent, late];
  };
}

const isSocket = (action: FaultAction): action is SocketAction => 'socket' in action;

interface Book {
  readonly tick?: { asks?: unknown[]; buys?: unknown[] };
}

/** A pushed book that no exchange should show; a frame without a book is left alone. */
function editedBook(frame: Buffer, how: 'crossed' | 'empty' | 'zero'): Buffer {
  const pushed = JSON.parse(gunzipSync(frame).toString('utf8')) as Book;
  const { tick } = pushed;
  if (tick?.asks === undefined || tick.buys === undefined) return frame;
  if (how === 'crossed') [tick.asks, tick.buys] = [tick.buys, tick.asks];
  else if (how === 'empty') [tick.asks, tick.buys] = [[], []];
  else [tick.asks, tick.buys] = [zeroFirst(tick.asks), zeroFirst(tick.buys)];
  return gzipSync(JSON.stringify(pushed), { level: 1 });
}

const zeroFirst = ([first, ...others]: unknown[]): unknown[] =>
  Array.isArray(first) ? [[0, ...(first as unknown[]).slice(1)], ...others] : [];
