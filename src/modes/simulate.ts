/** `sluice simulator`: the built-in exchange as a process of its own. */
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Refusal } from '../domain/refusal.ts';
import {
  discardStore,
  FaultRulesError,
  type Profile,
  type Simulator,
  type SimulatorUser,
  startSimulator,
} from '../simulator/simulator.ts';
import { scenarioOf, scenarios } from './scenarios.ts';
import { defaultStateDir } from './state.ts';

export interface SimulateOptions {
  readonly port: number;
  readonly speed?: number;
  readonly scenario: string;
  readonly profile: string;
  /** Where it keeps its accounts, orders, trades and market time; `var/simulator` when left out. */
  readonly persist?: string;
  readonly fresh: boolean;
  readonly faults?: string;
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
}

function faultsIn(file: string): unknown {
  if (!existsSync(file)) throw new Refusal(`fault file ${file} does not exist`);
  try {
    return parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw new Refusal(
      `fault file ${file} is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    );
  }
}

/** A directory for each recorded market: one that was kept of another cannot go on. */
const keptIn = ({ persist, scenario }: SimulateOptions): string =>
  persist ?? defaultStateDir(scenario === 'crash-2020' ? 'simulator' : `simulator-${scenario}`);

async function start(options: SimulateOptions): Promise<Simulator> {
  const { port, speed, scenario: name, profile, faults, seed, fresh, say } = options;
  const { scenario, instrument } = scenarioOf(name);
  const persistDir = keptIn(options);
  if (fresh) discardStore(persistDir);
  try {
    return await startSimulator({
      port,
      speed: speed ?? scenario.speed,
      seed,
      profile: profile as Profile,
      users: [demoUser],
      instruments: [instrument],
      markets: [scenario.load(instrument)],
      persistDir,
      ...(faults === undefined ? {} : { faults: faultsIn(faults) }),
      onLooped: (symbol, times) =>
        say(`the recorded market of ${symbol} has ended and begins anew (round ${times + 1}); time goes on`),
    });
  } catch (error) {
    if (error instanceof FaultRulesError) throw new Refusal(`${faults}: ${error.message}`);
    throw error;
  }
}

export async function simulate(options: SimulateOptions): Promise<void> {
  const { out, say, signal, json } = options;
  const simulator = await start(options);
  const speed = options.speed ?? (scenarios[options.scenario]?.speed as number);
  const { restUrl, wsUrl } = simulator;
  if (json) out(JSON.stringify({ version: 1, restUrl, wsUrl, speed } satisfies SimulatorAddress));
  else {
    out(`The built-in exchange is open at ${restUrl} (socket ${wsUrl}), ${options.scenario} at ${speed}x.`);
    out(`  export SLUICE_API_KEY=${demoUser.key} SLUICE_API_SECRET=${demoUser.secret}`);
    out('  npx sluice live --config config/live.yaml');
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
