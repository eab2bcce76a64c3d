/** Finds the strategy that a configuration names: a shipped one, or a file of the user's own. */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import { isStreaming, type Strategy } from './contract.ts';
import { faultText } from './fault.ts';
import { type Params, type ParamValues, readParams } from './params.ts';

/** Shipped strategies by name; loading one loads nothing else. */
export type Registry = Readonly<Record<string, () => Promise<{ readonly default: Strategy }>>>;

export interface Found {
  readonly strategy: Strategy;
  readonly params: ParamValues<Params>;
}

let hooked = false;

/** Makes `import … from 'sluice'` mean this program in a strategy file wherever it lies, with or without a node_modules of its own. */
function offerSluice(entry: string): void {
  if (hooked) return;
  hooked = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'sluice' ? { url: entry, shortCircuit: true } : next(specifier, context),
  });
}

const isPath = (use: string): boolean => /[/\\]|\.[cm]?[jt]s$/.test(use);

/** Loads a strategy and checks its parameters. `dir` is what relative paths are relative to; `where` begins every message. */
export async function loadStrategy(
  use: string,
  given: Readonly<Record<string, unknown>>,
  registry: Registry,
  dir: string,
  where: string,
): Promise<Found> {
  const strategy = isPath(use)
    ? await fromFile(isAbsolute(use) ? use : resolve(dir, use), where)
    : await shipped(use, registry, where);
  const unmade = Object.entries(strategy.params as Params).find(([, param]) => typeof param?.about !== 'string');
  if (unmade !== undefined)
    throw new Refusal(
      `strategy ${strategy.name}: params.${unmade[0]} must be made by integer(), decimal(), choice() or flag()`,
    );
  const { values, problems } = readParams(strategy.params as Params, given);
  const faults = problems.map(
    ({ name, problem }) =>
      `  ${where}.params.${name}: ${problem}${/is not a parameter/.test(problem) ? didYouMean(name, Object.keys(strategy.params as Params)) : ''}`,
  );
  if (faults.length === 0) {
    const fault = strategy.check?.(values);
    if (fault !== undefined) faults.push(`  ${where}.params: ${fault}`);
  }
  if (faults.length > 0)
    throw new Refusal(`strategy ${strategy.name} cannot run with these parameters:\n${faults.join('\n')}`);
  tryIndicators(strategy, values);
  return { strategy, params: values };
}

/** What throws whatever the market does is said before anything starts. */
function tryIndicators(strategy: Strategy, values: ParamValues<Params>): void {
  if (isStreaming(strategy)) return;
  try {
    strategy.indicators(values);
  } catch (error) {
    throw new Refusal(`strategy ${strategy.name}: indicators() threw with these parameters: ${faultText(error)}`);
  }
}

async function shipped(use: string, registry: Registry, where: string): Promise<Strategy> {
  const load = Object.hasOwn(registry, use) ? registry[use] : undefined;
  if (load === undefined) {
    const names = Object.keys(registry);
    throw new Refusal(
      `${where}.use: there is no strategy "${use}"${didYouMean(use, names)}; shipped are ${names.join(', ')}; a file of your own is given by its path, such as ./my-strategy.ts`,
    );
  }
  return (await load()).default;
}

async function fromFile(file: string, where: string): Promise<Strategy> {
  if (!existsSync(file)) throw new Refusal(`${where}.use: strategy file ${file} does not exist`);
  offerSluice(new URL(import.meta.url.endsWith('.ts') ? '../index.ts' : '../index.js', import.meta.url).href);
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  } catch (error) {
    // What `npm init` writes makes CommonJS of every .ts beside it.
    const hint = /outside a module|Unexpected token 'export'/.test(String(error))
      ? `: put "type": "module" into the package.json beside it, or end its name in .mts`
      : '';
    throw new Refusal(`strategy file ${file} cannot be loaded: ${faultText(error)}${hint}`);
  }
  if (!isStrategy(module.default)) {
    throw new Refusal(
      `strategy file ${file} has no strategy: it must end in \`export default defineStrategy({ name, about, params, indicators, decide })\` (docs/tutorial/first-strategy.md)`,
    );
  }
  return module.default;
}

function isStrategy(value: unknown): value is Strategy {
  if (typeof value !== 'object' || value === null) return false;
  const { name, params } = value as { name?: unknown; params?: unknown };
  if (typeof name !== 'string' || typeof params !== 'object' || params === null) return false;
  const strategy = value as Strategy;
  return isStreaming(strategy)
    ? typeof strategy.signals === 'function'
    : typeof strategy.decide === 'function' && typeof strategy.indicators === 'function';
}
