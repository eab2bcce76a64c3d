/** The part of a daemon in `sluice journal compact`: it names the files that the command wrote, and removes their rows. */
import type { Archive } from '../../domain/archive.ts';
import type { OperatorActions } from '../../domain/operator-actions.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { archivesIn } from '../../journal/archive.ts';
import type { Notice } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import { openToRead } from '../../journal/reader.ts';

export interface ArchivingParts {
  readonly assembled: { readonly execution: { readonly journal: Pick<Journal, 'append'> } };
  readonly stateDir: string;
  readonly notice: (notice: Notice) => void;
}

export function archiving(parts: ArchivingParts): Pick<OperatorActions, 'archive' | 'archived'> {
  const { stateDir, notice } = parts;
  const { journal } = parts.assembled.execution;
  let named: ReadonlySet<string> = new Set();
  return {
    async archive({ by, ...archive }) {
      if (archivesOf(stateDir).some(({ file }) => file === archive.file))
        throw new Refusal(`${archive.file} is in the archive already`);
      journal.append({ kind: 'archive', archive });
      const { file, rows, table } = archive;
      notice({ level: 'info', text: `${by} moves ${counted(rows, 'row')} of ${table} to the archive: ${file}` });
      return `${file} is in the archive.`;
    },
    async archived({ table, keys }) {
      // Also those of an earlier run.
      if (!named.has(table)) named = new Set(archivesOf(stateDir).map((one) => one.table));
      if (!named.has(table)) throw new Refusal(`no file of the archive has rows of ${table}`);
      journal.append({ kind: 'archived', table, keys });
      return `${counted(keys.length, 'row')} of ${table} left the journal.`;
    },
  };
}

function archivesOf(dir: string): readonly Archive[] {
  const { db } = openToRead(dir);
  try {
    return archivesIn(db);
  } finally {
    db.close();
  }
}
