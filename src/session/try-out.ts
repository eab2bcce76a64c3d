/** Runs new code of a strategy over recent klines beside the daemon, without effect: whatever it throws shows here. */
import { defer, from, mergeMap, NEVER, type Observable } from 'rxjs';
import { loopTurn, pause } from '../clock/clock.ts';
import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';
import { KillSwitch } from '../risk/kill.ts';
import type { NamedHosted } from '../trading/strategies.ts';
import { type MarketFeed, ok } from '../venue/venue.ts';
import type { Runner } from './running-strategy.ts';
import { strategySignals } from './strategy-runner.ts';

/** Klines after the warm-up at which it decides. */
const triedKlines = 20;
/** Real ms until the klines of the warm-up must be there. */
const patienceMs = 45_000;

/** Its warm-up klines, then the newest ones as if they closed now; no trades, depth, tickers or gaps. */
class TrialFeed implements MarketFeed {
  readonly trades = (): Observable<never> => NEVER;
  readonly depth = (): Observable<never> => NEVER;
  readonly ticker = (): Observable<never> => NEVER;
  readonly gaps = NEVER;
  readonly #feed: Pick<MarketFeed, 'history'>;
  readonly #newest = new Map<string, PromiseWithResolvers<readonly Kline[]>>();
  readonly #all = Promise.withResolvers<void>();
  /** Markets that it has not given history of. */
  #left: number;

  constructor(feed: Pick<MarketFeed, 'history'>, markets: number) {
    this.#feed = feed;
    this.#left = markets;
  }

  /** Resolves when each market has been given its klines. */
  get given(): Promise<void> {
    return this.#all.promise;
  }

  klines(symbol: string, interval: Interval): Observable<Kline> {
    return defer(() => from(this.#newestOf(symbol, interval).promise)).pipe(mergeMap((klines) => klines));
  }

  async history(symbol: string, interval: Interval, count: number): ReturnType<MarketFeed['history']> {
    const answer = await this.#feed.history(symbol, interval, count + triedKlines);
    // One of a list may have none yet; another failure is asked about again.
    if (answer.kind !== 'ok' && !(answer.kind === 'failed' && answer.isEmpty === true)) return answer;
    const klines = answer.kind === 'ok' ? answer.value : [];
    this.#newestOf(symbol, interval).resolve(klines.slice(-triedKlines));
    if (--this.#left === 0) this.#all.resolve();
    return answer.kind === 'ok' ? ok(klines.slice(0, -triedKlines)) : answer;
  }

  #newestOf(symbol: string, interval: Interval): PromiseWithResolvers<readonly Kline[]> {
    const key = `${symbol} ${interval}`;
    const known = this.#newest.get(key) ?? Promise.withResolvers<readonly Kline[]>();
    this.#newest.set(key, known);
    return known;
  }
}

/** Throws a `Refusal` with what the strategy threw, or where its klines do not arrive in time. Its decisions go nowhere. */
export async function tryOut(runner: Runner, one: NamedHosted): Promise<void> {
  const { clock, assembled, reaching, exchange } = runner;
  const { planner } = assembled;
  const feed = new TrialFeed(exchange.feed, one.markets?.length ?? 1);
  const ended = new AbortController();
  const failing = Promise.withResolvers<never>();
  const beside: Runner = {
    ...runner,
    exchange: { feed },
    assembled: {
      ...assembled,
      planner: {
        standing: (strategy, symbol) => planner.standing(strategy, symbol),
        plan: () => undefined,
        memories: { get: (strategy) => planner.memories.get(strategy), keep: () => {} },
      },
      risk: { thought: () => {}, switch: new KillSwitch(), limits: assembled.risk.limits },
    },
    screen: { addKline: () => {} },
    failed: (_, error) => failing.reject(new Refusal(`it throws: ${error}`)),
    reaching: { ...reaching, waiting: () => {}, signal: AbortSignal.any([reaching.signal, ended.signal]) },
    notice: () => {},
  };
  const late = pause(clock, clock.machine(patienceMs), ended.signal).then(() => {
    throw new Refusal(`its klines did not arrive within ${patienceMs / 1_000} s`);
  });
  const decided = feed.given.then(async () => {
    // The strategy receives them in the turns after the promise of its history.
    for (let turn = 0; turn < 3; turn++) await loopTurn();
  });
  const decisions = strategySignals(beside, one).subscribe({ error: (error: unknown) => failing.reject(error) });
  try {
    await Promise.race([decided, failing.promise, late]);
  } finally {
    decisions.unsubscribe();
    ended.abort();
    late.catch(() => {});
    failing.promise.catch(() => {});
  }
}
