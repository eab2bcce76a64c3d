/** Errors for findings that forbid using a file. */
import { Refusal } from '../../domain/refusal.ts';
import { counted, type Finding, findingText } from './finding.ts';

/** With `acceptJumps` jumps of prices are warnings. */
export const accepted = (findings: readonly Finding[], acceptJumps = false): readonly Finding[] =>
  findings.map((one) => (acceptJumps && one.check === 'scale' ? { ...one, refused: false } : one));

const faultsIn = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ refused }) => refused).map((fault) => findingText(fault));

/** Throws a `Refusal` with all faults found in so many rows, a line each. */
export function refuseImport(path: string, findings: readonly Finding[], rows: number): void {
  const faults = faultsIn(findings);
  if (faults.length === 0) return;
  throw new Refusal(
    `${path}: not imported, since of its ${counted(rows, 'row')}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
  );
}

/** The same for a file that a configuration names, in one line. `more`: what to do without an import. */
export function refuseNamed(path: string, findings: readonly Finding[], rows: number, more = ''): void {
  const faults = faultsIn(findings);
  if (faults.length === 0) return;
  throw new Refusal(
    `${path}: not read (${counted(rows, 'row')}): ${faults.join('; ')}. Import it (sluice data import ${path}) and write catalogue instead of the file name in the configuration${more}`,
  );
}
