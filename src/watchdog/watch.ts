/**
 * Watches the daemon's heartbeat. Without one, it cancels our orders repeatedly until none rests or the daemon is back. It detects changes
 * and never compares clocks.
 */
import type { Clock } from '../clock/clock.ts';
import type { OrderReport } from '../domain/order.ts';
import type { Heartbeat, WatchdogAct } from '../session/watch/heartbeat.ts';
import { type OrderEntry, queryFailure } from '../venue/venue.ts';

export interface WatchParts {
  readonly clock: Clock;
  /** How long without a beat is too long, ms of the clock. */
  readonly afterMs: number;
  readonly lastBeat: () => Heartbeat | undefined;
  /** What files ask to be killed: strategies, undefined for everything. */
  readonly requestedKills: () => readonly (string | undefined)[];
}

/** What it must do. */
export interface Task {
  readonly cause: string;
  /** Whose orders are cancelled; undefined: all of ours. */
  readonly strategies: ReadonlySet<string> | undefined;
}

/** What it must do now; undefined while that is nothing. */
export function watcher({ clock, afterMs, lastBeat, requestedKills }: WatchParts): () => Task | undefined {
  let seen: number | undefined;
  let since = clock.monotonic();
  function silentMs(): number {
    const beat = lastBeat();
    if (beat === undefined || beat.state === 'stopped') {
      seen = undefined;
      return 0;
    }
    if (beat.at !== seen) {
      seen = beat.at;
      since = clock.monotonic();
    }
    return clock.monotonic() - since;
  }
  return () => {
    const silent = silentMs();
    const asked = requestedKills();
    if (asked.includes(undefined)) return { cause: 'the file kill asks for it', strategies: undefined };
    if (silent >= afterMs)
      return { cause: `no heartbeat for ${Math.round(silent / clock.machine(1_000))} s`, strategies: undefined };
    if (asked.length === 0) return undefined;
    const strategies = new Set(asked.filter((strategy) => strategy !== undefined));
    return { cause: `the file ${[...strategies].map((id) => `kill-${id}`).join(' and ')} asks for it`, strategies };
  };
}

type OrderIds = Pick<OrderReport, 'orderId' | 'clientOrderId'>;

export interface CancelParts {
  readonly orders: Pick<OrderEntry, 'openOrders' | 'cancel'>;
  readonly symbols: readonly string[];
  /** Proof that an order is ours: its id bears our mark, or the journal knows it. */
  readonly isOurs: (order: OrderIds) => boolean;
}

/** One round: asks for open orders and cancels ours, all at once, before everything else that waits for weight. */
export async function cancelOurs({
  orders,
  symbols,
  isOurs,
}: CancelParts): Promise<Pick<WatchdogAct, 'cancelled' | 'failures'>> {
  const failures: string[] = [];
  const cancelled = await Promise.all(
    symbols.map(async (symbol) => {
      const open = await orders.openOrders(symbol);
      if (open.kind === 'failed') {
        failures.push(queryFailure(`open orders of ${symbol}`, open.cause));
        return [];
      }
      return Promise.all(
        open.value.rows.filter(isOurs).map(async ({ orderId }) => {
          const answer = await orders.cancel({ symbol, orderId }, 'kill');
          const text = 'message' in answer ? answer.message : 'cause' in answer ? answer.cause : 'requested';
          return { symbol, orderId, answer: text };
        }),
      );
    }),
  );
  return { cancelled: cancelled.flat(), failures };
}
