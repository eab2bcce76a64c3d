/** What stands against the rows of a file, however it is read: by an import, or because a configuration names it. */
import { Refusal } from '../../domain/refusal.ts';
import { epochUnit } from '../import/times.ts';
import { counted, type Finding, findingText, momentText } from './finding.ts';

/** Jumps that were said to be the market's are told of, and stand against nothing. */
export const accepted = (findings: readonly Finding[], acceptJumps = false): readonly Finding[] =>
  findings.map((one) => (acceptJumps && one.check === 'scale' ? { ...one, refused: false } : one));

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
    `${path}: not read, since of its ${counted(rows, 'row')}: ${faults.join('; ')} (options are those of sluice data import ${path}: import it, and write catalogue for its name in the configuration${more})`,
  );
}

/** A `Refusal` where times are not in ms, as those of a file that a configuration names have to be. `first`: the line of the first. */
export function refuseUnits(path: string, times: Float64Array, first: number): void {
  let row = 0;
  while (row < times.length && epochUnit(times[row] as number) === 'ms' && Number.isInteger(times[row])) row++;
  if (row === times.length) return;
  const time = times[row] as number;
  const unit = epochUnit(time);
  const what = !(time >= 1e8) ? 'is no moment since 1973' : unit === 'ms' ? 'has parts of a ms' : `is in ${unit}`;
  throw new Refusal(
    `${path}, line ${first + row}: the time ${time} ${what}, and a file that a configuration names has UTC ms, such as ${Date.UTC(2024, 0, 1)} for ${momentText(Date.UTC(2024, 0, 1))}: import it (sluice data import ${path}), which reads s, ms, µs and ns, then write catalogue for its name in the configuration`,
  );
}

/** Rows that are numbered at once. */
const numbered = 65_536;

/** Adds rows that stand in one line each, the first of them in line `first`; 0 where nobody knows the lines. */
export function addRows(
  checks: { add(columns: readonly Float64Array[], rows: number, lines?: Uint32Array): void },
  columns: readonly Float64Array[],
  first: number,
): void {
  const rows = columns[0]?.length ?? 0;
  if (first === 0) {
    checks.add(columns, rows);
    return;
  }
  const lines = new Uint32Array(Math.min(rows, numbered));
  for (let from = 0; from < rows; from += numbered) {
    const count = Math.min(numbered, rows - from);
    for (let at = 0; at < count; at++) lines[at] = first + from + at;
    checks.add(
      columns.map((column) => column.subarray(from, from + count)),
      count,
      lines,
    );
  }
}
