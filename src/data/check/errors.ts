/** Errors for findings that forbid using a file. */
import { Refusal } from '../../domain/refusal.ts';
import { epochUnit, isWholeMs } from '../import/times.ts';
import { counted, type Finding, findingText, momentText } from './finding.ts';

/** Jumps that were said to be the market's are told of, and stand against nothing. */
export const accepted = (findings: readonly Finding[], acceptJumps = false): readonly Finding[] =>
  findings.map((one) => (acceptJumps && one.check === 'scale' ? { ...one, refused: false } : one));

const instead = 'write catalogue instead of the file name in the configuration';

const faultsIn = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ refused }) => refused).map((fault) => findingText(fault));

/** A `Refusal` with all that stands against an import of so many rows, a line each. */
export function refuseImport(path: string, findings: readonly Finding[], rows: number): void {
  const faults = faultsIn(findings);
  if (faults.length === 0) return;
  throw new Refusal(
    `${path}: not imported, since of its ${counted(rows, 'row')}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
  );
}

/** The same of a file that a configuration names, in one line. `more`: what to do without an import. */
export function refuseNamed(path: string, findings: readonly Finding[], rows: number, more = ''): void {
  const faults = faultsIn(findings);
  if (faults.length === 0) return;
  throw new Refusal(
    `${path}: not read (${counted(rows, 'row')}): ${faults.join('; ')}. Import it (sluice data import ${path}) and ${instead}${more}`,
  );
}

export function refuseEmpty(path: string, rows: number): void {
  if (rows === 0) throw new Refusal(`${path} has no rows: fetch the file again`);
}

/** A `Refusal` where times are not in ms, as those of a file that a configuration names have to be. `first`: the line of the first. */
export function refuseUnits(path: string, times: Float64Array, first: number): void {
  let row = 0;
  while (row < times.length && isWholeMs(times[row] as number)) row++;
  if (row === times.length) return;
  const time = times[row] as number;
  const unit = epochUnit(time);
  const what = !(time >= 1e8) ? 'is before 1973' : unit === 'ms' ? 'has parts of a ms' : `is in ${unit}`;
  throw new Refusal(
    `${path}, line ${first + row}: the time ${time} ${what}; files named in a configuration need UTC ms, such as ${Date.UTC(2024, 0, 1)} for ${momentText(Date.UTC(2024, 0, 1))}. To use this file, import it (sluice data import ${path}) and ${instead}`,
  );
}
