/** What `npm run compare-libraries -- --write` measured: how many runs were equal, and the libraries' own fills of some. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Library } from './cases.ts';
import type { LibraryRun } from './run.ts';

export const measuredPath = fileURLToPath(new URL('measured.jsonl', import.meta.url));

/** What a library did with the case of that name. */
export interface Measured extends LibraryRun {
  readonly library: Library;
  readonly name: string;
}

interface Summary {
  readonly versions: Readonly<Record<Library, string>>;
  /** Generated series of each kind. */
  readonly series: number;
  readonly counts: readonly {
    readonly kind: string;
    readonly library: Library;
    readonly equal: number;
    readonly of: number;
  }[];
}

export function readMeasured(): { readonly summary: Summary; readonly measured: readonly Measured[] } {
  const lines = readFileSync(measuredPath, 'utf8').trimEnd().split('\n');
  const [summary, ...measured] = lines.map((line) => JSON.parse(line) as unknown);
  return { summary: summary as Summary, measured: measured as readonly Measured[] };
}
