/** The strategies of several markets in a run over trades and depth: when each is asked, and which of its markets open once more. */
import type { Kline } from '../../../domain/market.ts';
import type { Decision } from '../../../domain/order.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import type { MarketsCursor } from '../klines/markets-cursor.ts';
import { openPhase } from '../phases.ts';
import { type Cursor, ranks } from './events.ts';
import { type KlineLane, settling, type TapeStage } from './klines.ts';
import { retryMs } from './times.ts';

/** Asks one at each moment, once the last kline of the moment is seen. */
export function momentCursor(
  one: MarketsCursor,
  { assembled, clock, rules }: TapeStage,
  lanes: readonly KlineLane[],
  decided: (decision: Decision) => void,
): Cursor {
  const own = lanes.filter(({ symbol }) => one.reads(symbol));
  const cursor: Cursor = { time: 0, rank: ranks.rest, fire };
  const moveTo = (rank: number): void => {
    // Who speaks of a kline is known before the next one opens.
    const delay = own.some(({ market }) => market.byTape) ? rules.feedLatencyMs : 0;
    cursor.rank = rank;
    cursor.time = rank === ranks.rest ? one.nextMoment - 1 : one.nextMoment + delay;
  };
  function fire(): undefined {
    if (cursor.rank === ranks.rest) {
      moveTo(ranks.moment);
      return;
    }
    const decision = one.decide(one.nextMoment, assembled.planner, clock.now());
    if (decision !== undefined) decided(decision);
    moveTo(ranks.rest);
  }
  moveTo(ranks.rest);
  return cursor;
}

/** Looks at legs that are open alone when something is due about them, up to the end of the run, UTC ms. */
export function aloneCursor(
  { legsAlone }: Pick<Assembled, 'legsAlone'>,
  end: number,
  decided: (decision: Decision) => void,
): Cursor {
  let next = Number.NEGATIVE_INFINITY;
  return {
    rank: ranks.seenGap,
    get time() {
      const at = Math.max(legsAlone.dueAt, next);
      return at > end ? Number.POSITIVE_INFINITY : at;
    },
    fire() {
      const now = this.time;
      next = now + retryMs;
      for (const decision of legsAlone.look(now)) decided(decision);
      return undefined;
    },
  };
}

export interface Reopening {
  readonly cursor: Cursor;
  /** A kline opens that fills orders. True where the first of them has led to its first orders: they wait until all sales are through. */
  readonly opened: (lane: KlineLane, kline: Kline) => boolean;
}

/**
 * Purchases that waited for sales at an open: the sales have paid for them, and they fill at it, too. So do the other positions of a strategy
 * of which this open liquidated one.
 */
export function reopening(stage: TapeStage, several: readonly MarketsCursor[], lanes: readonly KlineLane[]): Reopening {
  const { assembled, clock, margin } = stage;
  const open: { readonly lane: KlineLane; readonly kline: Kline }[] = [];
  let waiting: readonly MarketsCursor[] = [];
  let idle: readonly KlineLane[] = [];
  const cursor: Cursor = {
    time: Number.POSITIVE_INFINITY,
    rank: ranks.reopen,
    async fire() {
      const now = cursor.time;
      cursor.time = Number.POSITIVE_INFINITY;
      const isLeft = ({ hosted }: MarketsCursor, symbol: string): boolean =>
        margin?.isLiquidatedByAnother(hosted.id, symbol, now) === true;
      const fillsAgain = (symbol: string): boolean =>
        several.some((one) => one.reads(symbol) && (waiting.includes(one) || isLeft(one, symbol)));
      for (const { lane, kline } of open.splice(0)) {
        const phased = { market: lane.market.klines, symbol: lane.symbol };
        if (phased.market.fills.idle || !fillsAgain(lane.symbol)) continue;
        await settling(clock, openPhase(stage, phased, kline));
      }
    },
  };
  return {
    cursor,
    opened(lane, kline) {
      if (open.length === 0) {
        // Whatever waits begins with the fill that it waits for.
        waiting = several.filter(({ hosted }) => assembled.planner.waiting(hosted.id) !== undefined);
        idle = lanes.filter(
          ({ symbol, market }) => market.klines.fills.idle && waiting.some((one) => one.reads(symbol)),
        );
        cursor.time = kline.openTime;
      }
      open.push({ lane, kline });
      return idle.includes(lane) && !lane.market.klines.fills.idle;
    },
  };
}
