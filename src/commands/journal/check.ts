/** `sluice journal check`: checks that a journal is intact and keeps the invariants of the order protocol, offline and read-only. */

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { attachArchive } from '../../archive/attach.ts';
import { checkpointKey, keyFile } from '../../archive/compact.ts';
import { fileColumn } from '../../archive/copying.ts';
import type { ClientIo } from '../../client/connection.ts';
import { causeOf, orRefusal, Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { holdings } from '../../execution/invariants/holdings.ts';
import { type Rule, rules } from '../../execution/invariants/rules.ts';
import { type Finding, type View, viewOf } from '../../execution/invariants/view.ts';
import { archivesIn, isSigned } from '../../journal/archive.ts';
import { integrityOf, oneLine } from '../../journal/examiner.ts';
import { brokenHead, readHead, sumRows, sumRowsOf, totalText } from '../../journal/hash-chain.ts';
import { journalFile } from '../../journal/open.ts';
import { openToRead } from '../../journal/reader.ts';
import { isOurs } from '../../journal/schema.ts';
import { refuseOld } from '../../session/preflight/journal-head-check.ts';
import { chooseState, refusalOf, type StateChoice } from '../../session/state.ts';

export interface CheckOptions extends Pick<ClientIo, 'json' | 'out' | 'environment'> {
  readonly dir: string;
}

/** What holds of the file itself, beside the invariants of what is in it. */
const fileRules = {
  file: 'SQLite finds no damaged page, row or index',
  schema: 'the tables are those of its version',
  chain: 'the rows add up to the head of the chain: only Sluice changed them',
  newest: 'it is the newest journal of this machine, and was written here',
  archive: 'the files of the archive are those that compacting wrote, with valid checkpoints',
} as const;

/** Findings shown for each rule in text; `--json` shows all. */
const maxShown = 20;

export interface Checked {
  readonly schema: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly chainLength: number | null;
  readonly chainHead: string | null;
  /** What the account should hold by it; null where it was never written down what it held at first. */
  readonly expectedBalances: Readonly<Record<string, string>> | null;
  /** Orders of ours with fills or at the exchange that have no row: of a time that a journal which was accepted as restored lacks. */
  readonly missingOrders: number;
  readonly findings: readonly Finding[];
}

/** Checks the journal in `dir`; refuses (exit 3) what is no journal of this Sluice or an earlier one. */
export function checkJournal(dir: string, environment: CheckOptions['environment']): Checked {
  const { db, path, version } = opened(dir);
  try {
    const ofArchive = withArchive(db, dir, environment);
    // One moment of it, whatever a daemon writes meanwhile.
    db.exec('BEGIN');
    const checked = checkMoment(db, path, version, ofArchive);
    db.exec('COMMIT');
    return checked.chainLength === null
      ? checked
      : { ...checked, findings: [...checked.findings, ...isOld(db, path, environment)] };
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new Refusal(`${path} cannot be read (${oneLine(error.message)}): restore a backup; nothing was changed`, 3);
  } finally {
    db.close();
  }
}

function opened(dir: string): ReturnType<typeof openToRead> {
  try {
    return openToRead(dir);
  } catch (error) {
    throw refusalOf(error, dir, 'read');
  }
}

/** Lets the rules read the archive, too, and compares it with its checkpoints. */
function withArchive(db: Database.Database, dir: string, environment: CheckOptions['environment']): readonly Finding[] {
  const archives = archivesIn(db);
  if (archives.length === 0) return [];
  const attached = orRefusal(() => attachArchive(db, dir));
  if (attached instanceof Refusal) return [{ rule: 'archive', text: attached.message }];
  const key = checkpointKey(dir, environment);
  if (key === undefined)
    return [{ rule: 'archive', text: `the key of the checkpoints is missing (${keyFile}, or SLUICE_CHECKPOINT_KEY)` }];
  return archives.flatMap((archive) => {
    const { file, table, total } = archive;
    if (!isSigned(archive, key))
      return [{ rule: 'archive', text: `the checkpoint of ${file} was signed with another key` }];
    const sum = totalText(sumRowsOf(db, table, `archived.${table} WHERE ${fileColumn} = ?`, file));
    return sum === total ? [] : [{ rule: 'archive', text: `the rows of ${file} do not add up to its checkpoint` }];
  });
}

/** Asked outside of that moment: a daemon remembers what it has committed, so what was remembered before is in the file as it is now. */
function isOld(db: Database.Database, path: string, environment: CheckOptions['environment']): readonly Finding[] {
  const found = orRefusal(() => refuseOld(db, path, environment));
  return found instanceof Refusal ? [{ rule: 'newest', text: found.message }] : [];
}

function checkMoment(db: Database.Database, path: string, version: number, ofArchive: readonly Finding[]): Checked {
  if (version === 0)
    throw new Refusal(`${path} is not a journal of Sluice: give the state directory of a run with --state DIR`, 3);
  const findings: Finding[] = [...ofFile(db, version), ...ofArchive];
  const head = readHead(db);
  const chain = { chainLength: head?.links ?? null, chainHead: head?.link ?? null };
  // Rows of a file that is damaged say nothing: they may be those of another table.
  if (findings.some(({ rule }) => rule === 'file' || rule === 'schema' || rule === 'archive'))
    return { schema: version, rows: {}, ...chain, expectedBalances: null, missingOrders: 0, findings };
  const view = viewOf(db);
  for (const [rule, one] of Object.entries(rules)) findings.push(...ofRule(rule, one, view));
  const held = holdings(view);
  const known = [...view.fills.map(({ clientOrderId }) => clientOrderId), ...shownIn(view)];
  return {
    ...{ schema: version, rows: rowsOf(view), ...chain },
    expectedBalances:
      held === undefined ? null : Object.fromEntries([...held].map(([asset, amount]) => [asset, amount.toFixed()])),
    missingOrders: new Set(known.filter(view.isLost)).size,
    findings,
  };
}

const shownIn = ({ all }: View): readonly string[] =>
  all<{ id: string }>('SELECT lower(client_order_id) AS id FROM venue_orders WHERE client_order_id IS NOT NULL').map(
    ({ id }) => id,
  );

/** A row that cannot be understood is itself what was found. */
function ofRule(rule: string, one: Rule, view: View): readonly Finding[] {
  try {
    return [...one.check(view)].map((found) => ({ rule, ...found }));
  } catch (error) {
    return [{ rule, text: `it cannot be checked: ${causeOf(error)}` }];
  }
}

function* ofFile(db: Database.Database, version: number): Iterable<Finding> {
  const integrity = integrityOf(db);
  if (integrity !== 'ok') {
    yield { rule: 'file', text: integrity };
    return;
  }
  if (!isOurs(db)) {
    yield { rule: 'schema', text: `it lacks tables of schema ${version}` };
    return;
  }
  const broken = brokenHead(db, sumRows(db));
  if (broken !== undefined) yield { rule: 'chain', text: broken };
}

function rowsOf({ db, all }: View): Readonly<Record<string, number>> {
  const tables = all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return Object.fromEntries(
    tables.map(({ name }) => [name, Number(db.prepare(`SELECT count(*) FROM "${name}"`).pluck().get())]),
  );
}

const about: Readonly<Record<string, string>> = {
  ...fileRules,
  ...Object.fromEntries(Object.entries(rules).map(([rule, { holds }]) => [rule, holds])),
};

export const checkState = ({ state, say, ...options }: Omit<CheckOptions, 'dir'> & StateChoice): void =>
  check({ ...options, dir: chooseState(state, say).dir });

/** Prints the findings by rule, with order ids. Refuses with exit code 1 if there are any. */
export function check({ dir, environment, json, out }: CheckOptions): void {
  const checked = checkJournal(dir, environment);
  const { findings } = checked;
  if (json) out(JSON.stringify({ version: 2, state: dir, ok: findings.length === 0, ...checked, rules: about }));
  else for (const line of words(dir, checked)) out(line);
  if (findings.length > 0)
    throw new Refusal(
      `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'} in ${join(dir, journalFile)}: ${adviceOn(findings)}`,
      1,
    );
}

function adviceOn(findings: readonly Finding[]): string {
  if (findings.some(({ rule }) => rule !== 'newest' && Object.hasOwn(fileRules, rule))) return 'restore a backup';
  if (findings.some(({ rule }) => rule === 'newest')) return 'use the newest journal instead of this copy';
  if (findings.some(({ order }) => order !== undefined)) return "sluice why ORDER shows an order's evidence";
  return 'record deposits and withdrawals with sluice adjust';
}

function* words(dir: string, checked: Checked): Iterable<string> {
  const { schema, rows, chainLength, chainHead, expectedBalances: held, missingOrders: lost, findings } = checked;
  yield `journal   ${join(dir, journalFile)}, schema ${schema}`;
  yield `chain     ${chainLength === null ? 'none: it begins when a daemon starts on this journal' : `${counted(chainLength, 'link')}, ${chainHead}`}`;
  if (Object.keys(rows).length > 0)
    yield `rows      ${Object.entries(rows)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`;
  if (held !== null)
    yield `account   should hold ${Object.entries(held)
      .map(([asset, amount]) => `${amount} ${asset}`)
      .join(', ')}`;
  if (lost > 0)
    yield `lost      ${lost} orders of the period that this restored journal lacks; sluice why ORDER shows the exchange's data`;
  const isReadable = Object.keys(rows).length > 0;
  for (const [rule, holds] of Object.entries(isReadable ? about : fileRules)) {
    const found = findings.filter((one) => one.rule === rule);
    yield `${found.length === 0 ? 'holds ' : 'BROKEN'}    ${rule.padEnd(6)} ${holds}`;
    for (const { order, text } of found.slice(0, maxShown))
      yield `            ${order === undefined ? '' : `${order} `}${text}`;
    // What is damaged says nothing of the rest.
    if (!isReadable && found.length > 0) return;
    if (found.length > maxShown) yield `            and ${found.length - maxShown} more (--json shows all)`;
  }
}
