/** Detects strategies that keep state between runs, so that a result depends on earlier runs. */
import { Refusal } from '../domain/refusal.ts';
import { counted, grouped } from '../domain/words.ts';
import { isPath } from '../strategy/load.ts';
import type { NamedHosted } from '../trading/strategies.ts';

/** What two equal runs are compared by, money exact; or why a run was refused. */
type Compared = { readonly finalEquity: string; readonly fills: number } | { readonly refused: string };

/** Users' own strategies: shipped ones keep nothing. */
const ownIn = (hosted: readonly NamedHosted[]): readonly string[] => [
  ...new Set(hosted.map(({ use }) => use).filter(isPath)),
];

/** Whether runs of these strategies are repeated. */
export const isRepeated = (hosted: readonly NamedHosted[]): boolean => ownIn(hosted).length > 0;

const textOf = (one: Compared): string =>
  'refused' in one ? `a refusal (${one.refused})` : `${grouped(one.finalEquity)} with ${counted(one.fills, 'fill')}`;

/** Repeats the first of several runs, `what`, after them, and throws where the result differs. `again` gives undefined where it was stopped. */
export async function refuseOther(
  hosted: readonly NamedHosted[],
  what: string,
  first: Compared,
  again: () => Promise<Compared | undefined>,
): Promise<void> {
  const own = ownIn(hosted);
  if (own.length === 0) return;
  const second = await again();
  if (second === undefined || textOf(second) === textOf(first)) return;
  throw new Refusal(
    `${own.join(' or ')} is not deterministic: two runs of ${what} gave ${textOf(first)} and ${textOf(second)}. It keeps state between runs (such as a let at the top of the file) or uses random numbers or the clock. Nothing was saved. sluice check ${own[0]} names the first kline`,
    1,
  );
}
