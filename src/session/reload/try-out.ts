/** Tries new code of a strategy over recent klines in a thread beside the daemon, without effect: what is wrong with it shows there. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { firstValueFrom } from 'rxjs';
import { type Clock, pause } from '../../clock/clock.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Holding } from '../../strategy/contract.ts';
import { errorText } from '../../strategy/fault.ts';
import { clipped } from '../../trading/format.ts';
import { marketsOf } from '../../trading/lanes.ts';
import type { CodeToLoad } from '../../trading/load-again.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { type Runner, warmupKlines } from '../strategies/running-strategy.ts';
import { fewAtOnce } from '../strategies/several-markets.ts';
import type { TryOutData, TryOutMessage, TryOutPast } from './try-out-thread.ts';

/** Real ms that a file may take to load, its klines to arrive, and its decisions: what waits for ever is given up then. */
const [loadMs, klinesMs, decideMs] = [15_000, 45_000, 15_000];
/** What the thread may use: more ends it, and not the daemon. */
const maxHeapMb = 1_024;

/** What of a running strategy it needs. */
type Tried = Omit<Runner, 'failed'>;

/** The file's own work, which may wait for something that never comes. */
export const loading = <T>(clock: Clock, signal: AbortSignal, work: Promise<T>): Promise<T> =>
  within(clock, signal, loadMs, work, 'its file did not finish loading');

/** Throws a `Refusal` with what is wrong with the code, or where its klines do not arrive in time. Its decisions go nowhere. */
export async function tryOut(runner: Tried, one: NamedHosted, again: CodeToLoad): Promise<void> {
  const { clock, reaching } = runner;
  const { strategy: _, params: __, ...hosted } = one;
  const worker = new Worker(moduleUrl('./try-out-thread', import.meta.url), {
    workerData: { again, hosted } satisfies TryOutData,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const failing = Promise.withResolvers<never>();
  worker.on('error', (error) => failing.reject(new Refusal(`it throws: ${clipped(errorText(error))}`)));
  worker.on('exit', () => failing.reject(new Refusal('it ends the program')));
  failing.promise.catch(() => {});
  const answer = async (): Promise<TryOutMessage> => {
    const [said] = (await Promise.race([once(worker, 'message'), failing.promise])) as [TryOutMessage];
    if ('fault' in said) throw new Refusal(said.fault);
    return said;
  };
  const ended = new AbortController();
  const signal = AbortSignal.any([reaching.signal, ended.signal]);
  try {
    const loaded = await loading(clock, signal, answer());
    const needed = 'needed' in loaded ? loaded.needed : [];
    const given = past({ ...runner, reaching: { ...reaching, waiting: () => {}, signal } }, one, needed);
    worker.postMessage(
      await within(clock, signal, klinesMs, Promise.race([given, failing.promise]), 'its klines did not arrive'),
    );
    await within(clock, signal, decideMs, answer(), 'it did not finish deciding over recent klines');
  } finally {
    ended.abort();
    await worker.terminate();
  }
}

/** What it decides on. The charts and the log do not show these klines. */
async function past(runner: Tried, one: NamedHosted, needed: readonly number[]): Promise<TryOutPast> {
  const { clock, assembled } = runner;
  const { portfolio, planner } = assembled;
  const beside = { ...runner, screen: { addKline: () => {}, addHistory: () => {} }, notice: () => {} };
  const markets = marketsOf(one);
  const klines = await firstValueFrom(
    fewAtOnce(markets, ({ symbol, interval }, index) =>
      warmupKlines(beside, { strategy: one.id, symbol, interval, needed: needed[index] ?? 0, mayBeEmpty: true }),
    ),
  );
  return {
    klines,
    holdings: markets.map(({ use, symbol }) =>
      copied(portfolio.holding(one.id, use === 'traded' ? symbol : one.symbol)),
    ),
    equity: portfolio.poolEquity(one.id),
    ...planner.memories.get(one.id),
    now: clock.now(),
  };
}

/** A position as data. */
function copied(holding: Holding): Holding {
  const { quantity, entryPrice, equity, entryTime, klinesHeld, best, worst, profit, realisedNet, lastExit } = holding;
  return { quantity, entryPrice, equity, entryTime, klinesHeld, best, worst, profit, realisedNet, lastExit };
}

/** Throws a `Refusal` after so many real ms, or when the daemon stops. */
async function within<T>(
  clock: Clock,
  signal: AbortSignal,
  realMs: number,
  work: Promise<T>,
  late: string,
): Promise<T> {
  const ended = new AbortController();
  const over = pause(clock, clock.machine(realMs), AbortSignal.any([signal, ended.signal])).then(() => {
    throw new Refusal(signal.aborted ? 'the daemon stops' : `${late} within ${realMs / 1_000} s`);
  });
  over.catch(() => {});
  work.catch(() => {});
  try {
    return await Promise.race([work, over]);
  } finally {
    ended.abort();
  }
}
