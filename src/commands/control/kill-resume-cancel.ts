/** The commands that act on a daemon: kill, resume, cancel. A kill works without one, too: it waits in the journal. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import got, { HTTPError, TimeoutError } from 'got';
import { z } from 'zod';
import { pause, systemClock } from '../../clock/clock.ts';
import { didYouMean, Refusal } from '../../domain/refusal.ts';
import { maxReasonLength, oneLine } from '../../domain/stated-reason.ts';
import type { Entry } from '../../journal/entries.ts';
import { examine } from '../../journal/examine.ts';
import { type Lock, takeLock } from '../../journal/lock.ts';
import { backUpBeforeMigration, journalFile, raiseEpoch, refuseLinks } from '../../journal/open.ts';
import { migrate } from '../../journal/schema.ts';
import { openForWriting } from '../../journal/worker.ts';
import { writer } from '../../journal/writer.ts';
import { notWritten, takeAway } from '../../session/confirm-on-disk.ts';
import { askByFile, killRequests } from '../../session/kill-file.ts';
import { liftedText, resumedText } from '../../session/kills.ts';
import { refuseOld, rememberHead } from '../../session/preflight/journal-head-check.ts';
import { chooseState, type DaemonInfo, inJournal, isHeld, refusalOf } from '../../session/state.ts';

export interface ControlOptions {
  readonly state?: string;
  readonly strategy?: string;
  readonly all?: boolean;
  readonly reason?: string;
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}

const answer = z.object({ ok: z.boolean(), message: z.string() });

export async function control(action: 'kill' | 'resume' | 'cancel', options: ControlOptions): Promise<void> {
  const { strategy, json, out, say } = options;
  const reason = oneLine(options.reason ?? '').slice(0, maxReasonLength) || `sluice ${action}`;
  if (action === 'cancel' && strategy === undefined && options.all !== true) {
    throw new Refusal('say which orders: sluice cancel --all, or sluice cancel --strategy ID');
  }
  const { dir, running } = chooseState(options.state, say, true);
  if (strategy !== undefined) refuseUnknown(strategy, dir);
  const which = strategy === undefined ? {} : { strategy };
  const message =
    running === undefined
      ? action === 'kill' && isHeld(dir, 'written')
        ? killStarting(dir, reason, strategy)
        : atRest(action, dir, strategy, reason)
      : action === 'kill'
        ? await killRunning(running, dir, reason, strategy, say)
        : await ask(running, action, action === 'cancel' ? which : { reason, ...which });
  out(json ? JSON.stringify({ version: 2, action, state: dir, strategy: strategy ?? null, message }) : message);
}

/** A daemon that starts, perhaps for hours since the exchange does not answer, finds the kill when it has begun. */
function killStarting(dir: string, reason: string, strategy: string | undefined): string {
  const path = askByFile(dir, reason, strategy);
  return `A daemon is just starting on ${dir}, or stopping, and does not answer yet. The kill is kept in ${path}: it is carried out when trading begins there, before any order is created.`;
}

/** How long a daemon may be silent before a kill is left to it as a file: it works while its strategies keep it busy, too. Real ms. */
const silentMs = 5_000;

/** A daemon that does not answer finds the kill when it comes to itself, and so does the next one that starts. */
async function killRunning(
  daemon: DaemonInfo,
  dir: string,
  reason: string,
  strategy: string | undefined,
  say: ControlOptions['say'],
): Promise<string> {
  const answered = new AbortController();
  const killed = `${strategy ?? 'Everything'} is killed: no order is created until you resume`;
  let kept: string | undefined;
  const keep = (): void => {
    try {
      kept ??= askByFile(dir, reason, strategy);
    } catch {
      // A directory that takes nothing: then it is not said that it is kept.
    }
  };
  const byFile = pause(systemClock, silentMs, answered.signal).then(() => {
    if (answered.signal.aborted) return;
    if (isKilled(dir, strategy)) say(`${killed}. What rests is being cancelled; the exchange takes its time`);
    else keep();
  });
  try {
    const message = await ask(daemon, 'kill', { reason, ...(strategy !== undefined && { strategy }) });
    // It has done it already, or does it once more.
    if (kept !== undefined && isKilled(dir, strategy)) rmSync(kept, { force: true });
    return message;
  } catch (error) {
    if (!(error instanceof NotDone)) throw error;
    const hangs = `if the daemon hangs, kill -9 ${daemon.pid}, then sluice order open and sluice order cancel, or start it again, which cancels`;
    if (isKilled(dir, strategy))
      throw new Refusal(
        `${killed}. But the daemon (process ${daemon.pid}) did not say that what rests was cancelled (${error.why}), as when the exchange does not answer. It goes on trying; sluice orders shows what is open; ${hangs}`,
        error.exitCode,
      );
    keep();
    const then =
      kept === undefined
        ? `It could not be kept in ${dir} either`
        : `It is kept in ${kept}: the daemon carries it out as soon as it comes to itself, and the next one that starts there creates nothing`;
    throw new Refusal(
      `${error.message}. ${then}. What rests at the exchange was not cancelled: ${hangs}`,
      error.exitCode,
    );
  } finally {
    answered.abort();
    await byFile;
  }
}

/** Whether somebody's kill of it is in force: it is on disk before the first cancel leaves. */
function isKilled(dir: string, strategy: string | undefined): boolean {
  try {
    return inJournal(dir, (reader) => reader.kills()).some(
      (kill) =>
        (kill.strategy === null || kill.strategy === strategy) && ['operator', 'file', 'signal'].includes(kill.by),
    );
  } catch {
    return false;
  }
}

/** A kill of a strategy that is not there would be taken for one that holds. */
function refuseUnknown(strategy: string, dir: string): void {
  const ids = inJournal(dir, (reader) => [
    ...new Set([...reader.strategies(), ...reader.kills().flatMap((kill) => kill.strategy ?? [])]),
  ]);
  if (ids.includes(strategy)) return;
  throw new Refusal(
    `no strategy ${strategy} ever ran on ${dir}${didYouMean(strategy, ids)}; there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ') || 'none'}`,
  );
}

/** How long a daemon may take: it cancels what rests before it answers. Real ms. */
const patienceMs = 60_000;

/** Has the daemon of a state directory do something; gives its answer, or refuses with what it said, or that it said nothing (within `withinMs`, real ms). */
export async function ask(daemon: DaemonInfo, action: string, body: object, withinMs = patienceMs): Promise<string> {
  try {
    const said: unknown = await got
      .post(`${daemon.control}/api/${action}`, {
        json: body,
        headers: { authorization: `Bearer ${daemon.token}` },
        retry: { limit: 0 },
        timeout: { request: withinMs },
      })
      .json();
    return answer.parse(said).message;
  } catch (error) {
    const said =
      error instanceof HTTPError ? answer.safeParse(JSON.parse(String(error.response.body))).data?.message : undefined;
    // It was done, and is not on disk: that is all there is to say.
    if (error instanceof HTTPError && error.response.statusCode === notWritten && said !== undefined)
      throw new Refusal(said, 1);
    if (error instanceof TimeoutError)
      throw new NotDone(daemon, action, `no answer within ${withinMs / 1_000} s`, true);
    throw new NotDone(
      daemon,
      action,
      said ?? (error instanceof Error && 'code' in error ? String(error.code) : 'no answer'),
    );
  }
}

class NotDone extends Refusal {
  readonly why: string;

  /** `mayBe`: nobody knows whether it was, or still is. Done once more it could be done twice. */
  constructor({ pid }: DaemonInfo, action: string, why: string, mayBe = false) {
    super(
      mayBe
        ? `the daemon (process ${pid}) has not said whether it carried out ${action} (${why}): it may still be at it, as while the exchange does not answer; look before you do it again (sluice status)`
        : `the daemon (process ${pid}) did not carry out ${action}: ${why}`,
      1,
    );
    this.why = why;
  }
}

/** Without a daemon: a kill or its end is written into the journal, and holds at the next start. */
function atRest(
  action: 'kill' | 'resume' | 'cancel',
  dir: string,
  strategy: string | undefined,
  reason: string,
): string {
  if (action === 'cancel')
    throw new Refusal(`no daemon runs on ${dir}: start it, then cancel; or cancel at the exchange itself`, 1);
  const halts = inJournal(dir, (reader) => reader.halts());
  writeAtRest(dir, [{ kind: action, at: systemClock.now(), strategy: strategy ?? null, by: 'operator', reason }]);
  if (action === 'kill')
    return `${strategy ?? 'Everything'} is killed in ${dir}: the next daemon there creates no order until sluice resume. None runs now, so nothing was cancelled.`;
  const requests = killRequests(dir);
  const left = strategy === undefined ? [] : requests.filter((request) => request.strategy === undefined);
  takeAway(requests, strategy);
  const standing = [
    ...inJournal(dir, (reader) => reader.kills()),
    ...left.map(({ path, reason: why }) => ({ strategy: null, reason: `${why} (${path})` })),
  ];
  const lifted = strategy === undefined ? halts.map((halt) => ({ text: halt.reason })) : [];
  return `${resumedText(strategy, standing, ` in ${dir}`)}${liftedText(lifted)}`;
}

/**
 * Writes into the journal of a directory on which no daemon runs, under its lock. One that something else changed, that is not the
 * newest or comes from another host is refused, as by a daemon (exit 3).
 */
export function writeAtRest(dir: string, entries: readonly Entry[]): void {
  let lock: Lock | undefined;
  try {
    refuseLinks(dir);
    lock = takeLock(dir);
    if (lock === undefined)
      throw new Refusal(`a daemon is just starting or stopping on ${dir}: try again in a moment`, 1);
    const path = join(dir, journalFile);
    examine(path, (looked) => refuseOld(looked, path, process.env))?.block();
    const db = openForWriting(path);
    try {
      backUpBeforeMigration(db, path);
      migrate(db);
      // An order's steps are numbered by the opening they were written in: these come after all of them.
      writer(db, raiseEpoch(db))(entries);
      rememberHead(db, process.env);
    } finally {
      db.close();
    }
  } catch (error) {
    throw refusalOf(error, dir, 'written');
  } finally {
    lock?.release();
  }
}
