/** `sluice journal backup` and `restore`: a journal with its archive as a folder of files, checked, and encrypted where a passphrase is set. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { refuseChanged } from '../../archive/attach.ts';
import { keyFile, syncPath } from '../../archive/compact.ts';
import { machineWall } from '../../clock/clock.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { counted, moment } from '../../domain/words.ts';
import { archiveDir, archivesIn } from '../../journal/archive.ts';
import { examine } from '../../journal/examine.ts';
import { readHead } from '../../journal/hash-chain.ts';
import { takeLock } from '../../journal/lock.ts';
import { journalFile, makeDirs } from '../../journal/open.ts';
import { openToRead } from '../../journal/reader.ts';
import { metaOf } from '../../journal/schema.ts';
import { chooseState, makeStateDir, type StateChoice } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import { readCopy, writeCopy } from './encryption.ts';

export interface BackupOptions extends Output, StateChoice {
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const manifestFile = 'backup.json';
const passphraseName = 'SLUICE_BACKUP_PASSPHRASE';

/** What a backup holds. It is readable without the passphrase. */
interface Manifest {
  readonly version: 1;
  /** UTC ms of this machine. */
  readonly at: number;
  readonly encrypted: boolean;
  readonly mode: string;
  readonly account: string;
  readonly chainLength: number;
  readonly chainHead: string;
  readonly files: readonly {
    /** Relative to the state directory. */
    readonly name: string;
    /** SHA-256 of the file before it was encrypted. */
    readonly sha256: string;
  }[];
}

/** Shorter ones are guessed. */
const minPassphrase = 12;

function passphraseOf(environment: BackupOptions['environment']): string | undefined {
  const passphrase = environment[passphraseName];
  if (passphrase === undefined || passphrase === '') return undefined;
  if (passphrase.length < minPassphrase)
    throw new Refusal(`${passphraseName} has fewer than ${minPassphrase} characters: choose a longer one`);
  return passphrase;
}

/** Writes a backup of a journal, also beside a running daemon. Refuses a folder that exists, and leaves none that is incomplete. */
export async function backup(to: string, options: BackupOptions): Promise<void> {
  const { environment, json, out, say } = options;
  const passphrase = passphraseOf(environment);
  const { dir } = chooseState(options.state, say);
  if (existsSync(to)) throw new Refusal(`${to} exists: name a new folder for the backup`);
  const unfinished = `${to}.unfinished`;
  try {
    rmSync(unfinished, { recursive: true, force: true });
    makeDirs(unfinished);
    const manifest = await fill(unfinished, dir, passphrase);
    renameSync(unfinished, to);
    syncPath(dirname(resolve(to)));
    if (json) out(JSON.stringify({ ...manifest, version: 2, folder: to }));
    else {
      say(
        `${to}: ${counted(manifest.files.length, 'file')}, checked, ${counted(manifest.chainLength, 'link')} of the chain`,
      );
      const keys = manifest.files.some(({ name }) => name === keyFile)
        ? `, the key of the order ids and that of the checkpoints (${keyFile})`
        : ' and the key of the order ids';
      if (passphrase === undefined)
        say(`not encrypted: it holds your trades${keys} (set ${passphraseName} to encrypt)`);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`${to} cannot be written (${causeOf(error)}): nothing incomplete was left`, 1);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function fill(folder: string, dir: string, passphrase: string | undefined): Promise<Manifest> {
  const snapshot = join(folder, `${journalFile}.snapshot`);
  const { db } = openToRead(dir);
  try {
    // One moment of it: a daemon that writes meanwhile would otherwise make SQLite begin again and again.
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM meta').get();
    await db.backup(snapshot);
    chmodSync(snapshot, 0o600);
  } finally {
    db.close();
  }
  const about = examine(snapshot, (copy) => {
    const [meta, head] = [metaOf(copy), readHead(copy)];
    return {
      ...{ mode: meta.get('mode') ?? 'unknown', account: meta.get('account') ?? 'unknown' },
      ...{ chainLength: head?.links ?? 0, chainHead: head?.link ?? '' },
      archives: archivesIn(copy),
    };
  })?.block();
  if (about === undefined) throw new Refusal(`the journal in ${dir} is empty`, 3);
  const { archives, ...facts } = about;
  for (const archive of archives) refuseChanged(dir, archive);
  if (archives.length > 0) mkdirSync(join(folder, archiveDir), { mode: 0o700 });
  const ending = passphrase === undefined ? '' : encryptedEnding;
  const key = existsSync(join(dir, keyFile)) ? [keyFile] : [];
  const files = [journalFile, ...archives.map(({ file }) => join(archiveDir, file)), ...key].map((name) => {
    const from = name === journalFile ? snapshot : join(dir, name);
    const sha256 = writeCopy(from, join(folder, `${name}${ending}`), passphrase);
    if (readCopy(join(folder, `${name}${ending}`), undefined, passphrase) !== sha256)
      throw new Refusal(`the copy of ${name} differs from what was written: check the disk of ${dirname(folder)}`, 1);
    return { name, sha256 };
  });
  // SQLite leaves them beside a file that was read in WAL mode.
  for (const end of ['', '-wal', '-shm']) rmSync(`${snapshot}${end}`, { force: true });
  const manifest: Manifest = { version: 1, at: machineWall(), encrypted: passphrase !== undefined, ...facts, files };
  writeFileSync(join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
  return manifest;
}

const encryptedEnding = '.encrypted';

function manifestOf(from: string): Manifest {
  const path = join(from, manifestFile);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Refusal(`${from} is not a backup: there is no ${manifestFile} in it`);
    throw new Refusal(`the backup ${from} cannot be read: ${causeOf(error)}`);
  }
  try {
    const manifest = JSON.parse(text) as Partial<Manifest>;
    const names = manifest.files?.map(({ name }) => name) ?? [];
    const isPlain = (name: string): boolean =>
      name === journalFile || name === keyFile || name === join(archiveDir, basename(name));
    if (manifest.version === 1 && names.includes(journalFile) && names.every(isPlain)) return manifest as Manifest;
  } catch {
    // As one that says something else.
  }
  throw new Refusal(`${path} is damaged, or of a newer Sluice: use another backup, or upgrade Sluice`, 3);
}

export interface RestoreOptions extends Omit<BackupOptions, 'state'> {
  readonly state?: string;
}

/** Puts a backup into a state directory that has no journal, and checks it first. Refuses to overwrite anything. */
export function restore(from: string, { state, environment, json, out, say }: RestoreOptions): void {
  if (state === undefined) throw new Refusal('name the directory to restore into: --state DIR');
  const manifest = manifestOf(from);
  const passphrase = passphraseOf(environment);
  if (manifest.encrypted && passphrase === undefined)
    throw new Refusal(`${from} is encrypted: set ${passphraseName} to its passphrase`);
  const takeAway = makeStateDir(state);
  const lock = takeLock(state);
  if (lock === undefined) throw new Refusal(`a daemon runs on ${state}: stop it first, or name another directory`, 3);
  const target = join(state, journalFile);
  const unfinished = join(state, 'restoring');
  try {
    const taken = [target, `${target}-wal`, join(state, archiveDir)].find((path) => existsSync(path));
    if (taken !== undefined)
      throw new Refusal(
        `${taken} exists and is not overwritten: move it away, or name another directory with --state`,
        3,
      );
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
    mkdirSync(join(unfinished, archiveDir), { mode: 0o700 });
    const key = manifest.encrypted ? passphrase : undefined;
    for (const { name, sha256 } of manifest.files) {
      const path = join(from, `${name}${manifest.encrypted ? encryptedEnding : ''}`);
      if (readCopy(path, join(unfinished, name), key) !== sha256)
        throw new Refusal(`${path} differs from what was backed up: use another backup; nothing was restored`, 3);
    }
    examine(join(unfinished, journalFile), () => undefined)?.block();
    // The journal last: without it nothing counts as restored.
    if (readdirSync(join(unfinished, archiveDir)).length > 0)
      renameSync(join(unfinished, archiveDir), join(state, archiveDir));
    if (existsSync(join(unfinished, keyFile))) renameSync(join(unfinished, keyFile), join(state, keyFile));
    renameSync(join(unfinished, journalFile), target);
    syncPath(state);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`${from} cannot be restored (${causeOf(error)}): nothing was restored`, 1);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
    lock.release();
    if (!existsSync(target)) takeAway();
  }
  const { at, mode } = manifest;
  if (json) out(JSON.stringify({ version: 2, state, backupTime: at, mode, chainLength: manifest.chainLength }));
  else for (const line of advice(state, manifest)) say(line);
}

function* advice(state: string, { at, mode, chainLength }: Manifest): Iterable<string> {
  yield `${state} has the journal of ${moment(at)} UTC again: checked, ${counted(chainLength, 'link')} of the chain`;
  if (mode !== 'live') return;
  yield 'Everything since then is missing in it. If a newer journal exists anywhere, use that one instead.';
  yield `Start it once with sluice live --config FILE --state ${state} --accept-restored REASON. Sluice then reads the trades since the backup from the exchange, cancels`;
  yield 'orders of ours that this journal lacks, and halts until you run sluice resume. Book other differences with sluice adjust.';
}
