/** A state directory belongs to one exchange. A built-in exchange that began anew is another one at the same address. */
import { Refusal } from '../../domain/refusal.ts';
import type { FillEntry } from '../../journal/entries.ts';
import type { Past } from '../../journal/past-orders.ts';
import { type OrderEntry, ok } from '../../venue/venue.ts';
import { type ConnectOptions, queryUntilAnswered } from './connect.ts';

/** How far our idea of the exchange's time may be off, real ms. */
const clockErrorMs = 5_000;
/** A trade this young is certainly still listed: exchanges forget old ones after months. */
const surelyListedMs = 86_400_000;

/** The id before a trade's: some exchanges list from `fromId` on, others what comes after it. */
const before = (tradeId: string): string => (/^[1-9]\d*$/.test(tradeId) ? String(BigInt(tradeId) - 1n) : tradeId);

/** Rows to search for the newest fill: a fill that was shown late comes after newer ones. */
const newestRows = 1_000;

/**
 * Refuses (exit 3) an exchange that cannot be the one whose fills are in the journal: its time lies before the newest of them,
 * or, where the fills are its own (`orders`), it does not list that one. Ids would begin anew there, and fills that count as
 * known would be passed over.
 */
export async function refuseAnotherExchange(
  { past }: { readonly past: Pick<Past, 'newestFills'> },
  reaching: ConnectOptions,
  orders: Pick<OrderEntry, 'tradesSince'> | undefined,
  stateDir: string,
): Promise<void> {
  const { url, clock } = reaching;
  const newest = past
    .newestFills(newestRows)
    .reduce<FillEntry | undefined>(
      (last, fill) => (last === undefined || fill.time >= last.time ? fill : last),
      undefined,
    );
  if (newest === undefined) return;
  const advice = `it began anew (sluice simulator --fresh), or it is another one. Start the exchange that ${stateDir} belongs to, or give another directory with --state DIR`;
  const iso = (time: number): string => new Date(time).toISOString();
  if (newest.time > clock.now() + clock.machine(clockErrorMs))
    throw new Refusal(
      `at the exchange at ${url} it is ${iso(clock.now())}, before the newest fill in ${stateDir} (${iso(newest.time)}): ${advice}`,
      3,
    );
  if (orders === undefined || clock.now() - newest.time > surelyListedMs) return;
  const listed = await queryUntilAnswered(reaching, `trade ${newest.tradeId}`, async () => {
    const answer = await orders.tradesSince(newest.symbol, before(newest.tradeId));
    // A refusal, as of a symbol that is not traded any more, says nothing about the trade.
    return answer.kind === 'failed' && answer.code !== undefined ? ok(undefined) : answer;
  });
  const isThere = ({
    tradeId,
    orderIds,
  }: {
    readonly tradeId: string;
    readonly orderIds: readonly string[];
  }): boolean => tradeId === newest.tradeId && (orderIds.length === 0 || orderIds.includes(newest.orderId));
  if (listed?.rows.some(isThere) === false)
    throw new Refusal(
      `the exchange at ${url} does not know the newest fill in ${stateDir} (trade ${newest.tradeId} of order ${newest.orderId}): ${advice}`,
      3,
    );
}
