/**
 * Checks that the exchange is the one of the state directory. A built-in exchange that was reset is another one at the same address. The
 * configured speed must match its clock: otherwise every age and every window is wrong.
 */
import type { ScaledClock } from '../../clock/clock.ts';
import type { VenueTrade } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Past } from '../../journal/past-orders.ts';
import type { Exchange } from '../../venue/exchange/exchange.ts';
import { paceText } from '../../venue/exchange/rest/sync-time.ts';
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
 * Refuses (exit 3) an exchange that cannot have the journal's fills: its time is before the newest fill, or, for its own fills (`orders`),
 * it does not list that fill. Such an exchange restarts its ids, so new fills would count as known.
 */
export async function refuseAnotherExchange(
  { past }: { readonly past: Pick<Past, 'newestFills'> },
  reaching: ConnectOptions,
  orders: Pick<OrderEntry, 'tradesSince'> | undefined,
  stateDir: string,
): Promise<void> {
  const { url, clock } = reaching;
  const [newest] = past
    .newestFills(newestRows)
    .toReversed()
    .sort((a, b) => b.time - a.time);
  if (newest === undefined) return;
  const advice = `the exchange was reset (sluice simulator --fresh), or it is another one. Start the exchange that ${stateDir} belongs to, or give another directory with --state DIR`;
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
  const isThere = ({ tradeId, orderIds }: Pick<VenueTrade, 'tradeId' | 'orderIds'>): boolean =>
    tradeId === newest.tradeId && (orderIds.length === 0 || orderIds.includes(newest.orderId));
  if (listed?.rows.some(isThere) === false)
    throw new Refusal(
      `the exchange at ${url} does not know the newest fill in ${stateDir} (trade ${newest.tradeId} of order ${newest.orderId}): ${advice}`,
      3,
    );
}

/** Real ms between readings. The second is only needed after a wrong speed, and long enough to measure it. */
const betweenMs = [250, 1_000] as const;
/** What counts as another pace. A reading cannot be wrong by as much, however long its round trip was: at most by half of that. */
const [slowest, fastest] = [0.5, 1.5];

/** To be called once the time was read; refuses an exchange whose clock runs at another speed. One whose clock steps is none. */
export async function refuseOtherSpeed(exchange: Exchange, clock: ScaledClock, url: string): Promise<void> {
  await refuseMeasuredSpeed(exchange, clock, url);
  let pace = 1;
  for (const waitMs of betweenMs) {
    const readAt = clock.monotonic();
    await clock.sleep(clock.machine(waitMs));
    const answer = await exchange.syncTime();
    await refuseMeasuredSpeed(exchange, clock, url);
    if (answer.kind === 'failed') return;
    pace = 1 + answer.value.offsetMs / (clock.monotonic() - readAt);
    if (pace > slowest && pace < fastest) return;
  }
  throw otherSpeed((await measured(exchange, clock)) ?? pace * clock.speed, clock, url);
}

/** The same where readings have shown it already, as they do where the clock runs many times as fast. */
export async function refuseMeasuredSpeed(exchange: Exchange, clock: ScaledClock, url: string): Promise<void> {
  const rough = exchange.time.pace();
  if (rough !== undefined) throw otherSpeed((await measured(exchange, clock)) ?? rough, clock, url);
}

/** Over a second, for two digits; readings in quick succession give hardly one. */
async function measured({ market }: Exchange, clock: ScaledClock): Promise<number | undefined> {
  const read = async () => {
    const before = clock.monotonic();
    const answer = await market.time();
    return answer.kind === 'ok' ? { time: answer.value, at: (before + clock.monotonic()) / 2 } : undefined;
  };
  const first = await read();
  await clock.sleep(clock.machine(1_000));
  const last = await read();
  if (first === undefined || last === undefined) return undefined;
  return ((last.time - first.time) / (last.at - first.at)) * clock.speed;
}

const otherSpeed = (pace: number, { speed }: ScaledClock, url: string): Refusal =>
  new Refusal(`${url}: ${paceText(pace, speed)}`);
