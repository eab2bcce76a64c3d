/** Klines beside recorded trades and books: where neither is stored they fill orders, elsewhere they are only seen. */

import type { SimClock } from '../../../clock/sim-clock.ts';
import type { Tape } from '../../../data/tape.ts';
import { closeTime } from '../../../domain/interval.ts';
import type { Depth, FeedGap, Trade } from '../../../domain/market.ts';
import type { Rules } from '../../../fill/rules.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import type { depthPairs } from '../../../trading/depth-pairs.ts';
import type { Source } from '../../../trading/hot-streams.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import type { TapeMarket } from '../../../venue/paper/on-tape.ts';
import type { RecordedSeries } from '../../../venue/recorded/recorded.ts';
import type { RunSeries } from '../../run.ts';
import { isActive, leaveOverdue, openPhase, restPhases, type Stage } from '../phases.ts';
import { type LateStage, placeLate } from '../take-profit-check.ts';
import { type Cursor, cursorOver, ranks } from './events.ts';
import { expireAtClose } from './expiry.ts';
import type { coverage } from './rows.ts';

export interface TapeStage extends LateStage {
  readonly assembled: Assembled;
  readonly rules: Rules;
}

/** Lets what each step of a phase started come to rest before the next. */
async function settling(clock: SimClock, phase: Iterable<undefined>): Promise<void> {
  for (const _ of phase) await clock.settleSoon();
}

export function watchLoss({
  assembled,
  clock,
}: Pick<Stage, 'clock'> & { readonly assembled: Assembled }): Promise<void> | undefined {
  const kill = assembled.risk.watchLoss();
  if (kill === undefined) return undefined;
  // Its cancels may take klines to arrive: whoever moves time cannot wait for them.
  void clock.track(assembled.kill(kill));
  return clock.settleSoon();
}

/** One symbol: its klines, and who fills by them or by what else is stored. */
export interface KlineLane {
  readonly symbol: string;
  readonly series: RunSeries;
  readonly recorded: RecordedSeries;
  readonly market: TapeMarket;
  readonly covered: ReturnType<typeof coverage>;
}

/** The same with what is recorded of its trades and depth, and what its strategies receive. */
export interface TapeLane extends KlineLane {
  readonly tape: Tape | undefined;
  readonly pairOf: ReturnType<typeof depthPairs>;
  readonly trades: Source<Trade>;
  readonly depth: Source<Depth>;
  readonly gaps: Source<FeedGap>;
}

/**
 * Klines close: where they speak, orders fill by them and strategies see them at once; else they are only seen, later. `larger`: the
 * strategies of a larger interval.
 */
export function closingKlines(
  stage: TapeStage,
  { recorded, market, symbol }: KlineLane,
  larger: readonly NamedHosted[],
): Cursor {
  const { assembled, clock, rules, margin } = stage;
  const phased = { market: market.klines, symbol };
  const cursor: Cursor = { time: 0, rank: ranks.rest, fire };
  const moveTo = (rank: number): void => {
    const seenAt = recorded.next()?.seenAt ?? Number.POSITIVE_INFINITY;
    cursor.rank = rank;
    cursor.time = rank === ranks.rest ? seenAt - 1 : rank === ranks.seenKline ? seenAt + rules.feedLatencyMs : seenAt;
  };
  async function fire(): Promise<void> {
    const kline = recorded.next();
    if (kline === undefined) return;
    if (cursor.rank === ranks.rest) {
      moveTo(market.byTape ? ranks.seenKline : ranks.kline);
      if (!market.byTape && isActive(stage, phased)) await settling(clock, restPhases(stage, phased, kline));
      return;
    }
    assembled.portfolio.mark(symbol, kline.close, clock.now());
    margin?.charge(symbol, clock.now());
    await watchLoss(stage);
    await settling(clock, leaveOverdue(stage, phased, kline));
    recorded.push(kline);
    if (clock.busy) await clock.settleSoon();
    await settling(clock, placeLate(stage, larger));
    await settling(clock, expireAtClose(stage, symbol));
    moveTo(ranks.rest);
  }
  moveTo(ranks.rest);
  return cursor;
}

/** A kline opens: whether it or trades and books speak is decided, and orders that waited for it fill at its open. `asked`: of what they fill. */
export function openingKlines(stage: TapeStage, lane: KlineLane, asked: (symbol: string) => void): Cursor {
  const { series, market, symbol } = lane;
  const phased = { market: market.klines, symbol };
  const { first: from, end: to, columns, interval } = series;
  return cursorOver({ time: columns.openTime, from, to, delayMs: 0, rank: ranks.open }, (row) => {
    const openTime = columns.openTime[row] as number;
    const kline = lane.recorded.next();
    const wasByTape = market.byTape;
    market.speak(lane.covered(openTime, closeTime(interval, openTime)), openTime);
    if (market.byTape && !wasByTape) asked(symbol);
    if (market.byTape || kline === undefined) return undefined;
    stage.assembled.portfolio.mark(symbol, kline.open, openTime);
    if (!isActive(stage, phased)) return undefined;
    return settling(stage.clock, openPhase(stage, phased, kline));
  });
}
