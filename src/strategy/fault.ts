/** A strategy's own faults: told apart from ours, and said with the place in its file. */
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Refusal } from '../domain/refusal.ts';

/** A want that could not be carried out honestly: a number that is not finite, a goal that is not there. */
export class SignalError extends RangeError {
  override name = 'SignalError';
}

/** What a strategy threw, with what only its host knows: which strategy it is, and at which kline. */
export class StrategyThrew extends Error {
  override name = 'StrategyThrew';

  constructor(thrown: unknown, { id, use, at, now }: Thrower) {
    const whose = use === undefined ? id : `${id} (${use})`;
    const when =
      at === undefined ? (now === undefined ? '' : `, at ${momentOf(now)}`) : `, at the kline of ${momentOf(at)}`;
    super(`${faultText(thrown)}; strategy ${whose}${when}`);
  }
}

interface Thrower {
  readonly id: string;
  readonly use?: string;
  /** When the kline opened, UTC ms; undefined where it decides on streams of its own. */
  readonly at?: number;
  /** The moment, UTC ms, where the kline is not known. */
  readonly now?: number;
}

const momentOf = (time: number): string => `${new Date(time).toISOString().slice(0, 16)}Z`;

/** What was thrown; a want that cannot be carried out is found by Sluice, when the strategy has said it: then with whose it is, and where. */
export const saidBy = (thrown: unknown, whose: Thrower): unknown =>
  thrown instanceof SignalError ? new StrategyThrew(thrown, whose) : thrown;

const ours = dirname(dirname(fileURLToPath(import.meta.url)));

interface Place {
  readonly file: string;
  readonly line: string;
  /** True for a file of Sluice itself; shipped strategies and files of the user are not. */
  readonly isOurs: boolean;
}

/** Where a stack came by, the innermost place first. */
function placesOf(stack: string): readonly Place[] {
  const frames = stack.matchAll(/(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]s):(\d+)/g);
  return [...frames]
    .map(([, file = '', line = '']) => ({ file, line, isOurs: file.startsWith(ours) }))
    .filter(({ file, isOurs }) => isOurs || !file.includes('/node_modules/'));
}

/** Ends a run at what its strategy threw, as a `Refusal`; what else was thrown goes on as it is. */
export function refuseFault(error: unknown): never {
  if (!isStrategyFault(error)) throw error;
  throw new Refusal(`a strategy threw: ${faultText(error)}`, 1);
}

/** True when it was the strategy that threw, not Sluice, which throws nothing but errors. */
export const isStrategyFault = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof SignalError ||
  error instanceof LateSignal ||
  error instanceof StrategyThrew ||
  placesOf(error.stack ?? '')[0]?.isOurs === false;

/** The innermost place of a stack that is not Sluice's own: its whole path and the line, `…/mine.ts, line 4`. */
export function strategyPlace(stack: string): string | undefined {
  const theirs = placesOf(stack).find(({ isOurs }) => !isOurs);
  return theirs === undefined ? undefined : `${theirs.file}, line ${theirs.line}`;
}

/** One line for an error in a strategy's code, with the place in its file when the stack names one. */
export function faultText(error: unknown): string {
  // Nothing tells the place of what is no Error.
  if (!(error instanceof Error))
    return `${inspect(error)}, which is not an Error: throw new Error('…') to see the line`;
  if (error instanceof StrategyThrew) return error.message;
  const place = strategyPlace(error.stack ?? '');
  return `${error.name}: ${error.message.split('\n')[0]}${place === undefined ? '' : ` (${basename(place)})`}`;
}

/** A want over recorded data that came, or was to come, of a timer or a promise: when it does depends on how fast this machine is. */
export class LateSignal extends Error {
  override name = 'LateSignal';

  constructor(id: string) {
    super(
      `a signal of ${id} came after the data ended: over recorded data, strategies cannot use timers and promises (delay, debounceTime, throttleTime, timeout, async): their time is this machine's, not the market's; count klines instead`,
    );
  }
}

/** What a strategy threw where nothing waits for it; undefined of an error of ours. */
export function strayText(error: NodeJS.ErrnoException): string | undefined {
  // Ours are always errors; of anything else that a promise was rejected with Node does not say where.
  const isNone = error.code === 'ERR_UNHANDLED_REJECTION';
  if (!isNone && !isStrategyFault(error)) return undefined;
  const what = isNone ? "a value that is not an Error; throw new Error('…') to see the line" : faultText(error);
  return `a strategy threw in a timer or a promise of its own, which nothing waits for: ${what}`;
}
