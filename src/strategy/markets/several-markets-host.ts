/** Runs a strategy of several markets: moments in, decisions out. One that throws is stopped alone. */
import { Observable } from 'rxjs';
import type { Kline } from '../../domain/market.ts';
import type { Memory } from '../../domain/memory.ts';
import type { Decision, Leg, Signal } from '../../domain/order.ts';
import { type Holding, hasList, type SeveralMarkets } from '../contract.ts';
import { withStrategy } from '../fault.ts';
import { type Hosted, type HostedMarket, withdrawn } from '../host.ts';
import { memoryOf, type StrategyMemory } from '../memory.ts';
import { isInForce, type JoinedPrices, joinedPrices } from './joined-klines.ts';
import type { Said } from './said.ts';
import { dueAfter, type Schedule, scheduleOf } from './schedule.ts';
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

/** What it receives. Lists are in the order of its markets. */
export interface MarketsInputs {
  /** Warm-up moments, oldest first. */
  readonly history: readonly JoinedMoment[];
  readonly moments: Observable<JoinedMoment>;
  readonly holdings: readonly Holding[];
  /** Of all its markets together, in quote. */
  readonly equity: () => number;
  /** Its last signals of an earlier run, in force until it emits others. */
  readonly before: readonly Leg[];
  /** Its memory of an earlier run. */
  readonly memory?: Memory | undefined;
  /** Keeps a memory that no signal goes with yet. */
  readonly remember?: (memory: Memory) => void;
  readonly now: () => number;
  /** Called once when the strategy threw; its last signals cancel its resting orders. */
  readonly failed: (error: unknown) => void;
}

/**
 * The decisions of a strategy of several markets. A moment without new signals repeats the last ones, so that lost orders are placed again, also
 * those of an earlier run: the next rebalancing may be a week away. After a throw one last decision cancels its resting orders, and the
 * stream ends.
 */
export function decisionsOfMarkets(hosted: HostedMarkets, inputs: MarketsInputs): Observable<Decision> {
  return new Observable((out) => {
    const { id, markets } = hosted;
    const legs = new Map(inputs.before.map((leg) => [leg.symbol, leg]));
    let remembered = inputs.memory;
    const emit = (memory?: Memory): void => {
      const [first, ...others] = [...legs.values()].map((leg) => (memory === undefined ? leg : { ...leg, memory }));
      if (first !== undefined) out.next({ strategy: id, at: inputs.now(), legs: [first, ...others] });
      else if (memory !== undefined && memory !== remembered) inputs.remember?.(memory);
      remembered = memory;
    };
    const setLeg = ({ role, symbol }: HostedMarket, signal: Signal): void => {
      legs.set(symbol, { strategy: id, role, symbol, at: inputs.now(), signal });
    };
    const failed = (error: unknown): void => {
      inputs.failed(error);
      for (const [index, market] of markets.entries()) {
        const last = legs.get(market.symbol);
        if (last !== undefined && market.use === 'traded')
          setLeg(market, withdrawn(last.signal, inputs.holdings[index] as Holding));
      }
      emit();
      out.complete();
    };
    let memory: StrategyMemory | undefined;
    let step: ReturnType<typeof marketsStep>;
    try {
      memory = memoryOf(hosted.strategy, inputs.memory);
      step = marketsStep(hosted, inputs, memory);
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
        if (moment.isNew && !moment.isLate) emit(memory?.value);
      },
      error: failed,
      complete: () => out.complete(),
    });
  });
}

/** Feeds moments one after another to the indicators, and asks the strategy at those that are new. Returns its new signals. */
export function marketsStep(
  hosted: Pick<Hosted, 'strategy' | 'params' | 'interval'> & { readonly markets: readonly BoundMarket[] },
  { holdings, equity, before }: Pick<MarketsInputs, 'holdings' | 'equity' | 'before'>,
  memory?: StrategyMemory,
) {
  const { markets } = hosted;
  const strategy = hosted.strategy as SeveralMarkets;
  const decider = new MarketsDecider(strategy, hosted.params, markets, memory);
  const streams = decider.indicators.map(({ indicator }) => indicator.stream(hosted.interval));
  const schedule = hasList(strategy) ? scheduleOf(strategy.rebalance) : undefined;
  const isAsked = schedule === undefined ? () => true : askedBy(schedule, before);
  const last: (Kline | undefined)[] = markets.map(() => undefined);
  return ({ time, klines, isNew, isLate }: JoinedMoment): Said | undefined => {
    const closed: Record<string, JoinedPrices['markets'][string]> = {};
    for (const [index, { role, interval }] of markets.entries()) {
      const kline = klines[index];
      closed[role] = kline === undefined ? undefined : { kline, interval };
      if (kline !== undefined) last[index] = kline;
    }
    const prices = joinedPrices(time, closed, isLate);
    for (let index = 0; index < streams.length; index++)
      decider.latest[index] = (streams[index] as (typeof streams)[number])(prices);
    if (isLate || !isAsked(time, isNew) || !isNew) return undefined;
    const now = markets.map(({ interval }, index) => {
      const kline = last[index];
      const isThere = kline !== undefined && isInForce(interval, kline.openTime, time);
      return { kline: isThere ? kline : undefined, holding: holdings[index] as Holding };
    });
    return decider.ask(time, now, equity());
  };
}

/**
 * Whether a moment is one of a schedule. A time of the schedule that passed between the last signals of an earlier run and this one is made up
 * for at the first new moment.
 */
function askedBy(schedule: Schedule, before: readonly Leg[]): (time: number, isNew: boolean) => boolean {
  let passed: number | undefined;
  let isFirst = true;
  const signalled = Math.max(...before.map(({ at }) => at));
  return (time, isNew) => {
    if (isNew && isFirst) {
      isFirst = false;
      if (before.length > 0) passed = Math.min(signalled, passed ?? signalled);
    }
    const isDue = time >= dueAfter(schedule, passed, time);
    passed = time;
    return isDue;
  };
}
