/** The expected balances from the journal alone: the daemon's ledger, calculated again from rows (I6). */
import { opposite, type Side } from '../../domain/market.ts';
import { Decimal } from '../../domain/money.ts';
import type { FillEntry } from '../../journal/entries.ts';
import { readRows } from '../../journal/rows.ts';
import type { View } from './view.ts';

/** One side of a trade. */
export type TradeSide = Pick<FillEntry, 'symbol' | 'side' | 'price' | 'quantity' | 'fee' | 'feeAsset'>;

/**
 * The holdings by asset, of everything known at `until` (UTC ms; default: now) and of trades `beyond` the journal. Undefined if the first
 * balances were never journalled.
 */
export function holdings(
  view: View,
  until = Number.POSITIVE_INFINITY,
  beyond: readonly TradeSide[] = [],
): ReadonlyMap<string, Decimal> | undefined {
  const adjustments = readRows(view.db, 'adjustment', 'WHERE at <= ?', until);
  if (!adjustments.some(({ what }) => what === 'baseline')) return undefined;
  const held = new Map<string, Decimal>();
  const move = (asset: string, amount: Decimal): void =>
    void held.set(asset, (held.get(asset) ?? new Decimal(0)).plus(amount));
  for (const { asset, amount } of adjustments) move(asset, new Decimal(amount));
  const instruments = new Map(readRows(view.db, 'instrument', '').map((row) => [row.symbol, row]));
  for (const { symbol, side, price, quantity, fee, feeAsset } of [
    ...fillsBy(view, until),
    ...foreignSides(view, until),
    ...beyond,
  ]) {
    const instrument = instruments.get(symbol);
    const base = new Decimal(quantity).times(side === 'BUY' ? 1 : -1);
    if (instrument !== undefined) move(instrument.base, base);
    if (instrument !== undefined) move(instrument.quote, base.times(price).negated());
    move(feeAsset, new Decimal(fee).negated());
  }
  return held;
}

/** Fills whose trades were shown by `until`. */
function fillsBy({ fills, all }: View, until: number): readonly TradeSide[] {
  if (until === Number.POSITIVE_INFINITY) return fills;
  const late = new Set(
    all<{ name: string; at: number }>(
      `SELECT trade_id || '|' || one.value AS name, min(seen_at) AS at FROM venue_trades, json_each(order_ids) AS one GROUP BY 1`,
    )
      .filter(({ at }) => at > until)
      .map(({ name }) => name),
  );
  return fills.filter(({ tradeId, orderId }) => !late.has(`${tradeId}|${orderId}`));
}

/** The foreign sides of trades, each once. A row has the fee of its own side only. A side with a fill is ours, also without an order row. */
function* foreignSides({ db, orders, fills }: View, until: number): Iterable<TradeSide> {
  const sideOf = new Map([...fills, ...orders].map(({ orderId, side }): [string, Side] => [orderId ?? '', side]));
  const sides = new Map<string, TradeSide>();
  for (const row of readRows(db, 'venueTrade', 'WHERE seen_at <= ?', until)) {
    const ids = row.orderIds;
    for (const [index, id] of ids.entries()) {
      if (sideOf.has(id)) continue;
      const mate = sideOf.get(ids[1 - index] ?? '');
      const own = mate === undefined ? (index === 0 ? 'BUY' : 'SELL') : opposite(mate);
      const side = ids.length === 1 ? row.side : own;
      const key = `${row.symbol}|${row.tradeId}|${id}`;
      if (side === row.side) sides.set(key, row);
      else if (!sides.has(key)) sides.set(key, { ...row, side, fee: '0' });
    }
  }
  yield* sides.values();
}
