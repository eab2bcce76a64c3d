/** Several runs of the same strategies: one that keeps something from run to run makes each hang on those before it. */
import { Refusal } from '../domain/refusal.ts';
import { grouped } from '../domain/words.ts';
import { isPath } from '../strategy/load.ts';
import type { NamedHosted } from '../trading/strategies.ts';

/** What two runs of the same are compared by, money exact; or why it did not come to an end. */
type CameTo = { readonly finalEquity: string; readonly fills: number } | { readonly refused: string };

/** Strategies that nobody has looked at: shipped ones remember nothing. */
const ownIn = (hosted: readonly NamedHosted[]): readonly string[] => [
  ...new Set(hosted.map(({ use }) => use).filter(isPath)),
];

const textOf = (one: CameTo): string =>
  'refused' in one ? one.refused : `came to ${grouped(one.finalEquity)} by ${grouped(one.fills)} fills`;

/** Makes the first of several runs, `what`, once more after them; throws where it comes to something else. `again`: undefined where it was stopped. */
export async function refuseOther(
  hosted: readonly NamedHosted[],
  what: string,
  first: CameTo,
  again: () => Promise<CameTo | undefined>,
): Promise<void> {
  const own = ownIn(hosted);
  if (own.length === 0) return;
  const second = await again();
  if (second === undefined || textOf(second) === textOf(first)) return;
  throw new Refusal(
    `${what} ${textOf(first)}, and when it was run once more ${textOf(second)}: ${own.join(' or ')} remembers something from run to run (such as a let at the top of the file), or asks chance or the clock, so that no run says anything of another; nothing is kept. sluice check ${own[0]} names the first kline`,
    1,
  );
}
