/** Who sent a request and whether it is in time (specification §5.2, §5.3). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import { type Refusal, refusals } from '../core/errors.ts';

/** The hexadecimal HMAC-SHA-256 over timestamp + METHOD + target + body, keyed with the secret. */
export const signatureOf = (secret: string, timestamp: string, method: string, target: string, body: string): string =>
  createHmac('sha256', secret).update(`${timestamp}${method}${target}${body}`).digest('hex');

/** Whether a signature, of either case, is the right one. */
export function isSignature(given: string, right: string): boolean {
  const a = Buffer.from(given.toLowerCase());
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** How far ahead a timestamp may be, and how old by default; real ms, so a fast clock stretches them. */
const aheadMs = 1_000;
const defaultWindowMs = 5_000;

/** Why a request comes too early or too late; undefined when it is in time. `recvWindow` is in ms of the exchange's clock. */
export function timingFault(
  timestamp: number,
  recvWindow: number | undefined,
  serverTime: number,
  clock: Clock,
): Refusal | undefined {
  if (!(timestamp < serverTime + clock.machine(aheadMs))) return refusals.early;
  if (!(serverTime - timestamp <= (recvWindow ?? clock.machine(defaultWindowMs)))) return refusals.late;
  return undefined;
}
