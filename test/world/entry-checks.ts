/**
 * Entries at a limit, by the journal alone: none is ordered after it has expired, or rests for long after that, and one that shall not take is
 * ordered at its limit or further away.
 */
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
  readonly state: string;
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

interface Entry {
  readonly order: OrderRow;
  readonly target: Target & { readonly limit: number };
  /** When the entry expires that it was ordered for, UTC ms; infinity where it never does. */
  readonly expiresAt: number;
  /** The same of the last signal, which lets it rest; infinity where that is another entry. */
  readonly restsUntil: number;
}

/** How far a time of the process may be off, ms. */
const slackOf = ({ events }: Pick<Plan, 'events'>): number =>
  events.reduce((sum, event) => sum + ('byMs' in event ? Math.abs(event.byMs) : 0), lateMs);

export function entriesKeepTheirTerms(db: Database, plan: Pick<Plan, 'events'>): Verdict {
  const slackMs = slackOf(plan);
  for (const { order, target, expiresAt } of entriesIn(db)) {
    const { limit, postOnly } = target;
    const isBeyond = order.side === 'BUY' ? Number(order.price) > limit : Number(order.price) < limit;
    if (postOnly === true && isBeyond) return `${order.id} is at ${order.price}, beyond its limit ${limit}`;
    const expiredMs = order.createdAt - expiresAt;
    if (expiredMs > slackMs) return `${order.id} was created ${expiredMs} ms after its entry had expired`;
  }
  return undefined;
}

/** Whether no entry rests any more that had expired by UTC ms. */
export function expiredAreCancelled(db: () => Database, plan: Pick<Plan, 'events'>, now: number): () => boolean {
  const latest = now - slackOf(plan);
  const resting = (): readonly string[] =>
    entriesIn(db()).flatMap(({ order, restsUntil }) =>
      order.state === 'open' && restsUntil < latest ? [order.id] : [],
    );
  const ids = new Set(resting());
  return () => ids.size === 0 || !resting().some((id) => ids.has(id));
}

function entriesIn(db: Database): readonly Entry[] {
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
      `SELECT client_order_id AS id, decision, strategy, symbol, side, price, created_at AS createdAt, state
       FROM orders WHERE type = 'LIMIT' AND purpose = 'enter'`,
    )
    .all() as OrderRow[];
  return orders.flatMap((order): Entry[] => {
    const signals = signalsOf(order);
    const row = signals.findLastIndex(({ decision }) => decision === order.decision);
    const target = signals[row]?.signal;
    if (target?.kind !== 'target' || target.limit === undefined) return [];
    const { limit, expiresAfterMs = Number.POSITIVE_INFINITY } = target;
    const endOf = (last: number): number => {
      let first = last;
      while (isSame(target, signals[first - 1]?.signal)) first--;
      return (signals[first]?.at ?? 0) + expiresAfterMs;
    };
    const newest = signals.length - 1;
    const restsUntil = isSame(target, signals[newest]?.signal) ? endOf(newest) : Number.POSITIVE_INFINITY;
    return [{ order, target: { ...target, limit }, expiresAt: endOf(row), restsUntil }];
  });
}
