/** Decides which fault hits a request or frame, and keeps the requests that are held. */
import { type Rng, seededRng } from '../../clock/clock.ts';
import { type FaultAction, type FaultRule, type FaultRuleInput, faultRules } from './rules.ts';

/** Requests held at once; one more is let through, so that a forgotten rule cannot fill the memory. */
const heldLimit = 1_000;

interface Armed {
  readonly rule: FaultRule;
  readonly rng: Rng;
  matched: number;
  fired: number;
}

export interface Subject {
  readonly method: string;
  readonly path: string;
}

export class Faults {
  readonly #seed: number;
  readonly #armed: Armed[] = [];
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #watchers = new Map<string, (() => void)[]>();
  #made = 0;
  #held = 0;

  constructor(rules: readonly FaultRule[], seed: number) {
    this.#seed = seed;
    for (const rule of rules) this.#arm(rule);
  }

  /** The fault for a request (GET, POST) or frame (WS), if any; counts it. */
  pick(subject: Subject, now: number): FaultAction | undefined {
    for (const one of this.#armed) {
      if (!fires(one, subject, now)) continue;
      one.fired++;
      return one.rule.do;
    }
    return undefined;
  }

  /** Adds a rule behind the others; returns what takes it away again. */
  add(input: FaultRuleInput): () => void {
    const added = faultRules([input]).map((rule) => this.#arm(rule));
    return () => {
      for (const one of added) if (this.#armed.includes(one)) this.#armed.splice(this.#armed.indexOf(one), 1);
    };
  }

  clear(): void {
    this.#armed.length = 0;
  }

  /** Waits until `release(name)`; returns at once when too many wait already. */
  hold(name: string): Promise<void> {
    if (this.#held >= heldLimit) return Promise.resolve();
    this.#held++;
    for (const seen of this.#watchers.get(name) ?? []) seen();
    this.#watchers.delete(name);
    return new Promise((resolve) => listOf(this.#waiting, name).push(resolve));
  }

  /** Resolves when a request is being held under this name. */
  held(name: string): Promise<void> {
    if (this.#waiting.has(name)) return Promise.resolve();
    return new Promise((resolve) => listOf(this.#watchers, name).push(resolve));
  }

  /** Lets every request held under this name go on; how many there were. */
  release(name: string): number {
    const gone = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    this.#held -= gone.length;
    for (const go of gone) go();
    return gone.length;
  }

  /** True when no rule is about frames: the socket's fast path. */
  get socketQuiet(): boolean {
    return !this.#armed.some(({ rule }) => rule.match.method === 'WS');
  }

  #arm(rule: FaultRule): Armed {
    // Each rule draws from a source of its own, so that adding one never changes another's luck.
    const one: Armed = { rule, rng: seededRng(this.#seed + 7_919 * ++this.#made), matched: 0, fired: 0 };
    this.#armed.push(one);
    return one;
  }
}

function fires(one: Armed, { method, path }: Subject, now: number): boolean {
  const { match } = one.rule;
  // A rule without a method is about requests: frames are pushed by the thousand and must be asked for by name.
  if (match.method === undefined ? method === 'WS' : match.method !== method) return false;
  if (match.path !== undefined && match.path !== path) return false;
  if (match.from !== undefined && now < match.from) return false;
  if (match.until !== undefined && now >= match.until) return false;
  if (match.times !== undefined && one.fired >= match.times) return false;
  one.matched++;
  if (match.nth !== undefined && one.matched !== match.nth) return false;
  if (match.every !== undefined && one.matched % match.every !== 0) return false;
  return match.probability === undefined || one.rng() < match.probability;
}

function listOf(lists: Map<string, (() => void)[]>, name: string): (() => void)[] {
  const found = lists.get(name) ?? [];
  lists.set(name, found);
  return found;
}
