/** Checks the options of a target, and turns klines into ms, so that nothing further down needs the strategy's interval. */

import { type Interval, intervalMs } from '../domain/interval.ts';
import type { Target } from '../domain/order.ts';
import {
  type BreakEven,
  type Distance,
  type ExitLevel,
  minuteOfDay,
  optionNames,
  type PartialTakeProfit,
  sameLevel,
  type TargetOptions,
} from '../domain/target-options.ts';

const names: ReadonlySet<string> = new Set(optionNames);
export const isTargetOption = (name: string): boolean => names.has(name);
export const optionsText = optionNames.join(', ');

/** True for a target with nothing but prices, fractions and ms: the common ones, which need no more checks. */
export const hasOnlyNumbers = (target: Target): boolean =>
  typeof target.stop !== 'object' &&
  typeof target.takeProfit !== 'object' &&
  typeof target.trailing !== 'object' &&
  target.breakEven === undefined &&
  target.exitAt === undefined &&
  target.exitAfterKlines === undefined &&
  target.reenterAfterMs === undefined &&
  target.reenterAfterKlines === undefined &&
  target.expiresAfterMs === undefined &&
  target.expiresAfterKlines === undefined &&
  target.postOnly === undefined &&
  (target.clip === undefined || typeof target.clip === 'boolean');

/** What is wrong with options that are more than numbers, or undefined. */
export function optionsFault(options: TargetOptions, isLong: boolean): string | undefined {
  for (const name of ['stop', 'takeProfit', 'trailing'] as const) {
    const level = options[name];
    if (level === undefined || Array.isArray(level)) continue;
    const fault = levelFault(level as ExitLevel, name, isLong);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  if (typeof options.trailing === 'object' && !('distance' in options.trailing))
    return 'trailing must be a fraction of the best price, such as 0.05, or { distance: 10 }';
  return (
    partsFault(options.takeProfit, isLong) ??
    breakEvenFault(options.breakEven) ??
    timesFault(options) ??
    limitFault(options) ??
    flagsFault(options)
  );
}

function limitFault({ limit, expiresAfterMs, expiresAfterKlines, postOnly }: TargetOptions): string | undefined {
  if (postOnly === true && limit === undefined) return 'postOnly needs limit: an order at market always takes';
  if (expiresAfterMs === undefined && expiresAfterKlines === undefined) return undefined;
  if (expiresAfterMs === 0) return 'expiresAfterMs is 0: nothing could be entered';
  return limit === undefined ? 'expiresAfter… needs limit: an order at market does not wait' : undefined;
}

function levelFault(level: ExitLevel, name: string, isLong: boolean): string | undefined {
  if (typeof level === 'number') return Number.isFinite(level) && level >= 0 ? undefined : `is ${level}`;
  const wanted = 'must be a price, { fromEntry: 0.05 } or { distance: 10 }';
  if (typeof level !== 'object' || level === null) return wanted;
  const keys = Object.keys(level);
  if ('fromEntry' in level) {
    if (keys.length > 1) return `has more than fromEntry: ${wanted}`;
    const { fromEntry } = level;
    if (!(Number.isFinite(fromEntry) && fromEntry > 0))
      return `has fromEntry ${fromEntry}: it must be above 0, 0.05 is 5 %`;
    // Below a price of zero nothing trades: a long stop and a short take-profit are never reached there.
    return fromEntry >= 1 && (name === 'stop') === isLong
      ? `has fromEntry ${fromEntry}, which is never reached: it is a fraction of the entry price, 0.05 is 5 %`
      : undefined;
  }
  return distanceFault(level) ?? (keys.every((key) => key === 'distance' || key === 'moving') ? undefined : wanted);
}

function distanceFault({ distance, moving }: Distance): string | undefined {
  if (!(Number.isFinite(distance) && distance > 0)) return `has distance ${distance}: it must be above 0, in quote`;
  return moving === undefined || typeof moving === 'boolean'
    ? undefined
    : 'has a moving that is neither true nor false';
}

/** Most parts of a take-profit: each is an order at the exchange. */
const maxParts = 20;

function partsFault(parts: TargetOptions['takeProfit'], isLong: boolean): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const list = parts as readonly PartialTakeProfit[];
  if (list.length === 0) return 'takeProfit is an empty list: leave it out instead';
  if (list.length > maxParts) return `takeProfit has ${list.length} parts, at most ${maxParts} are allowed`;
  let sum = 0;
  for (const part of list) {
    const { at, share } = part ?? {};
    const fault = at === undefined ? 'lacks its level: { at: 110, share: 0.5 }' : levelFault(at, 'takeProfit', isLong);
    if (fault !== undefined) return `a part of takeProfit ${fault}`;
    if (!(Number.isFinite(share) && share > 0 && share <= 1))
      return `a part of takeProfit has share ${share}: it must be above 0 and at most 1`;
    if (list.some((one) => one !== part && sameLevel(one?.at, at)))
      return 'two parts of takeProfit have the same level: make them one';
    sum += share;
  }
  // Thirds do not add up to exactly one.
  return sum > 1 + 1e-9 ? `the shares of takeProfit come to ${sum}, more than the whole position` : undefined;
}

function breakEvenFault(breakEven: BreakEven | undefined): string | undefined {
  if (breakEven === undefined) return undefined;
  const wanted = 'breakEven must be { after: 0.02 } or { after: { distance: 10 } }, and may have plus: 0.001';
  if (typeof breakEven !== 'object' || breakEven === null) return wanted;
  const { after, plus } = breakEven;
  if (!Object.keys(breakEven).every((key) => key === 'after' || key === 'plus')) return wanted;
  if (typeof after === 'number' ? !(Number.isFinite(after) && after > 0) : typeof after !== 'object' || after === null)
    return wanted;
  const fault = typeof after === 'object' ? distanceFault(after) : undefined;
  if (fault !== undefined) return `breakEven.after ${fault}`;
  if (plus !== undefined && !(Number.isFinite(plus) && plus >= 0)) return `breakEven has plus ${plus}`;
  return typeof after === 'number' && plus !== undefined && plus >= after
    ? `breakEven has plus ${plus}, which is not below after ${after}: the stop would be hit at once`
    : undefined;
}

function timesFault(options: TargetOptions): string | undefined {
  const { exitAfterMs, exitAfterKlines, reenterAfterMs, reenterAfterKlines, expiresAfterMs, expiresAfterKlines } =
    options;
  const fault =
    timeFault('exitAfter', exitAfterMs, exitAfterKlines) ??
    timeFault('reenterAfter', reenterAfterMs, reenterAfterKlines) ??
    timeFault('expiresAfter', expiresAfterMs, expiresAfterKlines);
  if (fault !== undefined) return fault;
  const { exitAt } = options;
  return exitAt === undefined || (typeof exitAt === 'string' && !Number.isNaN(minuteOfDay(exitAt)))
    ? undefined
    : `exitAt is ${String(exitAt)}: it must be a time of day in UTC, such as '16:00'`;
}

function timeFault(name: string, ms: number | undefined, klines: number | undefined): string | undefined {
  if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) return `${name}Ms is ${ms}`;
  return klines === undefined || (Number.isInteger(klines) && klines > 0)
    ? undefined
    : `${name}Klines is ${klines}: it must be a whole number above 0`;
}

const flagsFault = (options: TargetOptions): string | undefined =>
  (['postOnly', 'clip'] as const)
    .filter((name) => options[name] !== undefined && typeof options[name] !== 'boolean')
    .map((name) => `${name} is neither true nor false`)[0];

/** A copy of a target, safe from later changes of the strategy's object, with its klines also as ms. */
export function copiedInMs(target: Target, interval: Interval): Target {
  const ms = intervalMs(interval, 0);
  const { size, stop, takeProfit, trailing, breakEven } = target;
  const { exitAfterKlines, reenterAfterKlines, expiresAfterKlines } = target;
  return {
    ...target,
    size: { ...size },
    ...(typeof stop === 'object' && { stop: { ...stop } }),
    ...(typeof takeProfit === 'object' && { takeProfit: copyOf(takeProfit) }),
    ...(typeof trailing === 'object' && { trailing: { ...trailing } }),
    ...(breakEven !== undefined && { breakEven: { ...breakEven, after: levelCopy(breakEven.after) } }),
    ...(exitAfterKlines !== undefined && { exitAfterMs: exitAfterKlines * ms }),
    ...(reenterAfterKlines !== undefined && { reenterAfterMs: reenterAfterKlines * ms }),
    ...(expiresAfterKlines !== undefined && { expiresAfterMs: expiresAfterKlines * ms }),
  };
}

/** `structuredClone` takes microseconds, which every order would cost. */
const levelCopy = <T extends ExitLevel>(level: T): T => (typeof level === 'object' ? { ...level } : level);

const copyOf = (takeProfit: Exclude<NonNullable<Target['takeProfit']>, number>): NonNullable<Target['takeProfit']> =>
  'length' in takeProfit ? takeProfit.map((part) => ({ ...part, at: levelCopy(part.at) })) : { ...takeProfit };

/** Which time options of `hold` are there twice, in ms and in klines, or undefined. */
export function twiceFault(options: TargetOptions): string | undefined {
  const { exitAfterKlines, reenterAfterKlines, expiresAfterKlines } = options;
  // Most targets count no klines: this is called for each new one.
  if (exitAfterKlines === undefined && reenterAfterKlines === undefined && expiresAfterKlines === undefined)
    return undefined;
  const twice = (['exitAfter', 'reenterAfter', 'expiresAfter'] as const).find(
    (name) => options[`${name}Ms`] !== undefined && options[`${name}Klines`] !== undefined,
  );
  return twice === undefined ? undefined : `${twice}Ms and ${twice}Klines are both there: leave one out`;
}
