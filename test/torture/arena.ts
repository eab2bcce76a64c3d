/** Where a daemon is tortured: an exchange of its own, a directory of its own, strategies that never rest, and what it said so far. */
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Rng } from '../../src/clock/clock.ts';
import type { FaultRuleInput } from '../../src/simulator/simulator.ts';
import { type Program, type Ran, sluice, startProgram } from '../kit/program.ts';
import { type ConfigChange, makeRig, puppets, type Rig } from '../kit/rig.ts';
import { type Exchange, openExchange } from './exchange.ts';
import type { Opened, Terms } from './exchange-words.ts';
import { calmFile } from './restless.ts';

/** Real ms that a start may take, or a sign of life, on a machine that has much else to do. */
export const patienceMs = 120_000;

/** Looks as often as the rig does; an order lives for a second (real), since processes that are tortured side by side are slow. */
const execution = { pollMs: 3_000, sweepMs: 6_000, maxSendDelayMs: 60_000 };

const restlessFile = fileURLToPath(new URL('./restless.ts', import.meta.url));

/** How an arena differs from the usual one. */
export interface Setting {
  readonly terms?: Terms;
  readonly config?: ConfigChange;
  /** Of every daemon. */
  readonly env?: Readonly<Record<string, string>>;
  /** Trades between two minds of a strategy; 2 when left out. */
  readonly every?: number;
  /** Stands between the daemons and the exchange. */
  readonly between?: (exchange: Opened) => Promise<Between>;
}

/** What stands between the daemons and the exchange. */
export interface Between extends Opened {
  close(): Promise<void>;
}

export interface Arena {
  readonly rig: Rig;
  readonly exchange: Exchange;
  readonly rng: Rng;
  readonly env: Record<string, string>;
  /** Orders whose intents were taken away together with the journal that knew them. */
  readonly lost: Set<string>;
  /** Causes of halts that belong to the ordeal. */
  readonly expectedHalts: Set<string>;
  /** The daemon that was started last. */
  readonly daemon: Program;
  /** What the daemon that was started last has said. */
  readonly said: () => readonly string[];
  /** Starts a daemon; where one was started before, it is another from now on. */
  launch(...args: readonly string[]): Program;
  /** Starts a daemon and waits until it trades. */
  start(...args: readonly string[]): Promise<Program>;
  /** Takes this one for the one that was started last. */
  adopt(program: Program): void;
  /** Runs a whole `sluice` command on the state directory. */
  run(command: string, ...args: readonly string[]): Promise<Ran>;
  calm(isCalm: boolean): void;
  close(keep?: boolean): Promise<void>;
}

/** What is always amiss at the exchange while a daemon is tortured: answers lost after the effect, broken off, late, refused. */
export const usualFaults: readonly FaultRuleInput[] = [
  { match: { method: 'POST', path: '/sapi/v1/order', probability: 0.04 }, do: { status: 504, when: 'after' } },
  { match: { method: 'POST', path: '/sapi/v1/order', probability: 0.03 }, do: { drop: 'after' } },
  { match: { method: 'POST', path: '/sapi/v1/order', probability: 0.3 }, do: { delayMs: [1, 40], when: 'after' } },
  { match: { method: 'POST', path: '/sapi/v1/cancel', probability: 0.08 }, do: { drop: 'after' } },
  { match: { method: 'GET', path: '/sapi/v1/myTrades', probability: 0.03 }, do: { truncate: true } },
  { match: { method: 'GET', path: '/sapi/v1/openOrders', probability: 0.03 }, do: { status: 503, when: 'before' } },
];

/** Opens everything; no daemon runs yet. */
export async function openArena(rng: Rng, setting: Setting = {}): Promise<Arena> {
  const { terms = {}, config = {}, every = 2 } = setting;
  const exchange = await openExchange({ seed: Math.floor(rng() * 2 ** 31), ...terms });
  const way = await setting.between?.(exchange);
  const rig = makeRig(way ?? exchange);
  const strategies = puppets.map(({ id, symbol }, index) => ({
    id,
    use: restlessFile,
    symbol,
    interval: '1min',
    params: { number: index + 1, every },
    allocation: '200000',
  }));
  const env: Record<string, string> = { ...rig.env, ...setting.env };
  const configFile = rig.configure({ strategies, execution, ...config });
  let daemon: Program | undefined;
  const launch = (...args: readonly string[]): Program => {
    daemon = startProgram(['live', '--config', configFile, '--state', rig.state, ...args], { cwd: rig.cwd, env });
    return daemon;
  };
  return {
    rig,
    exchange,
    rng,
    env,
    lost: new Set(),
    expectedHalts: new Set(),
    get daemon() {
      if (daemon === undefined) throw new Error('no daemon was started yet');
      return daemon;
    },
    said: () => daemon?.lines ?? [],
    launch,
    async start(...args) {
      const program = launch(...args);
      await program.line(/Z (ready|killed): /, patienceMs);
      return program;
    },
    adopt(program) {
      daemon = program;
    },
    run: (command, ...args) => sluice([command, ...args, '--state', rig.state], { cwd: rig.cwd, env }),
    calm(isCalm) {
      if (isCalm) writeFileSync(calmFile(rig.dir), '');
      else rmSync(calmFile(rig.dir), { force: true });
    },
    async close(keep = false) {
      if (daemon?.runs === true) await daemon.end('SIGKILL');
      await way?.close();
      await exchange.close();
      if (!keep) rmSync(rig.dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
