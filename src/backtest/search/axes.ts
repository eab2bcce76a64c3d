/** `--grid fast=5..24`: parameters and the values that each of them takes. */
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import type { Param, Params, ParamValues } from '../../strategy/params.ts';
import type { NamedHosted } from '../../trading/strategies.ts';

export type Value = number | string | boolean;

/** One parameter of one strategy, and its values: numbers ascending, words as they were given. */
export interface Axis {
  readonly strategy: string;
  readonly param: string;
  readonly values: readonly Value[];
  /** Another strategy of the run has a parameter of this name, too. */
  readonly isShared?: boolean | undefined;
}

/** A value for each axis. */
export type ParameterSet = readonly Value[];

/** The parameters of a strategy that the axes vary, with their values in a set. */
export const paramsIn = (axes: readonly Axis[], id: string, set: ParameterSet) =>
  Object.fromEntries(
    axes.flatMap(({ strategy, param }, axis) => (strategy === id ? [[param, set[axis]]] : [])),
  ) as ParamValues<Params>;

/** The parameter of each axis, after its strategy where several strategies have a parameter of that name. */
export const axisNames = (axes: readonly Axis[]): readonly string[] =>
  axes.map(({ strategy, param, isShared }) => (isShared === true ? `${strategy}.${param}` : param));

/** The indices of the axes in an order that does not depend on the command line. */
export const sortedAxes = (axes: readonly Axis[]): readonly number[] => {
  const names = axes.map(({ strategy, param }) => `${strategy}.${param}`);
  return [...axes.keys()].toSorted((a, b) => ((names[a] as string) < (names[b] as string) ? -1 : 1));
};

/** A grid of more parameter sets would take hours, and its best would be chance. */
const maxSets = 100_000;

/** Reads every `--grid` of a command against the strategies that there are. */
export function readAxes(texts: readonly string[], hosted: readonly NamedHosted[]): readonly Axis[] {
  const axes = texts.map((text) => readAxis(text, hosted));
  for (const [index, { strategy, param }] of axes.entries())
    if (axes.findIndex((one) => one.strategy === strategy && one.param === param) !== index)
      throw new Refusal(
        `--grid ${strategy}.${param} is given twice: list all its values at once, such as ${strategy}.${param}=5,10,20..40:5`,
      );
  const count = axes.reduce((product, { values }) => product * values.length, 1);
  if (count > maxSets)
    throw new Refusal(
      `the grid has ${count} parameter sets, more than ${maxSets}: make its steps larger (fast=5..50:5)`,
    );
  return axes;
}

function readAxis(text: string, hosted: readonly NamedHosted[]): Axis {
  const [, path = '', list = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (list === '') throw new Refusal(`--grid ${text}: must look like fast=5..24, slow=30..75:5 or mode=a,b`);
  const dot = path.lastIndexOf('.');
  const name = path.slice(dot + 1);
  const of = dot < 0 ? hosted : hosted.filter(({ id }) => id === path.slice(0, dot));
  if (of.length === 0)
    throw new Refusal(
      `--grid ${text}: unknown strategy ${path.slice(0, dot)}${didYouMean(
        path.slice(0, dot),
        hosted.map(({ id }) => id),
      )}`,
    );
  const having = of.filter(({ strategy }) => Object.hasOwn(strategy.params as Params, name));
  const [only, other] = having;
  if (only === undefined) {
    const known = of.flatMap(({ strategy }) => Object.keys(strategy.params as Params));
    throw new Refusal(
      `--grid ${text}: ${name} is not a parameter${didYouMean(name, known)}; there are ${known.join(', ') || 'none'}`,
    );
  }
  if (other !== undefined)
    throw new Refusal(
      `--grid ${text}: ${having.map(({ id }) => id).join(' and ')} have ${name}: choose one, such as ${only.id}.${name}`,
    );
  const param = (only.strategy.params as Params)[name] as Param;
  const values = list.split(',').flatMap((part) => valuesOf(part.trim(), param, text));
  const different = [...new Set(values)];
  // Plateaus need neighbouring values next to each other.
  if (param.type === 'integer' || param.type === 'number') different.sort((a, b) => Number(a) - Number(b));
  const isShared = hosted.filter(({ strategy }) => Object.hasOwn(strategy.params as Params, name)).length > 1;
  return { strategy: only.id, param: name, values: different, isShared };
}

const rangePattern = /^(-?\d+(?:\.\d+)?)(?:\.\.(-?\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?)?$/;

/** `5`, `5..24`, `30..75:5`, `0.01..0.05:0.01`, or a word. */
function valuesOf(part: string, param: Param, text: string): readonly Value[] {
  if (param.type === 'choice') return [part];
  if (param.type === 'flag') {
    if (part !== 'true' && part !== 'false')
      throw new Refusal(`--grid ${text}: must be true, false or both (true,false)`);
    return [part === 'true'];
  }
  const range = rangePattern.exec(part);
  const [first, last, step] = [range?.[1], range?.[2] ?? range?.[1], range?.[3] ?? '1'].map(Number);
  if (range === null || first === undefined || last === undefined || step === undefined)
    throw new Refusal(`--grid ${text}: "${part}" is neither a number nor a range such as 5..24 or 30..75:5`);
  if (last < first)
    throw new Refusal(`--grid ${text}: "${part}" is descending: write ${part.replace(/^(.*)\.\.([^:]*)/, '$2..$1')}`);
  if (step === 0) throw new Refusal(`--grid ${text}: "${part}" has a step of 0: use a step above 0`);
  const steps = (last - first) / step;
  if (range?.[3] === undefined && Math.abs(steps - Math.round(steps)) > 1e-9)
    throw new Refusal(
      `--grid ${text}: "${part}" has steps of 1 and never reaches ${last}: give a step, such as ${part}:0.1`,
    );
  const decimals = Math.min(
    maxDecimals,
    Math.max(...[range?.[1], range?.[2], range?.[3]].map((one = '') => one.split('.')[1]?.length ?? 0)),
  );
  const count = Math.floor(steps + 1e-9) + 1;
  if (count > maxSets) throw new Refusal(`--grid ${text}: ${count} values are more than ${maxSets}`);
  // 0.1 + 0.2 is not 0.3: each value is the number that its digits say.
  return Array.from({ length: count }, (_, index) => Number((first + index * step).toFixed(decimals)));
}

/** The maximum of `toFixed`. */
const maxDecimals = 100;

/** All parameter sets, the last axis fastest. */
export const parameterSets = (axes: readonly Axis[]): readonly ParameterSet[] =>
  axes.reduce<readonly ParameterSet[]>(
    (sets, { values }) => sets.flatMap((set) => values.map((value) => [...set, value])),
    [[]],
  );

/** The parameter sets as they are saved: their values do not depend on the order of the axes on the command line. */
export function asSaved(axes: readonly Axis[], sets: readonly ParameterSet[]): readonly ParameterSet[] {
  const order = sortedAxes(axes);
  return sets.map((set) => order.map((axis) => set[axis] as Value));
}
