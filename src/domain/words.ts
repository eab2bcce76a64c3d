/** Codes and facts in words, for the dashboard, the terminal and `why`. */
import { Decimal } from './money.ts';
import type { Denial } from './order.ts';

type Facts = Denial['facts'];
/** What an order's event holds. */
type Details = Readonly<Record<string, string | number | boolean>>;

/** `maxOrderValue` becomes `max order value`. */
const spaced = (code: string): string => code.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();

/** Thousands are grouped, decimals stay as they are; text that is no decimal comes back unchanged. */
export function grouped(value: string | number): string {
  const text = String(value);
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  if (match === null) return text;
  return `${match[1]}${(match[2] ?? '').replace(/\B(?=(\d{3})+$)/g, ',')}${match[3] ?? ''}`;
}

/** An amount for the eye: thousands grouped, two decimals, half a cent rounded away from zero; a whole amount stays without decimals. */
export function roundedMoney(text: string): string {
  if (/^-?\d+$/.test(text)) return grouped(text);
  const cents = new Decimal(text).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
  return grouped(cents.isZero() ? '0.00' : cents.toFixed(2));
}

/** Grouped, and cut after eight decimals: the journal keeps the rest. */
const fact = (facts: Details, name: string): string =>
  grouped(String(facts[name] ?? '?').replace(/(\.\d{8})\d+$/, '$1'));

const seconds = (facts: Facts, name: string, speed = 1): string => {
  const ms = facts[name];
  return typeof ms === 'number' ? `${Math.round(ms / speed) / 1_000} s` : '?';
};

/** UTC, to the second. */
export const moment = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

const since = (facts: Facts): string => {
  const { since: at } = facts;
  return typeof at === 'number' ? moment(at) : '?';
};

/** What an order is too small for; a symbol need not have a least quantity, nor a least worth, and then what is less than its step is too small. */
function tooSmall(facts: Facts): string {
  const least = ['minQuantity', 'minNotional'].filter((name) => Number(facts[name]) !== 0);
  return least.length === 0
    ? 'it is less than the least step of a quantity'
    : `the exchange takes no order ${least.map((name) => `${name === 'minQuantity' ? 'below' : 'worth less than'} ${fact(facts, name)}`).join(' or ')}`;
}

/** A sentence for each rule of `risk/rules.ts`, from the facts that it gives. Ages of what was seen are real ones, as they are configured. */
const sentences: Readonly<Record<string, (facts: Facts, speed: number) => string>> = {
  blocked: (facts) => `No order is created: ${fact(facts, 'reason')}. It lifts by itself.`,
  halted: (facts) => `Everything halts since ${since(facts)} UTC: ${fact(facts, 'reason')}.`,
  killed: (facts) => `Trading is killed since ${since(facts)} UTC by ${fact(facts, 'by')}: ${fact(facts, 'reason')}.`,
  staleData: (facts, speed) =>
    typeof facts['ageMs'] === 'number'
      ? `The last price is ${seconds(facts, 'ageMs', speed)} old, at most ${seconds(facts, 'maxDataAgeMs', speed)} are allowed.`
      : 'No price has been seen yet.',
  orderValue: (facts) =>
    `The order is worth ${fact(facts, 'value')}, one order may be worth at most ${fact(facts, 'maxOrderValue')}.`,
  position: (facts) =>
    `The position would be worth ${fact(facts, 'exposure')}, at most ${fact(facts, 'maxPosition')} are allowed.`,
  minimum: (facts) =>
    `At its limit the order is worth ${fact(facts, 'value')}, the exchange takes none below ${fact(facts, 'minNotional')}.`,
  belowMinimum: (facts) =>
    `${fact(facts, 'quantity')} worth ${fact(facts, 'value')} cannot be ordered: ${tooSmall(facts)}. It is done once it is worth more.`,
  leverage: (facts) =>
    `With it the strategy would hold ${fact(facts, 'exposure')}; with its equity of ${fact(facts, 'equity')} at most ${fact(facts, 'most')} are allowed (leverage ${fact(facts, 'maxLeverage')}).`,
  allocation: (facts) => `It would cost ${fact(facts, 'value')}, the strategy has ${fact(facts, 'free')} left.`,
  holdings: (facts) => `It would sell ${fact(facts, 'selling')}, the strategy has ${fact(facts, 'free')} to sell.`,
  collar: (facts) =>
    `The price ${fact(facts, 'price')} is beyond the bound ${fact(facts, 'bound')} around the last price ${fact(facts, 'last')}.`,
  duplicate: (facts) =>
    `The same order was created ${seconds(facts, 'agoMs')} ago, a repetition is refused for ${seconds(facts, 'duplicateMs')}.`,
  orderRate: (facts) =>
    `${fact(facts, 'inLastSecond')} orders were created in the last second, at most ${fact(facts, 'maxOrdersPerSecond')} are allowed.`,
  strategyRate: (facts) =>
    `The strategy created ${fact(facts, 'inLastSecond')} orders in the last second, at most ${fact(facts, 'maxStrategyOrdersPerSecond')} are allowed.`,
  signalRate: (facts) =>
    `The strategy changed its signal ${fact(facts, 'inLastSecond')} times within a second, at most ${fact(facts, 'maxSignalsPerSecond')} are allowed.`,
  allowList: (facts) =>
    facts['symbol'] === undefined
      ? `The strategy ${fact(facts, 'strategy')} is not among those that may create orders.`
      : `${fact(facts, 'symbol')} is not among the symbols on which orders may be created.`,
  bookAge: (facts, speed) =>
    typeof facts['ageMs'] === 'number'
      ? `The last depth is ${seconds(facts, 'ageMs', speed)} old, a MARKET order needs one of at most ${seconds(facts, 'maxBookAgeMs', speed)}.`
      : 'No depth has arrived yet, and a MARKET order needs it.',
  move: (facts) =>
    `The price moved by ${fact(facts, 'moved')} within ${seconds(facts, 'moveMs')}, more than ${fact(facts, 'maxMove')} pauses the symbol.`,
  orderShare: (facts) =>
    `The order is worth ${fact(facts, 'value')}, more than ${fact(facts, 'maxOrderShare')} of the equity, ${fact(facts, 'most')}.`,
  positionShare: (facts) =>
    `The position would be worth ${fact(facts, 'value')}, more than ${fact(facts, 'maxPositionShare')} of the equity, ${fact(facts, 'most')}.`,
  accountShare: (facts) =>
    `All positions would be worth ${fact(facts, 'value')}, more than ${fact(facts, 'maxAccountShare')} of the equity, ${fact(facts, 'most')}.`,
  strategyOrderValue: (facts) =>
    `The order is worth ${fact(facts, 'value')}, one of this strategy may be worth at most ${fact(facts, 'most')}.`,
  strategyPosition: (facts) =>
    `The strategy's position would be worth ${fact(facts, 'exposure')}, at most ${fact(facts, 'most')} are allowed.`,
  newVersion: (facts) =>
    `The position would be worth ${fact(facts, 'exposure')}; version ${String(facts['code'])} of the strategy is new and holds at most ${fact(facts, 'most')} until: sluice limits release ${String(facts['strategy'])}`,
  depthShare: (facts) =>
    `The order would take ${fact(facts, 'quantity')} of the visible ${fact(facts, 'shown')}, more than the share of ${fact(facts, 'maxDepthShare')}.`,
  slippage: (facts) =>
    `The order would pay ${fact(facts, 'slippage')} beyond the mid price, at most ${fact(facts, 'maxSlippage')} are allowed.`,
  selfMatch: (facts) =>
    `It would trade with our own order ${fact(facts, 'order')} of ${fact(facts, 'owner')} at ${fact(facts, 'at')}.`,
  openOrders: (facts) => `${fact(facts, 'open')} orders are open, at most ${fact(facts, 'maxOpenOrders')} are allowed.`,
};

/** Why an order was denied, as a sentence with the rule's numbers; a rule without a sentence has its facts listed. `speed`: the exchange's clock, times real time. */
export function denialText({ code, facts }: Denial, speed = 1): string {
  const sentence = sentences[code];
  if (sentence !== undefined) return sentence(facts, speed);
  const listed = Object.keys(facts).map((name) => `${spaced(name)} ${fact(facts, name)}`);
  return `Denied by ${spaced(code)}${listed.length === 0 ? '' : `: ${listed.join(', ')}`}.`;
}

/** By which numbers an order was approved, as a sentence; nothing where none were written down. */
export function approvalText(facts: Details): string {
  if (facts['value'] === undefined) return '';
  const value = `The order is worth ${fact(facts, 'value')}`;
  return facts['reduces'] === undefined
    ? `${value} of at most ${fact(facts, 'maxOrderValue')}; the position would be worth ${fact(facts, 'exposure')} of at most ${fact(facts, 'maxPosition')}.`
    : `${value} and only reduces what is held.`;
}

/** What the buttons do, unless the mode says otherwise. */
export interface ActionWords {
  readonly kill: string;
  readonly resume: string;
  readonly cancelAll: string;
}

export const actionWords: ActionWords = {
  kill: 'No new order is created from now on, by any strategy, also after a restart. Resting orders are cancelled on the exchange. Positions stay as they are: nothing is sold, and their stops are not acted on.',
  resume:
    'Strategies may create orders again. Their current signals are planned and checked against every limit again; the daily loss starts at zero.',
  cancelAll: 'Every resting order is cancelled on the exchange. Strategies keep running and may place new ones.',
};
