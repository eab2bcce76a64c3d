/** Moments as files spell them: epoch seconds to nanoseconds by their size, and ISO 8601 with or without a zone. */
import { Refusal } from '../../domain/refusal.ts';
import { localToUtc } from '../time-zones.ts';

const secondsBelow = 1e11;
const millisecondsBelow = 1e14;
const microsecondsBelow = 1e17;
/** Times from here on are in ns. */
export const minNs = microsecondsBelow;
/** Half a µs, in ms: doubles of times in ns are 256 ns apart, and a whole ms must not be read as the one before. */
const halfMicrosecond = 5e-4;

type EpochUnit = 's' | 'ms' | 'µs' | 'ns';

/** The unit of an epoch time by its size, which leaves no doubt for moments from 1973 to 5138. */
export const epochUnit = (value: number): EpochUnit => {
  if (value < secondsBelow) return 's';
  if (value < millisecondsBelow) return 'ms';
  return value < microsecondsBelow ? 'µs' : 'ns';
};

/** Whether a time is in ms, without parts of one. */
export const isWholeMs = (value: number): boolean =>
  value >= secondsBelow && value < millisecondsBelow && Math.floor(value) === value;

/** UTC ms, finer parts cut off; NaN for what lies before 1973, which no market data do. */
export function epochMs(value: number): number {
  if (!(value >= 1e8)) return Number.NaN;
  if (value < secondsBelow) return Math.floor(value * 1_000 + 1e-4);
  if (value < millisecondsBelow) return Math.floor(value);
  return value < microsecondsBelow ? Math.floor(value / 1e3) : Math.floor(value / 1e6 + halfMicrosecond);
}

const iso =
  /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[TD ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)? ?(Z|UTC|GMT|[+-]\d\d:?(?:\d\d)?)?$/i;

/** UTC ms of an ISO moment; one without a zone is of `zone`. NaN when the text is none. */
export function isoMs(text: string, zone: string): number {
  const parts = iso.exec(text);
  if (parts === null) return Number.NaN;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const ms = Math.floor(Number(`0.${parts[7] ?? 0}`) * 1_000 + 1e-6);
  if ((month ?? 0) < 1 || (month ?? 0) > 12 || (hour ?? 0) > 24 || (minute ?? 0) > 59) return Number.NaN;
  const local = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second, ms);
  // 30 February would be 1 March.
  if (new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day)).getUTCDate() !== day) return Number.NaN;
  const given = parts[8];
  if (given === undefined) return localToUtc(zone, local);
  const offset = /^([+-])(\d\d):?(\d\d)?$/.exec(given);
  if (offset === null) return local;
  const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
  return local - (offset[1] === '-' ? -minutes : minutes) * 60_000;
}

/** Whether a moment says itself where on earth it was. */
export const hasZone = (text: string): boolean => /(Z|UTC|GMT|[+-]\d\d:?(\d\d)?)$/i.test(text) && /:/.test(text);

/** Refuses times that a spreadsheet has rounded to what it shows, so that many rows have the same. */
export function refuseRounded(path: string, cells: readonly string[]): void {
  const rounded = cells.filter((cell) => /^\d(\.\d+)?e\+?\d+$/i.test(cell));
  if (2 * rounded.length <= cells.length || new Set(rounded).size === rounded.length) return;
  throw new Refusal(
    `${path}: its times are rounded, such as ${rounded[0]}, and several rows share one: a spreadsheet saved them as its cells displayed them. Fetch the file again, or give that column a number format without decimals before you save it as CSV`,
  );
}
