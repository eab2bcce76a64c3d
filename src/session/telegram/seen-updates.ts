/** Which updates of the Bot API were taken, also by earlier runs. Beside the alerts, in their file. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { outboxFile } from '../../alerts/outbox.ts';

/** The Bot API numbers updates anew after a quiet week, so the ids themselves are kept, these many. */
const maxKept = 1_000;

export class SeenUpdates {
  readonly #db: Database.Database | undefined;
  readonly #inMemory = new Set<number>();

  constructor(dir: string) {
    this.#db = opened(join(dir, outboxFile));
  }

  /** Notes an update; false where it was noted before. While the disk takes nothing it is noted in memory: a kill must not wait for space. */
  isNew(update: number): boolean {
    if (this.#inMemory.has(update)) return false;
    this.#inMemory.add(update);
    if (this.#inMemory.size > maxKept) this.#inMemory.delete(this.#inMemory.values().next().value as number);
    try {
      const noted =
        this.#db?.prepare('INSERT OR IGNORE INTO telegram_updates (id) VALUES (?)').run(update).changes !== 0;
      this.#db
        ?.prepare('DELETE FROM telegram_updates WHERE seq <= (SELECT max(seq) FROM telegram_updates) - ?')
        .run(maxKept);
      return noted;
    } catch {
      return true;
    }
  }

  close(): void {
    this.#db?.close();
  }
}

function opened(path: string): Database.Database | undefined {
  try {
    const db = new Database(path, { timeout: 2_000 });
    chmodSync(path, 0o600);
    db.pragma('journal_mode = WAL');
    db.exec('CREATE TABLE IF NOT EXISTS telegram_updates (seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE)');
    return db;
  } catch {
    return undefined;
  }
}
