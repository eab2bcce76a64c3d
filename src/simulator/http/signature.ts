/** Who sent a request and whether it is in time (specification §5.2, §5.3). */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import { type Refusal, refusals } from '../core/errors.ts';

/** Secrets whose keys are kept ready: more than the users of an exchange for tests. Past it all are made anew. */
const maxSecrets = 256;
const keys = new Map<string, KeyObject>();

/** Making a key takes several times as long as the HMAC. */
function keyOf(secret: string): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(secret, 'utf8');
  if (keys.size >= maxSecrets) keys.clear();
  keys.set(secret, key);
  return key;
}

/** The hexadecimal HMAC-SHA-256 over timestamp + METHOD + target + body, keyed with the secret. */
export const signatureOf = (secret: string, timestamp: string, method: string, target: string, body: string): string =>
  createHmac('sha256', keyOf(secret)).update(`${timestamp}${method}${target}${body}`).digest('hex');

/** Whether a signature, of either case, is the right one. */
export function isSignature(given: string, right: string): boolean {
  const a = Buffer.from(given.toLowerCase());
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** How old a request may be by default; real ms, so a fast clock stretches them. */
const defaultWindowMs = 5_000;

interface Timing {
  readonly timestamp: number;
  /** ms of the exchange's clock. */
  readonly recvWindow: number | undefined;
  readonly serverTime: number;
  /** How far ahead the timestamp may be, real ms. */
  readonly aheadMs: number;
}

/** Why a request comes too early or too late; undefined when it is in time. */
export function timingFault({ timestamp, recvWindow, serverTime, aheadMs }: Timing, clock: Clock): Refusal | undefined {
  if (!(timestamp < serverTime + clock.machine(aheadMs))) return refusals.early;
  if (!(serverTime - timestamp <= (recvWindow ?? clock.machine(defaultWindowMs)))) return refusals.late;
  return undefined;
}
