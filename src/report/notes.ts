/** Notes on a run, as sentences: refused orders, stops by limits, positions at old prices, lockouts. */
import { units, unitsNumber } from '../domain/money.ts';
import { grouped } from '../domain/words.ts';
import { lossesText } from '../research/entry-losses.ts';
import type { MarketRow } from '../research/market-results.ts';
import type { Lockout } from '../research/re-entry-lockout.ts';
import type { RestRow, StaleRow, Summary } from '../research/summary.ts';
import type { Stressed } from '../research/verdict.ts';
import { figureText, momentText, moneyFigure, shareText } from './figures.ts';

const dayMs = 86_400_000;

/** Explanations of the most frequent codes of refused orders. */
const explanations: Readonly<Record<string, string>> = {
  belowMinimum: 'below the minimum order of the instrument: nothing was sent',
  allocation: 'exceeded its allocation: use more cash or a smaller target',
  holdings: 'sold more than it holds',
  minimum: 'below the minimum of the instrument',
  orderValue: 'above risk.maxOrderValue',
  position: 'above risk.maxPosition',
  rejected: 'too small for the instrument, or not paid for',
  short: 'a short target, which counts as flat on spot; account: margin can be short',
  stop: 'above the price for a long position, below it for a short one: the exit follows the entry at once',
  unfilled: 'at market without the money for price and fee, or without volume',
  waiting: 'at market and open at the end: no trade, depth or kline that fills it came',
};

/** Orders that were refused, and stops that were hit as soon as they were set, each with its heading. */
export function refusedRows(refused: Summary['refused'] = []): readonly (readonly [name: string, text: string])[] {
  const { stops = [], orders = [] } = Object.groupBy(refused, ({ code }) => (code === 'stop' ? 'stops' : 'orders'));
  return [
    ...(orders.length === 0 ? [] : [['Orders refused', refusedText(orders)] as const]),
    ...(stops.length === 0 ? [] : [['Stops hit when set', refusedText(stops)] as const]),
  ];
}

/** Writes numbers of more than 30 digits as `1.14e+305`. */
const shortened = (text: string): string =>
  text.replace(/\d[\d,]{30,}(\.\d+)?/g, (number) => {
    const digits = number.replace(/\..*$/, '').replaceAll(',', '');
    return `${digits[0]}.${digits.slice(1, 3)}e+${digits.length - 1}`;
  });

/** `12: allocation 10 of a on BTCUSDT (…), rejected 2 of b on BTCUSDT (…); the first 2020-03-12 08:00 UTC`. */
export function refusedText(refused: NonNullable<Summary['refused']>): string {
  const all = refused.reduce((sum, { times }) => sum + times, 0);
  const parts = refused
    .toSorted((a, b) => b.times - a.times)
    .map(({ code, strategy, symbol, times, firstAt, example }) => {
      const about = [
        explanations[code],
        example === undefined ? undefined : `first ${shortened(example)}`,
        code === 'waiting' ? `since ${momentText(firstAt)} UTC` : undefined,
      ].filter((text) => text !== undefined);
      return `${code} ${grouped(times)} of ${strategy} on ${symbol}${about.length === 0 ? '' : ` (${about.join('; ')})`}`;
    });
  return `${grouped(all)}: ${parts.join(', ')}; the first ${momentText(Math.min(...refused.map(({ firstAt }) => firstAt)))} UTC`;
}

/** What became of the entries; null where all were sent as they were asked for. */
export const entriesIn = ({ entries }: Pick<Summary, 'entries'>): string | null =>
  entries === null ? null : (lossesText(entries) ?? null);

export const daysText = (ms: number): string => `${(ms / dayMs).toFixed(1)} days`;

/** How long before the end of a run, ms, something ended. */
export const beforeEnd = (ms: number): string => `${daysText(ms)} before the run's end`;

export const staleText = ({ strategy, symbol, quantity, price, since, until }: StaleRow): string =>
  `${strategy} holds ${quantity} of ${symbol} at ${price}, its last close, of ${momentText(since)} UTC: ${beforeEnd(until - since)}`;

/** `alone`: of the run's legs that were open alone, since what is unwound stays out, too. */
export const lockoutText = (
  { strategy, symbol, exits, share, from, longestMs }: Lockout,
  alone: Summary['legsAlone'] = [],
): string =>
  `${strategy} was out of ${symbol} for ${shareText(share)} of the run after ${grouped(exits)} ${exits === 1 ? 'exit' : 'exits'} by a stop, a time${alone.some((one) => one.strategy === strategy) ? ', a take-profit or because a leg was open alone' : ' or a take-profit'}, at most for ${(longestMs / dayMs).toFixed(1)} days from ${momentText(from)} UTC: after an exit, the strategy must change its target, such as to flat, before it can enter again`;

export const restText = ({ strategy, symbol, base, share }: RestRow): string =>
  `${strategy} ${base < 0 ? 'is short of' : 'holds'} ${Math.abs(base).toPrecision(3)} of ${symbol}, which fees or purchases for an amount left and is below the exchange's minimum order: ${shareText(share)} of the final equity, counted at each close`;

/** `-4,221.30 USDT, -21.11 % of the cash; 50 fills, fees 689.12; holds 9,120.55`. */
export function marketText({ profit, contribution, fills, fees, held }: MarketRow, asset: string): string {
  const position = held === 0 ? '' : `; ${held < 0 ? 'short of' : 'holds'} ${moneyFigure(Math.abs(held))}`;
  const count = `${grouped(fills)} ${fills === 1 ? 'fill' : 'fills'}`;
  return `${moneyFigure(profit)} ${asset}, ${shareText(contribution)} of the cash; ${count}, fees ${moneyFigure(fees)}${position}`;
}

/** Costs of selling below this share of the final equity are not reported. */
const minSale = 0.001;

/** Final equity if open positions were sold at the end; undefined where it differs too little from the final equity. */
export function soldIn({
  netLiquidation,
  finalEquity,
}: Pick<Summary, 'netLiquidation' | 'finalEquity'>): string | undefined {
  const final = unitsNumber(units(finalEquity, 'down'));
  const differs = (sold: number): boolean => sold !== final && Math.abs(sold - final) >= minSale * Math.abs(final);
  return netLiquidation !== undefined && differs(netLiquidation) ? moneyFigure(netLiquidation) : undefined;
}

/** The limits that stopped a run, the first with its time. */
export const stoppedTexts = ({ kills, stoppedAt }: Pick<Summary, 'kills' | 'stoppedAt'>): readonly string[] =>
  kills.map((kill, index) => (index > 0 || stoppedAt === undefined ? kill : `${momentText(stoppedAt)} UTC: ${kill}`));

/** The conclusion, of a run that a limit stopped with that: it is not the result of the whole time. */
export const conclusionText = ({ verdict, kills }: Pick<Summary, 'verdict' | 'kills'>): string =>
  `${verdict.conclusion}${kills.length === 0 ? '' : '; a limit stopped it before its end'}`;

/** Of a run that Ctrl-C ended. */
export const endedText = (endedAt: number): string =>
  `at ${momentText(endedAt)} UTC, before its end: all figures cover the time up to then`;

/** `Sharpe 0.36; stopped by a limit: …`, of a run under worse conditions. */
export const stressedText = ({ sharpe, kills }: Pick<Stressed, 'sharpe' | 'kills'>): string =>
  `Sharpe ${figureText(sharpe, 'ratio')}${kills === undefined ? '' : `; stopped by a limit: ${kills.join('; ')}`}`;
