/** Invariants of what a human does by hand: what a pause and a kill let leave, and how far a flatten may go. */

import type { Depth, Level } from '../../src/domain/market.ts';
import { minus, type Units, units, unitsNumber, unitsText } from '../../src/domain/money.ts';
import type { Purpose } from '../../src/domain/order.ts';
import type { AskedFlatten, Stop } from './by-hand.ts';
import type { StopKind } from './plan.ts';
import type { OrderFacts } from './rows.ts';
import type { Verdict } from './step-checks.ts';

/** How long after a command a create may still leave (issue 5): it was on its way. */
const withinMs = 100;
/** How long a flatten may send orders, ms of the exchange's time, without the time in which nothing can be sent. */
const longestFlattenMs = 120_000;
/** Of a purchase by amount, which closes a short: the price may have moved since it was decided. */
const amountSlack = 1.05;

const letThrough: Readonly<Record<StopKind, readonly Purpose[]>> = {
  pause: ['exit', 'stop', 'takeProfit', 'flatten'],
  kill: ['stop', 'takeProfit', 'flatten'],
  killEverything: ['flatten'],
};

/** A pause and a kill block what they are to block within 100 ms, and as long as nobody lifts them, over restarts too. */
export function stopsAreObeyed(
  id: string,
  { strategy, purpose }: OrderFacts,
  stops: readonly Stop[],
  now: number,
): Verdict {
  const against = stops.find(
    (stop) =>
      (stop.strategy === undefined || stop.strategy === strategy) &&
      stop.ended === undefined &&
      now - stop.since > withinMs &&
      !letThrough[stop.kind].includes(purpose),
  );
  return against === undefined
    ? undefined
    : `the create ${id} (${purpose} of ${strategy}) leaves ${now - against.since} ms after a ${against.kind} of ${against.strategy ?? 'all'}`;
}

/** Nothing leaves under a HALT; `at`: since when, on the same clock as `now`. */
export const nothingIsCreatedUnderHalt = (id: string, at: number | undefined, now: number): Verdict =>
  at === undefined || now - at <= withinMs ? undefined : `the create ${id} leaves ${now - at} ms after a HALT`;

/** What closes a position is never more than the position with what closes it already. */
export function exitsFit(
  id: string,
  { side, purpose, quantity, amount, strategy, symbol }: OrderFacts,
  held: Units,
  closing: Units,
  price: number,
): Verdict {
  if (purpose === 'enter' || purpose === 'quote') return undefined;
  const left = minus(side === 'SELL' ? held : minus(units('0'), held), closing);
  const fits = quantity === null ? Number(amount) <= unitsNumber(left) * price * amountSlack : units(quantity) <= left;
  return fits
    ? undefined
    : `the ${purpose} ${id} ${side === 'SELL' ? 'sells' : 'buys'} ${quantity ?? `for ${amount}`}, and ${strategy} holds ${unitsText(held)} of ${symbol}, of which ${unitsText(closing)} is being closed`;
}

export interface FlattenContext {
  readonly flattens: readonly AskedFlatten[];
  /** What the process was shown lately; none where it comes over a socket. */
  readonly books: readonly Depth[];
  readonly now: number;
  /** How far the process's clock may be off, and for how long nothing could be sent, ms. */
  readonly slackMs: number;
}

/** An order of a flatten leaves where somebody asked for it and has not ended it, within its time, at no worse than its budget. */
export function flattensAreAsked(id: string, row: OrderFacts, context: FlattenContext): Verdict {
  const { strategy, symbol, side, type, purpose } = row;
  if (purpose !== 'flatten') return undefined;
  const { now, slackMs, books } = context;
  const asked = context.flattens.filter(
    (one) =>
      one.strategy === strategy &&
      one.symbol === symbol &&
      (one.ended === undefined || now - one.ended.at <= withinMs) &&
      now - one.since <= longestFlattenMs + slackMs,
  );
  const where = `the flatten ${id} of ${strategy} on ${symbol}`;
  if (asked.length === 0) return `${where} leaves, which nobody has asked for, or somebody has ended`;
  const lowest = Math.min(...asked.map((one) => one.lowest)) * (1 - 1e-9);
  const highest = Math.max(...asked.map((one) => one.highest)) * (1 + 1e-9);
  const isWithin = (price: number): boolean => (side === 'SELL' ? price >= lowest : price <= highest);
  const budget = side === 'SELL' ? `at least ${lowest}` : `at most ${highest}`;
  if (type === 'LIMIT')
    return isWithin(Number(row.price)) ? undefined : `${where} leaves at ${row.price}, allowed is ${budget}`;
  const averages = books.map(({ bids, asks }) => averageOf(side === 'SELL' ? bids : asks, row));
  return books.length === 0 || averages.some((average) => average !== undefined && isWithin(average))
    ? undefined
    : `${where} leaves at market, by the books it would trade at ${averages.join(', ')}, allowed is ${budget}`;
}

/** What an order at market would pay on average; undefined where the levels are not enough. */
function averageOf(levels: readonly Level[], { quantity, amount }: OrderFacts): number | undefined {
  const best = levels[0]?.[0] ?? Number.NaN;
  const size = quantity === null ? Number(amount) / best : Number(quantity);
  let [left, value] = [size, 0];
  for (const [price, shown] of levels) {
    const taken = Math.min(left, shown);
    value += taken * price;
    left -= taken;
  }
  return left > size * 1e-6 ? undefined : value / (size - left);
}

/** A fill of a flatten never turns the position round; `held`: with it. */
export function flattenStopsAtZero({ purpose, side, strategy, symbol, quantity }: OrderFacts, held: Units): Verdict {
  if (purpose !== 'flatten') return undefined;
  const isTurned = side === 'SELL' ? held < 0n : held > 0n && quantity !== null;
  return isTurned ? `a flatten of ${strategy} on ${symbol} has turned it round to ${unitsText(held)}` : undefined;
}
