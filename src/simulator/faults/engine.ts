/** Decides which fault hits a request or frame, and keeps the requests that are held. */
import { type Rng, seededRng } from '../../clock/clock.ts';
import { type FaultAction, type FaultRule, type FaultRuleInput, faultRules } from './rules.ts';

/** Requests held at once; one more is let through, and the log says so. */
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

export interface Faults {
  /** The fault for a request (GET, POST) or frame (WS), if any; counts it. */
  pick(subject: Subject, now: number): FaultAction | undefined;
  add(rule: FaultRuleInput): () => void;
  clear(): void;
  /** Waits until `release(name)`; returns at once when too many wait already. */
  hold(name: string): Promise<void>;
  /** Resolves when a request is being held under this name. */
  held(name: string): Promise<void>;
  /** Lets every request held under this name go on; how many there were. */
  release(name: string): number;
  /** True when there is nothing to check frames against: the socket's fast path. */
  readonly socketQuiet: boolean;
}

export function openFaults(rules: readonly FaultRule[], seed: number): Faults {
  const armed: Armed[] = [];
  const waiting = new Map<string, (() => void)[]>();
  const watchers = new Map<string, (() => void)[]>();
  let made = 0;
  let heldCount = 0;

  const arm = (rule: FaultRule): Armed => {
    const one = { rule, rng: seededRng(seed + 7919 * ++made), matched: 0, fired: 0 };
    armed.push(one);
    return one;
  };
  for (const rule of rules) arm(rule);

  return {
    pick(subject, now) {
      for (const one of armed) {
        if (!fires(one, subject, now)) continue;
        one.fired++;
        return one.rule.do;
      }
      return undefined;
    },
    add(input) {
      const [rule] = faultRules([input]);
      if (rule === undefined) return () => undefined;
      const one = arm(rule);
      return () => {
        const index = armed.indexOf(one);
        if (index >= 0) armed.splice(index, 1);
      };
    },
    clear() {
      armed.length = 0;
    },
    hold(name) {
      if (heldCount >= heldLimit) return Promise.resolve();
      heldCount++;
      for (const seen of watchers.get(name) ?? []) seen();
      watchers.delete(name);
      return new Promise((resolve) => listOf(waiting, name).push(resolve));
    },
    held(name) {
      if ((waiting.get(name)?.length ?? 0) > 0) return Promise.resolve();
      return new Promise((resolve) => listOf(watchers, name).push(resolve));
    },
    release(name) {
      const gone = waiting.get(name) ?? [];
      waiting.delete(name);
      heldCount -= gone.length;
      for (const go of gone) go();
      return gone.length;
    },
    get socketQuiet() {
      return !armed.some(({ rule }) => rule.match.method === 'WS');
    },
  };
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
