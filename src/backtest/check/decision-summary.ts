/** The signals of a strategy over its klines: whether there are any to compare, and which are mistakes. */

import { rateNumber } from '../../domain/money.ts';
import { type Signal, sizeValue } from '../../domain/order.ts';
import type { Weights } from '../../strategy/contract.ts';
import { isShort } from '../result/refusals.ts';
import type { RunInput } from '../run.ts';
import type { CheckedKlines } from './columns.ts';
import type { DecisionLog } from './decision-log.ts';

/** No signals at all, only flat ones, which prove as little, or others. */
export type EmittedKind = 'nothing' | 'flat' | 'something';

/** A target that is surely a mistake, or that cannot be reached. */
export interface Mistake {
  /** `share`: more than its equity and what it may borrow; `short`: counts as flat on spot, which may be intended. */
  readonly kind: 'share' | 'short';
  /** UTC ms at which the kline of the first such signal opened. */
  readonly at: number;
  readonly times: number;
  readonly description: string;
}

/** The signals in a line of the log: one, those of a stream, or those of several markets. */
function signalsIn(text: string): readonly Signal[] {
  const value: unknown = JSON.parse(text);
  if (value === null) return [];
  if (Array.isArray(value)) return value.map((one: string) => JSON.parse(one) as Signal);
  if (!('kind' in (value as object))) return Object.values(value as Readonly<Record<string, Signal>>);
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
  { margin }: RunInput,
): readonly Mistake[] {
  const most = margin === undefined ? 1 : rateNumber(margin.maxLeverage);
  const found = new Map<Mistake['kind'], Mistake>();
  for (const [row, line] of lines.entries())
    for (const signal of line === undefined ? [] : signalsIn(line.signal)) {
      const mistake = mistakeOf(signal, most, margin !== undefined);
      if (mistake === undefined) continue;
      const before = found.get(mistake.kind);
      const at = times[row] as number;
      found.set(mistake.kind, { ...(before ?? { ...mistake, at }), times: (before?.times ?? 0) + 1 });
    }
  return [...found.values()];
}

function mistakeOf(
  signal: Signal,
  most: number,
  mayBeShort: boolean,
): Pick<Mistake, 'kind' | 'description'> | undefined {
  if (signal.kind !== 'target') return undefined;
  const { size } = signal;
  if ('share' in size && Math.abs(size.share) > most)
    return {
      kind: 'share',
      description: `targets a share of ${size.share}; ${most} is ${mayBeShort ? 'the maximum by margin.maxLeverage' : 'all its equity'}`,
    };
  if (!mayBeShort && isShort(signal))
    return {
      kind: 'short',
      description: 'targets a short position, which counts as flat on spot (account: margin can be short)',
    };
  return undefined;
}
