/** Why a run has no fills, as far as signals, orders and indicators show. */
import type { Signal } from '../../domain/order.ts';
import type { RunInput, RunResult } from '../run.ts';
import { neverCalledText } from './never-called.ts';

/** A sentence for each strategy that emitted no signal, only flat ones, or LIMIT orders that never filled. */
export function noTradeReasons(
  { hosted, series }: Pick<RunInput, 'hosted' | 'series'>,
  { journal }: Pick<RunResult, 'journal'>,
): readonly string[] {
  const signals = journal().prepare('SELECT DISTINCT strategy, signal FROM signals').all() as {
    strategy: string;
    signal: string;
  }[];
  const limits = journal()
    .prepare("SELECT strategy, count(*) AS orders FROM orders WHERE type = 'LIMIT' GROUP BY strategy")
    .all() as { strategy: string; orders: number }[];
  return hosted.flatMap((one): readonly string[] => {
    const own = signals.filter(({ strategy }) => strategy === one.id);
    if (!own.every(({ signal }) => isFlat(JSON.parse(signal) as Signal))) {
      const orders = limits.find(({ strategy }) => strategy === one.id)?.orders;
      return orders === undefined ? [] : [unfilledText(one.id, orders)];
    }
    if (own.length > 0) return [`${one.id} emitted only flat targets`];
    const neverCalled = neverCalledText(one, series);
    return [neverCalled === undefined ? `${one.id} emitted no signal` : `${one.id}: ${neverCalled}`];
  });
}

const unfilledText = (id: string, orders: number): string =>
  orders === 1 ? `the one LIMIT order of ${id} never filled` : `none of the ${orders} LIMIT orders of ${id} filled`;

const isFlat = (signal: Signal): boolean =>
  signal.kind === 'target'
    ? Object.values(signal.size).every((size: number) => size === 0)
    : signal.quotes.length === 0;
