/**
 * What an exchange may answer: to the letter of the specification (`documented`), or as live deployments do (`observed`), where
 * they were seen to differ from it. Replies are read leniently; where their
 * shape differs, that breaks one rule, and the check goes on.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Reply } from './http.ts';
import { isEnveloped, isRefusal, type OrderState, orderStateIn, orderStates, rowsIn, unwrapped } from './lenient.ts';
import type { RuleName, Rules } from './rules.ts';
import { array, type Fields, fields, rows, shown, text } from './shape.ts';

export type Profile = 'documented' | 'observed';

export interface Answers {
  readonly profile: Profile;
  /** Checks that a request was refused, with one of these codes (any where none is given); returns the code. */
  refused(reply: Reply, codes?: readonly number[]): number;
  /** Checks that a request was answered; returns the body, without the envelope that some put around it [4]. */
  done(reply: Reply): unknown;
  /** A list of orders or own trades: bare, or `{list}` too [5, 11]. */
  list(reply: Reply, what: string): readonly Fields[];
  /** The status of an order as one of §3.1, or as the spelling of a live exchange [5]. */
  state(value: unknown): OrderState;
  /** A `side` on the socket: lower case, or upper too [8]. */
  socketSide(value: unknown): void;
  /** Keys that a frame has beside the ones that §6.3 shows are a fault, or are passed over [8]. */
  keys(rule: RuleName, frame: Fields, names: readonly string[], what: string): void;
  /** Whether a history reply has to echo `cb_id` [8]. */
  readonly echoesCallbackId: boolean;
  /** Most levels a side in a pushed book [8]. */
  readonly socketLevels: number;
  /** Whether a cancel has taken effect when it is answered [10]. */
  readonly cancelsAtOnce: boolean;
  /** Whether pings come without a subscription [8]. */
  readonly pingsFromTheStart: boolean;
}

/** By a limit or a ban, or with no outcome: no answer to what a check asked. */
const isNoAnswer = ({ status }: Reply): boolean => status === 410 || status === 418 || status === 429 || status >= 500;

function codeOf(reply: Reply, strict: boolean, rules: Rules): number {
  const { value, status, text: body } = reply;
  ok(!isNoAnswer(reply), `HTTP ${status}: ${shown(body)}`);
  ok(isRefusal(reply), `it was not refused: HTTP ${status} ${shown(body)}`);
  rules.hold('refusalStatus', () =>
    ok(strict ? status >= 400 : status === 200, `a refused request has HTTP ${status}: ${shown(body)}`),
  );
  rules.hold('refusal', () => {
    const { code, msg } = fields(value, `the refusal (HTTP ${status}) ${shown(body)}`);
    text(msg, 'msg of a refusal');
    if (strict) equal(typeof code, 'number', `code of a refusal is ${shown(code)}, not an integer`);
    ok(code !== '' && Number.isInteger(Number(code)), `code of a refusal is ${shown(code)}`);
  });
  return Number((value as Fields | undefined)?.['code']);
}

function stateOf(value: unknown, strict: boolean): OrderState {
  if (!strict && value === 0) return 'NEW';
  const word = text(value, 'status of an order');
  const exact = orderStates.find((one) => one === word);
  const isKnown = !strict && !/^[1-9]$/.test(word);
  const found = exact ?? (isKnown ? orderStateIn(word) : undefined);
  ok(found !== undefined, `status of an order is ${shown(word)}, not one of ${orderStates.join(', ')}`);
  return found;
}

function listOf(reply: Reply, what: string, strict: boolean, rules: Rules): readonly Fields[] {
  const { status, value, text: body } = reply;
  equal(status, 200, `HTTP ${status}: ${shown(body)}`);
  const found = rowsIn(value);
  ok(found !== undefined && !isRefusal(reply), `${what} is no list: ${shown(body)}`);
  const inner = unwrapped(value);
  if (inner === null) {
    rules.hold('emptyList', () => ok(false, `${what} is ${shown(value)}`));
    return found;
  }
  if (found.length === 0) rules.hold('emptyList', () => {});
  rules.hold('bare', () => ok(!isEnveloped(value), `${what} is ${shown(value)}`));
  rules.hold('list', () => {
    const isBare = strict || Array.isArray(inner);
    rows(isBare ? array(inner, what) : fields(inner, what)['list'], what);
  });
  return found;
}

export function answersOf(profile: Profile, rules: Rules): Answers {
  const strict = profile === 'documented';
  return {
    profile,
    refused(reply, codes) {
      const code = codeOf(reply, strict, rules);
      if (codes !== undefined)
        ok(codes.includes(code), `the code is ${code}, not ${codes.join(' or ')}: ${shown(reply.text)}`);
      return code;
    },
    done(reply) {
      const { status, value, text: body } = reply;
      equal(status, 200, `HTTP ${status}: ${shown(body)}`);
      ok(!isRefusal(reply), `the answer is a refusal: ${shown(body)}`);
      rules.hold('bare', () => ok(!isEnveloped(value), `the answer is ${shown(body)}`));
      ok(typeof value === 'object' && value !== null, `the answer is no JSON object or array (§1): ${shown(body)}`);
      return unwrapped(value) ?? {};
    },
    list: (reply, what) => listOf(reply, what, strict, rules),
    state: (value) => stateOf(value, strict),
    socketSide: (value) =>
      rules.hold('side', () => {
        const side = text(value, 'side');
        ok(/^(buy|sell)$/.test(strict ? side : side.toLowerCase()), `side is ${shown(side)}, not buy or sell (§6.3)`);
      }),
    keys: (rule, frame, names, what) =>
      rules.hold(rule, () => {
        const found = Object.keys(frame).filter((key) => strict || names.includes(key));
        deepEqual(found.toSorted(), names.toSorted(), `${what} has the keys ${shown(Object.keys(frame))}`);
      }),
    echoesCallbackId: strict,
    socketLevels: strict ? 30 : 200,
    cancelsAtOnce: strict,
    pingsFromTheStart: strict,
  };
}
