/**
 * Fault rules: what goes wrong, and when. A rule with `match` hits requests or frames, and the first one that fires decides;
 * a rule with `at` happens by itself at a time.
 *
 *     - match: { method: POST, path: /sapi/v1/order, probability: 0.02 }
 *       do: { status: 504, when: after }
 *     - match: { method: WS, path: market_btcusdt_kline_1min, nth: 40 }
 *       do: { socket: disconnect }
 *     - at: { afterMs: 60000, everyMs: 600000 }
 *       do: { outage: all, forMs: 30000 }
 */
import { z } from 'zod';
import { didYouMean, plainly, Refusal } from '../../domain/refusal.ts';
import { action, actions } from './actions.ts';
import { event, events } from './events.ts';

const count = z.number().int().min(1);
const chance = z.number().min(0).max(1);

export const match = z.strictObject({
  method: z.enum(['GET', 'POST', 'WS']).optional().describe('`GET`, `POST`, or `WS` for frames about to be pushed'),
  path: z
    .string()
    .min(1)
    .optional()
    .describe('this path, or with `*` at the end every path with this beginning; for a frame its channel, or `ping`'),
  user: z.string().min(1).optional().describe('only requests that carry a key of this user (uid)'),
  nth: count.optional().describe('only the nth match, from 1'),
  every: count.optional().describe('every kth match'),
  probability: chance.optional().describe('the chance of each match'),
  times: count.optional().describe('maximum number of times'),
  from: z.number().optional().describe('not before this exchange time, UTC ms'),
  until: z.number().optional().describe('not at or after this exchange time, UTC ms'),
  fromMs: z.number().min(0).optional().describe('not in the first ms after the rule begins, exchange time'),
  untilMs: z.number().min(0).optional().describe('only in the first ms after the rule begins, exchange time'),
});

export const at = z.strictObject({
  afterMs: z.number().min(0).default(0).describe('delay after the rule begins'),
  everyMs: z.number().min(1).optional().describe('interval of repetitions; once when left out'),
  times: count.optional().describe('maximum number of times'),
  probability: chance.optional().describe('the chance of each time'),
});

const hitting = z.strictObject({ match: match.default({}), do: action });
const timed = z.strictObject({ at, do: event });

/** A rule about requests or frames. */
export type HittingRule = z.infer<typeof hitting>;
/** A rule about a time. */
export type TimedRule = z.infer<typeof timed>;
export type FaultRule = HittingRule | TimedRule;
export type { FaultAction } from './actions.ts';
export type { FaultEvent } from './events.ts';
/** A rule about requests or frames as it may be written, defaults left out. */
export type FaultRuleInput = z.input<typeof hitting>;
/** The same of a rule about a time. */
export type TimedRuleInput = z.input<typeof timed>;

export const isTimed = (one: FaultRule): one is TimedRule => 'at' in one;

/** What is wrong with a list of rules, and where. */
export interface RuleProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** A key at that path which should not be there. */
  readonly key?: string;
}

/** Why a list of rules is none; every problem is in the message, with its place. */
export class FaultRulesError extends Refusal {
  override name = 'FaultRulesError';
  readonly problems: readonly RuleProblem[];

  constructor(problems: readonly RuleProblem[]) {
    const lines = problems.map(({ path, message }) => `  ${placeOf(path)}: ${message}`);
    super(`the fault rules are not valid:\n${lines.join('\n')}`);
    this.problems = problems;
  }
}

/** Checks the parsed content of a fault file; throws `FaultRulesError` with all problems. */
export function faultRules(content: unknown): FaultRule[] {
  const list = z.array(z.unknown()).safeParse(content);
  if (!list.success)
    throw new FaultRulesError([{ path: [], message: 'must be a list of rules, each with match or at, and do' }]);
  const problems: RuleProblem[] = [];
  const rules = list.data.flatMap((one, index) => {
    const checked = (isObject(one) && 'at' in one ? timed : hitting).safeParse(one);
    if (!checked.success) {
      problems.push(...checked.error.issues.flatMap((issue) => explained(issue, one, [index])));
      return [];
    }
    const pair = 'match' in checked.data ? pairProblem(checked.data) : undefined;
    if (pair !== undefined) problems.push({ path: [index], message: pair });
    return [checked.data];
  });
  if (problems.length > 0) throw new FaultRulesError(problems);
  return rules;
}

function pairProblem({ match: { method }, do: action }: HittingRule): string | undefined {
  const onSocket = 'socket' in action;
  if (onSocket === (method === 'WS')) return undefined;
  return onSocket ? 'a socket fault needs match.method: WS' : 'match.method: WS needs a socket fault';
}

const placeOf = ([index, ...keys]: readonly PropertyKey[]): string =>
  typeof index === 'number' ? ['rule', index + 1, ...keys.map(String)].join(' ') : 'the whole';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The problems of one issue: where nothing of a union fits, those of the form whose name was written. */
function explained(issue: z.core.$ZodIssue, rule: unknown, at: readonly PropertyKey[]): RuleProblem[] {
  const path = [...at, ...issue.path];
  if (issue.code !== 'invalid_union' || issue.path[0] !== 'do') return [problemOf(issue, path)];
  const written = isObject(rule) ? rule['do'] : undefined;
  const forms: Readonly<Record<string, z.ZodType>> = isObject(rule) && 'at' in rule ? events : actions;
  const names = isObject(written) ? Object.keys(written).filter((name) => Object.hasOwn(forms, name)) : [];
  const [name = ''] = names;
  const inner = names.length === 1 ? forms[name]?.safeParse(written) : undefined;
  if (inner === undefined || inner.success)
    return [{ path, message: `must be one of ${Object.keys(forms).join(', ')}, with its own keys only` }];
  return inner.error.issues.map((one) =>
    one.code === 'invalid_union'
      ? { path: [...path, ...one.path], message: `the value does not fit ${name}` }
      : problemOf(one, [...path, ...one.path]),
  );
}

function problemOf(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): RuleProblem {
  const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  if (key === undefined) return { path, message: plainly(issue.message) };
  const known = Object.keys((path[1] === 'match' ? match : path[1] === 'at' ? at : hitting).shape);
  return { path, message: `"${key}" is not a known key${path[1] === 'do' ? '' : didYouMean(key, known)}`, key };
}
