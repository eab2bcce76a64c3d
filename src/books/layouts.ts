/** The layouts in which fills are exported: our own, and those of two tax programs. Amounts are exact decimal text. */
import { Decimal } from '../domain/money.ts';
import { Refusal } from '../domain/refusal.ts';
import type { FillEntry, InstrumentEntry } from '../journal/entries.ts';
import type { LayoutName } from './names.ts';

/** `decimal` is text here, and a number with 18 decimals in Parquet. */
export interface Column {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'decimal';
}
export type Value = string | number | null;

export interface Layout {
  readonly columns: readonly Column[];
  readonly rowOf: (fill: FillEntry, listed: Pick<InstrumentEntry, 'base' | 'quote'>) => readonly Value[];
}

const texts = (...names: readonly string[]): readonly Column[] => names.map((name) => ({ name, type: 'text' }));
const decimals = (...names: readonly string[]): readonly Column[] => names.map((name) => ({ name, type: 'decimal' }));

/** What was received and sent, without the fee: the balances change by received − sent − fee. */
function exchanged(fill: FillEntry, { base, quote }: Pick<InstrumentEntry, 'base' | 'quote'>) {
  const bought = { amount: new Decimal(fill.quantity).toFixed(), asset: base };
  const paid = { amount: new Decimal(fill.quantity).times(fill.price).toFixed(), asset: quote };
  if (new Decimal(fill.fee).isNegative() && !new Decimal(fill.fee).isZero())
    throw new Refusal(
      `trade ${fill.tradeId} has a negative fee (${fill.fee} ${fill.feeAsset}), which this layout cannot say: use sluice export fills`,
      1,
    );
  const fee = new Decimal(fill.fee).isZero()
    ? { amount: '', asset: '' }
    : { amount: new Decimal(fill.fee).toFixed(), asset: fill.feeAsset };
  return fill.side === 'BUY' ? { received: bought, sent: paid, fee } : { received: paid, sent: bought, fee };
}

/** `2026-01-31 23:59:59`. */
const seconds = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

const own: Layout = {
  columns: [
    ...texts('time', 'strategy', 'symbol', 'side'),
    ...decimals('quantity'),
    ...texts('base'),
    ...decimals('price', 'amount'),
    ...texts('quote'),
    ...decimals('fee'),
    ...texts('fee_asset', 'liquidity', 'purpose', 'account', 'trade_id', 'order_id', 'client_order_id'),
  ],
  rowOf: (fill, { base, quote }) => [
    ...[new Date(fill.time).toISOString(), fill.strategy, fill.symbol, fill.side, fill.quantity, base, fill.price],
    ...[new Decimal(fill.quantity).times(fill.price).toFixed(), quote, fill.fee, fill.feeAsset],
    ...[fill.maker ? 'maker' : 'taker', fill.purpose, fill.account, fill.tradeId, fill.orderId, fill.clientOrderId],
  ],
};

/** Koinly's universal template. */
const koinly: Layout = {
  columns: [
    ...texts('Date', 'Sent Amount', 'Sent Currency', 'Received Amount', 'Received Currency', 'Fee Amount'),
    ...texts('Fee Currency', 'Net Worth Amount', 'Net Worth Currency', 'Label', 'Description', 'TxHash'),
  ],
  rowOf(fill, listed) {
    const { received, sent, fee } = exchanged(fill, listed);
    return [
      ...[`${seconds(fill.time)} UTC`, sent.amount, sent.asset, received.amount, received.asset, fee.amount, fee.asset],
      ...['', '', '', `${fill.strategy} ${fill.side} ${fill.symbol}, order ${fill.orderId}`, fill.tradeId],
    ];
  },
};

/** CoinTracker's template: exactly these columns, and dates as in the United States, in UTC. */
const cointracker: Layout = {
  columns: [
    ...texts('Date', 'Received Quantity', 'Received Currency', 'Sent Quantity', 'Sent Currency', 'Fee Amount'),
    ...texts('Fee Currency', 'Tag'),
  ],
  rowOf(fill, listed) {
    const { received, sent, fee } = exchanged(fill, listed);
    const [date = '', time = ''] = seconds(fill.time).split(' ');
    const [year, month, day] = date.split('-');
    return [
      ...[`${month}/${day}/${year} ${time}`, received.amount, received.asset, sent.amount, sent.asset],
      ...[fee.amount, fee.asset, ''],
    ];
  },
};

export const layouts = { fills: own, koinly, cointracker } as const satisfies Record<LayoutName, unknown>;

/** The rows of fills within a time, oldest first; trades of one moment in the order in which they were booked. */
export function* rowsOf(
  layout: Layout,
  fills: readonly FillEntry[],
  instruments: readonly InstrumentEntry[],
  { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number },
): Iterable<readonly Value[]> {
  const known = new Map(instruments.map((one) => [one.symbol, one]));
  const within = fills.filter(({ time }) => time >= from && time < to).sort((a, b) => a.time - b.time);
  for (const fill of within) {
    const listed = known.get(fill.symbol);
    if (listed === undefined)
      throw new Refusal(
        `the journal has fills of ${fill.symbol}, but its table instruments has no row for this symbol`,
        3,
      );
    yield layout.rowOf(fill, listed);
  }
}
