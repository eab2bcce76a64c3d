/**
 * The request weight that a configuration needs, estimated before anything is sent: by strategy and purpose, per minute of the exchange's
 * time. A configuration above the limits is refused before it holds positions.
 */
import type { Lane } from '../venue/venue.ts';
import { laneShares } from './budget.ts';

/** An operation's price: its weight, and how many calls in 2 seconds it allows. */
export interface Price {
  readonly name: string;
  readonly weight: number;
  readonly frequency?: number;
}

export interface Prices {
  readonly create: Price;
  readonly cancel: Price;
  readonly query: Price;
  readonly openOrders: Price;
  readonly myTrades: Price;
  readonly time: Price;
  readonly klines: Price;
  readonly symbols: Price;
  readonly account: Price;
}

/** What one strategy is expected to do. */
export interface Expected {
  readonly id: string;
  readonly symbol: string;
  readonly ordersPerMinute: number;
  /** Its orders rest until they are replaced; otherwise they are filled at once. */
  readonly resting: boolean;
  /** Klines that it begins with. */
  readonly warmup: number;
  /** False where its klines are read alone. */
  readonly isTraded?: boolean;
}

export interface PlanInput {
  readonly strategies: readonly Expected[];
  readonly pollMs: number;
  readonly sweepMs: number;
  /** ms of the clock between two reads of the exchange's time. */
  readonly timeMs: number;
  readonly ipWeightPerMinute: number;
  readonly uidWeightPerMinute: number;
  readonly prices: Prices;
}

export interface PlanRow {
  /** A strategy, or several that share what is done, or the daemon itself. */
  readonly who: string;
  readonly purpose: string;
  readonly lane: Lane;
  readonly price: Price;
  readonly callsPerMinute: number;
  readonly weightPerMinute: number;
}

export interface WeightPlan {
  readonly rows: readonly PlanRow[];
  readonly weightPerMinute: number;
  /** What the smaller window has for all this: the share up to which creates may fill it. */
  readonly room: number;
  /** Once, until trading begins. */
  readonly weightAtStart: number;
  /** Why it cannot fit, for people; none when it fits. */
  readonly faults: readonly string[];
}

const minuteMs = 60_000;
/** The most klines of one call (specification §8). */
const klinePage = 300;
/** Readings of the time at the start. */
const timeReadings = 3;

/** Plans the weight, strategy by strategy; symbols are polled once for all strategies that trade them. */
export function planWeight(input: PlanInput): WeightPlan {
  const rows = [
    ...symbolRows(input),
    ...input.strategies.flatMap((one) => orderRows(one, input)),
    timeRow(input),
  ].filter(({ callsPerMinute }) => callsPerMinute > 0);
  const weightPerMinute = sum(rows.map((row) => row.weightPerMinute));
  const room = laneShares.create * Math.min(input.ipWeightPerMinute, input.uidWeightPerMinute);
  return {
    rows,
    weightPerMinute,
    room,
    weightAtStart: startWeight(input),
    faults: [...weightFault(weightPerMinute, room), ...frequencyFaults(rows)],
  };
}

const tradedIn = (strategies: readonly Expected[]): readonly string[] => [
  ...new Set(strategies.flatMap(({ symbol, isTraded = true }) => (isTraded ? [symbol] : []))),
];

/** Fills are not pushed: open orders and own trades are asked for, often while an order works and now and then otherwise. */
function symbolRows({ strategies, pollMs, sweepMs, prices }: PlanInput): PlanRow[] {
  return tradedIn(strategies).flatMap((symbol) => {
    const there = strategies.filter((one) => one.symbol === symbol && one.isTraded !== false);
    const works = there.some(({ resting, ordersPerMinute }) => resting && ordersPerMinute > 0);
    const polls = minuteMs / (works ? pollMs : sweepMs);
    const who = there.map(({ id }) => id).join(', ');
    return [
      row(who, `open orders of ${symbol}`, 'reconcile', prices.openOrders, polls),
      row(who, `own trades of ${symbol}`, 'reconcile', prices.myTrades, polls),
    ];
  });
}

/**
 * A poll follows each accepted order and replaces half of a scheduled one. A resting order is cancelled, queried and polled once
 * more when it is replaced; an order that fills at once is queried when the poll does not list it.
 */
function orderRows({ id, symbol, ordersPerMinute: rate, resting }: Expected, { prices }: PlanInput): PlanRow[] {
  const polls = rate * (resting ? 1.5 : 0.5);
  return [
    row(id, `creates on ${symbol}`, 'create', prices.create, rate),
    row(id, `cancels on ${symbol}`, 'cancel', prices.cancel, resting ? rate : 0),
    row(id, `what became of orders on ${symbol}`, 'reconcile', prices.query, rate),
    row(id, `open orders of ${symbol} after orders`, 'reconcile', prices.openOrders, polls),
    row(id, `own trades of ${symbol} after orders`, 'reconcile', prices.myTrades, polls),
  ];
}

const timeRow = ({ timeMs, prices }: PlanInput): PlanRow =>
  row('the daemon', 'the time of the exchange', 'reconcile', prices.time, minuteMs / timeMs);

const row = (who: string, purpose: string, lane: Lane, price: Price, callsPerMinute: number): PlanRow => ({
  who,
  purpose,
  lane,
  price,
  callsPerMinute,
  weightPerMinute: callsPerMinute * price.weight,
});

/** Time, symbols, balances, one poll of each symbol, and the warm-up klines: a page for each 300, and one to confirm the last. */
function startWeight({ strategies, prices }: PlanInput): number {
  const { time, symbols, account, openOrders, myTrades, klines } = prices;
  const polls = tradedIn(strategies).length * (openOrders.weight + myTrades.weight);
  const pages = sum(strategies.map(({ warmup }) => Math.ceil(Math.max(warmup, klinePage) / klinePage) + 1));
  return timeReadings * time.weight + symbols.weight + account.weight + polls + pages * klines.weight;
}

function weightFault(weight: number, room: number): string[] {
  if (weight <= room) return [];
  return [
    `it needs ${Math.ceil(weight)} of request weight a minute, and there is room for ${Math.floor(room)}: give fewer strategies or symbols, a longer execution.pollMs, or fewer orders`,
  ];
}

function frequencyFaults(rows: readonly PlanRow[]): string[] {
  const limited = new Map(rows.flatMap(({ price }) => (price.frequency === undefined ? [] : [[price.name, price]])));
  return [...limited.values()].flatMap(({ name, frequency = 0 }) => {
    const calls = sum(rows.filter(({ price }) => price.name === name).map((one) => one.callsPerMinute)) / 30;
    if (calls <= frequency) return [];
    return [
      `it needs "${name}" ${Math.ceil(calls)} times in 2 s, the exchange takes it ${frequency} times: give fewer strategies or symbols, a longer execution.pollMs, or fewer orders`,
    ];
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
