/** What a target carries beside its size: where and when a position is left, and how it is entered. */

/** A distance in quote. It is kept as it was when the position was entered, unless it is `moving`. */
export interface Distance {
  readonly distance: number;
  readonly moving?: boolean;
}

/** A fraction of the entry price: 0.05 is 5 %. */
export interface FromEntry {
  readonly fromEntry: number;
}

/** Where an exit is: at a price, or so far from the entry price. A stop is on the side of a loss, a take-profit on that of a profit. */
export type ExitLevel = number | FromEntry | Distance;

/** A take-profit that sells a share of the target's quantity (1 = all of it). */
export interface PartialTakeProfit {
  readonly at: ExitLevel;
  readonly share: number;
}

/** Once the best price is so far beyond the entry price, the stop is at least the entry price; `plus`: a fraction of it further. */
export interface BreakEven {
  readonly after: number | Distance;
  readonly plus?: number;
}

export interface TargetOptions {
  /** Enter and exit by a resting LIMIT order at this price; without it by a MARKET order. */
  readonly limit?: number;
  /** Exit at market when the price touches this. */
  readonly stop?: ExitLevel;
  /** Exit by a resting LIMIT order; by several, each for a share of the position. */
  readonly takeProfit?: ExitLevel | readonly PartialTakeProfit[];
  /** A stop that follows the best price since entry at this distance: a fraction (0.02 = 2 %), or in quote. */
  readonly trailing?: number | Distance;
  readonly breakEven?: BreakEven;
  /** Exit at market once the position has been held this long, ms, or for so many klines of the strategy's interval (months have 31 days). */
  readonly exitAfterMs?: number;
  readonly exitAfterKlines?: number;
  /** Exit at market at this time of day, UTC, such as `16:00`. */
  readonly exitAt?: string;
  /** After an exit by a stop, a take-profit or a time, nothing is entered for this long; then the same target may enter again. */
  readonly reenterAfterMs?: number;
  readonly reenterAfterKlines?: number;
  /** With `limit`: what has not filled of an entry so long after its target was new is cancelled, until its size, price or time changes. */
  readonly expiresAfterMs?: number;
  readonly expiresAfterKlines?: number;
  /** With `limit`: its order is moved to the nearest price that does not cross the best price that is known. */
  readonly postOnly?: boolean;
  /** An order over a limit of its size is reduced to it instead of denied. */
  readonly clip?: boolean;
}

/** The names of a target's fields beside its kind, size and reason. */
export const optionNames = [
  ...(['limit', 'stop', 'takeProfit', 'trailing', 'breakEven', 'exitAfterMs', 'exitAfterKlines', 'exitAt'] as const),
  ...(['reenterAfterMs', 'reenterAfterKlines', 'expiresAfterMs', 'expiresAfterKlines', 'postOnly', 'clip'] as const),
] as const satisfies readonly (keyof TargetOptions)[];

/** Those of them by which an entry is made. */
export const entryOptions = ['limit', 'postOnly', 'expiresAfterMs', 'expiresAfterKlines', 'clip'] as const;
export type EntryOption = (typeof entryOptions)[number];

/** True if both say the same. */
export const sameOptions = (a: TargetOptions, b: TargetOptions): boolean =>
  a.limit === b.limit &&
  sameLevel(a.stop, b.stop) &&
  sameTakeProfit(a.takeProfit, b.takeProfit) &&
  sameLevel(a.trailing, b.trailing) &&
  sameTime(a.exitAfterMs, b.exitAfterMs, a.exitAfterKlines, b.exitAfterKlines) &&
  sameOthers(a, b);

/** Times are the same where both are in as many klines: only a signal that was checked has their ms, too. */
const sameTime = (a?: number, b?: number, klinesOfA?: number, klinesOfB?: number): boolean =>
  klinesOfA === klinesOfB && (klinesOfA !== undefined || a === b);

/** True if both have the same of what has no number that moves. */
export const sameOthers = (a: TargetOptions, b: TargetOptions): boolean =>
  sameBreakEven(a.breakEven, b.breakEven) &&
  a.exitAt === b.exitAt &&
  sameTime(a.reenterAfterMs, b.reenterAfterMs, a.reenterAfterKlines, b.reenterAfterKlines) &&
  sameExpiry(a, b) &&
  a.postOnly === b.postOnly &&
  a.clip === b.clip;

/** True if both give an entry the same time. */
export const sameExpiry = (a: TargetOptions, b: TargetOptions): boolean =>
  sameTime(a.expiresAfterMs, b.expiresAfterMs, a.expiresAfterKlines, b.expiresAfterKlines);

/** True if both are the same level. */
export const sameLevel = (a: ExitLevel | undefined, b: ExitLevel | undefined): boolean =>
  a === b || (isSameKind(a, b) && levelNumber(a) === levelNumber(b));

/** True if both are levels of one kind, which may have other numbers. */
export function isSameKind(a: ExitLevel | undefined, b: ExitLevel | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return typeof a === typeof b;
  if ('fromEntry' in a) return 'fromEntry' in b;
  return 'distance' in b && (a.moving ?? false) === (b.moving ?? false);
}

/** True for a distance that stays as it was when the position was entered. */
const isFrozen = (level: ExitLevel | null | undefined): boolean =>
  typeof level === 'object' && level !== null && 'distance' in level && level.moving !== true;

/** The level of a later signal for the same position: a distance that does not move stays for as long as every signal has one. */
export const keptLevel = <T extends ExitLevel | null | undefined>(was: T, is: T): T =>
  isFrozen(was) && isFrozen(is) ? was : is;

/** The number of a level: a price, a fraction or a distance. */
export const levelNumber = (level: ExitLevel | undefined): number =>
  typeof level !== 'object' ? (level ?? Number.NaN) : 'fromEntry' in level ? level.fromEntry : level.distance;

/** A level of the same kind with another number. */
export function withNumber<T extends ExitLevel>(level: T, value: number): T {
  if (typeof level !== 'object') return value as T;
  return ('fromEntry' in level ? { fromEntry: value } : { ...level, distance: value }) as T;
}

export function sameTakeProfit(a: TargetOptions['takeProfit'], b: TargetOptions['takeProfit']): boolean {
  if (a === b) return true;
  if (!isList(a) || !isList(b)) return !isList(a) && !isList(b) && sameLevel(a, b);
  return (
    a.length === b.length && a.every(({ at, share }, index) => share === b[index]?.share && sameLevel(at, b[index]?.at))
  );
}

/** True if both take profit in one way, at levels that may have other numbers; lists of several have the same ones. */
export const isSameKindOfTakeProfit = (a: TargetOptions['takeProfit'], b: TargetOptions['takeProfit']): boolean =>
  isList(a) || isList(b) ? sameTakeProfit(a, b) : isSameKind(a, b);

const isList = (value: TargetOptions['takeProfit']): value is readonly PartialTakeProfit[] => Array.isArray(value);

/** The only level at which profit is taken; undefined where there is none, or a list of several. */
export const onlyTakeProfit = ({ takeProfit }: TargetOptions): ExitLevel | undefined =>
  isList(takeProfit) ? undefined : takeProfit;

export const sameBreakEven = (a: BreakEven | undefined, b: BreakEven | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && sameLevel(a.after, b.after) && a.plus === b.plus);

/** The minute of the day of a time such as `16:00`; NaN for what is none. */
export function minuteOfDay(text: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return Number(hours) * 60 + Number(minutes);
}
