/** Numbers and times as text. Money comes as decimal text and is never computed with, only grouped and rounded for the eye. */

/** `-12345.678` becomes `−12,345.68`: as many decimals as asked for, half a step rounded away from zero. */
export function money(text: string, decimals = 2): string {
  const match = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return text;
  const [, sign = '', whole = '', fraction = ''] = match;
  const steps = BigInt(whole + fraction.slice(0, decimals + 1).padEnd(decimals + 1, '0'));
  const digits = String((steps + 5n) / 10n).padStart(decimals + 1, '0');
  const cents = decimals === 0 ? '' : `.${digits.slice(-decimals)}`;
  const shown = grouped(digits.slice(0, digits.length - decimals)) + cents;
  return (sign === '-' && /[1-9]/.test(shown) ? '−' : '') + shown;
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** All decimals that are there, thousands grouped: prices and quantities are shown as they are. */
export function exact(text: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  return match === null ? text : `${match[1] === '-' ? '−' : ''}${grouped(match[2] ?? '')}${match[3] ?? ''}`;
}

/** Like `money`, with `+` in front of a gain. */
export function signed(text: string, decimals = 2): string {
  const shown = money(text, decimals);
  return direction(text) === 'up' && /[1-9]/.test(shown) ? `+${shown}` : shown;
}

/** For colours only. */
export function direction(text: string): 'up' | 'down' | 'even' {
  if (!/[1-9]/.test(text)) return 'even';
  return text.startsWith('-') ? 'down' : 'up';
}

/** A decimal as a number for drawing; what is drawn is never money again. */
export const drawn = (text: string): number => Number(text);

/** The change from one amount to another, for the eye: amount and percent. */
export function change(from: string, to: string): { readonly amount: string; readonly percent: string } {
  const start = drawn(from);
  const difference = drawn(to) - start;
  const percent = start === 0 ? 0 : (100 * difference) / start;
  return { amount: difference.toFixed(2), percent: percent.toFixed(2) };
}

const iso = (at: number): string => new Date(at).toISOString();
/** `13:45:10`, UTC. */
export const clockTime = (at: number): string => iso(at).slice(11, 19);
/** `13:45`, UTC. */
export const minuteTime = (at: number): string => iso(at).slice(11, 16);
/** `12 Mar 2020`, UTC. */
export function day(at: number): string {
  const [year, month, date] = iso(at).slice(0, 10).split('-');
  const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  return `${Number(date)} ${names[Number(month) - 1]} ${year}`;
}

/** `12 Mar`, UTC. */
export const shortDay = (at: number): string => day(at).slice(0, -5);
/** `13:45:10` of the day of `now`, `12 Mar 13:45` of another one, UTC. */
export const when = (at: number, now: number): string =>
  day(at) === day(now) ? clockTime(at) : `${shortDay(at)} ${minuteTime(at)}`;

/** `45 s`, `3 min`, `2 h 10 min`, `4 d`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}
