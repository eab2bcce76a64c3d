/** `sluice watchdog`: a second process, with a key of its own, that cancels our orders when the daemon does not answer for them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machineWall, pause, ScaledClock } from '../clock/clock.ts';
import { readConfig } from '../config/read.ts';
import { type TradingConfig, tradingSchema } from '../config/schema.ts';
import { readSecrets } from '../config/secrets.ts';
import { readClientOrderId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { journalFile } from '../journal/open.ts';
import { openReader } from '../journal/reader.ts';
import { type Client, openClient } from '../modes/by-hand/client.ts';
import { actText, lastBeat, writeAct } from '../modes/daemon/heartbeat.ts';
import { killRequests } from '../modes/daemon/kill-file.ts';
import { defaultStateDir } from '../modes/state.ts';
import { type CancelParts, cancelOurs, watcher } from './watch.ts';

export interface WatchdogOptions {
  readonly config: string;
  readonly state?: string;
  readonly json: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Between two looks at the heartbeat, real ms. */
const lookMs = 250;
/** Between two rounds of cancels while the daemon is away, real ms: an order can come to rest after the others were cancelled. */
const roundMs = 1_000;
const names = { key: 'SLUICE_WATCHDOG_API_KEY', secret: 'SLUICE_WATCHDOG_API_SECRET' };

export async function watchdog(options: WatchdogOptions): Promise<void> {
  const { config: file, environment, json, out, say, signal } = options;
  const config = readConfig(file, tradingSchema);
  const dir = options.state ?? defaultStateDir('live');
  const keys = keysIn(environment);
  const clock = new ScaledClock();
  const { afterMs } = config.watchdog;
  const task = watcher({ clock, afterMs, lastBeat: () => lastBeat(dir), killsAsked: () => killsAsked(dir) });
  say(
    `watching ${dir}: without a heartbeat for ${afterMs / 1_000} s, or with a file kill in it, its orders are cancelled (with a file kill-ID those of that strategy)`,
  );
  let client: Client | undefined;
  let told = '';
  while (!signal.aborted) {
    const due = task();
    if (due === undefined) {
      if (told !== '') say('the daemon is back');
      told = '';
      await pause(clock, lookMs, signal);
      continue;
    }
    try {
      client ??= await openClient({ config: file }, { json, out, say, signal, environment: keys }, true);
      const done = await cancelOurs(ordersOf(client, config, dir, due.strategies));
      const act = { at: machineWall(), cause: due.cause, ...done };
      const news = `${done.cancelled.length} ${done.failures.join()}`;
      // The same again, round after round, is told once.
      if (done.cancelled.length > 0 || news !== told) {
        writeAct(dir, act);
        out(json ? JSON.stringify({ version: 1, ...act }) : actText(act));
      }
      told = news;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (text !== told) say(`the exchange cannot be reached, it is tried again: ${text}`);
      told = text;
    }
    await pause(clock, roundMs, signal);
  }
  client?.close();
}

/** The key of its own, under the names by which a client looks for one. */
function keysIn(environment: WatchdogOptions['environment']): WatchdogOptions['environment'] {
  const { apiKey, apiSecret } = readSecrets(environment, '.env', names);
  if (environment['SLUICE_API_KEY'] === apiKey)
    throw new Refusal(
      `${names.key} is the daemon's key: give the watchdog one of its own for the same account, so that a limit or ban of the one does not silence the other`,
    );
  return { ...environment, SLUICE_API_KEY: apiKey, SLUICE_API_SECRET: apiSecret };
}

const killsAsked = (dir: string): readonly (string | undefined)[] =>
  existsSync(dir) ? killRequests(dir).map(({ strategy }) => strategy) : [];

/** What may be cancelled, of some strategies or of all; read anew each time: the daemon's orders and symbols change. */
function ordersOf(
  { exchange }: Client,
  config: TradingConfig,
  dir: string,
  strategies: ReadonlySet<string> | undefined,
): CancelParts {
  const symbols = new Set(config.strategies.map(({ symbol }) => symbol));
  const ownerOf = new Map<string, string>();
  let numbers: ReadonlyMap<number, string> = new Map();
  let idKey: Uint8Array = new Uint8Array();
  if (existsSync(join(dir, journalFile))) {
    const reader = openReader(dir);
    try {
      idKey = Buffer.from(reader.meta.get('idKey') ?? '', 'hex');
      numbers = reader.strategyNumbers();
      for (const { symbol, orderId, strategy } of reader.orders('closed_at IS NULL')) {
        symbols.add(symbol);
        if (orderId !== null) ownerOf.set(orderId, strategy);
      }
    } finally {
      reader.close();
    }
  }
  const isWanted = (strategy: string | undefined): boolean =>
    strategies === undefined || (strategy !== undefined && strategies.has(strategy));
  return {
    orders: exchange.orders,
    symbols: [...symbols],
    isOurs({ orderId, clientOrderId }) {
      const owner = ownerOf.get(orderId);
      if (owner !== undefined) return isWanted(owner);
      if (clientOrderId === undefined || idKey.length === 0) return false;
      const parts = readClientOrderId(clientOrderId, idKey);
      return parts !== undefined && isWanted(numbers.get(parts.strategy));
    },
  };
}
