/** `sluice demo`: the built-in exchange as a process of its own, and the live daemon that trades on it. Only the URL differs. */

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import got from 'got';
import { parseSetting, readConfig } from '../../config/read.ts';
import { tradingSchema } from '../../config/schema.ts';
import { home } from '../../config/shipped.ts';
import { refuseTaken } from '../../dashboard/dashboard.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import { Refusal } from '../../domain/refusal.ts';
import { isLocked } from '../../journal/lock.ts';
import { shellWord } from '../../process/shell-word.ts';
import { runUntilStopped } from '../../session/daemon.ts';
import { DaemonAlerts } from '../../session/daemon-alerts.ts';
import { startLive } from '../../session/live.ts';
import type { LogLevel } from '../../session/log/log.ts';
import { StartReports } from '../../session/start-reports.ts';
import { defaultStateDir, inJournal, makeStateDir } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import { configure } from '../../trading/strategies.ts';
import { faultsOf } from '../simulator/fault-file.ts';
import { scenarios } from '../simulator/scenarios.ts';
import { demoUser, type SimulatorAddress } from '../simulator/simulator.ts';
import { compareLedgers, comparisonText } from './compare-ledgers.ts';

export interface DemoOptions extends Output {
  readonly scenario: string;
  readonly speed?: number;
  readonly port: number;
  /** The name of a plan or a file of rules; unknown outcomes now and then when left out. */
  readonly faults?: string;
  readonly fresh: boolean;
  readonly state?: string;
  readonly logLevel?: LogLevel | undefined;
  readonly signal: AbortSignal;
}

/** About one create in fifty is answered with a 504 after it was accepted, so that unknown outcomes can be watched being resolved. */
const demoFaults =
  '- match: { method: POST, path: /sapi/v1/order, probability: 0.02 }\n  do: { status: 504, when: after }\n';

export async function demo(options: DemoOptions): Promise<void> {
  const { scenario: name, json, out, say, signal } = options;
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Refusal(`unknown scenario ${name}`);
  // The exchange reads them once more; here they are refused before anything is made.
  if (options.faults !== undefined) faultsOf(options.faults, { uids: [demoUser.uid], symbols: [scenario.symbol] });
  const stateDir = options.state ?? defaultStateDir(name === 'crash-2020' ? 'demo' : `demo-${name}`);
  refuseOthers(stateDir);
  const takeAway = makeStateDir(stateDir);
  if (isLocked(stateDir)) {
    throw new Refusal(
      `a demo is running on ${stateDir} already: stop it first, or give this one another with --state DIR`,
      3,
    );
  }
  // A start that comes to nothing must not have cost what was there.
  await refuseTaken(options.port).catch((error: unknown) => {
    takeAway();
    throw error;
  });
  if (options.fresh) rmSync(stateDir, { recursive: true, force: true });
  makeStateDir(stateDir);
  const file = join(home(), 'config', `demo-${name}.yaml`);
  const market = await startExchange(options, stateDir, options.speed ?? scenario.speed);
  try {
    const { restUrl, wsUrl, speed } = market.address;
    const set = [
      `exchange.restUrl=${restUrl}`,
      `exchange.wsUrl=${wsUrl}`,
      `exchange.speed=${speed}`,
      `dashboard.port=${options.port}`,
    ];
    const config = readConfig(file, tradingSchema, set.map(parseSetting));
    const configured = await configure(config.strategies, file);
    (json ? say : out)(
      `${scenario.about}, ${speed} times real time. The exchange is built in (${restUrl}); its money is simulated.`,
    );
    const stopOrLost = AbortSignal.any([signal, market.lost]);
    const secrets = { apiKey: demoUser.key, apiSecret: demoUser.secret };
    const common = { mode: 'demo', stateDir, say } as const;
    const alerts = new DaemonAlerts({ ...common, configured: undefined });
    await runUntilStopped(
      {
        ...common,
        config,
        configured,
        alerts,
        starting: new StartReports({ ...common, alerts }),
        json,
        out,
        signal: stopOrLost,
        logLevel: options.logLevel,
      },
      // Nobody else uses this exchange: its limits lie with the rest of the demo, wherever the user's own state may be.
      (common) => startLive({ ...common, secrets, environment: { XDG_STATE_HOME: resolve(stateDir) } }),
    );
    const books = market.lost.aborted ? undefined : await compareLedgers(stateDir, market.control, demoUser.uid);
    if (books !== undefined) say(comparisonText(books));
    if (market.lost.aborted && !signal.aborted)
      throw new Refusal('the built-in exchange ended; start again to continue', 1);
    if (books !== undefined && books.differences.length > 0)
      throw new Refusal(`the journal in ${stateDir} differs from the exchange: sluice journal check examines it`, 1);
    const again = commandOf(options);
    say(
      `${again === 'npx sluice demo' ? 'npm start' : again} continues from here; ${again} --fresh starts from the beginning`,
    );
  } finally {
    await market.stop();
  }
}

/** What goes wrong by default. */
const faultsFile = 'demo-faults.yaml';
/** What a demo that began and came to nothing leaves in its directory. */
const early: readonly string[] = [faultsFile, 'exchange', 'lock.db', 'sluice.log', 'starting.json', 'sluice'];

/** Refuses the directory of another mode, or of somebody's own files, before anything is written there: --fresh takes a demo's away whole. */
function refuseOthers(stateDir: string): void {
  if (!existsSync(stateDir) || !statSync(stateDir).isDirectory()) return;
  const mode = modeIn(stateDir);
  if (mode !== undefined && mode !== 'demo')
    throw new Refusal(
      `state directory ${stateDir} belongs to mode "${mode}", not "demo": give another with --state DIR; nothing was changed`,
      3,
    );
  const names = readdirSync(stateDir);
  const isDemo = mode === 'demo' || existsSync(join(stateDir, 'exchange', 'exchange.db'));
  if (!isDemo && !names.every((name) => early.includes(name)))
    throw new Refusal(
      `${stateDir} holds files and is not a state directory of a demo, which --fresh deletes: give an empty or new one with --state DIR; nothing was changed`,
      3,
    );
}

/** Of the journal that is there; one that cannot be read says nothing. */
function modeIn(stateDir: string): string | undefined {
  try {
    return inJournal(stateDir, (reader) => reader.meta.get('mode'));
  } catch {
    return undefined;
  }
}

const commandOf = ({ scenario, state }: DemoOptions): string =>
  [
    'npx sluice demo',
    ...(scenario === 'crash-2020' ? [] : [`--scenario ${scenario}`]),
    ...(state === undefined ? [] : [`--state ${shellWord(state)}`]),
  ].join(' ');

/** Forks the exchange. It ends when the channel to this process closes. */
async function startExchange(options: DemoOptions, stateDir: string, speed: number) {
  const { scenario, say, signal } = options;
  const usual = join(stateDir, faultsFile);
  if (options.faults === undefined) writeFileSync(usual, demoFaults);
  const main = fileURLToPath(moduleUrl('../../main', import.meta.url));
  const exchange = {
    ...{ port: '0', control: '0', scenario, speed: String(speed) },
    ...{ persist: join(stateDir, 'exchange'), faults: options.faults ?? usual },
  };
  const args = Object.entries(exchange).flatMap(([name, value]) => [`--${name}`, value]);
  // A process group of its own: Ctrl-C reaches us alone, and we cancel what rests while the exchange is still there.
  const child = fork(main, ['simulator', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    detached: true,
    env: { ...process.env, SLUICE_LAUNCHED: undefined },
  });
  const lost = new AbortController();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => lost.abort());
  const address = await addressOf(child);
  const control = address?.controlUrl;
  if (address === undefined || control === undefined) {
    await ended;
    throw new Refusal(
      'the built-in exchange did not start; see the message above',
      child.exitCode === 2 ? 2 : child.exitCode === 3 ? 3 : 1,
    );
  }
  say(`the exchange runs as process ${child.pid}`);
  // What is under way when the daemon is stopped is to end well: from then on nothing goes wrong.
  const endFaults = (): void => void got.delete(`${control}/faults`, { retry: { limit: 0 } }).catch(() => {});
  signal.addEventListener('abort', endFaults, { once: true });
  return {
    address,
    /** Where the exchange says what is true, whatever its answers say. */
    control,
    /** Aborted when the exchange's process has ended by itself. */
    lost: lost.signal,
    async stop(): Promise<void> {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The first line of the exchange's output; undefined when it ended without one. */
async function addressOf(child: ChildProcess): Promise<SimulatorAddress | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return JSON.parse(line) as SimulatorAddress;
  }
  return undefined;
}
