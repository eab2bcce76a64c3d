/** Reads fault rules by the name of a plan or from a YAML file. Errors name file and line. */
import { existsSync, readFileSync } from 'node:fs';
import { isMap, LineCounter, type Node, parseDocument } from 'yaml';
import { yamlFault } from '../../config/read.ts';
import { causeOf, didYouMean, Refusal } from '../../domain/refusal.ts';
import {
  type FaultRule,
  FaultRulesError,
  faultRules,
  operations,
  planNames,
  plans,
  rulesNamed,
} from '../../simulator/simulator.ts';

type Document = ReturnType<typeof parseDocument>;

/** The exchange that rules are for: a rule about what it does not have would do nothing, and say nothing. */
export interface FaultWorld {
  readonly uids: readonly string[];
  readonly symbols: readonly string[];
}

/** A plan goes before a file of the same name: write `./NAME` for the file. */
export function faultsOf(nameOrFile: string, world?: FaultWorld): FaultRule[] {
  if (planNames.includes(nameOrFile)) return rulesNamed(nameOrFile);
  if (!existsSync(nameOrFile))
    throw new Refusal(
      `${nameOrFile} is neither a fault file nor a plan${didYouMean(nameOrFile, planNames)}; there are ${planNames.join(', ')}`,
    );
  const lines = new LineCounter();
  const document = parseDocument(textOf(nameOrFile), { lineCounter: lines });
  const broken = yamlFault(document, lines);
  if (broken !== undefined) throw new Refusal(`${nameOrFile}, line ${broken.line ?? '?'}: ${broken.what}`);
  const content: unknown = document.toJS() ?? [];
  if (Array.isArray(content) && content.length === 0)
    throw new Refusal(`${nameOrFile} contains no rules: add some, or leave --faults out`);
  try {
    const rules = faultRules(content);
    const vain = world === undefined ? [] : rules.flatMap((rule, index) => vainIn(rule, index, world));
    if (vain.length > 0) throw new FaultRulesError(vain);
    return rules;
  } catch (error) {
    if (!(error instanceof FaultRulesError)) throw error;
    const problems = error.problems.map(({ path, key, message }) => {
      const keys = path.slice(1).map(String).join('.');
      const place = `${nameOrFile}, line ${lineOf(document, lines, path, key)}: `;
      return `${place}${keys === '' ? '' : `${keys}: `}${message}`;
    });
    throw new Refusal(problems.join('\n'));
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(
      code === 'EISDIR'
        ? `${file} is a folder: give a file of rules in it, or the name of a plan`
        : `the file of rules cannot be read: ${causeOf(error)}`,
    );
  }
}

type Problem = FaultRulesError['problems'][number];

/** What a rule names that this exchange does not have. */
function vainIn(rule: FaultRule, index: number, { uids, symbols }: FaultWorld): Problem[] {
  const found: Problem[] = [];
  const check = (path: readonly string[], named: unknown, known: readonly string[], what: string): void => {
    if (typeof named !== 'string' || known.includes(named)) return;
    const there = known.length > 12 ? '' : `; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ') || 'none'}`;
    found.push({
      path: [index, ...path],
      message: `this exchange has no ${what} ${named}${didYouMean(named, known)}${there}: the rule would have no effect`,
    });
  };
  if ('match' in rule) {
    const { method, path, user } = rule.match;
    check(['match', 'user'], user, uids, 'user');
    const paths = pathsOf(method);
    const begins = path?.endsWith('*') === true && paths.some((one) => one.startsWith(path.slice(0, -1)));
    if (method !== 'WS' && !begins) check(['match', 'path'], path, paths, 'path');
    return found;
  }
  for (const [name, given] of Object.entries(rule.do)) {
    if (name === 'delist') check(['do', 'delist'], given, symbols, 'symbol');
    if (typeof given !== 'object' || given === null) continue;
    const { user, symbol } = given as { readonly user?: unknown; readonly symbol?: unknown };
    check(['do', name, 'user'], user, uids, 'user');
    check(['do', name, 'symbol'], symbol, symbols, 'symbol');
  }
  return found;
}

/** The paths of the operations that this method carries out, or of all. */
const pathsOf = (method: string | undefined): readonly string[] => [
  ...new Set(
    Object.keys(operations)
      .map((name) => name.split(' '))
      .filter(([verb]) => method === undefined || verb === method)
      .map(([, path = '']) => path),
  ),
];

/** The faults in force, printed at the start of an exchange. */
export function faultsText(nameOrFile: string, rules: readonly FaultRule[]): string {
  const count = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
  const about = planNames.includes(nameOrFile) ? plans[nameOrFile as keyof typeof plans].about : undefined;
  return `faults in force: ${nameOrFile} (${count})${about === undefined ? '' : `: ${about}`}`;
}

/** The line of what stands at a path, or of the nearest thing around it that is there. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[], key: string | undefined): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const found: unknown = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (!isNode(found)) continue;
    const named =
      key !== undefined && isMap(found) ? found.items.find((pair) => String(pair.key) === key)?.key : undefined;
    return lines.linePos((isNode(named) ? named : found).range?.[0] ?? 0).line;
  }
  return 1;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'range' in value;
