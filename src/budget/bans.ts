/** Requests that the exchange forbids at present, after a 410, 429 or 418 (specification §7). */

/** Times in UTC ms by the exchange's clock. */
export interface Bans {
  /** Before this only the kill lane may send (after 410). */
  readonly slowUntil: number;
  /** Before this nothing may be sent (after 429). */
  readonly stopUntil: number;
  /** Before this nothing may be sent (after 418). */
  readonly banUntil: number;
  /** How long that ban was taken to last, ms; 0 when there never was one. */
  readonly banMs: number;
}

export const noBans: Bans = { slowUntil: 0, stopUntil: 0, banUntil: 0, banMs: 0 };

/** The exchange bans for at most this long (§7); what a file says beyond it is a mistake. */
export const maxBanMs = 3 * 24 * 3_600_000;
/** Without a time named: the length of the weight window. */
export const carefulMs = 60_000;
const firstBanMs = 120_000;
/** After this long without a 418 the next one counts as the first again. */
const forgiveMs = 24 * 3_600_000;

/** What two processes know, joined: the later time of each counts. */
export const later = (a: Bans, b: Bans): Bans => ({
  slowUntil: Math.max(a.slowUntil, b.slowUntil),
  stopUntil: Math.max(a.stopUntil, b.stopUntil),
  banUntil: Math.max(a.banUntil, b.banUntil),
  banMs: a.banUntil > b.banUntil ? a.banMs : b.banMs,
});

/** Stored bans, limited to durations that the exchange can impose. */
export const bounded = (bans: Bans, now: number): Bans => ({
  slowUntil: Math.min(bans.slowUntil, now + maxBanMs),
  stopUntil: Math.min(bans.stopUntil, now + maxBanMs),
  banUntil: Math.min(bans.banUntil, now + maxBanMs),
  banMs: Math.min(bans.banMs, maxBanMs),
});

/** A moment by the clock of a process, UTC ms, and by the machine's steady one, ms of that clock. */
export interface ClockReading {
  readonly utc: number;
  readonly steady: number;
}

/**
 * The same bans by our current clock, when they were written at another moment. A process starts with the machine's wall clock,
 * which may be wrong until the exchange's time was read; a ban must not end early or late for that. After a reboot the steady clock
 * starts again, so that no correction is possible.
 */
export function reread(bans: Bans, written: ClockReading, now: ClockReading): Bans {
  const passedMs = now.steady - written.steady;
  const apartMs = now.utc - (written.utc + passedMs);
  if (passedMs < 0 || apartMs === 0) return bans;
  const moved = (until: number): number => (until === 0 ? 0 : Math.max(1, until + apartMs));
  const { slowUntil, stopUntil, banUntil, banMs } = bans;
  return { slowUntil: moved(slowUntil), stopUntil: moved(stopUntil), banUntil: moved(banUntil), banMs };
}

/** 410 slows, 429 stops, each for the length of the window unless the exchange names a time. A time of 0 names none: it would undo the warning. */
export function warned(bans: Bans, now: number, status: 410 | 429, retryAfterMs = 0): Bans {
  const until = now + (retryAfterMs > 0 ? Math.min(retryAfterMs, maxBanMs) : carefulMs);
  return status === 410 ? { ...bans, slowUntil: until } : { ...bans, stopUntil: until };
}

/** Each ban that follows another is taken to last twice as long; several answers within one ban are the same ban. */
export function banned(bans: Bans, now: number, retryAfterMs: number): Bans {
  const inForce = now < bans.banUntil;
  const follows = bans.banMs > 0 && now - bans.banUntil < forgiveMs;
  const nextMs = Math.min(follows ? bans.banMs * 2 : firstBanMs, maxBanMs);
  const banMs = inForce ? bans.banMs : nextMs;
  const until = inForce ? bans.banUntil : now + banMs;
  return { ...bans, banMs, banUntil: Math.max(until, now + Math.min(retryAfterMs, maxBanMs)) };
}
