/** Finds an order by a part of its id. */
import { Refusal } from '../domain/refusal.ts';
import type { OrderEntryRow } from '../journal/entries.ts';
import type { JournalReader } from '../journal/reader.ts';

/** Orders that a refusal lists. */
const maxListed = 10;
/** The fewest characters that count as the end of an id: shorter ones match too many. */
const minEnd = 4;

/** The order with this id, ours or the exchange's, or the only one whose id begins or ends so. Refuses several. */
export function findOrder(reader: JournalReader, given: string): OrderEntryRow | undefined {
  // Lists shorten ids to their ends: `…abcd1234`.
  const id = given.replace(/^(…|\.\.\.)/, '');
  const ours = id.toLowerCase();
  const exact = reader.orders('client_order_id = ? OR order_id = ?', ours, id)[0];
  if (exact !== undefined || id === '') return exact;
  const matching = (like: (column: string) => string): readonly OrderEntryRow[] =>
    reader.orders(`${like('client_order_id')} OR ${like('order_id')} ORDER BY created_at DESC`, ours, ours, id, id);
  const beginning = id === given ? matching((column) => `substr(${column}, 1, length(?)) = ?`) : [];
  const isBeginning = beginning.length > 0 || id.length < minEnd;
  const found = isBeginning ? beginning : matching((column) => `substr(${column}, -length(?)) = ?`);
  if (found.length <= 1) return found[0];
  const more = found.length > maxListed ? [`  and ${found.length - maxListed} older ones`] : [];
  throw new Refusal(
    [
      `${found.length} orders have an id that ${isBeginning ? 'begins' : 'ends'} with ${id}; give more characters:`,
      ...found.slice(0, maxListed).map((order) => `  ${orderLine(order)}`),
      ...more,
    ].join('\n'),
  );
}

function orderLine({ clientOrderId, orderId, createdAt, side, symbol, strategy, state }: OrderEntryRow): string {
  const time = new Date(createdAt).toISOString().slice(0, 23).replace('T', ' ');
  return `${clientOrderId}  ${orderId ?? 'no exchange id'}  ${time}  ${strategy}: ${side} ${symbol}, ${state}`;
}
