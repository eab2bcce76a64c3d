/**
 * Client order ids that prove they are ours, at most 32 of `[a-z0-9]`:
 *
 *     version(1) instance(5) epoch(4) strategy(3) sequence(8) mac(8) = 29, lower-case base32
 *
 * The mac is a truncated HMAC under a key in the journal. It proves ownership, separates instances, and exposes restored or copied
 * databases. Venues change case, so comparison ignores it.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const version = 's';
const widths = { instance: 5, epoch: 4, strategy: 3, sequence: 8, mac: 8 } as const;
export const clientOrderIdLength = 1 + 5 + 4 + 3 + 8 + 8;

export interface ClientOrderIdParts {
  /** Which journal, 0 to 32^5 - 1. */
  readonly instance: number;
  /** How often that journal was opened for writing. */
  readonly epoch: number;
  /** The strategy's number in that journal. */
  readonly strategy: number;
  /** Grows by one with each id of the journal. */
  readonly sequence: number;
}

function encode(value: number, width: number): string {
  if (!Number.isSafeInteger(value) || value < 0 || value >= 32 ** width) {
    throw new RangeError(`${value} does not fit ${width} base32 digits`);
  }
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) text = alphabet.charAt(rest % 32) + text;
  return text;
}

const decode = (text: string): number =>
  text.split('').reduce((value, digit) => value * 32 + alphabet.indexOf(digit), 0);

/** Macs kept for each key, since every sweep shows the same open orders. Beyond this number all are dropped. */
const maxMacs = 4_096;
const macs = new WeakMap<Uint8Array, Macs>();

interface Macs {
  readonly secret: KeyObject;
  readonly known: Map<string, string>;
}

function macOf(body: string, key: Uint8Array): string {
  const ready = macs.get(key) ?? { secret: createSecretKey(key), known: new Map<string, string>() };
  const { secret, known } = ready;
  const before = known.get(body);
  if (before !== undefined) return before;
  if (known.size >= maxMacs) known.clear();
  const mac = shortened(createHmac('sha256', secret).update(body).digest('hex'));
  known.set(body, mac);
  macs.set(key, ready);
  return mac;
}

/** The first bytes of a hexadecimal digest as digits of an id. */
function shortened(digest: string): string {
  let text = '';
  for (let index = 0; index < widths.mac; index++)
    text += alphabet.charAt(Number.parseInt(digest.slice(2 * index, 2 * index + 2), 16) % 32);
  return text;
}

export function makeClientOrderId(parts: ClientOrderIdParts, key: Uint8Array): string {
  const body = `${version}${encode(parts.instance, widths.instance)}${encode(parts.epoch, widths.epoch)}${encode(parts.strategy, widths.strategy)}${encode(parts.sequence, widths.sequence)}`;
  return body + macOf(body, key);
}

/** The parts of an id that this key made, or undefined for another one. */
export function readClientOrderId(id: string, key: Uint8Array): ClientOrderIdParts | undefined {
  const text = id.toLowerCase();
  if (text.length !== clientOrderIdLength || !/^s[a-z2-7]+$/.test(text)) return undefined;
  const body = text.slice(0, -widths.mac);
  if (!timingSafeEqual(Buffer.from(macOf(body, key)), Buffer.from(text.slice(-widths.mac)))) return undefined;
  let offset = 1;
  const next = (width: number): number => {
    offset += width;
    return decode(body.slice(offset - width, offset));
  };
  return {
    instance: next(widths.instance),
    epoch: next(widths.epoch),
    strategy: next(widths.strategy),
    sequence: next(widths.sequence),
  };
}
