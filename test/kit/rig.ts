/** One exchange in this process, one daemon as a child, and a directory for all that they keep. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Instrument, instrument } from '../../src/domain/instrument.ts';
import { lots, units } from '../../src/domain/money.ts';
import type { Quote, Signal, Size } from '../../src/domain/order.ts';
import { type JournalReader, openReader } from '../../src/journal/reader.ts';
import {
  type MinuteColumns,
  type Simulator,
  type SimulatorOptions,
  type SimulatorUser,
  startSimulator,
} from '../../src/simulator/simulator.ts';
import { killLeftovers, type Program, type Ran, type Surroundings, sluice, startProgram } from './program.ts';
import { type PuppetSignal, stringsFile, stringsVariable } from './puppet.ts';
import { until } from './until.ts';

/** Times real time; a minute of the market is a second. */
export const speed = 60;
/** About where every symbol trades; its minutes swing by 0.2 %. */
export const price = 10_000;
export const symbols = ['BTCUSDT', 'ETHUSDT'] as const;

export const trader: SimulatorUser = {
  uid: '10001',
  key: 'rig-key',
  secret: 'rig-secret',
  balances: { USDT: '1000000' },
};

/** Somebody else, with enough to push the price through the displayed depth. */
export const whale: SimulatorUser = {
  uid: '10002',
  key: 'whale-key',
  secret: 'whale-secret',
  balances: { BTC: '1000000' },
};

const historyMinutes = 200;
const minutes = 3_000;
/** Noon: no test reaches midnight. */
export const marketStart = Date.UTC(2024, 0, 10, 12);

const traded: readonly Instrument[] = symbols.map((symbol) => {
  const shape = { symbol, base: symbol.slice(0, 3), quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 };
  return instrument({ ...shape, minQuantity: lots('0.0001', shape), minNotional: units('1') });
});

/** Minutes that all swing alike around one price. */
function steadyMinutes(): MinuteColumns {
  const column = (value: (index: number) => number): Float64Array =>
    Float64Array.from({ length: historyMinutes + minutes }, (_, index) => value(index));
  const wave = (index: number): number => (index % 2 === 0 ? -5 : 5);
  return {
    openTime: column((index) => marketStart + (index - historyMinutes) * 60_000),
    open: column((index) => price + wave(index - 1)),
    high: column(() => price + 10),
    low: column(() => price - 10),
    close: column((index) => price + wave(index)),
    volume: column(() => 200),
  };
}

/** Starts the exchange that the rig's daemons trade on; a `port` lets it come back where it was. */
export const openExchange = (options: Partial<SimulatorOptions> = {}): Promise<Simulator> =>
  startSimulator({
    users: [trader, whale],
    instruments: traded,
    markets: symbols.map((symbol) => ({ kind: 'klines', symbol, klines: steadyMinutes(), startIndex: historyMinutes })),
    speed,
    ...options,
  });

/** What a daemon of the rig trades with: a puppet each. */
export interface PuppetConfig {
  readonly id: string;
  readonly symbol: (typeof symbols)[number];
}

/** `taker` is number 1, `maker` 2, and `other` 3, on a symbol of its own. */
export const puppets: readonly PuppetConfig[] = [
  { id: 'taker', symbol: 'BTCUSDT' },
  { id: 'maker', symbol: 'BTCUSDT' },
  { id: 'other', symbol: 'ETHUSDT' },
];
export type Puppet = 'taker' | 'maker' | 'other';

export type ConfigChange = Readonly<Record<string, unknown>>;

export interface Rig extends Surroundings {
  readonly dir: string;
  readonly state: string;
  /** Puppets of a daemon from now on want this; `undefined`: they have nothing to say. */
  emit(puppet: Puppet, signal: PuppetSignal | undefined): void;
  /** What each puppet wants. */
  readonly signalled: ReadonlyMap<Puppet, Signal>;
  /** Writes the configuration, changed at the top level, and returns its path. */
  configure(change?: ConfigChange): string;
  /** Starts a daemon and waits until its recovery is through. */
  start(...args: readonly string[]): Promise<Program>;
  /** Starts a daemon without waiting. */
  launch(...args: readonly string[]): Program;
  /** Runs a command on the state directory. */
  run(command: string, ...args: readonly string[]): Promise<Ran>;
  /** Reads the journal beside the daemon. */
  read<T>(look: (reader: JournalReader) => T): T;
  /** Ends every daemon and removes everything. */
  remove(): void;
}

const puppetFile = fileURLToPath(new URL('./puppet.ts', import.meta.url));
const risk = {
  maxOrderValue: '100000',
  maxPosition: '500000',
  priceCollar: '0.9',
  maxDailyLoss: '1',
  duplicateWindowMs: 0,
};

/** Looks for fills ten times and more in a real second. */
const execution = { pollMs: 3_000, sweepMs: 6_000 };

/** What every child of a rig gets: no key and no file of whoever runs the tests. */
const surroundingsIn = (dir: string): Surroundings => ({
  cwd: dir,
  env: {
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    XDG_STATE_HOME: join(dir, 'xdg'),
    NODE_COMPILE_CACHE: join(tmpdir(), 'sluice-compile-cache'),
    SLUICE_API_KEY: trader.key,
    SLUICE_API_SECRET: trader.secret,
    [stringsVariable]: dir,
  },
});

/** The configuration of a daemon on this exchange; JSON is YAML. */
function configText({ restUrl, wsUrl }: Addresses, change: ConfigChange): string {
  const strategies = puppets.map(({ id, symbol }, index) => ({
    id,
    use: puppetFile,
    symbol,
    interval: '1min',
    params: { number: index + 1 },
    allocation: '200000',
  }));
  const base = { exchange: { restUrl, wsUrl, speed }, account: 'spot', strategies, execution, onShutdown: 'cancel' };
  return JSON.stringify({ ...base, ...change, risk: { ...risk, ...Object(change['risk']) } });
}

type Addresses = Pick<Simulator, 'restUrl' | 'wsUrl'>;

/** A rig for the exchange at these addresses. */
export function makeRig(exchange: Addresses): Rig {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-rig-'));
  const state = join(dir, 'state');
  const config = join(dir, 'live.yaml');
  const surroundings = surroundingsIn(dir);
  const signalled = new Map<Puppet, Signal>();
  const launch = (...args: readonly string[]): Program =>
    startProgram(['live', '--config', config, '--state', state, ...args], surroundings);
  const rig: Rig = {
    ...surroundings,
    dir,
    state,
    signalled,
    launch,
    configure(change = {}) {
      writeFileSync(config, configText(exchange, change));
      return config;
    },
    emit(puppet, signal) {
      if (signal === undefined || signal.kind === 'throw' || signal.kind === 'crash') signalled.delete(puppet);
      else signalled.set(puppet, signal);
      const file = stringsFile(dir, puppets.findIndex(({ id }) => id === puppet) + 1);
      if (signal === undefined) return rmSync(file, { force: true });
      // Whole or not at all: the puppet reads it at any moment.
      writeFileSync(`${file}.new`, JSON.stringify(signal));
      renameSync(`${file}.new`, file);
    },
    async start(...args) {
      const program = launch(...args);
      await program.line(/Z (ready|killed): /);
      return program;
    },
    run: (command, ...args) => sluice([command, ...args, '--state', state], surroundings),
    read(look) {
      const reader = openReader(state);
      try {
        return look(reader);
      } finally {
        reader.close();
      }
    },
    remove() {
      killLeftovers();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  rig.configure();
  return rig;
}

/** Wants for puppets. */
export const target = (
  quantity: number,
  more: { stop?: number; trailing?: number; takeProfit?: number; clip?: boolean } = {},
): Signal => ({
  kind: 'target',
  size: { quantity } satisfies Size,
  ...more,
  reason: 'the test signals it',
});
export const quotes = (...list: readonly Quote[]): Signal => ({
  kind: 'quotes',
  quotes: list,
  reason: 'the test signals it',
});

/** A bid so far below the market that it only rests; `below` tells several apart. */
export const farBid = (below: number): Quote => ({ side: 'BUY', price: price / 2 - below, quantity: 0.1 });

/** Waits until so many orders of the trader rest. */
export const restingOrders = (exchange: Pick<Simulator, 'openOrders'>, count: number): Promise<true> =>
  until(`${count} resting orders`, () => exchange.openOrders(trader.uid).length === count);
