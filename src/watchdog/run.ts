/** `sluice watchdog`: a second process, with a key of its own, that cancels our orders when the daemon does not answer for them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type ClientIo, type ExchangeChoice, exchangeRefusal, openClient } from '../client/connection.ts';
import { machineWall, pause, ScaledClock } from '../clock/clock.ts';
import { readConfig } from '../config/read.ts';
import { type TradingConfig, tradingSchema } from '../config/schema.ts';
import { readSecrets } from '../config/secrets.ts';
import { symbolsOf } from '../config/symbols.ts';
import { causeOf, Refusal } from '../domain/refusal.ts';
import { controlFiles } from '../session/control/control-files.ts';
import { isFinalCode, untilAborted } from '../session/preflight/connect.ts';
import { defaultStateDir } from '../session/state.ts';
import { actText, lastBeat, type WatchdogAct, writeAct } from '../session/watch/heartbeat.ts';
import { type KnownOrders, knownOrders } from './known-orders.ts';
import { type CancelParts, cancelOurs, watcher } from './watch.ts';

export interface WatchdogOptions extends ClientIo {
  readonly config: string;
  readonly state?: string;
}

/** Between two polls of the heartbeat, real ms. */
const pollMs = 250;
/** Between two rounds of cancels while the daemon is away, real ms: an order can come to rest after the others were cancelled. */
const roundMs = 1_000;
/** Polls between two readings of the journal while the daemon lives. */
const pollsPerRead = 40;
const names = { key: 'SLUICE_WATCHDOG_API_KEY', secret: 'SLUICE_WATCHDOG_API_SECRET' };

export async function watchdog(options: WatchdogOptions): Promise<void> {
  const { config: file, environment, json, out, say, signal } = options;
  const config = readConfig(file, tradingSchema);
  const dir = options.state ?? defaultStateDir('live');
  const keys = keysIn(environment);
  const clock = new ScaledClock();
  const { afterMs } = config.watchdog;
  const known = knownOrders(dir, say);
  const strategies = (): readonly string[] => [...config.strategies.map(({ id }) => id), ...known.strategies()];
  const task = watcher({
    ...{ clock, afterMs, lastBeat: () => lastBeat(dir) },
    requestedKills: () => requestedKills(dir, strategies()),
  });
  const command: ClientIo = { ...options, environment: keys };
  await untilAborted(tryKey({ config: file }, command, config), signal);
  say(
    `watching ${dir}: without a heartbeat for ${afterMs / 1_000} s, or with a file kill in it, its orders are cancelled (with a file kill-ID those of that strategy)`,
  );
  warnOfDir(dir, say);
  const report = (act: WatchdogAct): void => {
    out(json ? JSON.stringify(act) : actText(act));
    try {
      writeAct(dir, act);
    } catch (error) {
      say(`the report for the daemon cannot be written in ${dir}: ${causeOf(error)}`);
    }
  };
  let client: Client | undefined;
  let reported = '';
  for (let poll = 0; !signal.aborted; poll++) {
    const due = task();
    if (due !== undefined || poll % pollsPerRead === 0) known.refresh();
    if (due === undefined) {
      if (reported !== '') say('the daemon is back');
      reported = '';
      await pause(clock, pollMs, signal);
      continue;
    }
    try {
      client ??= await openClient({ config: file }, command, true);
      const done = await cancelOurs(ordersOf(client, config, known, due.strategies));
      const act: WatchdogAct = { version: 2, at: machineWall(), cause: due.cause, ...done };
      const news = `${done.cancelled.length} ${done.failures.join()}`;
      // A repeated result is reported once.
      if (done.cancelled.length > 0 || (done.failures.length > 0 && news !== reported)) report(act);
      reported = news;
    } catch (error) {
      const text = causeOf(error);
      if (text !== reported) say(`the exchange cannot be reached; retrying: ${text}`);
      reported = text;
    }
    await pause(clock, roundMs, signal);
  }
  client?.close();
}

/** A misspelt directory would be watched for ever. */
function warnOfDir(dir: string, say: (line: string) => void): void {
  if (lastBeat(dir) !== undefined) return;
  say(
    existsSync(join(dir, 'heartbeat.json'))
      ? `ATTENTION: ${join(dir, 'heartbeat.json')} cannot be read: until a daemon writes it again, its silence cannot be detected`
      : `ATTENTION: no daemon ever ran on ${dir}: unless one is yet to be started there, give its directory with --state DIR`,
  );
}

/** Whether the exchange takes the key: what waiting changes nothing about is refused now, not when it is needed. */
async function tryKey(which: ExchangeChoice, command: ClientIo, { strategies }: TradingConfig): Promise<void> {
  const notYet = (cause: string): void =>
    command.say(
      `ATTENTION: whether the exchange takes the key in ${names.key} is not known yet, it is tried again when something is to be cancelled: ${cause}`,
    );
  let client: Client | undefined;
  try {
    client = await openClient(which, command, true);
    for (const { symbol } of strategies.slice(0, 1)) {
      const open = await client.exchange.orders.openOrders(symbol);
      if (open.kind === 'ok') continue;
      if (open.code === undefined || !isFinalCode(open.code)) notYet(open.cause);
      else throw new KeyRefusal(exchangeRefusal(client.host, open.cause, open.code).message);
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof KeyRefusal) throw error;
    notYet(error.message);
  } finally {
    // It may be needed in weeks: then another one sets its clock anew.
    client?.close();
  }
}

class KeyRefusal extends Refusal {
  constructor(cause: string) {
    super(`the watchdog could cancel nothing with the key in ${names.key}: ${cause}`);
  }
}

/** The watchdog's own key, under the names that a client reads. */
function keysIn(environment: WatchdogOptions['environment']): WatchdogOptions['environment'] {
  const { apiKey, apiSecret } = readSecrets(environment, '.env', names);
  if (apiKey === daemonKey(environment))
    throw new Refusal(
      `${names.key} is the daemon's key: give the watchdog one of its own for the same account, so that a limit or ban of the one does not silence the other`,
    );
  return { ...environment, SLUICE_API_KEY: apiKey, SLUICE_API_SECRET: apiSecret };
}

/** What the daemon would read; undefined where its key is not here, as it should be. */
function daemonKey(environment: WatchdogOptions['environment']): string | undefined {
  try {
    return readSecrets(environment).apiKey;
  } catch {
    return environment['SLUICE_API_KEY'];
  }
}

/** Requested kills. The daemon reports files for unknown strategies. */
const requestedKills = (dir: string, known: readonly string[]): readonly (string | undefined)[] =>
  existsSync(dir)
    ? controlFiles(dir)
        .flatMap(({ kind, strategy }) => (kind === 'kill' ? [strategy] : []))
        .filter((strategy) => strategy === undefined || known.includes(strategy))
    : [];

/** What may be cancelled, of some strategies or of all: the daemon's orders and symbols change. */
const ordersOf = (
  { exchange }: Client,
  config: TradingConfig,
  known: KnownOrders,
  strategies: ReadonlySet<string> | undefined,
): CancelParts => ({
  orders: exchange.orders,
  symbols: [...new Set([...symbolsOf(config.strategies), ...known.symbols()])],
  isOurs(order) {
    const owner = known.ownerOf(order);
    return owner !== undefined && (strategies === undefined || strategies.has(owner));
  },
});
