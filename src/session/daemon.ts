/** `sluice live` and `sluice paper`: a session with its terminal and log, until it is stopped. */

import { existsSync } from 'node:fs';
import { channelSecrets } from '../alerts/secrets.ts';
import { aborted } from '../clock/clock.ts';
import { parseSetting, readConfig, type Setting } from '../config/read.ts';
import { type TradingConfig, tradingSchema } from '../config/schema.ts';
import { readSecrets } from '../config/secrets.ts';
import { causeOf, Refusal } from '../domain/refusal.ts';
import { statedReason } from '../domain/stated-reason.ts';
import { reloadsOnHangUp } from '../process/signals.ts';
import { configure } from '../trading/strategies.ts';
import { requestKill, signalText } from './control/kill-file.ts';
import { startLive } from './live.ts';
import { fileLog, type LogLevel } from './log.ts';
import type { DenialsReplay, SessionOptions, StartOptions } from './options.ts';
import { refuseUnfit } from './preflight/weight-plan.ts';
import { recordSession, type SessionRecording } from './recording/record-session.ts';
import type { Session } from './session.ts';
import { defaultStateDir, makeStateDir } from './state.ts';
import { showStatus } from './view/terminal.ts';

export interface DaemonOptions {
  readonly config: string;
  readonly state?: string;
  readonly set: readonly string[];
  /** Why a journal is taken that is not the newest, or from another host. */
  readonly acceptRestored?: string;
  readonly json: boolean;
  readonly logLevel: LogLevel;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  readonly replayDenials?: (file: string, settings: readonly Setting[]) => DenialsReplay;
  readonly confirm?: SessionOptions['confirm'];
}

/** `sluice live`. */
export const live = (options: DaemonOptions): Promise<void> => daemon('live', options);
/** `sluice paper`. */
export const paper = (options: DaemonOptions): Promise<void> => daemon('paper', options);

async function daemon(mode: 'live' | 'paper', options: DaemonOptions): Promise<void> {
  const { config: file, set, say } = options;
  const settings = set.map(parseSetting);
  const config: TradingConfig = readConfig(file, tradingSchema, settings);
  if (mode === 'paper' && config.account !== 'spot')
    throw new Refusal(
      `${file}: account: margin is not supported on paper: without interest and liquidation the result would be too good. Use account: spot`,
    );
  const configured = await configure(config.strategies, file, settings);
  // Simulated fills cost no requests.
  if (mode === 'live') refuseUnfit(config, configured, file);
  const stateDir = options.state ?? defaultStateDir(mode);
  const secrets = mode === 'live' ? readSecrets(process.env) : undefined;
  const alertSecrets = config.alerts === undefined ? undefined : channelSecrets(config.alerts, process.env);
  const reason = options.acceptRestored;
  await runUntilStopped(
    {
      ...options,
      beside: recordSession(config, configured, file, say),
      replayDenials: options.replayDenials?.(file, settings),
      reread: () => readConfig(file, tradingSchema, settings),
      alertSecrets,
      mode,
      config,
      configured,
      stateDir,
      acceptRestored: reason === undefined ? undefined : statedReason(reason, '--accept-restored'),
    },
    async (common) =>
      secrets === undefined ? (await import('./paper.ts')).startPaper(common) : startLive({ ...common, secrets }),
  );
}

export interface RunOptions
  extends Pick<
    SessionOptions,
    | 'mode'
    | 'config'
    | 'configured'
    | 'stateDir'
    | 'say'
    | 'signal'
    | 'acceptRestored'
    | 'alertSecrets'
    | 'replayDenials'
    | 'reread'
    | 'confirm'
  > {
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly logLevel: LogLevel;
  /** What records the market meanwhile. */
  readonly beside?: SessionRecording;
}

/** The last message of a failing daemon: one line if the disk or the directory is at fault, otherwise the stack. */
export function failureText(error: Error, stateDir: string): string {
  if (!existsSync(stateDir))
    return `state directory ${stateDir} was removed: nothing more is sent, and this process ends; restore it, then start again to recover`;
  const isOfDisk = error.name === 'SqliteError' || error.stack?.startsWith('SqliteError') === true;
  return isOfDisk
    ? `the journal in ${stateDir} cannot be written (${error.message}): nothing more is sent, and this process ends; check the disk, then start again to recover`
    : `stopped by a failure; start again to recover: ${error.stack ?? error.message}`;
}

/** Starts a session, shows its status, and stops it when the user says so; ends the process at once when it breaks. */
export async function runUntilStopped(
  options: RunOptions,
  start: (common: StartOptions) => Promise<Session>,
): Promise<void> {
  const { stateDir, json, out, say, signal, logLevel, beside } = options;
  const takeAway = makeStateDir(stateDir);
  const { log, file } = await fileLog(stateDir, logLevel, options.config.log);
  const fatal = (error: Error): void => {
    log.fatal({ error: error.message, stack: error.stack }, 'broken');
    log.flush();
    say(`sluice: ${failureText(error, stateDir)}`);
    process.exit(1);
  };
  const sayFailure = (error: unknown): void => say(`sluice: ${causeOf(error)}`);
  process.on('uncaughtException', fatal);
  process.on('unhandledRejection', (reason) => fatal(reason instanceof Error ? reason : new Error(String(reason))));
  let session: Session | undefined;
  // The signal kills, as the file does that it makes; without a listener it would end the process.
  if (process.platform !== 'win32')
    process.on('SIGUSR2', () => {
      try {
        requestKill(stateDir, { reason: signalText });
      } catch (error) {
        const why = `its file cannot be created in ${stateDir} (${(error as Error).message})`;
        if (session === undefined) say(`sluice: the signal has no effect before trading begins: ${why}`);
        else session.source.kill({ by: 'signal', reason: `${signalText}; ${why}` }).then(say, sayFailure);
      }
    });
  if (reloadsOnHangUp(options.mode))
    process.on('SIGHUP', () => {
      const against = file.reopen();
      if (against !== undefined)
        log.error(`sluice.log cannot be opened again (${against}): the open file is written on`);
      if (session === undefined) say('SIGHUP before trading begins reloads nothing');
      else
        session.source.reloadConfig({ by: 'signal', reason: 'SIGHUP', loosen: false }).catch((error: unknown) => {
          // A refusal is in the log and on the terminal already.
          if (!(error instanceof Refusal)) sayFailure(error);
        });
    });
  session = await start({ ...options, environment: process.env, log, fatal, recorder: beside?.recorder }).catch(
    (error: unknown) => {
      takeAway();
      throw error;
    },
  );
  const screen = showStatus(session, out, json);
  await aborted(signal);
  screen.stop();
  say('stopping: finishing requests in flight (again to end at once)');
  await session.stop();
  await beside?.stop();
  say(`stopped; state is in ${stateDir}`);
  log.flush();
}
