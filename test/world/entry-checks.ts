/** Entries at a limit, by the journal alone: none is ordered after it has expired, and one that shall not take is ordered at its limit or further away. */
import type { Database } from 'better-sqlite3';
import { type Signal, sameSize, type Target } from '../../src/domain/order.ts';
import type { Plan } from './plan.ts';
import type { Verdict } from './step-checks.ts';

interface OrderRow {
  readonly id: string;
  readonly decision: number;
  readonly strategy: string;
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly createdAt: number;
}

interface SignalRow {
  readonly at: number;
  readonly decision: number;
  readonly signal: Signal;
}

/** Between the end of a time and the look that sees it, ms; and how far the clock may have jumped in between. */
const lateMs = 2_000;

const isSame = (a: Target, b: Signal | undefined): boolean =>
  b?.kind === 'target' &&
  sameSize(a.size, b.size) &&
  a.limit === b.limit &&
  a.postOnly === b.postOnly &&
  a.expiresAfterMs === b.expiresAfterMs;

export function entriesKeepTheirTerms(db: Database, { events }: Pick<Plan, 'events'>): Verdict {
  const jumpedMs = events.reduce((sum, event) => sum + ('byMs' in event ? Math.abs(event.byMs) : 0), 0);
  const signalled = new Map<string, readonly SignalRow[]>();
  const signalsOf = ({ strategy, symbol }: OrderRow): readonly SignalRow[] => {
    const key = `${strategy} ${symbol}`;
    const known = signalled.get(key);
    if (known !== undefined) return known;
    const rows = db
      .prepare('SELECT at, decision, signal FROM signals WHERE strategy = ? AND symbol = ? ORDER BY seq')
      .all(strategy, symbol) as (Omit<SignalRow, 'signal'> & { readonly signal: string })[];
    const read = rows.map(({ signal, ...row }) => ({ ...row, signal: JSON.parse(signal) as Signal }));
    signalled.set(key, read);
    return read;
  };
  const orders = db
    .prepare(
      `SELECT client_order_id AS id, decision, strategy, symbol, side, price, created_at AS createdAt
       FROM orders WHERE type = 'LIMIT' AND purpose = 'enter'`,
    )
    .all() as OrderRow[];
  for (const order of orders) {
    const signals = signalsOf(order);
    let row = signals.findLastIndex(({ decision }) => decision === order.decision);
    const target = signals[row]?.signal;
    if (target?.kind !== 'target' || target.limit === undefined) continue;
    const { limit, postOnly, expiresAfterMs } = target;
    const isBeyond = order.side === 'BUY' ? Number(order.price) > limit : Number(order.price) < limit;
    if (postOnly === true && isBeyond) return `${order.id} is at ${order.price}, beyond its limit ${limit}`;
    if (expiresAfterMs === undefined) continue;
    while (isSame(target, signals[row - 1]?.signal)) row--;
    const expiredMs = order.createdAt - (signals[row]?.at ?? 0) - expiresAfterMs;
    if (expiredMs > lateMs + jumpedMs) return `${order.id} was created ${expiredMs} ms after its entry had expired`;
  }
  return undefined;
}
