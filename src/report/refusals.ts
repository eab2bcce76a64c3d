/** What a run wished for and did not get, in words. */
import type { Summary } from '../research/summary.ts';
import { grouped, momentText } from './figures.ts';

/** What to do about the commonest. */
const hints: Readonly<Record<string, string>> = {
  belowMinimum: 'below the minimum order of the instrument: nothing was sent',
  allocation: 'exceeded its allocation: use more cash or a smaller target',
  holdings: 'sold more than it holds',
  minimum: 'below the least that the instrument takes',
  orderValue: 'above risk.maxOrderValue',
  position: 'above risk.maxPosition',
  rejected: 'too small for the instrument, or not paid for',
  short: 'a short target, which counts as flat on spot; account: margin can be short',
  stop: 'above the price for a long position, below it for a short one: what it enters is left at once',
  unfilled: 'at market without the money for price and fee, or without volume',
  waiting: 'at market and open at the end: no trade of its side, no book and no kline came that fills it',
};

/** Orders that were refused, and stops that were hit as soon as they were set, each with its heading. */
export function refusedRows(refused: Summary['refused'] = []): readonly (readonly [name: string, text: string])[] {
  const isStop = ({ code }: { readonly code: string }): boolean => code === 'stop';
  const [orders, stops] = [refused.filter((one) => !isStop(one)), refused.filter(isStop)];
  return [
    ...(orders.length === 0 ? [] : [['Orders refused', refusedText(orders)] as const]),
    ...(stops.length === 0 ? [] : [['Stops hit when set', refusedText(stops)] as const]),
  ];
}

/** A number that nobody reads to its end, such as 114156…, of 306 digits, as `1.14e+305`. */
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
      const whose = strategy === undefined ? '' : ` of ${strategy} on ${symbol}`;
      const about = [
        hints[code],
        example === undefined ? undefined : `first ${shortened(example)}`,
        code === 'waiting' ? `since ${momentText(firstAt)} UTC` : undefined,
      ].filter((text) => text !== undefined);
      return `${code} ${grouped(times)}${whose}${about.length === 0 ? '' : ` (${about.join('; ')})`}`;
    });
  return `${grouped(all)}: ${parts.join(', ')}; the first ${momentText(Math.min(...refused.map(({ firstAt }) => firstAt)))} UTC`;
}
