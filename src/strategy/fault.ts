/** Errors of a strategy: separates them from our own, and reports them with file and line. */
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { causeOf, Refusal } from '../domain/refusal.ts';
import { hasLoadedFiles } from './loading.ts';

/** A signal that cannot be carried out, such as one with a number that is not finite. */
export class SignalError extends RangeError {
  override name = 'SignalError';
}

/** An error of a strategy with the strategy and the kline, which only its host knows. */
export class StrategyThrew extends Error {
  override name = 'StrategyThrew';

  constructor(thrown: unknown, { id, use, openTime, now }: Thrower) {
    const strategy = use === undefined ? id : `${id} (${use})`;
    const when = now === undefined ? '' : `, at ${minuteText(now)}`;
    const where = openTime === undefined ? when : `, at the kline of ${minuteText(openTime)}`;
    super(`${errorText(thrown)}; strategy ${strategy}${where}`);
  }
}

interface Thrower {
  readonly id: string;
  readonly use?: string;
  /** When the kline opened, UTC ms; undefined for a strategy of streams. */
  readonly openTime?: number;
  /** The time, UTC ms, where the kline is not known. */
  readonly now?: number;
}

const minuteText = (time: number): string => `${new Date(time).toISOString().slice(0, 16)}Z`;

/** What was thrown; a `SignalError`, which Sluice itself throws, gets the strategy and the kline. */
export const withStrategy = (thrown: unknown, thrower: Thrower): unknown =>
  thrown instanceof SignalError ? new StrategyThrew(thrown, thrower) : thrown;

const ours = dirname(dirname(fileURLToPath(import.meta.url)));

interface StackLine {
  readonly file: string;
  readonly line: string;
  /** True for a file of Sluice itself; shipped strategies and files of the user are not. */
  readonly isOurs: boolean;
}

/** The lines of a stack, innermost first. What was loaded again has a query behind its name. */
function linesOf(stack: string): readonly StackLine[] {
  return [...stack.matchAll(/(?:file:\/\/)?(\/[^\s():?]+\.[cm]?[jt]s)(?:\?[^\s():]*)?:(\d+)/g)]
    .map(([, file = '', line = '']) => ({ file, line, isOurs: file.startsWith(ours) }))
    .filter(({ file, isOurs }) => isOurs || !file.includes('/node_modules/'));
}

/** Throws a strategy's error as a `Refusal`, any other one as it is. */
export function refuseFault(error: unknown): never {
  if (!isStrategyFault(error)) throw error;
  throw new Refusal(`a strategy threw: ${errorText(error)}`, 1);
}

/** True when the strategy threw, not Sluice, which throws only `Error`s. */
export const isStrategyFault = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof SignalError ||
  error instanceof LateSignal ||
  error instanceof StrategyThrew ||
  linesOf(error.stack ?? '')[0]?.isOurs === false;

/** The innermost line of a stack outside Sluice, with its whole path: `…/mine.ts, line 4`. */
export function strategyPlace(stack: string): string | undefined {
  const theirs = linesOf(stack).find(({ isOurs }) => !isOurs);
  return theirs === undefined ? undefined : `${theirs.file}, line ${theirs.line}`;
}

/** One line for an error in a strategy's code, with file and line where the stack has them. */
export function errorText(error: unknown): string {
  // A value that is not an Error has no stack.
  if (!(error instanceof Error))
    return `${inspect(error)}, which is not an Error: throw new Error('…') to see the line`;
  if (error instanceof StrategyThrew) return error.message;
  const place = strategyPlace(error.stack ?? '');
  return `${error.name}: ${error.message.split('\n')[0]}${place === undefined ? '' : ` (${basename(place)})`}`;
}

/** A signal over recorded data from a timer or a promise: its time would depend on the speed of this machine. */
export class LateSignal extends Error {
  override name = 'LateSignal';

  constructor(id: string) {
    super(
      `a signal of ${id} came after the data ended: over recorded data, strategies cannot use timers and promises (delay, debounceTime, throttleTime, timeout, async): their time is this machine's, not the market's; count klines instead`,
    );
  }
}

/** An error that a strategy threw outside of its calls, or may have; undefined for an error of ours. */
export function strayText(error: NodeJS.ErrnoException): string | undefined {
  // Ours are always Errors. For other values that a promise was rejected with, Node reports no line.
  if (error.code === 'ERR_UNHANDLED_REJECTION')
    return `${strayly('a strategy')}: a value that is not an Error; throw new Error('…') to see the line`;
  if (isStrategyFault(error)) return `${strayly('a strategy')}: ${errorText(error)}`;
  // Those of Node's own calls, such as fetch, have no line of the file that called.
  if (!hasLoadedFiles() || linesOf(error.stack ?? '').length > 0) return undefined;
  const cause = error.cause instanceof Error ? ` (${causeOf(error.cause)})` : '';
  return `${strayly('a strategy, or Sluice itself,')}: ${errorText(error)}${cause}; it has no line: look for fetch, files and other calls in the strategy that are not awaited, and report it if there are none`;
}

const strayly = (who: string): string => `${who} threw in a timer or a promise of its own, which nothing waits for`;
