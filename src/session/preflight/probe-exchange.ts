/** Probes the quirks of an exchange by queries and tests of an order, for the doctor and a daemon's first start. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machineWall, pause, type ScaledClock } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { type Lots, lotsFor, max, plus, ticksOf } from '../../domain/money.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { journalFile } from '../../journal/open.ts';
import type { RestCapabilities } from '../../venue/exchange/capabilities.ts';
import type { Exchange, SampleOrder } from '../../venue/exchange/exchange.ts';
import type { SessionOptions } from '../options.ts';
import { inJournal } from '../state.ts';
import { isProbeDue, rememberCapabilities } from './capabilities-file.ts';

/** `mayTest`: the key was accepted, so an order can be tested. `echoTestOrderId`: see `Exchange.probe`. */
export async function probe(
  x: Exchange,
  at: Instrument,
  mayTest: boolean,
  echoTestOrderId: string | undefined,
): Promise<RestCapabilities> {
  return x.probe(at.symbol, mayTest ? await sampleOrder(x, at) : undefined, echoTestOrderId);
}

/** The exchange's id of the newest order that the journal of a state directory sent to a venue with a client id: not in a batch. */
export function echoTestOrderId(stateDir: string, venue: string, { symbol }: Instrument): string | undefined {
  if (!existsSync(join(stateDir, journalFile))) return undefined;
  try {
    return inJournal(stateDir, (reader) => {
      if (reader.meta.get('venue') !== venue) return undefined;
      const orders = reader.orders('order_id IS NOT NULL AND symbol = ? ORDER BY created_at DESC', symbol);
      return orders.find(({ batch }) => batch === null)?.orderId ?? undefined;
    });
  } catch (error) {
    // The doctor says elsewhere that its journal cannot be read, and no daemon begins on it.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** A small purchase far below the market; undefined where there is no price. */
async function sampleOrder({ market }: Exchange, at: Instrument): Promise<SampleOrder | undefined> {
  const depth = await market.depth(at.symbol, 5);
  const best = depth.kind === 'ok' ? (depth.value.bids[0]?.[0] ?? depth.value.asks[0]?.[0]) : undefined;
  const price = ticksOf((best ?? 0) / 2, at, 'down');
  if (price <= 0n) return undefined;
  const least = plus(lotsFor(at.minNotional, price, at), 1n as Lots);
  const volume = { lots: max(at.minQuantity, least) };
  const clientOrderId = 'sluicetest';
  return { order: { symbol: at.symbol, side: 'BUY', type: 'LIMIT', volume, price, clientOrderId }, at };
}

/** What was found in a few words, for a log; what stayed unknown is left out. */
export function foundText({ recvWindow, cancel, ...rest }: RestCapabilities): string {
  const facts: readonly (readonly [string, string])[] = [
    ['errors under HTTP', rest.errorStatus],
    ['codes as', rest.errorCode],
    ['lists', rest.lists],
    ['klines', rest.klines],
    ['order test', rest.orderTest],
    ['client ids shown', rest.clientIdEchoed],
    ['queried by client id', rest.queryByClientId],
    ['time window', recvWindow],
    ['cancels', cancel],
  ];
  return facts
    .filter(([, value]) => value !== 'unknown')
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** Real ms that a start waits for what it would like to know; some fourteen requests, of weight 30. */
const patienceMs = 15_000;

/**
 * Probes the exchange at the first start, and at later ones until an order has shown that client ids are returned. Never fails: results
 * that do not arrive in time stay unknown.
 */
export async function probeOnce(
  { stateDir, venueName, log }: Pick<SessionOptions, 'stateDir' | 'venueName' | 'log'>,
  exchange: Exchange,
  at: Instrument,
  clock: ScaledClock,
): Promise<void> {
  if (!isProbeDue(stateDir, venueName)) return;
  const late = new AbortController();
  try {
    const asking = probe(exchange, at, true, echoTestOrderId(stateDir, venueName, at));
    const found = await Promise.race([asking, pause(clock, clock.machine(patienceMs), late.signal)]);
    if (found === undefined) return log.warn({}, 'the exchange was too slow for the probe; the next start repeats it');
    rememberCapabilities(stateDir, venueName, machineWall(), { rest: found });
    log.info({ found }, `probed the exchange: ${foundText(found) || 'nothing'}`);
  } catch (error) {
    log.warn({ error: causeOf(error) }, 'the exchange could not be probed');
  } finally {
    late.abort();
  }
}
