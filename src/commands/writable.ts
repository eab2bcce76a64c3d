/** Checks that results can be written, before a command works for hours. */
import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../domain/refusal.ts';
import { pageStart } from '../report/html.ts';

/** What is written where; each may be left out. */
export interface Places {
  /** A file of this name; true where the run finds one by itself. */
  readonly report?: string | true;
  /** As `report`, by `-o`. */
  readonly output?: string | undefined;
  readonly csv?: string | undefined;
  readonly runs?: string;
}

/** Refuses, all at once, what cannot be written. Folders of `--csv` and `--runs` are made later, that of a report is not. */
export function refuseUnwritable({ report, output, csv, runs }: Places): void {
  const files = [
    { option: `--report ${report === true ? '' : report}`, file: report === true ? '.html' : report },
    { option: `-o ${output}`, file: output },
  ];
  const faults = [
    ...files.flatMap(({ option, file }) => {
      const fault = file === undefined ? undefined : fileFault(file);
      return fault === undefined ? [] : [`${option}: ${fault}`];
    }),
    ...faultsOf('--csv', csv, 'name another folder'),
    ...faultsOf('--runs', runs, 'name another folder, or use --no-save'),
  ];
  if (faults.length > 0) throw new Refusal(faults.join('\n'));
}

const faultsOf = (option: string, dir: string | undefined, advice: string): readonly string[] => {
  const fault = dir === undefined ? undefined : folderFault(resolve(dir));
  return fault === undefined ? [] : [`${option} ${dir}: ${fault}: ${advice}`];
};

function fileFault(file: string): string | undefined {
  const path = resolve(file);
  const dir = dirname(path);
  if (existsSync(path) && statSync(path).isDirectory()) return 'is a folder: name a file in it, such as report.html';
  if (isOther(path)) return 'exists and is not a Sluice report: name another file, or remove it first';
  return placeFault(dir);
}

/** Why no file can be put into a folder; undefined where one can. */
export function placeFault(dir: string): string | undefined {
  if (!existsSync(dir)) return `folder ${dir} does not exist: create it first, or name another folder`;
  const fault = folderFault(dir);
  return fault === undefined ? undefined : `${fault}: name another folder`;
}

/** Whether a file is there that a report would destroy: a configuration, a strategy, data. Devices and empty files hold nothing. */
function isOther(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size === 0) return false;
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(pageStart.length);
    readSync(file, start, 0, start.length, 0);
    return start.toString() !== pageStart;
  } finally {
    closeSync(file);
  }
}

/** Tried by making a folder of a moment in it, or in what is there of its way: what the system says of rights is not all. */
function folderFault(dir: string): string | undefined {
  let there = dir;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  if (!statSync(there).isDirectory()) return `${there} is a file, not a folder`;
  try {
    rmdirSync(mkdtempSync(join(there, '.sluice-')));
    return undefined;
  } catch (error) {
    return `nothing can be written into ${there} (${(error as NodeJS.ErrnoException).code})`;
  }
}
