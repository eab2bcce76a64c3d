/** What a run wished for and did not get, in words. */
import type { Summary } from '../research/summary.ts';
import { grouped, momentText } from './figures.ts';

/** What to do about the commonest. */
const hints: Readonly<Record<string, string>> = {
  belowMinimum: 'wished for, and too small for the instrument: nothing was sent',
  allocation: 'asked for more than it has: more cash, or a smaller goal',
  holdings: 'sold more than it holds',
  minimum: 'below the least that the instrument takes',
  orderValue: 'above risk.maxOrderValue',
  position: 'above risk.maxPosition',
  rejected: 'too small for the instrument, or not paid for',
  short: 'wished to be short, which spot cannot be: taken for flat; account: margin can',
  unfilled: 'at market without the money for price and fee, or without volume',
};

/** `12: allocation 10 (…), rejected 2 (…); the first 2020-03-12 08:00 UTC`. */
export function refusedText(refused: NonNullable<Summary['refused']>): string {
  const all = refused.reduce((sum, { times }) => sum + times, 0);
  const parts = refused
    .toSorted((a, b) => b.times - a.times)
    .map(({ code, times }) => {
      const hint = hints[code];
      return `${code} ${grouped(times)}${hint === undefined ? '' : ` (${hint})`}`;
    });
  return `${grouped(all)}: ${parts.join(', ')}; the first ${momentText(Math.min(...refused.map(({ firstAt }) => firstAt)))} UTC`;
}
