/** Decides which fault hits a request or frame, and keeps the requests that are held. */
import { type Rng, seededRng } from '../../clock/clock.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { FaultAction } from './actions.ts';
import {
  type FaultRule,
  type FaultRuleInput,
  faultRules,
  type HittingRule,
  isTimed,
  type TimedRule,
  type TimedRuleInput,
} from './rules.ts';

/** Requests held at once; one more passes, so that a forgotten rule cannot fill the memory. */
const heldLimit = 1_000;

/** A rule in force, and how often it matched and fired. */
export interface Armed {
  readonly id: number;
  readonly rule: FaultRule;
  readonly rng: Rng;
  /** Exchange time at which it began. */
  readonly since: number;
  matched: number;
  fired: number;
}

export interface Subject {
  readonly method: string;
  readonly path: string;
  /** Whose key the request carries. */
  readonly uid?: string | undefined;
}

/** A fault that is to be carried out. */
export interface Hit {
  readonly rule: number;
  readonly action: FaultAction;
  readonly rng: Rng;
}

export interface FaultsSetup {
  readonly seed: number;
  /** Exchange time. */
  readonly now: () => number;
  /** Schedules a timed rule; `isRemoved` says whether it was removed meanwhile. */
  readonly onTimed: (one: Armed & { readonly rule: TimedRule }, isRemoved: () => boolean) => void;
  /** Called with the lag of a replica that a rule needs. */
  readonly onLag: (lagMs: number) => void;
}

export class Faults {
  readonly #setup: FaultsSetup;
  readonly #armed: Armed[] = [];
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #watchers = new Map<string, (() => void)[]>();
  #made = 0;
  #held = 0;

  constructor(rules: readonly FaultRule[], setup: FaultsSetup) {
    this.#setup = setup;
    for (const rule of rules) this.#arm(rule);
  }

  /** The fault for a request (GET, POST) or frame (WS), if any; counts it. */
  pick(subject: Subject): Hit | undefined {
    const now = this.#setup.now();
    for (const one of this.#armed) {
      if (isTimed(one.rule) || !fires(one, one.rule, subject, now)) continue;
      one.fired++;
      return { rule: one.id, action: one.rule.do, rng: one.rng };
    }
    return undefined;
  }

  /** Adds rules behind the others; returns their numbers. */
  add(inputs: readonly (FaultRuleInput | TimedRuleInput | FaultRule)[]): number[] {
    return faultRules(inputs).map((rule) => this.#arm(rule).id);
  }

  /** Removes a rule; false when there is none of this number. */
  remove(id: number): boolean {
    const index = this.#armed.findIndex((one) => one.id === id);
    if (index >= 0) this.#armed.splice(index, 1);
    return index >= 0;
  }

  clear(): void {
    this.#armed.length = 0;
  }

  /** The rules in force, in the order in which they are tried. */
  list(): readonly Readonly<Armed>[] {
    return this.#armed;
  }

  /** Waits until `release(name)`; returns at once when too many wait already. */
  hold(name: string): Promise<void> {
    if (this.#held >= heldLimit) return Promise.resolve();
    this.#held++;
    for (const seen of this.#watchers.get(name) ?? []) seen();
    this.#watchers.delete(name);
    return new Promise((resolve) => getOrMake(this.#waiting, name, () => []).push(resolve));
  }

  /** Resolves when a request is being held under this name. */
  held(name: string): Promise<void> {
    if (this.#waiting.has(name)) return Promise.resolve();
    return new Promise((resolve) => getOrMake(this.#watchers, name, () => []).push(resolve));
  }

  /** How many requests are held, by name. */
  holding(): Record<string, number> {
    return Object.fromEntries([...this.#waiting].map(([name, held]) => [name, held.length]));
  }

  /** Lets every request held under this name go on; how many there were. */
  release(name: string): number {
    const gone = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    this.#held -= gone.length;
    for (const go of gone) go();
    return gone.length;
  }

  /** True when no rule applies to frames: the socket's fast path. */
  get socketQuiet(): boolean {
    return !this.#armed.some(({ rule }) => !isTimed(rule) && rule.match.method === 'WS');
  }

  #arm(rule: FaultRule): Armed {
    const { seed, now, onTimed, onLag } = this.#setup;
    const id = ++this.#made;
    // Each rule has a random source of its own, so that adding one never changes another.
    const one: Armed = { id, rule, rng: seededRng(seed + 7_919 * id), since: now(), matched: 0, fired: 0 };
    this.#armed.push(one);
    if (isTimed(rule)) onTimed(Object.assign(one, { rule }), () => !this.#armed.includes(one));
    else if ('lagMs' in rule.do) onLag(rule.do.lagMs);
    return one;
  }
}

function fires(one: Armed, { match }: HittingRule, { method, path, uid }: Subject, now: number): boolean {
  // A rule without a method is about requests: frames are pushed by the thousand and must be asked for by name.
  if (match.method === undefined ? method === 'WS' : match.method !== method) return false;
  if (match.path !== undefined && !isOn(match.path, path)) return false;
  if (match.user !== undefined && match.user !== uid) return false;
  const age = now - one.since;
  if (now < (match.from ?? now) || age < (match.fromMs ?? age)) return false;
  if (now >= (match.until ?? Number.POSITIVE_INFINITY) || age >= (match.untilMs ?? Number.POSITIVE_INFINITY))
    return false;
  if (match.times !== undefined && one.fired >= match.times) return false;
  one.matched++;
  if (match.nth !== undefined && one.matched !== match.nth) return false;
  if (match.every !== undefined && one.matched % match.every !== 0) return false;
  return match.probability === undefined || one.rng() < match.probability;
}

const isOn = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
