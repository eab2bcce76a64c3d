/** `sluice simulator`: the built-in exchange as a process of its own. */
import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { aborted } from '../../clock/clock.ts';
import { Refusal } from '../../domain/refusal.ts';
import { defaultStateDir } from '../../session/state.ts';
import {
  discardStore,
  type FaultRule,
  type Profile,
  type Simulator,
  type SimulatorUser,
  startSimulator,
} from '../../simulator/simulator.ts';
import type { Io } from '../../terminal/options.ts';
import { faultsOf, faultsText } from './fault-file.ts';
import { type Opened, openMarketFile, openScenarios } from './market-file.ts';

export interface SimulateOptions extends Io {
  readonly port: number;
  readonly speed?: number;
  /** Names separated by commas. */
  readonly scenario: string;
  /** A file of markets and of the exchange around them, in place of a scenario. */
  readonly markets?: string;
  readonly profile: string;
  /** Where it keeps its accounts, orders, trades and market time; `var/simulator` when left out. */
  readonly persist?: string;
  /** The same as `persist`. */
  readonly state?: string;
  readonly fresh: boolean;
  /** The name of a plan, or a file. */
  readonly faults?: string;
  /** Opens the control address on this port. */
  readonly control?: number;
  /** Gets the truth log. */
  readonly log?: string;
  readonly seed: number;
  readonly json: boolean;
}

/** The account of demos and first tries. It guards nothing: the exchange listens on this machine only, and its money is made up. */
export const demoUser: SimulatorUser = {
  uid: '10001',
  key: 'demo-key',
  secret: 'demo-secret',
  balances: { USD: '100000', USDT: '100000' },
};

/** The first line of output for a parent process, as JSON. */
export interface SimulatorAddress {
  readonly version: 2;
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly speed: number;
  readonly controlUrl: string | undefined;
}

/** A directory for each recorded market: one that was kept of another cannot go on. */
function keptIn({ persist, state, scenario, markets }: SimulateOptions): string {
  const of = markets === undefined ? scenario.replaceAll(',', '-') : basename(markets).replace(/\.\w+$/, '');
  return persist ?? state ?? defaultStateDir(of === 'crash-2020' ? 'simulator' : `simulator-${of}`);
}

function rulesFor({ faults }: SimulateOptions, { markets, terms }: Opened): readonly FaultRule[] {
  const { users = [demoUser] } = terms;
  const world = { uids: users.map(({ uid }) => uid), symbols: markets.map(({ symbol }) => symbol) };
  return faults === undefined ? [] : faultsOf(faults, world);
}

function start(
  options: SimulateOptions,
  { instruments, markets, speed, terms }: Opened,
  rules: readonly FaultRule[],
): Promise<Simulator> {
  const { port, profile, seed, fresh, say, control, log } = options;
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
      say(`the recorded market of ${symbol} has ended and restarts (round ${times + 1}); time goes on`),
  });
}

/** What comes with the clone and trades on the exchange as it starts by default. */
const shipped = { config: 'config/live.yaml', port: 8_790, scenario: 'crash-2020', speed: 60 };

/** How to reach it: by the configuration that fits, by hand, and with a client of one's own. */
function welcome(
  options: SimulateOptions,
  { restUrl, wsUrl, speed, controlUrl }: SimulatorAddress,
  { rules, ownUsers }: { readonly rules: readonly FaultRule[]; readonly ownUsers: boolean },
): readonly string[] {
  const { markets, scenario, port, faults } = options;
  const isShipped =
    markets === undefined && port === shipped.port && speed === shipped.speed && scenario === shipped.scenario;
  const fits = isShipped && existsSync(shipped.config);
  return [
    `The built-in exchange is open at ${restUrl} (socket ${wsUrl}), ${markets ?? scenario} at ${speed}x.`,
    ...(faults === undefined ? [] : [`  ${faultsText(faults, rules)}`]),
    ownUsers
      ? `  its users and their keys are those of ${markets}`
      : `  export SLUICE_API_KEY=${demoUser.key} SLUICE_API_SECRET=${demoUser.secret}`,
    fits
      ? `  npx sluice live --config ${shipped.config}`
      : `  in a configuration for it: exchange: { restUrl: "${restUrl}", wsUrl: "${wsUrl}", speed: ${speed} }`,
    `  npx sluice account --url ${restUrl}${speed === 1 ? '' : ` --speed ${speed}`}`,
    ...(speed === 1
      ? []
      : [
          `  its clock runs ${speed} times as fast as yours and shows another day: your own client must read the time from GET /sapi/v1/time, and a recvWindow of 5000 lasts ${Math.round(5_000 / speed)} ms`,
        ]),
    ...(controlUrl === undefined ? [] : [`  curl ${controlUrl}/        controls it`]),
    `Ctrl-C closes it; ${keptIn(options)} keeps its accounts and time for the next start (--fresh deletes them).`,
  ];
}

export async function simulate(options: SimulateOptions): Promise<void> {
  const { out, say, signal, json, markets } = options;
  if (markets !== undefined && !(existsSync(markets) && statSync(markets).isFile()))
    throw new Refusal(
      `--markets ${markets}: ${existsSync(markets) ? 'is not a file' : 'does not exist'}: give a file of markets`,
    );
  const market = markets === undefined ? openScenarios(options.scenario) : openMarketFile(markets);
  const speed = options.speed ?? market.speed;
  const rules = rulesFor(options, market);
  const simulator = await start(options, { ...market, speed }, rules);
  const { restUrl, wsUrl, controlUrl } = simulator;
  const address = { version: 2, restUrl, wsUrl, speed, controlUrl } satisfies SimulatorAddress;
  if (json) out(JSON.stringify(address));
  else for (const line of welcome(options, address, { rules, ownUsers: market.terms.users !== undefined })) out(line);
  // Started by a demo: when that is gone, whatever ended it, nobody needs this exchange.
  const gone = new AbortController();
  if (process.channel !== undefined) process.on('disconnect', () => gone.abort());
  await aborted(AbortSignal.any([signal, gone.signal]));
  await simulator.close();
  if (!json) say('closed');
  if (process.channel !== undefined && process.connected) process.disconnect();
}
