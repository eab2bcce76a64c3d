/** The signals of a strategy over its klines: whether there are any to compare, and which are mistakes. */

import { type Signal, sizeValue } from '../../domain/order.ts';
import type { Weights } from '../../strategy/contract.ts';
import { isShort } from '../result/refusals.ts';
import { SharesTogether, shareFault } from '../result/shares-together.ts';
import type { RunInput } from '../run.ts';
import type { CheckedKlines } from './columns.ts';
import type { DecisionLog } from './decision-log.ts';
import { type Line, positionOf } from './recorded-strategy.ts';

/** No signals at all, only flat ones, which prove as little, or others. */
export type EmittedKind = 'nothing' | 'flat' | 'something';

/** A target that is surely a mistake, or that cannot be reached. */
export interface Mistake {
  /** `share`: more than its equity and what it may borrow; `short`: counts as flat on spot, which may be intended. */
  readonly kind: 'moreThanAll' | 'shortOnSpot';
  /** UTC ms at which the kline of the first such signal opened. */
  readonly at: number;
  readonly times: number;
  readonly description: string;
}

/** The signals of several markets by role in a line of the log; undefined for other lines. */
function legsIn(text: string): Readonly<Record<string, Signal>> | undefined {
  const value: unknown = JSON.parse(text);
  const isOther = typeof value !== 'object' || value === null || Array.isArray(value) || 'kind' in value;
  return isOther ? undefined : (value as Readonly<Record<string, Signal>>);
}

/** The signals in a line of the log: one, those of a stream, or those of several markets. */
function signalsIn(text: string): readonly Signal[] {
  const legs = legsIn(text);
  if (legs !== undefined) return Object.values(legs);
  const value: unknown = JSON.parse(text);
  if (value === null) return [];
  if (Array.isArray(value)) return value.map((one: string) => JSON.parse(one) as Signal);
  const one = value as Signal | Weights;
  return one.kind === 'weights'
    ? Object.values(one.weights).map((share) => ({ kind: 'target', size: { share }, reason: one.reason }))
    : [one];
}

const isFlat = (signal: Signal): boolean =>
  signal.kind === 'target' ? sizeValue(signal.size) === 0 : signal.quotes.every(({ quantity }) => quantity === 0);

export function emittedIn({ lines }: DecisionLog): EmittedKind {
  const texts = new Set(lines.flatMap((line) => (line === undefined ? [] : [line.signal])));
  let found: EmittedKind = 'nothing';
  for (const text of texts)
    for (const signal of signalsIn(text)) {
      if (!isFlat(signal)) return 'something';
      found = 'flat';
    }
  return found;
}

/** Each kind of mistake once, with its first kline. */
export function mistakesIn(
  { lines }: DecisionLog,
  { times }: Pick<CheckedKlines, 'times'>,
  run: Pick<RunInput, 'margin'>,
): readonly Mistake[] {
  const mistakesOf = mistakesBy(run);
  const found = new Map<Mistake['kind'], Mistake>();
  for (const [row, line] of lines.entries())
    for (const mistake of line === undefined ? [] : mistakesOf(line)) {
      const before = found.get(mistake.kind);
      const at = times[row] as number;
      found.set(mistake.kind, { ...(before ?? { ...mistake, at }), times: (before?.times ?? 0) + 1 });
    }
  return [...found.values()];
}

/** The mistakes of one line after another: the targets of several markets count together. */
function mistakesBy(run: Pick<RunInput, 'margin'>): (line: Line) => readonly Pick<Mistake, 'kind' | 'description'>[] {
  const together = new SharesTogether(run);
  return ({ seen, signal: text }) => {
    const legs = legsIn(text);
    // What was left, as by its stop, is not targeted any more.
    for (const role of together.roles) if (seen[positionOf(role)] === '0') together.follow(role, undefined);
    for (const [role, leg] of Object.entries(legs ?? {})) together.follow(role, leg);
    const signals = legs === undefined ? signalsIn(text) : Object.values(legs);
    const shares =
      legs === undefined ? signals.flatMap((signal) => shareFault(run, signal) ?? []) : [together.fault ?? []].flat();
    const isShortOnSpot = run.margin === undefined && signals.some(isShort);
    return [
      ...shares.map((description) => ({ kind: 'moreThanAll' as const, description })),
      ...(isShortOnSpot
        ? [
            {
              kind: 'shortOnSpot' as const,
              description: 'targets a short position, which counts as flat on spot (account: margin can be short)',
            },
          ]
        : []),
    ];
  };
}
