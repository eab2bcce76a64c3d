/** Codes and facts in words, for the dashboard, the terminal and `why`. */
import type { Denial } from '../domain/order.ts';
import type { ActionWords } from './view.ts';

/** `maxOrderValue` and `max-order-value` become `max order value`. */
const words = (code: string): string =>
  code
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_.]+/g, ' ')
    .toLowerCase();

/** Thousands are grouped, decimals stay as they are; text that is no decimal comes back unchanged. */
export function grouped(value: string | number): string {
  const text = String(value);
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  if (match === null) return text;
  return `${match[1]}${(match[2] ?? '').replace(/\B(?=(\d{3})+$)/g, ',')}${match[3] ?? ''}`;
}

/** `Denied by order value: value 12,400, limit 10,000.` */
export function denialText({ code, facts }: Denial): string {
  const numbers = Object.entries(facts).map(([name, value]) => `${words(name)} ${grouped(value)}`);
  return `Denied by ${words(code)}${numbers.length === 0 ? '' : `: ${numbers.join(', ')}`}.`;
}

/** What the buttons do unless the mode says otherwise. */
export const actionWords: ActionWords = {
  kill: 'No new order is created from now on, by any strategy, also after a restart. Resting orders are cancelled on the exchange. Positions stay as they are: nothing is sold.',
  resume: 'Strategies may create orders again. What they want now is planned and checked against every limit anew.',
  cancelAll: 'Every resting order is cancelled on the exchange. Strategies keep running and may place new ones.',
};
