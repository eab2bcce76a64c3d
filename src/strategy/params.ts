/** Typed parameters of a strategy: one declaration gives defaults, checks, and ranges for commands, search and dashboard. */

interface Described<T> {
  readonly about: string;
  readonly default: T;
}
export interface NumberParam extends Described<number> {
  readonly type: 'integer' | 'number';
  readonly min: number;
  readonly max: number;
}
export interface ChoiceParam<T extends string> extends Described<T> {
  readonly type: 'choice';
  readonly choices: readonly T[];
}
export interface FlagParam extends Described<boolean> {
  readonly type: 'flag';
}
export type Param = NumberParam | ChoiceParam<string> | FlagParam;
export type Params = Readonly<Record<string, Param>>;
export type ParamValues<P extends Params> = {
  readonly [Name in keyof P]: P[Name] extends NumberParam
    ? number
    : P[Name] extends FlagParam
      ? boolean
      : P[Name] extends ChoiceParam<infer T>
        ? T
        : never;
};

type Range = { readonly min: number; readonly max: number };
export const integer = (value: number, range: Range, about: string): NumberParam => ({
  type: 'integer',
  default: value,
  ...range,
  about,
});
export const decimal = (value: number, range: Range, about: string): NumberParam => ({
  type: 'number',
  default: value,
  ...range,
  about,
});
export const choice = <T extends string>(value: T, choices: readonly T[], about: string): ChoiceParam<T> => ({
  type: 'choice',
  default: value,
  choices,
  about,
});
export const flag = (value: boolean, about: string): FlagParam => ({ type: 'flag', default: value, about });

/** What is wrong with one value, or undefined. */
function fault(param: Param, value: unknown): string | undefined {
  if (param.type === 'choice')
    return typeof value === 'string' && param.choices.includes(value)
      ? undefined
      : `must be one of ${param.choices.join(', ')}`;
  if (param.type === 'flag') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (param.type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  return value < param.min || value > param.max ? `must lie between ${param.min} and ${param.max}` : undefined;
}

/** The values, with defaults filled in, and every problem: unknown names, wrong types, values out of range. */
export function readParams<P extends Params>(
  params: P,
  given: Readonly<Record<string, unknown>>,
): { readonly values: ParamValues<P>; readonly problems: readonly ParamProblem[] } {
  const problems: ParamProblem[] = [];
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(params, name))
      problems.push({ name, problem: `is not a parameter (there are: ${Object.keys(params).join(', ') || 'none'})` });
  }
  const values: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) {
    const value = Object.hasOwn(given, name) ? given[name] : param.default;
    const problem = fault(param, value);
    if (problem !== undefined) problems.push({ name, problem: `${problem}, not ${JSON.stringify(value)}` });
    values[name] = value;
  }
  return { values: values as ParamValues<P>, problems };
}

export interface ParamProblem {
  readonly name: string;
  readonly problem: string;
}
