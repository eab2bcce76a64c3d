/** The thread that tries new code of a strategy: what it throws, a loop that never ends and an end of the program stay in the thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { from, NEVER } from 'rxjs';
import { loopTurn } from '../../clock/clock.ts';
import { closeTime } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import type { KeptState } from '../../domain/memory.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Holding, hasRoles } from '../../strategy/contract.ts';
import { errorText } from '../../strategy/fault.ts';
import { decisionsOf, type Hosted } from '../../strategy/host.ts';
import { joinedMoments } from '../../strategy/markets/joined-moments.ts';
import { hasMarkets, marketsStep } from '../../strategy/markets/several-markets-host.ts';
import { memoryOf } from '../../strategy/memory.ts';
import { warmupOf } from '../../strategy/warmup.ts';
import { clipped } from '../../trading/format.ts';
import { type CodeToLoad, loadAgain } from '../../trading/load-again.ts';

/** What the thread is given. */
export interface TryOutData {
  readonly again: CodeToLoad;
  readonly hosted: Omit<Hosted, 'strategy' | 'params'>;
}

/** What it is given once its file has loaded. Lists are in the order of its markets. */
export interface TryOutPast extends KeptState {
  readonly klines: readonly (readonly Kline[])[];
  readonly holdings: readonly Holding[];
  /** Of all its markets together, in quote. */
  readonly equity: number;
  readonly now: number;
}

/** First how many klines it needs of each market, then that it has decided; or what is wrong. */
export type TryOutMessage =
  | { readonly needed: readonly number[] }
  | { readonly decided: true }
  | { readonly fault: string };

/** Klines after the warm-up at which it decides. */
const triedKlines = 20;

const port = parentPort as MessagePort;
const say = (message: TryOutMessage): void => port.postMessage(message);

async function load({ again, hosted }: TryOutData): Promise<Hosted> {
  const one = { ...hosted, ...(await loadAgain(again)) };
  const needed = again.markets.map(({ interval, role }) => warmupOf(one.strategy, one.params, interval, role));
  say({ needed: needed.map((count) => count + triedKlines) });
  return one;
}

/** Whatever its schedule, it chooses at each of the newest moments. */
function decide(
  one: Hosted,
  { klines, holdings, equity, memory, now }: TryOutPast,
  failed: (error: unknown) => void,
): void {
  if (hasMarkets(one)) {
    const step = marketsStep(one, { holdings, equity: () => equity }, memoryOf(one.strategy, memory));
    for (const moment of joinedMoments(throughLast(one, klines), triedKlines)) step(moment);
    return;
  }
  const [rows = []] = klines;
  decisionsOf(one, {
    history: rows.slice(0, -triedKlines),
    klines: from(rows.slice(-triedKlines)),
    ...{ trades: NEVER, depth: NEVER, ticker: NEVER, gaps: NEVER, fills: NEVER },
    holding: holdings[0] as Holding,
    memory,
    now: () => now,
    failed,
  }).subscribe();
}

/** Klines up to the last moment at which a strategy is asked: where it needs all roles, the market that is behind has its last one there. */
function throughLast({ strategy }: Hosted, klines: TryOutPast['klines']): TryOutPast['klines'] {
  if (!hasRoles(strategy) || strategy.allowMissing === true) return klines;
  const closes = ({ interval, openTime }: Kline): number => closeTime(interval, openTime);
  const last = Math.min(...klines.flatMap((rows) => rows.slice(-1).map(closes)));
  return klines.map((rows) => rows.filter((kline) => closes(kline) <= last));
}

const data = workerData as TryOutData;
// Listening also keeps the thread until it is ended: an end by itself is one that the code has asked for.
const past = new Promise<TryOutPast>((resolve) => port.on('message', resolve));
const failing = Promise.withResolvers<never>();
try {
  const one = await load(data);
  decide(one, await past, failing.reject);
  // A stream or a promise may fail a moment later.
  await Promise.race([loopTurn(), failing.promise]);
  say({ decided: true });
} catch (error) {
  say({ fault: error instanceof Refusal ? error.message : `it throws: ${clipped(errorText(error))}` });
}
