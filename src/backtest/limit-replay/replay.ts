/**
 * Replays the last days of the strategies of a daemon through its limits: whether the orders that they will ask for are allowed. In: its
 * configuration and klines of the exchange. Out: how many entries were asked for, and denied by which rule. It runs in a thread of its own, so that
 * neither the daemon's event loop nor variables of its strategies are touched. Over klines nobody knows depth: rules about it deny nothing here.
 */
import { Worker } from 'node:worker_threads';
import { readConfig, type Setting } from '../../config/read.ts';
import { type BacktestConfig, backtestSchema, tradingSchema } from '../../config/schema.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Interval } from '../../domain/interval.ts';
import type { Columns } from '../../domain/market.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import type { Units } from '../../domain/money.ts';
import type { EntryLosses } from '../../research/entry-losses.ts';
import type { Limits, NewVersion } from '../../risk/context.ts';
import { runBacktest } from '../engines.ts';
import { castOf, prepared } from '../prepare/prepare.ts';
import { spanOf } from '../run.ts';

export interface ReplayGiven {
  /** The configuration of the daemon. */
  readonly file: string;
  readonly settings: readonly Setting[];
  readonly klines: readonly { readonly symbol: string; readonly interval: Interval; readonly columns: Columns }[];
  readonly instruments: readonly Instrument[];
  /** As in force: also those that the configuration leaves out. */
  readonly limits: Limits;
  readonly newVersions: ReadonlyMap<string, NewVersion>;
  /** What there is of the quote asset. */
  readonly cash: Units;
}

export interface Replayed {
  readonly fills: number;
  /** Undefined where no entry was denied or reduced. */
  readonly entries: EntryLosses | undefined;
  /** A denied order and the rule's numbers in words. */
  readonly example: string | undefined;
  /** Why a limit stopped a strategy or all first, such as losses in a row: later entries are not among those that were asked for. */
  readonly kill: string | undefined;
  /** Of the klines that could be traded, UTC ms. */
  readonly from: number;
  readonly to: number;
}

/** Replays in this thread. Throws a `Refusal` where the klines are too few, and what a strategy throws. */
export async function replayHere(given: ReplayGiven): Promise<Replayed> {
  const { file, settings, klines, instruments, limits, newVersions, cash } = given;
  const { account, strategies, risk, fees } = readConfig(file, tradingSchema, settings);
  const inMemory = {
    klines: new Map(klines.map(({ symbol, columns }) => [symbol, columns])),
    instruments: new Map(instruments.map((one) => [one.symbol, one])),
  };
  const config: BacktestConfig = {
    ...backtestSchema.parse({ strategies: [blank], risk: blankRisk, cash: '1', rules: 'sluice' }),
    ...{ account, strategies, risk, fees, cash },
    dataIntervals: Object.fromEntries(klines.map(({ symbol, interval }) => [symbol, interval])),
  };
  const cast = await castOf(file, config, settings, inMemory);
  const { input } = await prepared(file, config, cast, inMemory);
  const result = await runBacktest({ ...input, limits: withoutDepth(limits), newVersions }, 'silent');
  const { start, end } = spanOf(input.series);
  const entries = result.entries === undefined ? undefined : withoutKilled(result.entries);
  const most = entries?.rules.toSorted((a, b) => b.denied - a.denied)[0];
  return {
    fills: result.fills.length,
    kill: result.kills[0],
    entries,
    example: result.refused?.find(({ code }) => code === most?.code)?.example,
    from: start,
    to: end,
  };
}

function withoutKilled({ asked, rules }: EntryLosses): EntryLosses {
  const killed = rules.find(({ code }) => code === 'killed')?.denied ?? 0;
  return { asked: asked - killed, rules: rules.filter(({ code }) => code !== 'killed') };
}

/** Without the rules that need depth: they would deny every MARKET order. */
function withoutDepth({
  maxDepthAgeMs: _age,
  maxSlippage: _slippage,
  maxDepthShare: _share,
  ...others
}: Limits): Limits {
  return others;
}

const blank = { id: 'blank', use: 'blank', symbol: 'BLANK', interval: '1min' };
const blankRisk = { maxOrderValue: '1', maxPosition: '1' };

/** The answer of the thread. */
export type ReplayReply = { readonly replayed: Replayed } | { readonly fault: string };

/** Replays in a thread of its own. The promise never rejects: a fault is its text. */
export function replayLimits(given: ReplayGiven): Promise<ReplayReply> {
  const worker = new Worker(moduleUrl('./replay-thread', import.meta.url), { workerData: given });
  worker.unref();
  return new Promise((resolve) => {
    worker.once('message', resolve);
    worker.once('error', (error: Error) => resolve({ fault: error.message }));
    worker.once('exit', () => resolve({ fault: 'the thread ended without an answer' }));
  });
}
