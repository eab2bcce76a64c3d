/** Loads the strategy that a configuration names: a shipped one, or a user's file. */

import { Console } from 'node:console';
import { existsSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { didYouMean } from '../domain/refusal.ts';
import { systemText } from '../domain/system-errors.ts';
import { hasList, isStreaming, type Strategy } from './contract.ts';
import { errorText } from './fault.ts';
import { hasLoadedFiles, setLoading } from './loading.ts';
import { memoryFault } from './memory.ts';
import { type Params, type ParamValues, readParams } from './params.ts';
import { anew, resolveSluice } from './resolve-sluice.ts';
import { needsFault } from './warmup.ts';

/** Shipped strategies by name; loading one loads nothing else. */
export type Registry = Readonly<Record<string, () => Promise<{ readonly default: Strategy }>>>;

export interface Found {
  readonly strategy: Strategy;
  readonly params: ParamValues<Params>;
}

/** What is wrong with a configured strategy. */
export interface LoadProblem {
  /** The key that it is about: `use`, `params`, or one of the params. */
  readonly path: readonly string[];
  readonly what: string;
}

/** Sends a strategy file's `console` output to stderr: stdout is for results, which programs read. */
function logToStderr(): void {
  if (hasLoadedFiles()) return;
  Object.assign(console, new Console({ stdout: process.stderr, stderr: process.stderr }));
}

/** Whether it is the path of a file, not the name of a shipped strategy. */
export const isPath = (use: string): boolean => /[/\\]|\.[cm]?[jt]s$/.test(use);

/**
 * Loads a strategy and checks its parameters, or returns every problem. `dir`: the directory of a relative path. `again`: the code that its
 * file and the files that it imports have now, where they were loaded before.
 */
export async function loadStrategy(
  use: string,
  given: Readonly<Record<string, unknown>>,
  registry: Registry,
  dir: string,
  again = false,
): Promise<Found | readonly LoadProblem[]> {
  const strategy = isPath(use)
    ? await fromFile(isAbsolute(use) ? use : resolve(dir, use), again)
    : await shipped(use, registry);
  if (typeof strategy === 'string') return [{ path: ['use'], what: strategy }];
  const unnamed = nameFault(strategy, use);
  if (unnamed !== undefined) return [{ path: ['use'], what: unnamed }];
  const params = strategy.params as Params;
  const unmade = Object.entries(params).find(([, param]) => typeof param?.about !== 'string');
  if (unmade !== undefined) {
    const [name, param] = unmade;
    const must = isTyped(param)
      ? 'lacks its description, the last argument'
      : 'must be made by integer(), decimal(), choice() or flag()';
    const what = `strategy ${strategy.name}: params.${name} ${must}`;
    return [{ path: ['use'], what }];
  }
  const { values, problems } = readParams(params, given);
  if (problems.length > 0)
    return problems.map(({ name, problem }) =>
      Object.hasOwn(given, name)
        ? {
            path: ['params', name],
            what: `${problem}${/is not a parameter/.test(problem) ? didYouMean(name, Object.keys(params)) : ''}`,
          }
        : { path: ['use'], what: `strategy ${strategy.name} (${use}): the default of params.${name} ${problem}` },
    );
  const fault = faultOf(strategy, values, use);
  return fault === undefined ? { strategy, params: values } : [fault];
}

/** Names appear in texts and beside ids, so they have no blanks or special characters. */
const nameFault = ({ name }: Strategy, use: string): string | undefined =>
  /^[a-z0-9][a-z0-9-]*$/.test(name)
    ? undefined
    : `strategy ${use}: its name is ${inspect(name)}: it must be lower case letters, digits and dashes, such as 'my-strategy'`;

const isTyped = (param: unknown): boolean => typeof param === 'object' && param !== null && 'type' in param;

/** Errors of `check`, `warmup` and `indicators`, which do not depend on the market, are reported before the start. */
function faultOf(strategy: Strategy, values: ParamValues<Params>, use: string): LoadProblem | undefined {
  try {
    const fault: unknown = strategy.check?.(values);
    if (fault !== undefined && typeof fault !== 'string') {
      const what = `strategy ${strategy.name} (${use}): check() gives ${inspect(fault)}: it must give a text that says what is wrong, or undefined`;
      return { path: ['use'], what };
    }
    if (fault !== undefined) return { path: ['params'], what: fault };
    const none = needsFault(strategy, values) ?? memoryFault(strategy);
    return none === undefined ? undefined : { path: ['use'], what: `strategy ${strategy.name} (${use}): ${none}` };
  } catch (error) {
    const what = `strategy ${strategy.name}: check(), warmup() or indicators() threw with these parameters: ${errorText(error)}`;
    return { path: ['params'], what };
  }
}

/** Here and below, a string is a problem. */
async function shipped(use: string, registry: Registry): Promise<Strategy | string> {
  const load = Object.hasOwn(registry, use) ? registry[use] : undefined;
  if (load !== undefined) return (await load()).default;
  const names = Object.keys(registry);
  return `unknown strategy "${use}"${didYouMean(use, names)}; shipped are ${names.join(', ')}; a file of your own is given by its path, such as ./my-strategy.ts`;
}

/** What to do about a file that cannot be loaded, if known. */
function hintFor(error: unknown): string {
  const text = String(error);
  // The package.json of `npm init` makes every .ts beside it CommonJS.
  if (/outside a module|Unexpected token 'export'/.test(text))
    return `: put "type": "module" into the package.json beside it, or end its name in .mts`;
  if (/module 'sluice' does not provide an export/.test(text))
    return ': docs/reference/strategies.md and the pages that it names list the exports';
  const [, module] = /Cannot find module '([^']+)'/.exec(text) ?? [];
  if (module !== undefined)
    return /\.\w+$/.test(module)
      ? ': check the path in its import'
      : `: write the whole file name in its import, such as './${basename(module)}.ts'`;
  const absent = /Cannot find package '([^']+)'/.exec(text)?.[1];
  return absent === undefined ? '' : `: run npm install ${absent} in the folder of that file`;
}

async function fromFile(file: string, again: boolean): Promise<Strategy | string> {
  if (!existsSync(file)) return `strategy file ${file} does not exist`;
  if (statSync(file).isDirectory())
    return `${file} is a folder: name the file in it, such as ${join(file, 'index.ts')}`;
  resolveSluice();
  logToStderr();
  let module: { readonly default?: unknown };
  setLoading(file);
  try {
    const url = pathToFileURL(file).href;
    module = (await import(again ? anew(url) : url)) as { readonly default?: unknown };
  } catch (error) {
    return `strategy file ${file} cannot be loaded: ${systemText(error) ?? errorText(error)}${hintFor(error)}`;
  } finally {
    setLoading(undefined);
  }
  if (isStrategy(module.default)) {
    const fault = keysFault(module.default);
    return fault === undefined ? module.default : `strategy file ${file}: ${fault}`;
  }
  const misspelt = misspeltIn(module.default);
  if (misspelt !== undefined) return `strategy file ${file}: ${misspelt}`;
  return `strategy file ${file} has no strategy: it must end in \`export default defineStrategy({ name, about, params, indicators, decide })\` (docs/tutorial/first-strategy.md)`;
}

/** Keys that nothing reads would be a surprise: types find them, but files are not type-checked. An object of a class may have fields of its own. */
function keysFault(strategy: Strategy): string | undefined {
  if (Object.getPrototypeOf(strategy) !== Object.prototype) return undefined;
  const forms = ['decide', 'choose', 'signals'].filter((key) => key in strategy);
  if (forms.length > 1) return `it has ${forms.join(' and ')}: a strategy has one of them`;
  if ('rebalance' in strategy && !hasList(strategy))
    return 'rebalance belongs to choose; decide is called at each close';
  const unknown = Object.keys(strategy).find((key) => !strategyKeys.includes(key));
  return unknown === undefined
    ? undefined
    : `${unknown} is not a key of a strategy, and nothing calls it${didYouMean(unknown, strategyKeys)}; it has ${strategyKeys.join(', ')}`;
}

/** Names a misspelt key of an object that is not a strategy. */
function misspeltIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const missing = ['name', 'params', 'indicators', 'decide', 'choose', 'signals'].filter((key) => !(key in value));
  for (const key of Object.keys(value)) {
    const meant = strategyKeys.includes(key) ? '' : didYouMean(key, missing);
    if (meant !== '') return `${key} is not a key of a strategy${meant}; it has ${strategyKeys.join(', ')}`;
  }
  return undefined;
}

const strategyKeys = [
  ...['name', 'about', 'params', 'warmup', 'check', 'indicators', 'decide', 'signals'],
  ...['markets', 'allowMissing', 'legsAlone', 'choose', 'rebalance', 'memory'],
];

function isStrategy(value: unknown): value is Strategy {
  if (typeof value !== 'object' || value === null) return false;
  const { name, params } = value as { name?: unknown; params?: unknown };
  if (typeof name !== 'string' || typeof params !== 'object' || params === null) return false;
  const strategy = value as Strategy;
  return isStreaming(strategy)
    ? typeof strategy.signals === 'function'
    : typeof strategy.indicators === 'function' &&
        (hasList(strategy) ? typeof strategy.choose === 'function' : typeof strategy.decide === 'function');
}
