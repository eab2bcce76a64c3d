/** `sluice simulator`: the built-in exchange as a process of its own. */
import { basename } from 'node:path';
import {
  discardStore,
  type Profile,
  type Simulator,
  type SimulatorUser,
  startSimulator,
} from '../simulator/simulator.ts';
import { faultsOf } from './fault-file.ts';
import { type Opened, openMarketFile, openScenarios } from './market-file.ts';
import { defaultStateDir } from './state.ts';

export interface SimulateOptions {
  readonly port: number;
  readonly speed?: number;
  /** Names separated by commas. */
  readonly scenario: string;
  /** A file of markets and of the exchange around them, in place of a scenario. */
  readonly markets?: string;
  readonly profile: string;
  /** Where it keeps its accounts, orders, trades and market time; `var/simulator` when left out. */
  readonly persist?: string;
  readonly fresh: boolean;
  /** The name of a plan, or a file. */
  readonly faults?: string;
  /** Opens the control address on this port. */
  readonly control?: number;
  /** Gets the truth log. */
  readonly log?: string;
  readonly seed: number;
  readonly json: boolean;
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The account of demos and first tries. It guards nothing: the exchange listens on this machine only, and its money is made up. */
export const demoUser: SimulatorUser = {
  uid: '10001',
  key: 'demo-key',
  secret: 'demo-secret',
  balances: { USD: '100000', USDT: '100000' },
};

/** What a parent process is told, as one line of JSON on stdout. */
export interface SimulatorAddress {
  readonly version: 1;
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly speed: number;
  readonly controlUrl: string | undefined;
}

/** A directory for each recorded market: one that was kept of another cannot go on. */
function keptIn({ persist, scenario, markets }: SimulateOptions): string {
  const of = markets === undefined ? scenario.replaceAll(',', '-') : basename(markets).replace(/\.\w+$/, '');
  return persist ?? defaultStateDir(of === 'crash-2020' ? 'simulator' : `simulator-${of}`);
}

async function start(options: SimulateOptions, { instruments, markets, speed, terms }: Opened): Promise<Simulator> {
  const { port, profile, faults, seed, fresh, say, control, log } = options;
  const rules = faults === undefined ? [] : faultsOf(faults);
  const persistDir = keptIn(options);
  if (fresh) discardStore(persistDir);
  return startSimulator({
    port,
    speed,
    seed,
    profile: profile as Profile,
    users: [demoUser],
    ...terms,
    instruments,
    markets,
    persistDir,
    faults: rules,
    ...(control !== undefined && { control: { port: control } }),
    ...(log !== undefined && { logFile: log }),
    onLooped: (symbol, times) =>
      say(`the recorded market of ${symbol} has ended and begins anew (round ${times + 1}); time goes on`),
  });
}

export async function simulate(options: SimulateOptions): Promise<void> {
  const { out, say, signal, json } = options;
  const market = options.markets === undefined ? openScenarios(options.scenario) : openMarketFile(options.markets);
  const speed = options.speed ?? market.speed;
  const simulator = await start(options, { ...market, speed });
  const { restUrl, wsUrl, controlUrl } = simulator;
  if (json) out(JSON.stringify({ version: 1, restUrl, wsUrl, speed, controlUrl } satisfies SimulatorAddress));
  else {
    out(
      `The built-in exchange is open at ${restUrl} (socket ${wsUrl}), ${options.markets ?? options.scenario} at ${speed}x.`,
    );
    if (market.terms.users === undefined)
      out(`  export SLUICE_API_KEY=${demoUser.key} SLUICE_API_SECRET=${demoUser.secret}`);
    else out(`  its users and their keys are those of ${options.markets}`);
    out('  npx sluice live --config config/live.yaml');
    if (controlUrl !== undefined) out(`  curl ${controlUrl}/        steers it`);
    out(`Ctrl-C closes it; ${keptIn(options)} keeps its accounts and time for the next start (--fresh forgets them).`);
  }
  // Started by a demo: when that is gone, whatever ended it, nobody needs this exchange.
  const gone = new AbortController();
  if (process.channel !== undefined) process.on('disconnect', () => gone.abort());
  await new Promise<void>((resolve) => {
    for (const one of [signal, gone.signal]) {
      if (one.aborted) resolve();
      one.addEventListener('abort', () => resolve(), { once: true });
    }
  });
  await simulator.close();
  if (!json) say('closed');
  if (process.channel !== undefined && process.connected) process.disconnect();
}
