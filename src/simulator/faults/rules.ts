/**
 * Fault rules: what goes wrong, and for which request or frame. The first rule that fires decides.
 *
 *     - match: { method: POST, path: /sapi/v1/order, probability: 0.02 }
 *       do: { status: 504, when: after }
 *     - match: { method: WS, path: market_btcusdt_kline_1min, nth: 40 }
 *       do: { socket: disconnect }
 */
import { z } from 'zod';
import { Refusal } from '../../domain/refusal.ts';

const count = z.number().int().min(1);

const match = z.strictObject({
  /** GET, POST, or WS for frames that the socket is about to push. */
  method: z.enum(['GET', 'POST', 'WS']).optional(),
  /** Exactly this path; of a frame its channel, or `ping`. */
  path: z.string().min(1).optional(),
  /** Only the nth that matches otherwise, from 1. */
  nth: count.optional(),
  /** Every kth that matches otherwise. */
  every: count.optional(),
  /** Each with this chance, drawn from the simulator's seed. */
  probability: z.number().min(0).max(1).optional(),
  /** At most so often. */
  times: count.optional(),
  /** Not before and not at or after these exchange times, UTC ms. */
  from: z.number().optional(),
  until: z.number().optional(),
});

/** Before the exchange processes the request, or after it has and before it answers. */
const when = z.enum(['before', 'after']);

const action = z.union([
  /** Waits until `release(name)`. */
  z.strictObject({ hold: z.string().min(1), when: when.default('after') }),
  /** Destroys the connection instead of answering. */
  z.strictObject({ drop: when }),
  /** Answers with this status: `after` the request took effect, or `before`, without any. */
  z.strictObject({ status: z.number().int().min(400).max(599), when: when.default('after') }),
  /** Waits so many real ms (a fast clock stretches them). */
  z.strictObject({ delayMs: z.number().min(0).max(600_000), when: when.default('after') }),
  /** Promises the whole answer, sends half of it and destroys the connection. */
  z.strictObject({ truncate: z.literal(true) }),
  /** Cuts the socket that the frame goes to, or sends it nothing more: for so many real ms, or for good. */
  z.strictObject({ socket: z.literal('disconnect') }),
  z.strictObject({ socket: z.literal('silence'), forMs: z.number().min(1).optional() }),
]);

const rule = z.strictObject({ match: match.default({}), do: action });

export type FaultRule = z.infer<typeof rule>;
export type FaultAction = FaultRule['do'];
/** A rule as it may be written, defaults left out. */
export type FaultRuleInput = z.input<typeof rule>;

/** Why a list of rules is none; every problem is in the message, with its place. */
export class FaultRulesError extends Refusal {
  override name = 'FaultRulesError';
}

/** Checks the parsed content of a fault file; throws `FaultRulesError` with all problems. */
export function faultRules(content: unknown): FaultRule[] {
  const checked = z.array(rule).safeParse(content);
  if (checked.success) return checked.data.map(checkedPair);
  const problems = checked.error.issues.map((issue) => `  ${placeOf(issue.path)}: ${messageOf(issue)}`);
  throw new FaultRulesError(`the fault rules are not valid:\n${problems.join('\n')}`);
}

function checkedPair(found: FaultRule, index: number): FaultRule {
  const onSocket = 'socket' in found.do;
  if (onSocket === (found.match.method === 'WS')) return found;
  const problem = onSocket ? 'a socket fault needs match.method: WS' : 'match.method: WS needs a socket fault';
  throw new FaultRulesError(`the fault rules are not valid:\n  rule ${index + 1}: ${problem}`);
}

const placeOf = ([index, ...keys]: readonly PropertyKey[]): string =>
  typeof index === 'number' ? ['rule', index + 1, ...keys.map(String)].join(' ') : 'the whole';

const actions = 'hold, drop, status, delayMs, truncate or socket, with their own keys only';

const messageOf = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_union' ? `must be one of ${actions}` : issue.message;
