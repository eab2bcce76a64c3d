/**
 * `npm run compare-libraries -- [--folder FOLDER] [--series 400] [--write]`: installs the libraries whose names rulesets bear into a Python
 * environment, runs constructed, generated and recorded cases in them, and compares their fills with Sluice's. Ends with 1 where they differ
 * and nobody said so. `--write` keeps what was measured for the tests and the page (`test/libraries/measured.jsonl`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  canSay,
  edges,
  generated,
  type KindName,
  kinds,
  type Library,
  type LibraryCase,
  libraries,
} from '../test/libraries/cases.ts';
import { type Measured, measuredPath } from '../test/libraries/measured.ts';
import { recordedCases } from '../test/libraries/recorded.ts';
import { isSame, type LibraryRun, lineOf, sluiceRun } from '../test/libraries/run.ts';

const packages = ['backtesting==0.6.5', 'backtrader==1.9.78.123', 'vectorbt==1.2.0', 'numpy==2.4.6', 'pandas==3.1.1'];

/** Generated series of each kind that the tests keep. */
const kept = 2;

interface Asked {
  readonly kind: string;
  readonly library: Library;
  readonly given: LibraryCase;
  /** Its fills are kept for the tests. */
  readonly isKept: boolean;
}

type Reply = LibraryRun | { readonly error: string };

function everything(series: number): readonly Asked[] {
  const all = (kind: string, cases: readonly LibraryCase[], keeps: number): readonly Asked[] =>
    cases.flatMap((given, index) =>
      libraries
        .filter((library) => canSay(library, given))
        .map((library) => ({ kind, library, given, isKept: index < keeps })),
    );
  const seeds = Array.from({ length: series }, (_, index) => index + 1);
  return [
    ...all('constructed edges', edges, edges.length),
    ...(Object.keys(kinds) as KindName[]).flatMap((kind) =>
      all(
        kind,
        seeds.map((seed) => generated(seed, kind)),
        kept,
      ),
    ),
    ...all('recorded klines', recordedCases(), 0),
  ];
}

/** The interpreter of the environment in a folder, which is made where there is none. */
function python(folder: string): string {
  const path = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(path)) return path;
  execFileSync('python3', ['-m', 'venv', folder], { stdio: 'inherit' });
  execFileSync(path, ['-m', 'pip', 'install', '--quiet', ...packages], { stdio: 'inherit' });
  return path;
}

function inLibraries(folder: string, asked: readonly Asked[]) {
  const [given, replied] = [join(folder, 'cases.json'), join(folder, 'runs.json')];
  const cases = asked.map(({ library, given: { klines, wants, intervalMs, cash, fee } }) => ({
    ...{ library, wants, intervalMs, cash, fee },
    klines: klines.map(({ open, high, low, close, volume }) => [open, high, low, close, volume]),
  }));
  const script = fileURLToPath(new URL('compare-libraries.py', import.meta.url));
  const path = python(folder);
  writeFileSync(given, JSON.stringify(cases));
  execFileSync(path, [script, given, replied], { stdio: ['ignore', 'ignore', 'pipe'] });
  return JSON.parse(readFileSync(replied, 'utf8')) as { versions: Record<Library, string>; runs: readonly Reply[] };
}

/** Counts what is equal, and shows what differs though nobody said so. */
async function compared(asked: readonly Asked[], runs: readonly Reply[]) {
  const counts = new Map<string, { kind: string; library: Library; equal: number; of: number }>();
  let unexpected = 0;
  for (const [index, { kind, library, given }] of asked.entries()) {
    const key = `${library}, ${kind}`;
    const count = counts.get(key) ?? { kind, library, equal: 0, of: 0 };
    counts.set(key, count);
    count.of++;
    const theirs = runs[index] as Reply;
    const ours = await sluiceRun(library, given);
    if (!('error' in theirs) && isSame(ours, theirs)) count.equal++;
    else if (given.differs?.includes(library) !== true) {
      unexpected++;
      const said = 'error' in theirs ? theirs.error : lineOf(theirs);
      process.stdout.write(`${library}, ${given.name}\n  library ${said}\n  sluice  ${lineOf(ours)}\n`);
    }
  }
  return { counts: [...counts.values()], unexpected };
}

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    series: { type: 'string', default: '400' },
    write: { type: 'boolean', default: false },
  },
});
const series = Number(values.series);
if (!Number.isInteger(series) || series < kept) {
  process.stderr.write(`--series: give a whole number from ${kept} on\n`);
  process.exit(2);
}
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'sluice-libraries-'));
const asked = everything(series);
const { versions, runs } = inLibraries(folder, asked);
const { counts, unexpected } = await compared(asked, runs);
for (const { library, kind, equal, of } of counts)
  process.stdout.write(`${library} ${versions[library]}, ${kind}: ${equal} of ${of} equal\n`);
if (values.write) {
  const rows = asked.flatMap(({ library, given: { name }, isKept }, index): Measured[] =>
    isKept ? [{ library, name, ...(runs[index] as LibraryRun) }] : [],
  );
  writeFileSync(
    measuredPath,
    [{ versions, series, counts }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
}
if (values.folder === undefined) rmSync(folder, { recursive: true });
process.exitCode = unexpected === 0 ? 0 : 1;
