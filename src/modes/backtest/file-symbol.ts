/** Whether a file that the configuration names says by its own name that it is of something else. */
import { basename } from 'node:path';
import { namedBy } from '../../data/import/names.ts';
import type { Notes } from '../../data/told.ts';
import type { Instrument } from '../../domain/instrument.ts';

/** Bitcoin has two names. */
const spelt = (text: string): string => text.toUpperCase().replace(/^XBT/, 'BTC');

/** An import would take the symbol from the name: of another asset it is told, and stands against the result. Quotes alike in worth are not told apart. */
export function fileSymbolNotes(
  { symbol, base }: Pick<Instrument, 'symbol' | 'base'>,
  ...paths: readonly (string | undefined)[]
): Notes {
  const notes = paths.flatMap((path): readonly string[] => {
    const named = path === undefined ? undefined : namedBy(basename(path)).symbol;
    if (path === undefined || named === undefined || spelt(named).startsWith(spelt(base))) return [];
    return [`${symbol}: ${basename(path)} is of ${named} by its name: name the file of ${symbol}, or rename it`];
  });
  return { warnings: notes, doubts: notes };
}
