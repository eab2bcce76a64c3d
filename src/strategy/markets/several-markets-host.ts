/** Runs a strategy of several markets: moments in, decisions out. One that throws is stopped alone. */
import { Observable } from 'rxjs';
import type { Kline } from '../../domain/market.ts';
import type { KeptState } from '../../domain/memory.ts';
import type { Decision, Leg, Signal } from '../../domain/order.ts';
import { type Holding, hasList, type SeveralMarkets, type Strategy } from '../contract.ts';
import { withStrategy } from '../fault.ts';
import { type Hosted, type HostedMarket, withdrawn } from '../host.ts';
import { memoryOf, type StrategyMemory } from '../memory.ts';
import type { ValuesWatcher } from '../values-watcher.ts';
import { isInForce, type JoinedPrices, joinedPrices } from './joined-klines.ts';
import type { MarketSignals } from './market-signals.ts';
import { dueAfter, scheduleOf } from './schedule.ts';
import { type BoundMarket, MarketsDecider } from './several-markets.ts';

/** What closed at one moment. */
export interface JoinedMoment {
  /** UTC ms. */
  readonly time: number;
  /** By the index of the market; undefined where none closed or it is missing. */
  readonly klines: readonly (Kline | undefined)[];
  /** One of them came over a feed: a moment of history leads to no decision. */
  readonly isNew: boolean;
  /** It was counted as missing before: its moment has passed, and `time` is the last one that has. */
  readonly isLate: boolean;
}

/** A strategy of several markets with what it is bound to. */
export type HostedMarkets = Hosted & { readonly markets: readonly HostedMarket[] };

export const hasMarkets = <T extends Hosted>(hosted: T): hosted is T & HostedMarkets => hosted.markets !== undefined;

/** What it receives, with what was kept of an earlier run. Lists are in the order of its markets. */
export interface MarketsInputs extends KeptState {
  /** Warm-up moments, oldest first. */
  readonly history: readonly JoinedMoment[];
  readonly moments: Observable<JoinedMoment>;
  readonly holdings: readonly Holding[];
  /** Of all its markets together, in quote. */
  readonly equity: () => number;
  /** Its last signals of an earlier run: nothing is sent on them, for the market has moved. */
  readonly before: readonly Leg[];
  /** Whether something is left to do about them, asked at the first new moment: a rebalancing that was cut off is made up for. */
  readonly isCutOff?: () => boolean;
  /** Charts the values of its indicators. */
  readonly watcher?: ValuesWatcher | undefined;
  /** Keeps what no signal goes with yet. */
  readonly remember?: (kept: KeptState) => void;
  readonly now: () => number;
  /** Called once when the strategy threw; its last signals cancel its resting orders. */
  readonly failed: (error: unknown) => void;
}

/**
 * The decisions of a strategy of several markets. A moment without new signals repeats the last ones, so that lost orders are placed again. After
 * a throw one last decision cancels its resting orders, and the stream ends.
 */
export function decisionsOfMarkets(hosted: HostedMarkets, inputs: MarketsInputs): Observable<Decision> {
  return new Observable((out) => {
    const { id, markets } = hosted;
    const legs = new Map<string, Leg>();
    const before = new Map(inputs.before.map((leg) => [leg.symbol, leg]));
    const emit = (kept: KeptState = {}): void => {
      const at = inputs.now();
      const [first, ...others] = [...legs.values()].map((leg) => ({ ...leg, at, ...kept }));
      if (first === undefined) inputs.remember?.(kept);
      else out.next({ strategy: id, at, legs: [first, ...others] });
    };
    const setLeg = ({ role, symbol }: HostedMarket, signal: Signal): void => {
      legs.set(symbol, { strategy: id, role, symbol, at: inputs.now(), signal });
    };
    const failed = (error: unknown): void => {
      inputs.failed(error);
      for (const [index, market] of markets.entries()) {
        const last = legs.get(market.symbol) ?? before.get(market.symbol);
        if (last !== undefined && market.use === 'traded')
          setLeg(market, withdrawn(last.signal, inputs.holdings[index] as Holding));
      }
      emit();
      out.complete();
    };
    let memory: StrategyMemory | undefined;
    let step: ReturnType<typeof marketsStep>;
    const times = askingTimes(hosted.strategy, inputs);
    try {
      memory = memoryOf(hosted.strategy, inputs.memory);
      step = marketsStep(hosted, inputs, memory, times);
      for (const moment of inputs.history) step(moment);
    } catch (error) {
      failed(error);
      return undefined;
    }
    return inputs.moments.subscribe({
      next(moment) {
        try {
          const said = step(moment);
          for (const [index, market] of markets.entries()) {
            const signal = said?.signal(index);
            if (signal !== undefined) setLeg(market, signal);
          }
        } catch (error) {
          failed(withStrategy(error, { id, now: moment.time }));
          return;
        }
        if (moment.isNew && !moment.isLate) {
          const { askedAt } = times;
          emit({ ...(memory && { memory: memory.value }), ...(askedAt !== undefined && { askedAt }) });
        }
      },
      error: failed,
      complete: () => out.complete(),
    });
  });
}

/** Feeds moments one after another to the indicators, and asks the strategy at those that are new. Returns its new signals. */
export function marketsStep(
  hosted: Pick<Hosted, 'strategy' | 'params' | 'interval'> & { readonly markets: readonly BoundMarket[] },
  { holdings, equity, watcher }: Pick<MarketsInputs, 'holdings' | 'equity' | 'watcher'>,
  memory?: StrategyMemory,
  times: Pick<AskingTimes, 'isDue'> = always,
) {
  const { markets } = hosted;
  const strategy = hosted.strategy as SeveralMarkets;
  const now = holdings.map((holding) => ({ kline: undefined as Kline | undefined, holding }));
  const decider = new MarketsDecider(strategy, hosted.params, markets, now, memory);
  const streams = decider.indicators.map(({ indicator }) => indicator.stream(hosted.interval));
  watcher?.begin(decider.indicators);
  const last: (Kline | undefined)[] = markets.map(() => undefined);
  return ({ time, klines, isNew, isLate }: JoinedMoment): MarketSignals | undefined => {
    const closed: Record<string, JoinedPrices['markets'][string]> = {};
    for (const [index, { role, interval }] of markets.entries()) {
      const kline = klines[index];
      closed[role] = kline === undefined ? undefined : { kline, interval };
      if (kline !== undefined) last[index] = kline;
    }
    const prices = joinedPrices(time, closed, isLate);
    for (let index = 0; index < streams.length; index++)
      decider.latest[index] = (streams[index] as (typeof streams)[number])(prices);
    // At a late kline nothing is decided: the next one shows what it changed.
    if (watcher !== undefined && !isLate)
      for (const [index, kline] of klines.entries())
        if (kline !== undefined) watcher.after(index, kline.openTime, decider.latest);
    if (isLate || !times.isDue(time, isNew) || !isNew) return undefined;
    for (const [index, market] of now.entries()) {
      const kline = last[index];
      const { interval } = markets[index] as BoundMarket;
      market.kline = kline !== undefined && isInForce(interval, kline.openTime, time) ? kline : undefined;
    }
    return decider.ask(time, equity());
  };
}

/** At which moments a strategy is asked. */
interface AskingTimes {
  /** Call it with each moment, in their order. */
  isDue(time: number, isNew: boolean): boolean;
  /** When its schedule led to that last, UTC ms. */
  readonly askedAt?: number | undefined;
}

const always: AskingTimes = { isDue: () => true };

/** By its schedule. What an earlier run missed since it asked last, or was cut off, is made up for at the first new moment. */
function askingTimes(
  strategy: Strategy,
  { askedAt: before, isCutOff = () => false }: Pick<MarketsInputs, 'askedAt' | 'isCutOff'>,
): AskingTimes {
  const schedule = hasList(strategy) ? scheduleOf(strategy.rebalance) : undefined;
  if (schedule === undefined) return always;
  let [passed, askedAt] = [before, before];
  let isFirst = true;
  return {
    isDue(time, isNew) {
      const isDue = isNew && (time >= dueAfter(schedule, passed, time) || (isFirst && isCutOff()));
      if (isNew) isFirst = false;
      if (isNew || before === undefined) passed = time;
      if (isDue) askedAt = time;
      return isDue;
    },
    get askedAt() {
      return askedAt;
    },
  };
}
