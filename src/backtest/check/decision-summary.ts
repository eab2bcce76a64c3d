/** What a strategy wished over its klines, taken together: whether anything could be compared, and what cannot be had. */

import { rateNumber } from '../../domain/money.ts';
import { type Signal, sizeValue } from '../../domain/order.ts';
import { isShort } from '../result/refusals.ts';
import type { RunInput } from '../run.ts';
import type { DecisionLog } from './decision-log.ts';

/** `nothing` was ever said; nothing but `flat`, which proves as little; or `something`. */
export type Wished = 'nothing' | 'flat' | 'something';

/** A wish that is not what anybody can mean, or have. */
export interface Mistake {
  /** `share`: more than all it has, and may borrow; `short`: what spot takes for flat, which may be meant. */
  readonly kind: 'share' | 'short';
  /** UTC ms at which the first kline opened after which it was said. */
  readonly at: number;
  readonly times: number;
  readonly description: string;
}

/** The wants of a line of the log: one, or those of a stream. */
function signalsIn(text: string): readonly Signal[] {
  const said: unknown = JSON.parse(text);
  if (said === null) return [];
  return Array.isArray(said) ? said.map((one: string) => JSON.parse(one) as Signal) : [said as Signal];
}

const isFlat = (signal: Signal): boolean =>
  signal.kind === 'target' ? sizeValue(signal.size) === 0 : signal.quotes.every(({ quantity }) => quantity === 0);

export function wishedIn({ lines }: DecisionLog): Wished {
  const texts = new Set(lines.flatMap((line) => (line === undefined ? [] : [line.signal])));
  let wished: Wished = 'nothing';
  for (const text of texts)
    for (const signal of signalsIn(text)) {
      if (!isFlat(signal)) return 'something';
      wished = 'flat';
    }
  return wished;
}

/** Each kind of mistake once, with its first place. */
export function mistakesIn({ lines }: DecisionLog, { series: [series], margin }: RunInput): readonly Mistake[] {
  const most = margin === undefined ? 1 : rateNumber(margin.maxLeverage);
  const found = new Map<Mistake['kind'], Mistake>();
  for (const [row, line] of lines.entries())
    for (const signal of line === undefined ? [] : signalsIn(line.signal)) {
      const mistake = mistakeOf(signal, most, margin !== undefined);
      if (mistake === undefined) continue;
      const before = found.get(mistake.kind);
      const at = series?.columns.openTime[row] as number;
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
