/**
 * What goes wrong in a seed, worked out before anything runs: which classes of faults it has (swarm: each seed has others), and
 * when the events of those classes come. A plan can be printed, shrunk and run again.
 */
import type { Quirks } from '../../src/simulator/core/quirks.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type StrategyId, strategiesIn, symbolsOf } from './strategies.ts';

/** Faults of one request and its answer, each with its share of the requests that are harmed. */
export const wireFaults = {
  /** No connection: proven that no byte left. */
  refused: 1,
  /** The request is lost; the client waits until it gives up. */
  dropRequest: 2,
  /** Carried out; the answer is lost. */
  dropResponse: 3,
  /** Carried out; the connection breaks at once. */
  reset: 2,
  /** Arrives seconds late. */
  late: 3,
  /** An error of the gateway; not carried out. */
  errorBefore: 2,
  /** The same error; carried out. */
  errorAfter: 2,
  /** A 504, and carried out seconds later. */
  gatewayTimeout: 3,
  /** A code that decides nothing, carried out or not. */
  ambiguous: 2,
  /** An answer that is cut off. */
  truncate: 2,
  /** 410, 429 or 418, carried out or not. */
  limits: 1,
} as const;
export type WireFault = keyof typeof wireFaults;

export const faultClasses = [
  ...(Object.keys(wireFaults) as WireFault[]),
  'outage',
  'lag',
  'crash',
  'power',
  'slowDisk',
  'fullDisk',
  'human',
  'skew',
  'tight',
  'quiet',
  'kill',
  'resolve',
  'batches',
  'transfer',
] as const;

/** Classes that a share of the seeds has, each drawn by itself: to add one moves no other. */
export const rareClasses = {
  /** The machine's wall clock is set. */
  wall: 0.2,
  /** The exchange's clock jumps, or a gateway's is far off for a while. */
  step: 0.15,
  /** The disk fails at a commit. */
  ioError: 0.25,
  /** Prices come over a socket, through the code that reads it in truth, with faults of its own. */
  streams: 0.125,
  /** The account is the margin one: nobody can ask what it holds, so that no absence can be proven; a human closes what stays in doubt. */
  margin: 0.1,
  /** The exchange does not show client ids. Where no human trades, the account is declared to be dedicated. */
  noEcho: 0.2,
  /** Two strategies decide on both symbols at once. Their orders share a lane, and a leg that is open alone is completed or left. */
  legs: 0.25,
  /** A human closes positions, cancels single orders, and stops strategies more often. */
  byHand: 0.25,
} as const;
export type FaultClass = (typeof faultClasses)[number] | keyof typeof rareClasses;

/** How a human stops strategies: `sluice pause`, `sluice kill` and `sluice kill --everything`. */
export const stopKinds = ['pause', 'kill', 'killEverything'] as const;
export type StopKind = (typeof stopKinds)[number];

/** Where a crash waits for a process that comes by. */
export const crashPoints = [
  'now',
  'beforeCommit',
  'afterCommit',
  'beforeSend',
  'afterSend',
  'beforeAnswer',
  'afterAnswer',
  'timer',
] as const;
export type CrashPoint = (typeof crashPoints)[number];

/** `write`: nothing of the batch is on disk; `fsync`: all of it can be read, and nobody said that it would stay. */
export const diskErrors = { write: 'SQLITE_IOERR_WRITE', fsync: 'SQLITE_IOERR_FSYNC' } as const;
export type DiskError = keyof typeof diskErrors;

/** `at`, ms after the start. */
export type PlannedEvent =
  | {
      readonly kind: 'crash';
      readonly at: number;
      readonly point: CrashPoint;
      /** The machine loses its power: what was not synced is gone. */
      readonly power: boolean;
      readonly downMs: number;
    }
  | { readonly kind: 'outage'; readonly at: number; readonly forMs: number; readonly how: 'silent' | '503' | 'refused' }
  | { readonly kind: 'fullDisk'; readonly at: number; readonly forMs: number }
  | {
      /** At the next commit from then on. */
      readonly kind: 'ioError';
      readonly at: number;
      readonly how: DiskError;
      /** How long the process stays down that ends for it. */
      readonly downMs: number;
    }
  /** The database has no page left for a while: SQLite itself says that the disk is full. */
  | { readonly kind: 'noPages'; readonly at: number; readonly forMs: number }
  /** The machine's wall clock is set; its steady one goes on. */
  | { readonly kind: 'wall'; readonly at: number; readonly byMs: number }
  /** The exchange's clock jumps ahead, for good. */
  | { readonly kind: 'step'; readonly at: number; readonly byMs: number }
  | { readonly kind: 'skew'; readonly at: number; readonly forMs: number; readonly byMs: number }
  /** All strategies, or one, are stopped by a human, and resumed after a while. */
  | {
      readonly kind: 'stop';
      readonly at: number;
      readonly forMs: number;
      readonly how: StopKind;
      readonly strategy: string | undefined;
    }
  /** A human closes positions, and resumes after a while. */
  | {
      readonly kind: 'flatten';
      readonly at: number;
      readonly forMs: number;
      readonly strategy: string | undefined;
      readonly symbol: string | undefined;
      readonly maxSlippage: string;
    }
  /** A human cancels one resting order; `which` of them, from 0 to 1. */
  | { readonly kind: 'cancelOne'; readonly at: number; readonly which: number }
  /** A human says of an order of unknown outcome how it ended, or that it is to be left to him. */
  | { readonly kind: 'resolve'; readonly at: number }
  /** A human pays an amount in, or out where it is negative, and says so after a while. */
  | {
      readonly kind: 'transfer';
      readonly at: number;
      readonly forMs: number;
      readonly asset: string;
      readonly amount: string;
    }
  /** No price is received. */
  | { readonly kind: 'quiet'; readonly at: number; readonly forMs: number };

export interface Plan {
  readonly seed: number;
  readonly classes: readonly FaultClass[];
  /** The share of requests that are harmed. */
  readonly harm: number;
  readonly events: readonly PlannedEvent[];
  /** How the exchange answers where deployments differ. */
  readonly quirks: Partial<Quirks>;
  /** How far replicas are behind, ms. */
  readonly lagMs: number;
  /** Requests that wait behind the gateway are judged there, not when they are carried out: outside what the protocol may rely on. */
  readonly lateQueue: boolean;
  /** A scenario in place of everything that the seed decides. */
  readonly exact?: Exact;
}

/** What can go wrong with a scenario: one of its requests is harmed, or something fails for a while. */
export const exactFaults = [
  'none',
  ...(Object.keys(wireFaults) as WireFault[]),
  'outage',
  'fullDisk',
  'slowDisk',
] as const;
export type ExactFault = (typeof exactFaults)[number];

export interface Exact {
  /** One of `scenarios`, by name. */
  readonly scenario: string;
  readonly fault: ExactFault;
  /** The point of the scenario, and the point of the recovery after it, at which the process dies; counted from 0. */
  readonly crashes: readonly number[];
}

/** How long faults go on, virtual ms. */
export const faultsMs = 90_000;
/** After them: how long trading goes on, how long everything may take to end, and how long it is watched after that, virtual ms. */
export const calmMs = 5_000;
export const endMs = 240_000;
export const watchMs = 1_000;
/** After them: how long a socket may take until it sends prices again, virtual ms. */
export const pricedMs = 90_000;

const usual: Readonly<Partial<Record<FaultClass, number>>> = {
  crash: 0.92,
  kill: 0.2,
  resolve: 0.2,
  batches: 0.5,
  transfer: 0.2,
  tight: 0.15,
  skew: 0.3,
  fullDisk: 0.3,
};

const rareNames = Object.keys(rareClasses) as (keyof typeof rareClasses)[];

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const chance = chanceOf(seed, 'plan');
  const drawn = faultClasses.filter((name) => chance.is(usual[name] ?? 0.6));
  // Orders leave in batches only where nobody else trades.
  const rare = rareNames.filter((name) => chanceOf(seed, `has ${name}`).is(rareClasses[name]));
  // Margin knows no batches, and of payments nobody could tell.
  // Nor strategies of several markets, live.
  const never: readonly FaultClass[] = rare.includes('margin')
    ? ['batches', 'transfer', 'legs']
    : drawn.includes('human')
      ? ['batches']
      : [];
  const classes = [...drawn, ...rare].filter((name) => !never.includes(name));
  const harm = chance.pick([0.15, 0.25, 0.35, 0.45]);
  const lagMs = chance.whole(100, 1_500);
  return {
    seed,
    classes,
    harm,
    events: eventsOf(seed, classes),
    quirks: quirksOf(seed, classes),
    lagMs,
    lateQueue: false,
  };
}

/** What is said on the sockets in an outage is lost: in less time nobody could tell that from a quiet market. */
const shortestOutageMs = 3_500;

/** Orders of ours are found by what they are: nobody else trades on the account, and the exchange shows no client ids. */
export const isUnnamed = ({ classes }: Pick<Plan, 'classes'>): boolean =>
  classes.includes('noEcho') && !classes.includes('human');

/** Orders of ours cannot be told from those that a human places on the same account. */
export const isSharedWithoutIds = ({ classes }: Pick<Plan, 'classes'>): boolean =>
  classes.includes('noEcho') && classes.includes('human');

/** Only a human can close what stays in doubt: nobody can ask for the balances, or orders cannot be told from those of others. */
export const isLeftToHumans = (plan: Pick<Plan, 'classes'>): boolean =>
  plan.classes.includes('margin') || isSharedWithoutIds(plan);

const when = (chance: Chance): number => chance.whole(500, faultsMs - 5_000);

/** Each class draws from a stream of its own. */
function eventsOf(seed: number, classes: readonly FaultClass[]): PlannedEvent[] {
  const has = (name: FaultClass): boolean => classes.includes(name);
  const events: PlannedEvent[] = [];
  const some: Some = (name, least, most, make, stream = name) => {
    if (!has(name)) return;
    const chance = chanceOf(seed, stream);
    for (let left = chance.whole(least, most); left > 0; left--) events.push(make(chance));
  };
  some('crash', 1, 7, (chance) => crash(chance, when(chance), has('power')));
  // A second crash while the first is recovered from.
  some('crash', 0, 1, (chance) => {
    const first = events.find(({ kind }) => kind === 'crash');
    return crash(chance, (first?.at ?? 1_000) + chance.whole(200, 4_000), has('power'));
  });
  some('outage', 1, 2, (chance) => ({
    kind: 'outage',
    at: when(chance),
    forMs: chance.whole(shortestOutageMs, 12_000),
    how: chance.pick(['silent', '503', 'refused']),
  }));
  some('fullDisk', 1, 2, (chance) => ({ kind: 'fullDisk', at: when(chance), forMs: chance.whole(500, 6_000) }));
  some('skew', 1, 2, (chance) => ({
    kind: 'skew',
    at: when(chance),
    forMs: chance.whole(2_000, 15_000),
    byMs: chance.whole(-4_000, 4_000),
  }));
  some('quiet', 1, 2, (chance) => ({ kind: 'quiet', at: when(chance), forMs: chance.whole(2_000, 8_000) }));
  some('transfer', 1, 2, (chance) => ({
    kind: 'transfer',
    at: when(chance),
    forMs: chance.whole(200, 20_000),
    asset: chance.pick(['BTC', 'ETH', 'USDT']),
    amount: `${chance.pick(['', '-'])}${chance.whole(1, 40)}.${chance.whole(1, 99_999_999)}`,
  }));
  some('resolve', 1, 3, (chance) => ({ kind: 'resolve', at: when(chance) }));
  addOperator(some, classes);
  some('wall', 1, 3, (chance) => ({
    kind: 'wall',
    at: chance.is(0.3) ? 0 : when(chance),
    byMs: chance.pick([-1, 1]) * chance.pick([chance.whole(100, 3_000), 90_000, 3_600_000]),
  }));
  some('step', 1, 2, (chance) =>
    chance.is(0.5)
      ? { kind: 'step', at: when(chance), byMs: chance.whole(300, 60_000) }
      : {
          kind: 'skew',
          at: when(chance),
          forMs: chance.whole(15_000, 30_000),
          byMs: chance.pick([-1, 1]) * chance.whole(4_000, farthestSkewMs),
        },
  );
  some('ioError', 1, 3, (chance) =>
    chance.is(0.7)
      ? {
          kind: 'ioError',
          at: when(chance),
          how: chance.pick(['write', 'fsync']),
          downMs: chance.whole(50, 2_500),
        }
      : { kind: 'noPages', at: when(chance), forMs: chance.whole(500, 6_000) },
  );
  return events.sort((a, b) => a.at - b.at);
}

type Some = (
  name: FaultClass,
  least: number,
  most: number,
  make: (chance: Chance) => PlannedEvent,
  stream?: string,
) => void;

/** What an operator does by hand. */
function addOperator(some: Some, classes: readonly FaultClass[]): void {
  const stop = (chance: Chance): PlannedEvent => ({
    kind: 'stop',
    at: when(chance),
    forMs: chance.whole(4_000, 25_000),
    strategy: chance.is(0.5) ? undefined : chance.pick(strategiesIn(classes)),
    how: chance.pick(stopKinds),
  });
  some('kill', 1, 1, stop);
  some('byHand', 0, 2, stop, 'stops by hand');
  some('byHand', 1, 4, (chance) => flatten(chance, when(chance), chance.pick(strategiesIn(classes))));
  const cancelOne = (chance: Chance): PlannedEvent => ({ kind: 'cancelOne', at: when(chance), which: chance.next() });
  some('byHand', 1, 4, cancelOne, 'cancels by hand');
}

/** Of the whole account, one strategy, one symbol, or one position. */
function flatten(chance: Chance, at: number, strategy: StrategyId): PlannedEvent {
  const symbol = chance.is(0.4) ? chance.pick(symbolsOf[strategy]) : undefined;
  return {
    ...{ kind: 'flatten', at, symbol },
    forMs: chance.whole(5_000, 30_000),
    strategy: chance.is(0.6) ? strategy : undefined,
    maxSlippage: chance.pick(['0.0005', '0.002', '0.01', '0.03']),
  };
}

/** How far a gateway's clock is off at most, ms. */
export const farthestSkewMs = 60_000;

const crash = (chance: Chance, at: number, power: boolean): PlannedEvent => ({
  kind: 'crash',
  at,
  point: chance.pick(crashPoints),
  power: power && chance.is(0.4),
  downMs: chance.whole(50, 2_500),
});

function quirksOf(seed: number, classes: readonly FaultClass[]): Partial<Quirks> {
  const chance = chanceOf(seed, 'quirks');
  return {
    ...(classes.includes('noEcho') && { clientId: 'null' }),
    errorStatus: chance.pick(['http4xx', 'http200']),
    errorCode: chance.pick(['number', 'text']),
    replies: chance.pick(['bare', 'enveloped']),
    createStatus: chance.pick(['NEW', 0]),
    cancel: chance.pick(['at once', 'later']),
    states: chance.pick(['five', 'many', 'numbers']),
    lists: chance.pick(['bare', 'wrapped']),
    orderId: chance.pick(['number', 'text', 'list']),
    orderIdString: chance.is(0.5),
    fromIdInclusive: chance.is(0.5),
    amounts: chance.pick(['text', 'number', 'scientific']),
  };
}

/** The same on an exchange that judges the window at its gateway; without batches, as is the default: their orders carry no id to be told by when late. */
export const withLateQueue = (plan: Plan): Plan => ({
  ...plan,
  classes: plan.classes.filter((name) => name !== 'batches'),
  lateQueue: true,
});

/** A plan in one line of JSON. */
export const planText = (plan: Plan): string => JSON.stringify(plan);
