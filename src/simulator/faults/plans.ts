/** Bad days by name: rules that suit any exchange, for its first user and first symbol where one is needed. */
import { Refusal } from '../../domain/refusal.ts';
import { type FaultRule, type FaultRuleInput, faultRules, type TimedRuleInput } from './rules.ts';

export interface FaultPlan {
  /** What it is like to trade on such a day, and what a good client does. */
  readonly about: string;
  readonly rules: readonly (FaultRuleInput | TimedRuleInput)[];
}

const create = { method: 'POST', path: '/sapi/v1/order' } as const;
const cancel = { method: 'POST', path: '/sapi/v1/cancel' } as const;
const query = (name: string) => ({ method: 'GET', path: `/sapi/v1/${name}` }) as const;
const queries = ['order', 'openOrders', 'myTrades', 'account'] as const;
const depth = { method: 'WS', path: 'market_*' } as const;
const minute = 60_000;

/** Faults that each hit what matches with this chance. */
const hitting = (match: FaultRuleInput['match'], probability: number, ...faults: FaultRuleInput['do'][]) =>
  faults.map((fault): FaultRuleInput => ({ match: { ...match, probability }, do: fault }));

export const plans = {
  'flaky-504': {
    about:
      'One create in ten is answered with 504. Half of these took effect, some never do, some take effect two seconds later. A client that sends again has two orders.',
    rules: [
      { match: { ...create, probability: 0.05 }, do: { status: 504, when: 'after' } },
      { match: { ...create, probability: 0.03 }, do: { status: 504, when: 'before' } },
      { match: { ...create, probability: 0.02 }, do: { status: 504, when: 'later', afterMs: 2_000 } },
      ...hitting(cancel, 0.05, { status: 504, when: 'after' }, { status: 504, when: 'before' }),
    ],
  },
  'broken-answers': {
    about:
      'Answers break off, are truncated, are HTML with status 200, or do not arrive. The client must query the outcome.',
    rules: [
      ...hitting(create, 0.03, { drop: 'after' }, { drop: 'before' }, { truncate: true }),
      { match: { ...create, probability: 0.02 }, do: { body: '', type: 'application/json' } },
      { match: { probability: 0.01 }, do: { body: '<html><body>Just a moment…</body></html>' } },
      { match: { method: 'GET', probability: 0.02 }, do: { truncate: true } },
    ],
  },
  'ambiguous-codes': {
    about: 'Refusals that leave the outcome open (-1000, -1001, -1006, -1007, -1016), with and without effect.',
    rules: [-1_000, -1_001, -1_006, -1_007, -1_016].flatMap((code) =>
      hitting(create, 0.01, { code, when: 'after' }, { code, when: 'before' }),
    ),
  },
  'slow-queue': {
    about:
      'Requests wait up to eight seconds in a queue before the exchange. Some are refused as too old, others are answered late.',
    rules: [
      { match: { ...create, probability: 0.2 }, do: { delayMs: [0, 8_000], when: 'before' } },
      { match: { ...create, probability: 0.1 }, do: { delayMs: [0, 8_000], when: 'after' } },
      { match: { ...cancel, probability: 0.2 }, do: { delayMs: [0, 8_000], when: 'before' } },
      { match: { method: 'GET', probability: 0.05 }, do: { delayMs: [0, 4_000] } },
    ],
  },
  'double-delivery': {
    about:
      'A proxy sends some creates and cancels twice. Client ids are not checked for repetition, so both orders exist.',
    rules: [
      { match: { ...create, probability: 0.05 }, do: { deliver: 2, gapMs: 200 } },
      { match: { ...cancel, probability: 0.1 }, do: { deliver: 2 } },
    ],
  },
  'replica-lag': {
    about:
      'Half of all queries are answered by a replica that lags three seconds, some by one that lags fifteen. “Not found” proves nothing.',
    rules: queries.flatMap((name): FaultRuleInput[] => [
      { match: { ...query(name), probability: 0.1 }, do: { lagMs: 15_000 } },
      { match: { ...query(name), probability: 0.5 }, do: { lagMs: 3_000 } },
    ]),
  },
  'orders-that-end': {
    about:
      'The exchange accepts some orders and cancels them soon after, without a fill. A successful create does not mean a working order.',
    rules: hitting(create, 0.05, { endAfterMs: 0 }, { endAfterMs: 5_000 }),
  },
  'lying-lists': {
    about: 'Lists omit rows, repeat them, shuffle them or end early. Fields are missing or have strange values.',
    rules: [
      { match: { ...query('openOrders'), probability: 0.1 }, do: { lie: { omit: 0.3 } } },
      { match: { ...query('openOrders'), probability: 0.05 }, do: { lie: { keep: 0 } } },
      ...hitting(query('myTrades'), 0.1, { lie: { order: 'shuffled', twice: true } }, { lie: { omit: 0.2 } }),
      ...hitting(
        query('order'),
        0.05,
        { lie: { set: { status: 'SUSPENDED' } } },
        { lie: { remove: ['clientOrderId'] } },
        { code: -2_013 },
      ),
      { match: { ...create, probability: 0.05 }, do: { lie: { set: { status: 0 }, remove: ['orderIdString'] } } },
    ],
  },
  'ban-hammer': {
    about:
      'Bursts of 429 although weight is left, a 410 as the last warning, and a ban every ten minutes. A client that continues extends the ban.',
    rules: [
      { match: { probability: 0.005 }, do: { code: -1_003, status: 410 } },
      { match: { probability: 0.02 }, do: { code: -1_003, status: 429 } },
      { at: { afterMs: 2 * minute, everyMs: 10 * minute }, do: { ban: true } },
    ],
  },
  'shared-address': {
    about: 'Another client behind the same address uses three quarters of its weight, in bursts.',
    rules: [
      { at: { afterMs: 5_000, everyMs: 10_000 }, do: { spend: 1_500 } },
      { at: { afterMs: 3 * minute, everyMs: 5 * minute }, do: { spend: 9_000 } },
    ],
  },
  'socket-storm': {
    about:
      'The socket is cut every forty frames, goes silent while it is open, and sometimes cannot be opened for half a minute.',
    rules: [
      { match: { method: 'WS', every: 40 }, do: { socket: 'disconnect' } },
      { match: { method: 'WS', probability: 0.01 }, do: { socket: 'silence', forMs: 20_000 } },
      { at: { afterMs: 90_000, everyMs: 5 * minute }, do: { outage: 'socket', forMs: 30_000 } },
      { at: { afterMs: 20_000, everyMs: minute }, do: { cut: 'sockets' } },
    ],
  },
  'bad-frames': {
    about:
      'Frames are missing, repeated, out of order or old. Depth is crossed, empty or has a price of zero. Bytes are garbage.',
    rules: [
      ...hitting(
        depth,
        0.02,
        { socket: 'skip' },
        { socket: 'stale' },
        { socket: 'swap' },
        { socket: 'repeat', times: 2 },
      ),
      ...hitting(depth, 0.01, { socket: 'crossed' }, { socket: 'empty' }, { socket: 'zero' }),
      ...hitting(depth, 0.005, { socket: 'garbage' }, { socket: 'half' }),
      { match: { ...depth, probability: 0.001 }, do: { socket: 'bomb' } },
    ],
  },
  'human-on-account': {
    about:
      "A person trades on the same account by hand: places orders, copies client ids, cancels the client's orders, moves money.",
    rules: [
      { at: { afterMs: 15_000, everyMs: 45_000 }, do: { place: { offsetBps: -200 } } },
      { at: { afterMs: 40_000, everyMs: 90_000 }, do: { place: { offsetBps: 20 } } },
      { at: { afterMs: 60_000, everyMs: 2 * minute, probability: 0.5 }, do: { place: { copy: true } } },
      { at: { afterMs: 75_000, everyMs: 2 * minute }, do: { cancel: { which: 'newest' } } },
      { at: { afterMs: 10 * minute, everyMs: 30 * minute }, do: { cancel: { which: 'all' } } },
    ],
  },
  'wrong-clock': {
    about: "The exchange's clock runs fast and steps back and forth. One gateway in five is two seconds off.",
    rules: [
      { at: {}, do: { driftPpm: 300 } },
      { at: { afterMs: 2 * minute, everyMs: 10 * minute }, do: { stepMs: 3_000 } },
      { at: { afterMs: 7 * minute, everyMs: 10 * minute }, do: { stepMs: -3_000 } },
      ...hitting({}, 0.1, { skewMs: 2_000 }, { skewMs: -2_000 }),
    ],
  },
  'changed-terms': {
    about:
      'During trading, the first symbol loses a decimal of price and quantity. Then its minimum amount rises. Then the original decimals return, with a minimum amount of 1. A client that ignores this is refused (-1111, -1136); a good one reads the symbols again.',
    rules: [
      {
        at: { afterMs: 2 * minute, everyMs: 20 * minute },
        do: { terms: { pricePlacesFewer: 1, quantityPlacesFewer: 1 } },
      },
      { at: { afterMs: 8 * minute, everyMs: 20 * minute }, do: { terms: { minNotional: '25' } } },
      {
        at: { afterMs: 14 * minute, everyMs: 20 * minute },
        do: { terms: { pricePlacesFewer: 0, quantityPlacesFewer: 0, minNotional: '1' } },
      },
    ],
  },
  'outage-5m': {
    about: 'After a minute the whole exchange is down for five minutes, with connection resets. Then it continues.',
    rules: [{ at: { afterMs: minute }, do: { outage: 'all', forMs: 5 * minute } }],
  },
  'rolling-outages': {
    about: 'REST and socket go down in turn: with 503, with silence, with resets.',
    rules: [
      { at: { afterMs: minute, everyMs: 12 * minute }, do: { outage: 'rest', how: 'status', forMs: 90_000 } },
      { at: { afterMs: 5 * minute, everyMs: 12 * minute }, do: { outage: 'socket', forMs: 2 * minute } },
      { at: { afterMs: 9 * minute, everyMs: 12 * minute }, do: { outage: 'rest', how: 'hang', forMs: 45_000 } },
    ],
  },
  'bad-day': {
    about: 'A little of everything, as on the day of a crash.',
    rules: [
      { match: { ...create, probability: 0.02 }, do: { status: 504, when: 'after' } },
      ...hitting(create, 0.01, { status: 504, when: 'later', afterMs: 4_000 }, { drop: 'after' }),
      { match: { ...create, probability: 0.1 }, do: { delayMs: [200, 3_000], when: 'before' } },
      { match: { method: 'GET', path: '/sapi/v1/order', probability: 0.2 }, do: { lagMs: 2_000 } },
      { match: { method: 'GET', path: '/sapi/v1/openOrders', probability: 0.2 }, do: { lagMs: 2_000 } },
      ...hitting({}, 0.005, { code: -1_003, status: 429 }, { status: 503, when: 'before' }),
      { match: { method: 'WS', probability: 0.002 }, do: { socket: 'disconnect' } },
      { match: { ...depth, probability: 0.02 }, do: { socket: 'stale' } },
      { at: { afterMs: 8 * minute, everyMs: 20 * minute }, do: { outage: 'all', how: 'status', forMs: minute } },
    ],
  },
  'worst-day': {
    about:
      'All faults that a ledger can survive, at once. One create in seven has an unclear or wrong answer. Lists lag, are wrong and break off. Frames are broken, the address is limited, clocks step, the exchange goes down, and a person trades on the account.',
    rules: [
      { match: { ...create, probability: 0.03 }, do: { status: 504, when: 'after' } },
      { match: { ...create, probability: 0.02 }, do: { status: 504, when: 'before' } },
      { match: { ...create, probability: 0.01 }, do: { status: 504, when: 'later', afterMs: 2_000 } },
      ...hitting(create, 0.02, { drop: 'after' }, { drop: 'before' }, { truncate: true }),
      ...hitting(create, 0.01, { code: -1_007, when: 'after' }, { code: -1_006, when: 'before' }),
      { match: { ...create, probability: 0.02 }, do: { endAfterMs: 5_000 } },
      { match: { ...create, probability: 0.1 }, do: { delayMs: [5, 60], when: 'before' } },
      ...hitting(cancel, 0.05, { status: 504, when: 'after' }, { status: 504, when: 'before' }),
      { match: { ...cancel, probability: 0.03 }, do: { drop: 'after' } },
      ...queries.flatMap((name) => hitting(query(name), 0.2, { lagMs: 3_000 })),
      { match: { ...query('openOrders'), probability: 0.02 }, do: { lie: { omit: 0.3 } } },
      { match: { ...query('myTrades'), probability: 0.03 }, do: { lie: { order: 'shuffled', twice: true } } },
      { match: { ...query('order'), probability: 0.02 }, do: { code: -2_013 } },
      { match: { method: 'GET', probability: 0.02 }, do: { truncate: true } },
      { match: { probability: 0.005 }, do: { body: '<html><body>Just a moment…</body></html>' } },
      { match: { probability: 0.001 }, do: { code: -1_003, status: 429 } },
      { match: { probability: 0.005 }, do: { status: 503, when: 'before' } },
      { match: { method: 'WS', probability: 0.002 }, do: { socket: 'disconnect' } },
      ...hitting(depth, 0.005, { socket: 'skip' }, { socket: 'stale' }, { socket: 'swap' }),
      ...hitting(depth, 0.005, { socket: 'crossed' }, { socket: 'garbage' }, { socket: 'half' }),
      { at: { afterMs: 8 * minute, everyMs: 40 * minute }, do: { outage: 'all', how: 'status', forMs: 2 * minute } },
      { at: { afterMs: 25 * minute, everyMs: 40 * minute }, do: { outage: 'rest', how: 'hang', forMs: minute } },
      { at: { afterMs: 95 * minute, everyMs: 240 * minute }, do: { ban: true } },
      { at: { afterMs: 4 * minute, everyMs: 10 * minute }, do: { cut: 'sockets' } },
      { at: { afterMs: 5 * minute, everyMs: 20 * minute }, do: { stepMs: 2_000 } },
      { at: { afterMs: 15 * minute, everyMs: 20 * minute }, do: { stepMs: -2_000 } },
      { at: { afterMs: 3 * minute, everyMs: 13 * minute }, do: { place: { offsetBps: 20 } } },
      { at: { afterMs: 6 * minute, everyMs: 17 * minute }, do: { cancel: { which: 'newest' } } },
    ],
  },
} as const satisfies Readonly<Record<string, FaultPlan>>;

export const planNames: readonly string[] = Object.keys(plans);

/** Rules that are given as such, or as the name of a plan. */
export function rulesOf(faults: unknown): FaultRule[] {
  if (typeof faults !== 'string') return faultRules(faults);
  const plan = new Map<string, FaultPlan>(Object.entries(plans)).get(faults);
  if (plan === undefined) throw new Refusal(`there is no fault plan ${faults}; there are ${planNames.join(', ')}`);
  return faultRules(plan.rules);
}
