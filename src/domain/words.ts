/** Turns codes and facts into sentences, for the dashboard, the terminal and `sluice why`. */
import { Decimal } from './money.ts';
import type { AloneTimes, Denial } from './order.ts';

type Facts = Denial['facts'];
/** Details of an order's event. */
type Details = Readonly<Record<string, string | number | boolean>>;

/** `maxOrderValue` becomes `max order value`. */
const spaced = (code: string): string => code.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();

/** Groups thousands; decimals and other text stay unchanged. */
export function grouped(value: string | number): string {
  const text = String(value);
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  if (match === null) return text;
  return `${match[1]}${(match[2] ?? '').replace(/\B(?=(\d{3})+$)/g, ',')}${match[3] ?? ''}`;
}

/** `1 row`, `2,341 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** An amount for display: thousands grouped, two decimals (half away from zero), none for a whole amount. */
export function roundedMoney(text: string): string {
  if (/^-?\d+$/.test(text)) return grouped(text);
  const cents = new Decimal(text).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
  return grouped(cents.isZero() ? '0.00' : cents.toFixed(2));
}

/** Grouped, with at most eight decimals; the journal has all. */
const fact = (facts: Details, name: string): string =>
  grouped(String(facts[name] ?? '?').replace(/(\.\d{8})\d+$/, '$1'));

const seconds = (facts: Facts, name: string, speed = 1): string => {
  const ms = facts[name];
  return typeof ms === 'number' ? `${Math.round(ms / speed) / 1_000} s` : '?';
};

/** UTC, to the second. */
export const moment = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Days and hours, hours and minutes, or minutes. */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** How long something still lasts. Not until when: before the exchange's time is known, a clock may be wrong, and it may run faster than the machine's. */
export const leftText = (ms: number): string => (ms < 120_000 ? `${Math.ceil(ms / 1_000)} s` : durationText(ms));

const since = (facts: Facts): string => {
  const { since: at } = facts;
  return typeof at === 'number' ? moment(at) : '?';
};

/** The minimum that an order is below: the exchange's least quantity or value, or one step of the quantity. */
function tooSmall(facts: Facts): string {
  const least = ['minQuantity', 'minNotional'].filter((name) => Number(facts[name]) !== 0);
  return least.length === 0
    ? 'it is less than one step of the quantity'
    : `the exchange takes no order ${least.map((name) => `${name === 'minQuantity' ? 'below' : 'worth less than'} ${fact(facts, name)}`).join(' or ')}`;
}

/** A sentence for each rule of `risk/rules.ts`. Ages of data are in real time, as configured. */
const sentences: Readonly<Record<string, (facts: Facts, speed: number) => string>> = {
  blocked: (facts) => `No order is created: ${fact(facts, 'reason')}. The block ends automatically.`,
  halted: (facts) => `Trading has been halted since ${since(facts)} UTC: ${fact(facts, 'reason')}.`,
  paused: (facts) =>
    `The strategy has been paused since ${since(facts)} UTC by ${fact(facts, 'by')}: ${fact(facts, 'reason')}. Nothing is entered.`,
  killed: (facts) => `Trading was killed at ${since(facts)} UTC by ${fact(facts, 'by')}: ${fact(facts, 'reason')}.`,
  staleData: (facts, speed) =>
    typeof facts['ageMs'] === 'number'
      ? `The last price is ${seconds(facts, 'ageMs', speed)} old; the limit is ${seconds(facts, 'maxDataAgeMs', speed)}.`
      : 'No price has been seen yet.',
  orderValue: (facts) => `The order is worth ${fact(facts, 'value')}; the limit is ${fact(facts, 'maxOrderValue')}.`,
  position: (facts) =>
    `The position would be worth ${fact(facts, 'exposure')}; the limit is ${fact(facts, 'maxPosition')}.`,
  minimum: (facts) =>
    `At its limit price the order is worth ${fact(facts, 'value')}; the exchange's minimum is ${fact(facts, 'minNotional')}.`,
  belowMinimum: (facts) =>
    `${fact(facts, 'quantity')} worth ${fact(facts, 'value')} is below the minimum order: ${tooSmall(facts)}. Sluice orders it when it is large enough.`,
  leverage: (facts) =>
    `With it the strategy would hold ${fact(facts, 'exposure')}; with its equity of ${fact(facts, 'equity')} the limit is ${fact(facts, 'allowed')} (leverage ${fact(facts, 'maxLeverage')}).`,
  allocation: (facts) => `The order costs ${fact(facts, 'value')}; the strategy has ${fact(facts, 'free')} left.`,
  holdings: (facts) =>
    `The order would sell ${fact(facts, 'selling')}; the strategy has ${fact(facts, 'free')} to sell.`,
  collar: (facts) =>
    `The price ${fact(facts, 'price')} is beyond the bound ${fact(facts, 'bound')} around the last price ${fact(facts, 'last')}.`,
  duplicate: (facts) =>
    `The same order was created ${seconds(facts, 'agoMs')} ago; repeats are denied for ${seconds(facts, 'duplicateWindowMs')}.`,
  orderRate: (facts) =>
    `${fact(facts, 'inLastSecond')} orders were created in the last second; the limit is ${fact(facts, 'maxOrdersPerSecond')}.`,
  strategyRate: (facts) =>
    `The strategy created ${fact(facts, 'inLastSecond')} orders in the last second; the limit is ${fact(facts, 'maxStrategyOrdersPerSecond')}.`,
  signalRate: (facts) =>
    `The strategy changed its signal ${fact(facts, 'inLastSecond')} times within a second; the limit is ${fact(facts, 'maxSignalsPerSecond')}.`,
  allowList: (facts) =>
    facts['symbol'] === undefined
      ? `The strategy ${fact(facts, 'strategy')} is not among those that may create orders.`
      : `${fact(facts, 'symbol')} is not among the symbols on which orders may be created.`,
  depthAge: (facts, speed) =>
    typeof facts['ageMs'] === 'number'
      ? `The last depth is ${seconds(facts, 'ageMs', speed)} old; the limit for a MARKET order is ${seconds(facts, 'maxDepthAgeMs', speed)}.`
      : 'No depth has arrived yet, and a MARKET order needs it.',
  move: (facts) =>
    `The price moved by ${fact(facts, 'moved')} within ${seconds(facts, 'moveWindowMs')}, more than ${fact(facts, 'maxMove')} pauses the symbol.`,
  orderShare: (facts) =>
    `The order is worth ${fact(facts, 'value')}, more than ${fact(facts, 'maxOrderShare')} of the equity, ${fact(facts, 'allowed')}.`,
  positionShare: (facts) =>
    `The position would be worth ${fact(facts, 'value')}, more than ${fact(facts, 'maxPositionShare')} of the equity, ${fact(facts, 'allowed')}.`,
  accountShare: (facts) =>
    `All positions would be worth ${fact(facts, 'value')}, more than ${fact(facts, 'maxAccountShare')} of the equity, ${fact(facts, 'allowed')}.`,
  strategyOrderValue: (facts) =>
    `The order is worth ${fact(facts, 'value')}; the limit of the strategy is ${fact(facts, 'allowed')}.`,
  strategyPosition: (facts) =>
    `The strategy's position would be worth ${fact(facts, 'exposure')}; the limit is ${fact(facts, 'allowed')}.`,
  strategyGross: (facts) =>
    `All positions of the strategy would be worth ${fact(facts, 'gross')}, long and short added up; the limit is ${fact(facts, 'allowed')}.`,
  strategyNet: (facts) =>
    `The strategy would be ${fact(facts, 'net')} net in the direction of the order; the limit is ${fact(facts, 'allowed')}.`,
  newVersion: (facts) =>
    `The position would be worth ${fact(facts, 'exposure')}; version ${String(facts['code'])} of the strategy is new and holds at most ${fact(facts, 'allowed')} until: sluice limits release ${String(facts['strategy'])}`,
  depthShare: (facts) =>
    `The order would take ${fact(facts, 'quantity')} of the visible ${fact(facts, 'shown')}, more than the share of ${fact(facts, 'maxDepthShare')}.`,
  slippage: (facts) =>
    `The order would pay ${fact(facts, 'slippage')} beyond the mid price; the limit is ${fact(facts, 'maxSlippage')}.`,
  selfMatch: (facts) =>
    `The order would trade with our own order ${fact(facts, 'order')} of ${fact(facts, 'owner')} at ${fact(facts, 'at')}.`,
  openOrders: (facts) => `${fact(facts, 'open')} orders are open; the limit is ${fact(facts, 'maxOpenOrders')}.`,
};

/** Why an order was denied, with the rule's numbers; for a rule without a sentence, its facts. `speed`: the exchange's clock over real time. */
export function denialText({ code, facts }: Denial, speed = 1): string {
  const sentence = sentences[code];
  if (sentence !== undefined) return sentence(facts, speed);
  const listed = Object.keys(facts).map((name) => `${spaced(name)} ${fact(facts, name)}`);
  return `Denied by ${spaced(code)}${listed.length === 0 ? '' : `: ${listed.join(', ')}`}.`;
}

/** Before the names of a limit's numbers, where they are among those of an approval. */
export const reductionPrefix = 'reduced.';

/** The limit that reduced an order, as a sentence; empty where none did. */
function reductionText(facts: Details): string {
  const { reducedBy, reducedFrom } = facts;
  if (reducedBy === undefined) return '';
  const numbers = Object.entries(facts).flatMap(([name, value]) =>
    name.startsWith(reductionPrefix) && typeof value !== 'boolean'
      ? [[name.slice(reductionPrefix.length), value] as const]
      : [],
  );
  const denial = { code: String(reducedBy), facts: Object.fromEntries(numbers) };
  return `Reduced from ${grouped(String(reducedFrom))} by ${denial.code}: ${denialText(denial)} `;
}

/** The numbers by which an order was approved, as sentences; empty if none were journalled. */
export function approvalText(facts: Details): string {
  return `${reductionText(facts)}${weightText(facts)}`;
}

function weightText(facts: Details): string {
  if (facts['value'] === undefined) return '';
  const value = `The order is worth ${fact(facts, 'value')}`;
  return facts['reduces'] === undefined
    ? `${value} of at most ${fact(facts, 'maxOrderValue')}; the position would be worth ${fact(facts, 'exposure')} of at most ${fact(facts, 'maxPosition')}.`
    : `${value} and only reduces the position.`;
}

/** How long legs of a strategy were open alone, as one line. */
export function aloneText({ strategy, since: from, open, missing, ...times }: AloneTimes): string {
  const { afterMs, action, longestMs, times: count, beyondMs, largest, quote, unwound } = times;
  const closed = unwound === null ? '' : '; all stay closed until one decision changes all their targets';
  const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} s`;
  const when = from === null ? 'the last time' : `since ${moment(from)} UTC and still`;
  const often = count === 1 ? 'once' : `${count} times`;
  const beyond =
    largest === 0
      ? `never longer than ${seconds(afterMs)}`
      : `${count === 0 ? '' : `${often} `}longer than ${seconds(afterMs)} (by ${seconds(beyondMs)} in all), with at most ${Number(largest.toPrecision(6))} ${quote} open`;
  return `${strategy} had a leg open alone for at most ${seconds(longestMs)}, ${beyond}; action: ${action}; ${when} ${open.join(', ')} without ${missing.join(', ')}${closed}`;
}

/** What the buttons do, unless the mode changes it. */
export interface ActionWords {
  readonly kill: string;
  readonly killEverything: string;
  readonly pause: string;
  readonly resume: string;
  readonly cancelAll: string;
  readonly flatten: string;
  readonly acknowledge: string;
}

export const actionWords: ActionWords = {
  kill: 'Strategies create no new orders from now on, also after a restart, and their resting orders are cancelled on the exchange. Positions stay open. Exits stay in force: stops, time exits and take-profits go on.',
  killEverything:
    'No new order is created from now on, also after a restart. All resting orders are cancelled on the exchange, take-profits as well. Positions stay open and their stops do not work while killed.',
  pause:
    'Nothing new is entered from now on, also after a restart. Resting entries are cancelled on the exchange. Strategies may leave positions, and exits go on.',
  resume:
    'Strategies may create orders again. Their current signals are planned and checked against every limit again; the daily loss starts at zero.',
  flatten:
    'Entries are paused until you resume, also after a restart, and resting orders are cancelled. Positions are closed by a LIMIT order near the best price, what is left of them by a MARKET order, within the slippage. This cannot be undone.',
  acknowledge: 'It is not sent again. Its cause stays as it is, and the journal says who acknowledged it.',
  cancelAll: 'Every resting order is cancelled on the exchange. Strategies keep running and may place new ones.',
};
