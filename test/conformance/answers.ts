/**
 * What an exchange may answer: to the letter of the specification (`documented`), or as live deployments do (`observed`), where
 * they were seen to differ from it. Numbers in brackets are sections of `venue-observed.md`.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Reply } from './http.ts';
import { array, type Fields, fields, long, rows, shown, text } from './shape.ts';

export type Profile = 'documented' | 'observed';

export const orderStates = ['NEW', 'PARTIALLY_FILLED', 'FILLED', 'CANCELED', 'REJECTED'] as const;
export type OrderState = (typeof orderStates)[number];

export interface Answers {
  readonly profile: Profile;
  /** Checks that a request was refused, with one of these codes (any where none is given); returns the code. */
  refused(reply: Reply, codes?: readonly number[]): number;
  /** Checks that a request was answered; returns the body. */
  done(reply: Reply): unknown;
  /** A list of orders or own trades: bare, or `{list}` too [5, 11]. */
  list(reply: Reply, what: string): readonly Fields[];
  /** The status of an order as one of §3.1; what stands for a cancel that goes on counts as `NEW` [5, 10]. */
  state(value: unknown): OrderState;
  /** A `side` on the socket: lower case, or upper too [8]. */
  socketSide(value: unknown): string;
  /** Keys that a frame has beside the ones that §6.3 shows are a fault, or are passed over [8]. */
  keys(frame: Fields, names: readonly string[], what: string): void;
  /** Whether a history reply has to echo `cb_id` [8]. */
  readonly echoesCallbackId: boolean;
  /** Most levels a side in a pushed book [8]. */
  readonly socketLevels: number;
  /** Whether a cancel has taken effect when it is answered [10]. */
  readonly cancelsAtOnce: boolean;
  /** Whether pings come without a subscription [8]. */
  readonly pingsFromTheStart: boolean;
}

function codeOf({ value, status, text: body }: Reply, profile: Profile): number {
  const { code, msg } = fields(value, `the refusal (HTTP ${status}) ${shown(body)}`);
  text(msg, 'msg of a refusal');
  if (profile === 'documented') {
    equal(typeof code, 'number', `code of a refusal is ${shown(code)}, not an integer (§7)`);
    ok(status >= 400 && status < 500, `a refused request has HTTP ${status}, not 4XX (§7): ${shown(body)}`);
  } else if (status !== 410 && status !== 429 && status !== 418)
    equal(status, 200, `a refused request has HTTP ${status} [4]`);
  const read = Number(code);
  ok(code !== '' && Number.isInteger(read) && read !== 0, `code of a refusal is ${shown(code)}`);
  return read;
}

const synonyms: readonly (readonly [pattern: RegExp, state: OrderState])[] = [
  [/^(partially_filled_cancel(ed|led)?|partially filled\/cancell?ed|part_cancell?ed)$/i, 'CANCELED'],
  [/^(new|new order|new_|init|pending_cancel|to be cancell?ed)$/i, 'NEW'],
  [/^(partially[_ ]filled|part_filled)$/i, 'PARTIALLY_FILLED'],
  [/^filled$/i, 'FILLED'],
  [/^(cancell?ed|expired)$/i, 'CANCELED'],
  [/^rejected$/i, 'REJECTED'],
];

function stateOf(value: unknown, profile: Profile): OrderState {
  if (profile === 'observed' && (value === 0 || value === '0')) return 'NEW';
  const word = text(value, 'status of an order');
  const exact = orderStates.find((one) => one === word);
  const found = exact ?? (profile === 'observed' ? synonyms.find(([pattern]) => pattern.test(word))?.[1] : undefined);
  ok(found !== undefined, `status of an order is ${shown(word)}, not one of ${orderStates.join(', ')} (§3.1)`);
  return found;
}

export function answersOf(profile: Profile): Answers {
  const strict = profile === 'documented';
  return {
    profile,
    refused(reply, codes) {
      const code = codeOf(reply, profile);
      if (codes !== undefined)
        ok(codes.includes(code), `the code is ${code}, not ${codes.join(' or ')}: ${shown(reply.text)}`);
      return code;
    },
    done({ status, value, text: body }) {
      equal(status, 200, `HTTP ${status}: ${shown(body)}`);
      ok(typeof value === 'object' && value !== null, `the answer is no JSON object or array (§1): ${shown(body)}`);
      const code = Array.isArray(value) ? undefined : fields(value, 'the answer')['code'];
      ok(code === undefined || Number(code) === 0, `the answer is a refusal: ${shown(body)}`);
      return value;
    },
    list(reply, what) {
      const value = this.done(reply);
      const bare = strict || Array.isArray(value);
      return rows(bare ? array(value, what) : fields(value, what)['list'], what);
    },
    state: (value) => stateOf(value, profile),
    socketSide(value) {
      const side = text(value, 'side');
      ok(/^(buy|sell)$/.test(strict ? side : side.toLowerCase()), `side is ${shown(side)}, not buy or sell (§6.3)`);
      return side.toLowerCase();
    },
    keys(frame, names, what) {
      const found = Object.keys(frame).filter((key) => strict || names.includes(key));
      deepEqual(found.toSorted(), names.toSorted(), `${what} has the keys ${shown(Object.keys(frame))}`);
    },
    echoesCallbackId: strict,
    socketLevels: strict ? 30 : 200,
    cancelsAtOnce: strict,
    pingsFromTheStart: strict,
  };
}

/** Ids in the reply to a batch, as digits. */
export const ids = (value: unknown, what: string): string[] =>
  array(value, what).map((one) => long(one, `an id of ${what}`));
