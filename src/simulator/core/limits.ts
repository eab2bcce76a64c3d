/**
 * What the exchange lets one address and one user do (specification §7, §8), in exchange time.
 *
 * Weight windows slide: at every moment the weight of the last 60 s counts, so a client that keeps to it is safe with aligned
 * minutes too. A request over a limit draws 429; who goes on draws 429 ten times, then one 410 as the last warning, then
 * 418 and a ban of two minutes; each further ban, and every ten requests sent during one, double it, up to three days.
 */

import { getOrMake } from '../../domain/get-or-make.ts';

const windowMs = 60_000;
const frequencyMs = 2_000;
const toleratedViolations = 10;
const firstBanMs = 120_000;
const maxBanMs = 3 * 86_400_000;
/** Addresses remembered; beyond it those that were quiet for a window are forgotten. */
const addressLimit = 10_000;

export interface LimitSettings {
  readonly ipWeightPerMinute: number;
  readonly uidWeightPerMinute: number;
}

export const specifiedLimits: LimitSettings = { ipWeightPerMinute: 12_000, uidWeightPerMinute: 60_000 };

/** The HTTP status a request earns by its weight alone. */
export type Admission = 200 | 410 | 418 | 429;

/** The sum of amounts within a length of time before now. */
export class Window {
  readonly #lengthMs: number;
  #times: number[] = [];
  #weights: number[] = [];
  #head = 0;
  #sum = 0;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
  }

  used(now: number): number {
    while (this.#head < this.#times.length && now - (this.#times[this.#head] as number) >= this.#lengthMs) {
      this.#sum -= this.#weights[this.#head++] as number;
    }
    if (this.#head > 1_024 && this.#head > this.#times.length / 2) {
      this.#times = this.#times.slice(this.#head);
      this.#weights = this.#weights.slice(this.#head);
      this.#head = 0;
    }
    return this.#sum;
  }

  fits(weight: number, max: number, now: number): boolean {
    return this.used(now) + weight <= max;
  }

  take(weight: number, now: number): void {
    if (weight === 0) return;
    this.#times.push(now);
    this.#weights.push(weight);
    this.#sum += weight;
  }
}

interface Address {
  readonly window: Window;
  violations: number;
  violatedAt: number;
  bans: number;
  bannedUntil: number;
  triesWhileBanned: number;
}

export class Limits {
  readonly #settings: LimitSettings;
  readonly #onBan: (ip: string, until: number) => void;
  readonly #addresses = new Map<string, Address>();
  readonly #users = new Map<string, Window>();
  /** By path, then by user: one text of both would have to be made for each request. */
  readonly #frequencies = new Map<string, Map<string, Window>>();

  constructor(settings: LimitSettings, onBan: (ip: string, until: number) => void) {
    this.#settings = settings;
    this.#onBan = onBan;
  }

  /** Takes a request's weight from its address. */
  admitAddress(ip: string, weight: number, now: number): Admission {
    const address = this.#address(ip, now);
    if (now < address.bannedUntil) {
      if (++address.triesWhileBanned % toleratedViolations === 0) this.#ban(ip, address, now);
      return 418;
    }
    if (!address.window.fits(weight, this.#settings.ipWeightPerMinute, now)) return this.#violation(ip, address, now);
    address.window.take(weight, now);
    return 200;
  }

  /**
   * Takes a signed request's weight from its user; a request that is refused here has cost its address all the same.
   * `max` is how many calls its endpoint allows in 2 s.
   */
  admitUser(request: {
    readonly ip: string;
    readonly uid: string;
    readonly weight: number;
    readonly path: string;
    readonly max: number | undefined;
    readonly now: number;
  }): Admission {
    const { ip, uid, weight, path, max, now } = request;
    const user = window(this.#users, uid, windowMs);
    const calls = max === undefined ? undefined : this.#frequency(path, uid);
    const tooOften = calls !== undefined && max !== undefined && !calls.fits(1, max, now);
    if (tooOften || !user.fits(weight, this.#settings.uidWeightPerMinute, now))
      return this.#violation(ip, this.#address(ip, now), now);
    calls?.take(1, now);
    user.take(weight, now);
    return 200;
  }

  /** Weight of the last minute, for tests and reports. */
  used(ip: string, uid: string, now: number): { ip: number; uid: number } {
    return { ip: this.#address(ip, now).window.used(now), uid: window(this.#users, uid, windowMs).used(now) };
  }

  #frequency(path: string, uid: string): Window {
    const users = getOrMake(this.#frequencies, path, () => new Map<string, Window>());
    return window(users, uid, frequencyMs);
  }

  #violation(ip: string, address: Address, now: number): Admission {
    if (now - address.violatedAt >= windowMs) address.violations = 0;
    address.violatedAt = now;
    address.violations++;
    if (address.violations <= toleratedViolations) return 429;
    if (address.violations === toleratedViolations + 1) return 410;
    this.#ban(ip, address, now);
    return 418;
  }

  #ban(ip: string, address: Address, now: number): void {
    if (now - address.bannedUntil > maxBanMs) address.bans = 0;
    address.bannedUntil = now + Math.min(maxBanMs, firstBanMs * 2 ** address.bans);
    address.bans = Math.min(address.bans + 1, 12);
    address.violations = 0;
    address.triesWhileBanned = 0;
    this.#onBan(ip, address.bannedUntil);
  }

  #address(ip: string, now: number): Address {
    return getOrMake(this.#addresses, ip, () => {
      if (this.#addresses.size >= addressLimit) this.#forgetQuiet(now);
      const never = Number.NEGATIVE_INFINITY;
      const none = { violations: 0, violatedAt: never, bans: 0, bannedUntil: never, triesWhileBanned: 0 };
      return { window: new Window(windowMs), ...none };
    });
  }

  #forgetQuiet(now: number): void {
    for (const [ip, address] of this.#addresses) {
      if (now - address.bannedUntil > maxBanMs && address.window.used(now) === 0) this.#addresses.delete(ip);
    }
  }
}

const window = (windows: Map<string, Window>, key: string, lengthMs: number): Window =>
  getOrMake(windows, key, () => new Window(lengthMs));
