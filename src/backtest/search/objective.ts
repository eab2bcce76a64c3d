/** What a grid ranks its parameter sets by. */
import { conventions, type Form } from '../../research/conventions.ts';
import type { Ran } from './outcome.ts';

/** The names of `--objective`, as metrics are called in JSON. */
export const objectiveNames = ['return', 'sharpe', 'sortino', 'calmar', 'maxDrawdown'] as const;
export type ObjectiveName = (typeof objectiveNames)[number];

export interface Objective {
  readonly name: ObjectiveName;
  /** As reports call it: `Sharpe ratio`. */
  readonly title: string;
  readonly form: Form;
  /** Higher is better, so a drawdown is negative. Undefined where it would mean nothing. */
  figureOf(one: Ran): number | undefined;
}

export function objectiveOf(name: ObjectiveName): Objective {
  const of = conventions.flatMap((group) => group.of[name] ?? [])[0];
  const sign = name === 'maxDrawdown' ? -1 : 1;
  return {
    name,
    title: of?.name ?? name,
    form: of?.form ?? 'ratio',
    figureOf: ({ [name]: figure }) => (figure === null ? undefined : sign * figure),
  };
}
