/** Reports a start that does not finish: on the terminal, in the log, by the alerts, and in a file for commands. */
import { type Clock, every, machineWall, pause, systemClock } from '../clock/clock.ts';
import { causeOf, isNoSpace } from '../domain/refusal.ts';
import type { Notice } from '../journal/entries.ts';
import { takeLock } from '../journal/lock.ts';
import { InUse } from '../journal/open.ts';
import { StoppedEarly } from '../process/signals.ts';
import type { DaemonAlerts } from './daemon-alerts.ts';
import { logEvent, type SessionEvent } from './log/events.ts';
import type { Log } from './log/log.ts';
import { removeStarting, writeStarting } from './state.ts';
import { type BanKeeperParts, banKeeper } from './watch/exchange-watch.ts';

export interface StartReportsParts {
  readonly mode: string;
  readonly stateDir: string;
  readonly say: (line: string) => void;
  readonly alerts: DaemonAlerts;
  /** Real time. */
  readonly clock?: Clock;
}

/** An exchange that answers within this time is no alarm, real ms. */
const patienceMs = 3_000;
/** The same is reported again after this long, real ms. */
const repeatMs = 3_600_000;
/** Poll interval for a ban, and between two starts on a full disk, real ms. */
const [banMs, spaceMs] = [1_000, 5_000];
/** What a start waits for is said again on the console after this long, real ms. */
const sayMs = 60_000;
const begun = 'the journal is examined and the exchange is queried';

export class StartReports {
  readonly #parts: Required<StartReportsParts>;
  readonly #startedAt = machineWall();
  /** When each report was made last: of the clock that never steps back. */
  readonly #reported = new Map<string, number>();
  /** When each was said last on the console: of the clock that never steps back. */
  readonly #saidAt = new Map<'away' | 'full', number>();
  #log: Log | undefined;
  /** Since when the exchange does not answer: of the clock that never steps back, and UTC ms. */
  #away: { readonly since: number; readonly at: number } | undefined;
  #watching = new AbortController();
  #isLocked = false;
  #isUp = false;
  #hasFailed = false;

  constructor({ clock = systemClock, ...parts }: StartReportsParts) {
    this.#parts = { clock, ...parts };
  }

  logTo(log: Log): void {
    this.#log = log;
    this.#parts.alerts.troublesTo((level, text) => log[level](text));
    log.info({ mode: this.#parts.mode }, 'starting');
  }

  /** The state directory is this program's. */
  locked(): void {
    this.#isLocked = true;
    this.#show(begun);
  }

  /** For commands: what the start waits for. */
  #show(text: string): void {
    const { mode, stateDir } = this.#parts;
    if (this.#isLocked) writeStarting(stateDir, { pid: process.pid, mode, startedAt: this.#startedAt, text });
  }

  /** The exchange did not answer, and is asked again: also for klines while strategies trade, when no start is at fault. */
  readonly waits = (text: string): void => {
    const { clock } = this.#parts;
    this.#sayOfWait('away', text);
    if (this.#isUp) return;
    this.#away ??= { since: clock.monotonic(), at: machineWall() };
    if (clock.monotonic() - this.#away.since < clock.machine(patienceMs)) return;
    const since = new Date(this.#away.at).toISOString().slice(0, 19).replace('T', ' ');
    const report = `starting: ${text} (since ${since} UTC). ${meanwhile}`;
    // Its cause may change with each try.
    this.#report({ level: 'error', topic: 'notStarted', text: report }, { shown: text, key: 'away' });
  };

  /** On the console, a line a minute of each thing that is waited for. */
  #sayOfWait(what: 'away' | 'full', text: string): void {
    const now = this.#parts.clock.monotonic();
    const last = this.#saidAt.get(what);
    if (last !== undefined && now - last < this.#parts.clock.machine(sayMs)) return;
    this.#saidAt.set(what, now);
    this.#parts.say(`${new Date(machineWall()).toISOString()} ${text}`);
  }

  /** Reports bans until the start has ended. Their ends are by this machine's clock: the exchange's time is not known yet. */
  watchBans({ clock: scaled, stoppedUntil }: Pick<BanKeeperParts, 'clock' | 'stoppedUntil'>): void {
    const { clock } = this.#parts;
    const keep = banKeeper({
      clock,
      stoppedUntil() {
        const until = stoppedUntil();
        return until === undefined ? undefined : clock.now() + (until - scaled.now()) / scaled.machine(1);
      },
      notice: (notice) => {
        const { level, text } = notice;
        this.#parts.say(text);
        this.#report({ ...notice, text: `starting: ${text}` }, { shown: level === 'info' ? begun : text });
      },
    });
    void every(clock, clock.machine(banMs), this.#watching.signal, keep);
  }

  /** The exchange answered all that a start asks. */
  reached(): void {
    this.#away = undefined;
    this.#saidAt.delete('away');
    this.#show('limits and orders are checked');
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Trading begins, unless this start has failed and its process is about to end. */
  cameUp(): void {
    if (this.#hasFailed) throw new StoppedEarly('the start has failed already', 1);
    this.#stopWatching();
    this.#isUp = true;
    this.#parts.alerts.cameUp();
  }

  /** Starts, and starts again while the disk has no space for it: it passes by itself, as it does while a daemon trades. */
  async whenThereIsSpace<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await start();
      } catch (error) {
        this.#stopWatching();
        this.#isUp = false;
        if (!isNoSpace(error)) throw error;
        await this.#waitForSpace(error, signal);
      }
    }
  }

  async #waitForSpace(error: unknown, signal: AbortSignal): Promise<void> {
    const { stateDir, clock } = this.#parts;
    const text = `the disk is full: ${causeOf(error)}`;
    this.#sayOfWait('full', `${text}; the start goes on when there is space`);
    // Commands must not see a directory that is free.
    const lock = lockOf(stateDir);
    this.#isLocked = lock !== undefined;
    const report = `starting: ${text}. It goes on by itself when there is space. ${meanwhile}`;
    this.#report({ level: 'error', topic: 'diskFull', text: report }, { shown: text, key: 'full' });
    await pause(clock, clock.machine(spaceMs), signal);
    lock?.release();
    this.#isLocked = false;
    if (signal.aborted) throw new StoppedEarly(`stopped before ${stateDir} had free space`, 1);
  }

  /** Reports why there was no start, and sends it. What fails after the start, as a stop can, is only logged. */
  async failed(error: unknown): Promise<void> {
    this.#stopWatching();
    this.#hasFailed = true;
    if (this.#isUp) this.#log?.error(`ended by an error: ${causeOf(error)}`);
    else if (!(error instanceof StoppedEarly || error instanceof InUse)) {
      this.#parts.alerts.begin();
      const text = `did not start: ${causeOf(error)
        .replace(/:\n\s*/, ': ')
        .replaceAll(/\n\s*/g, '; ')}`;
      this.#report({ level: 'error', topic: isNoSpace(error) ? 'diskFull' : 'notStarted', text });
    }
    await this.end();
  }

  /** Sends what is left. */
  async end(): Promise<void> {
    this.#stopWatching();
    await this.#parts.alerts.end();
  }

  #stopWatching(): void {
    this.#away = undefined;
    this.#watching.abort();
    this.#watching = new AbortController();
    if (this.#isLocked) removeStarting(this.#parts.stateDir);
    this.#isLocked = false;
  }

  /** `shown`: what commands say meanwhile. `key`: what is the same report; left out, the text. */
  #report({ level, topic, text }: Notice, { shown, key = text }: { shown?: string; key?: string } = {}): void {
    if (shown !== undefined) this.#show(shown);
    const now = this.#parts.clock.monotonic();
    const last = this.#reported.get(key);
    if (last !== undefined && now - last < this.#parts.clock.machine(repeatMs)) return;
    this.#reported.set(key, now);
    const event: SessionEvent = { kind: 'notice', time: machineWall(), level, topic, text };
    if (this.#log !== undefined) logEvent(this.#log, event);
    this.#parts.alerts.add(event, { isOfStart: true });
  }
}

const meanwhile = 'Nothing trades meanwhile, and no stop works';

/** The lock of a directory, where its disk can give it. */
function lockOf(stateDir: string): ReturnType<typeof takeLock> {
  try {
    return takeLock(stateDir);
  } catch {
    return undefined;
  }
}
