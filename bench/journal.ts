/**
 * What the journal adds to an order's way, beside the one FULL commit that journal-before-send cannot do without: the commit of an
 * order's intent by the writer, with its chain, against a bare FULL commit of as many bytes, in turn in the same run and on the
 * same disk; and the same through the writer's thread, as the daemon waits for it, against a bare FULL commit of three rows of as
 * many bytes through a thread of nothing else. Last, the chain's own part of it.
 *
 *     node bench/journal.ts [ORDERS]     1,000
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../src/clock/clock.ts';
import type { Entry } from '../src/journal/entries.ts';
import { chainOf } from '../src/journal/hash-chain.ts';
import { journal } from '../src/journal/journal.ts';
import { type OpenedState, openState } from '../src/journal/open.ts';
import { openForWriting } from '../src/journal/open-for-writing.ts';
import { migrate } from '../src/journal/schema.ts';
import { writer } from '../src/journal/writer.ts';
import { workerHost } from '../src/journal/writer-hosts.ts';
import { lifeOf } from './recovery/past.ts';

/** Commits of which the processor's time is measured. */
const processorRounds = 5_000;
const orders = Number(process.argv[2] ?? 1_000);
const dir = mkdtempSync(join(tmpdir(), 'sluice-journal-bench-'));
const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
const binding = { mode: 'live', account: 'spot', venue: 'bench' } as const;
const opened: OpenedState[] = [];
const state = (name: string): OpenedState => {
  const one = openState(join(dir, name), binding, ['s'], { dir: join(dir, 'heads'), host: 'bench', accept: undefined });
  opened.push(one);
  return one;
};

/** What is on disk before an order's first byte leaves. */
const intent = (index: number): readonly Entry[] =>
  lifeOf({ clientOrderId: `s${index}`, orderId: String(index), side: 'BUY' }, index, index, true).filter(
    (entry) => entry.kind === 'order' || (entry.kind === 'event' && entry.event !== 'accepted'),
  );

const bare = openForWriting(join(dir, 'bare.db'));
bare.exec('CREATE TABLE rows (id TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID');
const insert = bare.prepare('INSERT INTO rows VALUES (?, ?)');
const bytes = JSON.stringify(intent(0)).length;

const bareThread = new Worker(new URL('./journal/bare.ts', import.meta.url), {
  workerData: join(dir, 'bare-thread.db'),
});
const handOver = (rows: readonly (readonly [string, string])[]): Promise<void> =>
  new Promise((resolve) => {
    bareThread.once('message', resolve);
    bareThread.postMessage(rows);
  });

const path = state('here').path;
const db = openForWriting(path);
const write = writer(db, 2);
const threaded = state('thread');
const host = workerHost(
  threaded.path,
  threaded.identity.epoch,
  (error) => {
    throw error;
  },
  threaded.remember,
);
const book = journal(host, systemClock);

const times = { bare: [] as number[], chained: [] as number[], bareThread: [] as number[], thread: [] as number[] };
for (let index = 0; index < orders + 50; index++) {
  const startedAt = now();
  insert.run(`s${index}`, 'x'.repeat(bytes));
  const bareAt = now();
  write(intent(index));
  const chainedAt = now();
  await handOver(intent(index).map((entry, row) => [`s${index} ${row}`, JSON.stringify(entry)]));
  const bareThreadAt = now();
  const entries = intent(index);
  const appendedAt = now();
  for (const entry of entries) book.append(entry);
  await book.durable();
  const threadAt = now();
  // The first ones warm everything up.
  if (index < 50) continue;
  times.bare.push(bareAt - startedAt);
  times.chained.push(chainedAt - bareAt);
  times.bareThread.push(bareThreadAt - chainedAt);
  times.thread.push(threadAt - appendedAt);
}
const links = chainOf(db)?.head.links ?? 0;
db.close();
bare.close();
await bareThread.terminate();
await book.close();
for (const { lock } of opened) lock.release();

const [full, chained, thread] = [median(times.bare), median(times.chained), median(times.thread)];
const through = median(times.bareThread);
console.log(
  `${orders} orders, ${links} links; median ms: bare FULL commit ${full.toFixed(3)}; intent with chain ${chained.toFixed(3)}, that is ${(chained - full).toFixed(3)} more; through a bare thread ${through.toFixed(3)}, through the writer's ${thread.toFixed(3)}, that is ${(thread - through).toFixed(3)} more, and ${(thread - full).toFixed(3)} more than the commit alone (asked: at most 0.2)`,
);
rmSync(dir, { recursive: true, force: true });

/** µs of this thread's processor for each commit of an intent, without the disk. */
function processorTime(): number {
  const place = mkdtempSync(join(tmpdir(), 'sluice-journal-bench-'));
  const file = openForWriting(join(place, 'journal.db'));
  file.pragma('synchronous = OFF');
  migrate(file);
  const commit = writer(file, 1);
  for (let index = 0; index < 500; index++) commit(intent(index));
  const before = process.threadCpuUsage();
  for (let index = 500; index < 500 + processorRounds; index++) commit(intent(index));
  const { user, system } = process.threadCpuUsage(before);
  file.close();
  rmSync(place, { recursive: true, force: true });
  return (user + system) / processorRounds;
}
console.log(`processor of the writer: ${processorTime().toFixed(0)} µs a commit`);
