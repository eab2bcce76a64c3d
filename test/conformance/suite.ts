/** Runs the checks one after another; those that wait for seconds run beside the others. */
import { type Check, lacks, Skip } from './check.ts';
import { type Need, needText } from './needs.ts';
import type { Session } from './session.ts';

export interface Result {
  readonly check: Check;
  /** `differs`: from what live exchanges do where the specification is silent. */
  readonly outcome: 'passed' | 'failed' | 'differs' | 'skipped';
  readonly why?: string;
}

/** Of a reason, characters. */
const maxText = 500;

async function carriedOut(check: Check, at: Session): Promise<Result> {
  try {
    await check.run(at);
    return { check, outcome: 'passed' };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const why = message
      .split(/\s*\n\s*/)
      .join(' ')
      .slice(0, maxText);
    if (error instanceof Skip) return { check, outcome: 'skipped', why };
    return { check, outcome: check.observed === undefined ? 'failed' : 'differs', why };
  }
}

/** Needs that the exchange proved not to fulfil, and how. */
type Denied = Map<Need, string>;

/** Why a check is not worth its requests; undefined where it is. */
function obstacle(check: Check, at: Session, granted: ReadonlySet<Need>, denied: Denied): string | undefined {
  const lacking = lacks(check, granted);
  if (lacking.length > 0) return lacking.map((need) => needText[need]).join(', ');
  if (check.silent) return undefined;
  if (at.banned) return 'the exchange has banned this address (HTTP 418)';
  const denying = check.needs?.find((need) => denied.has(need));
  return denying === undefined ? undefined : denied.get(denying);
}

/** Cancels what is left open; where it cannot, no further order is placed. */
async function cleaned(at: Session, denied: Denied): Promise<void> {
  const left = await at.own.sweep();
  if (left.length > 0) for (const need of creating) denied.set(need, 'an order of an earlier check may still be open');
}
const creating: readonly Need[] = ['write', 'quiet', 'readOnly', 'margin', 'limits'];

export interface Suite {
  readonly at: Session;
  readonly checks: readonly Check[];
  readonly granted: ReadonlySet<Need>;
  readonly onResult: (result: Result) => void;
  /** Resolves when no further check is to begin. */
  readonly stopped: Promise<'stopped'>;
}

/** The results of the checks until it was stopped. What a check that did not pass left open is cancelled before the next one. */
export async function runSuite({ at, checks, granted, onResult, stopped }: Suite): Promise<readonly Result[]> {
  const denied: Denied = new Map();
  const early = new Map(
    checks
      .filter((check) => check.slow && lacks(check, granted).length === 0)
      .map((check) => [check, carriedOut(check, at)] as const),
  );
  const results: Result[] = [];
  for (const check of checks) {
    const why = early.has(check) ? undefined : obstacle(check, at, granted, denied);
    const work = early.get(check) ?? (why === undefined ? carriedOut(check, at) : undefined);
    const result =
      work === undefined ? ({ check, outcome: 'skipped', why } as Result) : await Promise.race([work, stopped]);
    if (result === 'stopped') return results;
    if (check.gives !== undefined && result.outcome === 'failed')
      denied.set(check.gives, 'the exchange refuses the key (the first check of §5.2)');
    results.push(result);
    onResult(result);
    // After the last of the limits nothing of this user is answered for a minute.
    const isLimit = check.needs?.includes('limits') === true;
    if (why === undefined && (isLimit || result.outcome !== 'passed')) await cleaned(at, denied);
  }
  return results;
}
