/** Frames of the socket (specification §6.3), under each quirk. All of them leave as gzip in binary frames, pings included. */
import { gzipSync } from 'node:zlib';
import type { Instrument } from '../../domain/instrument.ts';
import { notional, priceNumber, priceText, quantityNumber, quantityText, unitsText } from '../../domain/money.ts';
import type { DisplayedLevel } from '../core/displayed-depth.ts';
import type { NumberedPrint } from '../core/exchange.ts';
import type { Quirks } from '../core/quirks.ts';
import { digits, type Json, json } from '../http/json.ts';
import { roseText } from '../http/shapes.ts';
import { quoteVolume } from '../market/aggregate.ts';
import type { MinuteRow } from '../market/market.ts';

/** Cheapest level and little memory, whose clearing is most of the work: frames are small, many, and read once. */
const sparing = { level: 1, windowBits: 12, memLevel: 4, chunkSize: 4_096 };
export const packed = (frame: Json): Buffer => gzipSync(json(frame), sparing);

/** A pushed frame; `ts` is whole seconds in the live envelope. */
export function pushFrame(channel: string, tick: Json, now: number, quirks: Quirks): Json {
  if (quirks.envelope === 'plain') return { channel, ts: now, tick };
  return { event_rep: '', channel, data: null, tick, ts: Math.floor(now / 1_000) * 1_000, status: 'ok' };
}

/** The acknowledgement of a `sub` on stacks that send one. */
export const ackFrame = (channel: string, callbackId: string | undefined, now: number): Json => ({
  event_rep: 'subed',
  channel,
  cb_id: callbackId,
  ts: now,
  status: 'ok',
});

/** What older stacks say of a channel that they do not know. */
export const errorFrame = (channel: string, callbackId: string | undefined, now: number): Json => ({
  event_rep: '',
  channel,
  cb_id: callbackId,
  status: 'error',
  err_msg: 'the channel is not known',
  ts: now,
});

/** What some sockets open with; its time is text there. */
export const greetingFrame = (now: number): Json => ({
  channel: 'system',
  data: { status: 'ready' },
  ts: String(now),
});

export function depthTick(
  bids: readonly DisplayedLevel[],
  asks: readonly DisplayedLevel[],
  at: Instrument,
  { bidsKey }: Quirks,
): Json {
  const level = ({ price, quantity }: DisplayedLevel): Json => [priceNumber(price, at), quantityNumber(quantity, at)];
  return { asks: asks.map(level), [bidsKey]: bids.map(level) };
}

/** One print; the date-time text is UTC+8 as on most venues, so `ts` is what to read. */
export function tradeRow({ id, time, price, quantity, side }: NumberedPrint, at: Instrument, quirks: Quirks): Json {
  const row = {
    side: quirks.socketSide === 'lower' ? side.toLowerCase() : side,
    price: priceText(price, at),
    vol: quantityText(quantity, at),
    amount: unitsText(notional(price, quantity, at)),
    ds: new Date(time + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
  };
  if (quirks.printFields === 'documented') return row;
  return { ...(quirks.printFields === 'id and ts' && { id }), ...row, ts: time };
}

/** A kline, its id the open time in seconds; there is no closed flag. */
export const klineTick = (row: MinuteRow, at: Instrument): { [key: string]: Json } => ({
  id: row.openTime / 1_000,
  open: row.open,
  high: row.high,
  low: row.low,
  close: row.close,
  vol: digits(row.volume.toFixed(at.quantityPrecision)),
});

export const tickerTick = (day: MinuteRow, at: Instrument, quirks: Quirks): Json => ({
  amount: quoteVolume(day),
  vol: day.volume.toFixed(at.quantityPrecision),
  open: String(day.open),
  close: String(day.close),
  high: String(day.high),
  low: String(day.low),
  rose: roseText(day.open, day.close, quirks),
});
