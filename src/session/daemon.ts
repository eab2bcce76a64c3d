/** `sluice live` and `sluice paper`: a session with its terminal and log, until it is stopped. */

import { existsSync } from 'node:fs';
import { alertSecrets as secretsOf } from '../alerts/secrets.ts';
import { aborted, systemClock } from '../clock/clock.ts';
import { parseSetting, readConfig, type Setting } from '../config/read.ts';
import { type TradingConfig, tradingSchema } from '../config/schema.ts';
import { readSecrets, readVariables } from '../config/secrets.ts';
import { version } from '../config/shipped.ts';
import { redact } from '../domain/redaction.ts';
import { Refusal } from '../domain/refusal.ts';
import { statedReason } from '../domain/stated-reason.ts';
import { refusedAsHeld } from '../journal/open.ts';
import { supervisor } from '../process/supervisor.ts';
import { strayText } from '../strategy/fault.ts';
import { type Configured, configure } from '../trading/strategies.ts';
import { DaemonAlerts, keptAlerts } from './daemon-alerts.ts';
import { listenToSignals } from './daemon-signals.ts';
import { startLive } from './live.ts';
import { fileLog, type LogLevel } from './log/log.ts';
import { Metrics } from './metrics/metrics.ts';
import { type MetricsServer, metricsToken, serveMetrics, tokenName } from './metrics/server.ts';
import type { DenialsReplay, SessionOptions, StartOptions } from './options.ts';
import { refuseUnfit } from './preflight/weight-plan.ts';
import { recordSession, type SessionRecording } from './recording/record-session.ts';
import type { ReadConfig } from './reload/reload-config.ts';
import type { Session } from './session.ts';
import { StartReports } from './start-reports.ts';
import { defaultStateDir, isHeld, makeStateDir } from './state.ts';
import { stateOptionFor, withState } from './state-in-commands.ts';
import { showStatus } from './view/terminal.ts';

export interface DaemonOptions {
  readonly config: string;
  readonly state?: string;
  readonly set: readonly string[];
  /** Why a journal is taken that is not the newest, or from another host. */
  readonly acceptRestored?: string;
  readonly json: boolean;
  /** Overrides the configuration. */
  readonly logLevel?: LogLevel | undefined;
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
  const common = { mode, say, stateDir: options.state ?? defaultStateDir(mode) };
  const { stateDir } = common;
  const read = (): ReadConfig => {
    const config: TradingConfig = readConfig(file, tradingSchema, settings);
    return { config, alertSecrets: config.alerts && secretsOf(config.alerts, process.env) };
  };
  const { config, alertSecrets } = await orReported(read, common);
  const alerts = new DaemonAlerts({
    ...common,
    configured: config.alerts && alertSecrets && { config: config.alerts, secrets: alertSecrets },
  });
  const starting = new StartReports({ ...common, alerts });
  try {
    if (mode === 'paper' && config.account !== 'spot')
      throw new Refusal(
        `${file}: account: margin is not supported on paper: without interest and liquidation the result would be too good. Use account: spot`,
      );
    const configured = await configure(config.strategies, file, settings);
    // Simulated fills cost no requests.
    if (mode === 'live') refuseUnfit(config, configured, file);
    const secrets = mode === 'live' ? readSecrets(process.env) : undefined;
    refuseSecretNames(configured);
    const token = config.metrics && metricsToken(config.metrics, readVariables([tokenName], process.env)[tokenName]);
    const reason = options.acceptRestored;
    await runUntilStopped(
      {
        ...options,
        beside: recordSession(config, configured, file, say),
        replayDenials: options.replayDenials?.(file, settings),
        reread() {
          const next = read();
          refuseSecretNames(configured);
          return next;
        },
        alerts,
        starting,
        alertSecrets,
        metricsToken: token,
        mode,
        config,
        configured,
        stateDir,
        acceptRestored: reason === undefined ? undefined : statedReason(reason, '--accept-restored'),
      },
      async (common) =>
        secrets === undefined ? (await import('./paper.ts')).startPaper(common) : startLive({ ...common, secrets }),
    );
  } catch (error) {
    await starting.failed(error);
    throw error;
  }
}

/** A configuration that cannot be read names no channels: those of the last one that started receive why. */
async function orReported<T>(
  read: () => T,
  common: { readonly mode: string; readonly stateDir: string; readonly say: (line: string) => void },
): Promise<T> {
  try {
    return read();
  } catch (error) {
    const configured = keptAlerts(common.stateDir, process.env);
    await new StartReports({ ...common, alerts: new DaemonAlerts({ ...common, configured }) }).failed(error);
    throw error;
  }
}

/** Every text would say `•••` for such a strategy. */
function refuseSecretNames(configured: readonly Configured[]): void {
  const named = configured.find(({ config: { id } }) => redact(id) !== id);
  if (named !== undefined)
    throw new Refusal(
      `${named.configFile}: the name of strategy ${named.config.id} is also a secret, such as the topic or the password of a channel, and secrets are redacted in every text: change one of them`,
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
  readonly alerts: DaemonAlerts;
  readonly starting: StartReports;
  readonly json: boolean;
  readonly out: (line: string) => void;
  /** Overrides the configuration. */
  readonly logLevel?: LogLevel | undefined;
  /** For `/metrics`. */
  readonly metricsToken?: string | undefined;
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
    : `stopped by a failure; start again to recover: ${strayText(error) ?? error.stack ?? error.message}`;
}

/** How long a start that breaks waits for its last alert, real ms: longer than the alerts take to end. */
const lastAlertMs = 10_000;

/** Starts a session, shows its status, and stops it when the user says so; ends the process at once when it breaks. */
export async function runUntilStopped(
  given: RunOptions,
  start: (common: StartOptions) => Promise<Session>,
): Promise<void> {
  const stateOption = stateOptionFor(given.mode, given.stateDir);
  const say = (line: string): void => given.say(withState(line, stateOption));
  const options = { ...given, say };
  const { stateDir, json, out, signal, logLevel, beside, alerts, starting } = options;
  const takeAway = makeStateDir(stateDir);
  // Its port, and its alerts, would be taken by the same daemon.
  if (isHeld(stateDir, 'written')) throw refusedAsHeld(stateDir);
  alerts.begin();
  const { log, file, change } = await starting.whenThereIsSpace(
    () => fileLog(stateDir, options.config.log, logLevel),
    signal,
  );
  starting.logTo(log);
  const fatal = (error: Error): void => {
    log.fatal({ error: error.message, stack: error.stack }, 'broken');
    log.flush();
    say(`sluice: ${failureText(error, stateDir)}`);
    if (starting.isUp) process.exit(1);
    // Nothing trades yet: the reason is sent first.
    const sent = starting.failed(error).catch(() => undefined);
    void Promise.race([sent, systemClock.sleep(lastAlertMs)]).then(() => process.exit(1));
  };
  process.on('uncaughtException', fatal);
  let session: Session | undefined;
  listenToSignals({ ...options, log, file, session: () => session });
  const systemd = supervisor(process.env, systemClock, (why) =>
    say(`systemd cannot be notified of the state of this daemon: ${why}`),
  );
  let metrics: MetricsServer | undefined;
  try {
    let measured: Metrics | undefined;
    if (options.config.metrics !== undefined) {
      measured = new Metrics({ mode: options.mode, version: version(), stateDir, log: file });
      metrics = await serveMetrics(options.config.metrics, measured, options.metricsToken);
      say(`metrics    ${metrics.url}`);
    }
    const parts = { environment: process.env, log, changeLog: change, fatal, recorder: beside?.recorder };
    session = await starting.whenThereIsSpace(() => start({ ...options, ...parts, metrics: measured }), signal);
  } catch (error) {
    await metrics?.close();
    systemd.stopping();
    takeAway();
    throw error;
  }
  void session.ready.then(() => systemd.ready());
  const screen = showStatus(session, out, json, stateOption);
  await aborted(signal);
  screen.stop();
  systemd.stopping();
  say('stopping: finishing requests in flight (again to end at once)');
  await session.stop();
  await starting.end();
  await beside?.stop();
  await metrics?.close();
  say(`stopped; state is in ${stateDir}`);
  log.flush();
}
