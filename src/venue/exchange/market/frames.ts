/** Decodes one socket frame and sorts it by kind of message. The listener of its channel reads the rows. */
import { gunzipSync, inflateSync } from 'node:zlib';
import { type Fields, isFields, textOf } from '../rest/json.ts';

export type Frame =
  /** `{"ping":1790145583}` in seconds or ms, at times with more keys; `echo` is the JSON to send back, unchanged. */
  | { readonly kind: 'ping'; readonly echo: string }
  | { readonly kind: 'pong' }
  /** A push: `{"event_rep":"","channel":"market_btcusdt_depth_step0","data":null,"tick":{…},"ts":1790134142000,"status":"ok"}` */
  | { readonly kind: 'push'; readonly channel: string; readonly tick: Fields; readonly ts: unknown }
  /** The answer to `req`: rows under `data`, `tick` null. */
  | { readonly kind: 'history'; readonly channel: string; readonly rows: readonly unknown[]; readonly ts: unknown }
  /** `{"event_rep":"subed","status":"ok",…}` on older deployments, also for symbols that do not exist: it confirms nothing. */
  | { readonly kind: 'ack'; readonly channel: string }
  /** `{"event_rep":"subed","channel":"market_BTCUSDT_depth_step0","status":"error","err_msg":"subscription rejected: malformed"}` */
  | { readonly kind: 'error'; readonly channel: string; readonly message: string }
  /** Well-formed and of no use: greetings, echoes. */
  | { readonly kind: 'other' }
  | { readonly kind: 'malformed'; readonly sample: string }
  | { readonly kind: 'tooLarge' };

/** The largest frames recorded are 12 kB; this far above it is an attack or a mistake, and the socket is closed. */
export const maxFrameBytes = 1024 * 1024;
const longestPing = 40;
const inflate = { maxOutputLength: maxFrameBytes };

/** The first bytes show the compression (gzip, zlib or none): deployments differ, and mix them on one socket. */
export function decodeFrame(bytes: Buffer): Frame {
  let text: string;
  try {
    text = unpack(bytes).toString();
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return tooLarge ? { kind: 'tooLarge' } : { kind: 'malformed', sample: bytes.toString('hex', 0, 32) };
  }
  if (text.length > maxFrameBytes) return { kind: 'tooLarge' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'malformed', sample: text.slice(0, 100) };
  }
  return isFields(value) ? sort(value) : { kind: 'malformed', sample: text.slice(0, 100) };
}

function unpack(bytes: Buffer): Buffer {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes, inflate);
  return bytes[0] === 0x78 ? inflateSync(bytes, inflate) : bytes;
}

function sort(value: Fields): Frame {
  const { tick, data } = value;
  const channel = value['channel'];
  if (typeof channel === 'string') {
    if (isFields(tick)) return { kind: 'push', channel, tick, ts: value['ts'] };
    if (value['status'] === 'error') return { kind: 'error', channel, message: textOf(value['err_msg']) ?? '' };
    if (Array.isArray(data) && value['event_rep'] === 'rep')
      return { kind: 'history', channel, rows: data, ts: value['ts'] };
    return value['event_rep'] === 'subed' ? { kind: 'ack', channel } : { kind: 'other' };
  }
  const { ping } = value;
  // A text is echoed as well; anything else is no heartbeat, and could be a megabyte deep.
  if (typeof ping === 'number' || (typeof ping === 'string' && ping.length <= longestPing))
    return { kind: 'ping', echo: JSON.stringify(ping) };
  if (ping !== undefined) return { kind: 'malformed', sample: 'a ping that is not a number' };
  return 'pong' in value ? { kind: 'pong' } : { kind: 'other' };
}
