/** Reads fault rules by the name of a plan or from a YAML file; whatever is wrong is said with file and line. */
import { existsSync, readFileSync } from 'node:fs';
import { isMap, LineCounter, type Node, parseDocument } from 'yaml';
import { didYouMean, Refusal } from '../domain/refusal.ts';
import { type FaultRule, FaultRulesError, faultRules, planNames, rulesNamed } from '../simulator/simulator.ts';

type Document = ReturnType<typeof parseDocument>;

/** A plan goes before a file of the same name: write `./NAME` for the file. */
export function faultsOf(nameOrFile: string): FaultRule[] {
  if (planNames.includes(nameOrFile)) return rulesNamed(nameOrFile);
  if (!existsSync(nameOrFile))
    throw new Refusal(
      `${nameOrFile} is neither a fault file nor a plan${didYouMean(nameOrFile, planNames)}; there are ${planNames.join(', ')}`,
    );
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(nameOrFile, 'utf8'), { lineCounter: lines });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = broken.linePos?.[0].line ?? '?';
    throw new Refusal(`${nameOrFile}, line ${line}: is not valid YAML: ${broken.message.split(/ at line|\n/)[0]}`);
  }
  try {
    return faultRules((document.toJS() as unknown) ?? []);
  } catch (error) {
    if (!(error instanceof FaultRulesError)) throw error;
    const problems = error.problems.map(
      ({ path, key, message }) => `${nameOrFile}, line ${lineOf(document, lines, path, key)}: ${message}`,
    );
    throw new Refusal(problems.join('\n'));
  }
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
