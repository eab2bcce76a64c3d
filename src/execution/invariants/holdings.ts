/** What the account should hold by a journal alone: the daemon's ledger, worked out again from rows (I6). */
import type { Side } from '../../domain/market.ts';
import { Decimal } from '../../domain/money.ts';
import type { FillEntry } from '../../journal/entries.ts';
import type { View } from './view.ts';

/** One side of a trade, as it moves what the account holds. */
export type Leg = Pick<FillEntry, 'symbol' | 'side' | 'price' | 'quantity' | 'fee' | 'feeAsset'>;

/**
 * By asset, of what was known at `until` (UTC ms), or now, and of trades `beyond` it; undefined where it was never written down what the
 * account held at first.
 */
export function holdings(
  view: View,
  until = Number.POSITIVE_INFINITY,
  beyond: readonly Leg[] = [],
): ReadonlyMap<string, Decimal> | undefined {
  const { all } = view;
  const said = all<{ at: number; what: string; asset: string; amount: string }>(
    'SELECT at, what, asset, amount FROM adjustments',
  ).filter(({ at }) => at <= until);
  if (!said.some(({ what }) => what === 'baseline')) return undefined;
  const held = new Map<string, Decimal>();
  const move = (asset: string, amount: Decimal): void =>
    void held.set(asset, (held.get(asset) ?? new Decimal(0)).plus(amount));
  for (const { asset, amount } of said) move(asset, new Decimal(amount));
  const instruments = all<{ symbol: string; base: string; quote: string }>(
    'SELECT symbol, base, quote FROM instruments',
  );
  const assetsOf = new Map(instruments.map((row) => [row.symbol, row]));
  for (const { symbol, side, price, quantity, fee, feeAsset } of [
    ...fillsBy(view, until),
    ...foreignLegs(view, until),
    ...beyond,
  ]) {
    const at = assetsOf.get(symbol);
    const base = new Decimal(quantity).times(side === 'BUY' ? 1 : -1);
    if (at !== undefined) move(at.base, base);
    if (at !== undefined) move(at.quote, base.times(price).negated());
    move(feeAsset, new Decimal(fee).negated());
  }
  return held;
}

/** A fill counts from when its trade was shown. */
function fillsBy({ fills, all }: View, until: number): readonly Leg[] {
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

interface TradeRow extends Leg {
  readonly seenAt: number;
  readonly tradeId: string;
  /** JSON. */
  readonly orderIds: string;
}

const opposite = (side: Side): Side => (side === 'BUY' ? 'SELL' : 'BUY');

/** The sides of trades that were not ours, each once; a row tells the fee of its own side only. What has a fill is ours, with a row or without. */
function* foreignLegs({ orders, fills, all }: View, until: number): Iterable<Leg> {
  const sideOf = new Map([...fills, ...orders].map(({ orderId, side }): [string, Side] => [orderId ?? '', side]));
  const rows = all<TradeRow>(
    'SELECT symbol, trade_id AS tradeId, order_ids AS orderIds, side, price, quantity, fee, fee_asset AS feeAsset, seen_at AS seenAt FROM venue_trades',
  );
  const legs = new Map<string, Leg>();
  for (const row of rows) {
    if (row.seenAt > until) continue;
    const ids = JSON.parse(row.orderIds) as readonly string[];
    for (const [index, id] of ids.entries()) {
      if (sideOf.has(id)) continue;
      const mate = sideOf.get(ids[1 - index] ?? '');
      const own = mate === undefined ? (index === 0 ? 'BUY' : 'SELL') : opposite(mate);
      const side = ids.length === 1 ? row.side : own;
      const key = `${row.symbol}|${row.tradeId}|${id}`;
      if (side === row.side) legs.set(key, row);
      else if (!legs.has(key)) legs.set(key, { ...row, side, fee: '0' });
    }
  }
  yield* legs.values();
}
