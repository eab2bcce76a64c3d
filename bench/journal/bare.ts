/** A thread that commits rows of text, FULL, and nothing else: what no journal in a thread can do without. */
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

const db = new Database(workerData as string);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec('CREATE TABLE rows (id TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID');
const insert = db.prepare('INSERT INTO rows VALUES (?, ?)');
const write = db.transaction((rows: readonly (readonly [string, string])[]) => {
  for (const row of rows) insert.run(...row);
});
parentPort?.on('message', (rows: readonly (readonly [string, string])[]) => {
  write(rows);
  parentPort?.postMessage('written');
});
