/** Klines beside recorded trades and books: where neither is stored they fill orders, elsewhere they are only seen. */

import type { SimClock } from '../../../clock/sim-clock.ts';
import type { Tape } from '../../../data/tape.ts';
import { closeTime } from '../../../domain/interval.ts';
import type { Depth, FeedGap, Kline, Trade } from '../../../domain/market.ts';
import type { Rules } from '../../../fill/rules.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import type { depthPairs } from '../../../trading/depth-pairs.ts';
import type { Source } from '../../../trading/hot-streams.ts';
import type { NamedHosted } from '../../../trading/strategies.ts';
import type { TapeMarket } from '../../../venue/paper/on-tape.ts';
import type { RecordedSeries } from '../../../venue/recorded/recorded.ts';
import type { RunSeries } from '../../run.ts';
import { exitOverdue, isActive, openPhase, restPhases, type Stage } from '../phases.ts';
import { type LateStage, largerOn, placeLate } from '../take-profit-check.ts';
import { type Cursor, cursorOver, ranks } from './events.ts';
import { expireAtClose } from './expiry.ts';
import type { coverage } from './rows.ts';

export interface TapeStage extends LateStage {
  readonly assembled: Assembled;
  readonly rules: Rules;
  readonly hosted: readonly NamedHosted[];
}

/** Lets what each step of a phase started come to rest before the next. */
export async function settling(clock: SimClock, phase: Iterable<undefined>): Promise<void> {
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

/** Klines close: where they speak, orders fill by them and strategies see them at once; else they are only seen, later. */
export function closingKlines(stage: TapeStage, { series, recorded, market, symbol }: KlineLane): Cursor {
  const { assembled, clock, rules, margin } = stage;
  const phased = { market: market.klines, symbol };
  const larger = largerOn(stage.hosted, series);
  const cursor: Cursor = { time: 0, rank: ranks.rest, fire };
  const rest = (): void => {
    cursor.rank = ranks.rest;
    cursor.time = (recorded.next()?.seenAt ?? Number.POSITIVE_INFINITY) - 1;
  };
  async function fire(): Promise<void> {
    const kline = recorded.next();
    if (cursor.rank === ranks.late) {
      await settling(clock, placeLate(stage, larger));
      await settling(clock, expireAtClose(stage, symbol));
      rest();
    } else if (kline === undefined) return;
    else if (cursor.rank === ranks.rest) {
      cursor.rank = market.byTape ? ranks.seenKline : ranks.kline;
      cursor.time = kline.seenAt + (market.byTape ? rules.feedLatencyMs : 0);
      if (!market.byTape && isActive(stage, phased)) await settling(clock, restPhases(stage, phased, kline));
    } else if (cursor.rank === ranks.decide) {
      await watchLoss(stage);
      await settling(clock, exitOverdue(stage, phased, kline));
      recorded.push(kline);
      if (clock.busy) await clock.settleSoon();
      cursor.rank = ranks.late;
    } else {
      assembled.portfolio.mark(symbol, kline.close, clock.now());
      margin?.charge(symbol, clock.now());
      cursor.rank = ranks.decide;
    }
  }
  rest();
  return cursor;
}

interface Opening {
  readonly asked: (symbol: string) => void;
  readonly opened: (lane: KlineLane, kline: Kline) => boolean;
}

/**
 * A kline opens: whether it or trades and books speak is decided, and orders that waited for it fill at its open. `asked`: of what they fill;
 * `opened`: it is about to fill them; true where it does so later.
 */
export function openingKlines(stage: TapeStage, lane: KlineLane, { asked, opened }: Opening): Cursor {
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
    if (opened(lane, kline) || !isActive(stage, phased)) return undefined;
    return settling(stage.clock, openPhase(stage, phased, kline));
  });
}
