/** Compares the journal with the exchange's true state at the end of a demo, to the last decimal. */

import got from 'got';
import { z } from 'zod';
import { Decimal } from '../../domain/money.ts';
import { isClosed } from '../../domain/order.ts';
import { counted } from '../../domain/words.ts';
import { holdings } from '../../execution/invariants/holdings.ts';
import { type View, viewOf } from '../../execution/invariants/view.ts';
import { openToRead } from '../../journal/reader.ts';

const truth = z.object({
  balances: z.object({ spot: z.record(z.string(), z.object({ free: z.string(), locked: z.string() })) }),
  fills: z.array(
    z.object({
      tradeId: z.string(),
      orderId: z.string(),
      clientOrderId: z.string(),
      symbol: z.string(),
      side: z.enum(['BUY', 'SELL']),
      price: z.string(),
      qty: z.string(),
      fee: z.string(),
      feeAsset: z.string(),
      time: z.number(),
    }),
  ),
});
type Truth = z.infer<typeof truth>;

/** Compares the journal in `dir` with the built-in exchange's own data of `uid`, after trading has ended. */
export async function compareLedgers(dir: string, controlUrl: string, uid: string) {
  const there = truth.parse(await got(`${controlUrl}/users/${uid}`, { retry: { limit: 0 } }).json());
  const { db } = openToRead(dir);
  try {
    const view = viewOf(db);
    const unseen = unseenOf(there, view);
    return {
      orders: view.orders.length,
      fills: view.fills.length,
      /** Orders whose end nobody knows yet: the next start asks. */
      unsettled: view.orders.filter(({ state }) => !isClosed(state)).length,
      /** Trades of people on the same account that the daemon had not seen when it was stopped: the next start books them. */
      unseen: unseen.length,
      /** In words; none where the books agree. */
      differences: [...fillDifferences(there, view), ...balanceDifferences(there, view, unseen)],
    };
  } finally {
    db.close();
  }
}

type LedgerComparison = Awaited<ReturnType<typeof compareLedgers>>;

type Fill = Truth['fills'][number];
type Row = Pick<Fill, 'tradeId' | 'clientOrderId' | 'symbol' | 'side' | 'price' | 'fee' | 'feeAsset' | 'time'>;
/** The same text for the same amount, whatever zeros it ends with. */
const plain = (amount: string): string => new Decimal(amount).toFixed();
const fillText = (fill: Row, quantity: string): string =>
  `${fill.tradeId} of ${fill.clientOrderId}: ${fill.side} ${plain(quantity)} ${fill.symbol} at ${plain(fill.price)}, fee ${plain(fill.fee)} ${fill.feeAsset}, ${fill.time}`;

function fillDifferences({ fills: theirs }: Truth, { fills: ours, orders }: View): string[] {
  const known = new Set(orders.map(({ clientOrderId }) => clientOrderId));
  // The others are of people who trade on the account by hand.
  const there = theirs.filter(({ clientOrderId }) => known.has(clientOrderId)).map((fill) => fillText(fill, fill.qty));
  const here = ours.map((fill) => fillText(fill, fill.quantity));
  return [
    ...surplus(there, here).map((fill) => `the journal lacks fill ${fill}`),
    ...surplus(here, there).map((fill) => `the exchange has no fill ${fill}`),
  ];
}

/** What there is more of on one side than on the other. */
export function surplus(of: readonly string[], over: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const one of over) counts.set(one, (counts.get(one) ?? 0) + 1);
  return of.filter((one) => {
    const left = counts.get(one) ?? 0;
    counts.set(one, left - 1);
    return left <= 0;
  });
}

function unseenOf({ fills }: Truth, { orders, all }: View): readonly Fill[] {
  const known = new Set(orders.map(({ clientOrderId }) => clientOrderId));
  const seen = new Set(all<{ id: string }>('SELECT trade_id AS id FROM venue_trades').map(({ id }) => id));
  return fills.filter(({ clientOrderId, tradeId }) => !known.has(clientOrderId) && !seen.has(tradeId));
}

function balanceDifferences({ balances: { spot } }: Truth, view: View, unseen: readonly Fill[]): string[] {
  const expected = holdings(
    view,
    undefined,
    unseen.map((fill) => ({ ...fill, quantity: fill.qty })),
  );
  if (expected === undefined) return ['the journal has no first balances'];
  return [...new Set([...expected.keys(), ...Object.keys(spot)])].flatMap((asset) => {
    const { free = '0', locked = '0' } = spot[asset] ?? {};
    const there = new Decimal(free).plus(locked);
    const here = expected.get(asset) ?? new Decimal(0);
    return here.equals(there)
      ? []
      : [
          `${asset}: ${here.toFixed()} by the journal, ${there.toFixed()} at the exchange, ${there.minus(here).toFixed()} more`,
        ];
  });
}

/** A line or more for the end of a demo. */
export function comparisonText({ orders, fills, unsettled, unseen, differences }: LedgerComparison): string {
  const people =
    unseen === 0
      ? ''
      : `; ${unseen} ${unseen === 1 ? 'trade' : 'trades'} by hand came too late; the next start books ${unseen === 1 ? 'it' : 'them'}`;
  const open =
    unsettled === 0
      ? ''
      : `; the outcome of ${counted(unsettled, 'order')} is not known yet; the next start queries the exchange`;
  return differences.length === 0
    ? `the ledgers agree: ${counted(orders, 'order')}, ${counted(fills, 'fill')} and every balance are the exchange's, to the last decimal${open}${people}`
    : `the ledgers differ${open}${people}:\n${differences.map((line) => `  ${line}`).join('\n')}`;
}
