/** The timeline of an order, of a decision, or of what was denied to a strategy: for `sluice why` and the dashboard. */
import { readClientOrderId } from '../../domain/ids.ts';
import { instrument } from '../../domain/instrument.ts';
import { type AloneTimes, mainRole } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { approvalText, denialText } from '../../domain/words.ts';
import type { EventEntry, InstrumentEntry, OrderEntryRow, SignalEntry } from '../../journal/entries.ts';
import { type JournalReader, openToRead } from '../../journal/reader.ts';
import type { Denied } from '../../journal/rows.ts';
import { aloneMemory } from '../../portfolio/legs-alone.ts';
import { signalText, speedName } from '../../trading/format.ts';
import { findOrder } from '../find-order.ts';
import { type StoppedStrategy, stoppedIn } from '../strategies/stopped-strategies.ts';

/** The number of a decision, and its role where the strategy names one. */
export const decisionText = ({ decision, role }: Pick<OrderEntryRow, 'decision' | 'role'>): string =>
  role === mainRole ? `${decision}` : `${decision} ${role}`;

/** Legs of strategies that were open alone, as of the last change. */
export const aloneIn = (reader: JournalReader): readonly AloneTimes[] =>
  (JSON.parse(reader.memories().get(aloneMemory) ?? '[]') as readonly AloneTimes[]).filter(
    ({ since, longestMs }) => since !== null || longestMs > 0,
  );

/** One line of a timeline; `at` in UTC ms. */
export interface Step {
  readonly at: number;
  readonly event: string;
  readonly detail: string;
}

const stamp = (at: number): string => new Date(at).toISOString().slice(11, 23);
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The events of the journal in words. */
const meanings: Readonly<Record<EventEntry['event'], string>> = {
  approved: 'verdict: approved, exposure reserved',
  waited: 'waited for request weight',
  sending: 'journalled, then sent',
  accepted: 'answer: accepted',
  rejected: 'answer: rejected by the exchange',
  notSent: 'not sent',
  unknown: 'OUTCOME UNKNOWN: it may or may not have taken effect',
  resolving: 'queried at the exchange',
  found: 'found at the exchange',
  notFound: 'not found by two complete sweeps; stays unknown',
  absent: 'ABSENT: proven that it did not take effect',
  quarantined: 'QUARANTINED: its outcome cannot be proven',
  contradicted: 'an answer contradicts the exchange; the exchange counts',
  resolved: 'resolved by hand',
  cancelAsked: 'cancelled by hand',
  cancelSent: 'cancel requested',
  cancelAnswer: 'answer to the cancel',
  closing: 'final at the exchange',
  closed: 'closed',
};

function detailText({ event, detail, at }: Pick<EventEntry, 'event' | 'detail' | 'at'>): string {
  if (event === 'approved') return approvalText(detail);
  const text = listed(detail, at);
  if (event !== 'closing' || detail['status'] !== 'REJECTED') return text;
  return `${text}: the exchange refused it after all, as it does a market order with nobody to trade with`;
}

/** Times with their day, unless it is that of `at`. */
const listed = (detail: EventEntry['detail'], at: number): string =>
  Object.entries(detail)
    .map(([name, value]) => {
      if (typeof value !== 'number' || value <= 1e12) return `${name} ${String(value)}`;
      return `${name} ${day(value) === day(at) ? '' : `${day(value)} `}${stamp(value)}`;
    })
    .join(', ');

function signalSteps(signal: SignalEntry, entry: Omit<InstrumentEntry, 'kind'> | undefined): Step[] {
  const text = entry === undefined ? JSON.stringify(signal.signal) : signalText(signal.signal, instrument(entry));
  const event = `signal of ${signal.strategy}, decision ${decisionText(signal)}`;
  const steps = [{ at: signal.at, event, detail: `${text}; because ${signal.signal.reason}` }];
  if (signal.memory !== null) steps.push({ at: signal.at, event: 'memory', detail: signal.memory });
  return steps;
}

function orderSteps(reader: JournalReader, order: OrderEntryRow, dir: string): readonly Step[] {
  const signal = reader.signalBefore(order.strategy, order.symbol, order.createdAt);
  const before = signal === undefined ? [] : signalSteps(signal, instrumentIn(dir, order.symbol));
  return inOrder([...before, ...ownSteps(reader, order, dir)]);
}

/** From the plan of an order to its end, without the signal that asked for it. */
function ownSteps(reader: JournalReader, order: OrderEntryRow, dir: string): Step[] {
  const quote = (): string => instrumentIn(dir, order.symbol)?.quote ?? 'of its quote asset';
  const size =
    order.quantity === null ? `${order.symbol} for ${order.amount} ${quote()}` : `${order.quantity} ${order.symbol}`;
  const steps: Step[] = [
    {
      at: order.createdAt,
      event: 'planned',
      detail: `${order.side} ${size} at ${order.price ?? 'market'} (${order.purpose}; ${order.reason})`,
    },
  ];
  const events = reader.events(order.clientOrderId);
  // An order is journalled as sent before it is.
  const left = events.every(({ event }) => event !== 'notSent');
  for (const event of events) {
    const what = event.event === 'sending' && !left ? 'journalled' : meanings[event.event];
    steps.push({ at: event.at, event: what, detail: detailText(event) });
  }
  steps.push(...fillSteps(reader, order.clientOrderId));
  if (order.orderId !== null)
    steps.push(...evidenceSteps(reader, order.orderId), ...quarantinedSteps(reader, order.orderId));
  return steps;
}

const fillSteps = (reader: JournalReader, clientOrderId: string): readonly Step[] =>
  reader.fillsOf(clientOrderId).map((fill) => ({
    at: fill.time,
    event: 'fill',
    detail: `${fill.quantity} at ${fill.price}, fee ${fill.fee} ${fill.feeAsset}, ${fill.maker ? 'maker' : 'taker'}, trade ${fill.tradeId}`,
  }));

function rowIn(dir: string, sql: string, ...values: readonly string[]): unknown {
  const { db } = openToRead(dir);
  try {
    return db.prepare(sql).get(...values);
  } finally {
    db.close();
  }
}

const instrumentIn = (dir: string, symbol: string) =>
  rowIn(
    dir,
    'SELECT symbol, base, quote, price_precision AS pricePrecision, quantity_precision AS quantityPrecision FROM instruments WHERE symbol = ?',
    symbol,
  ) as Omit<InstrumentEntry, 'kind'> | undefined;

/** An order of ours without a row: its time is missing in this restored journal. */
function lostIn(dir: string, subject: string, idKey: string) {
  const found = rowIn(
    dir,
    `SELECT lower(client_order_id) AS clientOrderId, order_id AS orderId FROM
       (SELECT client_order_id, order_id FROM venue_orders UNION SELECT client_order_id, order_id FROM fills)
     WHERE client_order_id IS NOT NULL AND (lower(client_order_id) = lower(?) OR order_id = ?)`,
    subject,
    subject,
  ) as { readonly clientOrderId: string; readonly orderId: string } | undefined;
  const isOurs = found !== undefined && readClientOrderId(found.clientOrderId, Buffer.from(idKey, 'hex')) !== undefined;
  return isOurs ? found : undefined;
}

function evidenceSteps(reader: JournalReader, orderId: string): Step[] {
  const { orders, trades } = reader.evidence(orderId);
  return [
    ...orders.map(({ seenAt, clientOrderId, side, type, status, executed }) => ({
      at: seenAt,
      event: 'evidence',
      detail: `the exchange reported: order ${orderId}, client id ${clientOrderId ?? '(none)'}, ${type} ${side}, ${status}, ${executed} executed`,
    })),
    ...trades.map(({ seenAt, tradeId, side, price, quantity }) => ({
      at: seenAt,
      event: 'evidence',
      detail: `the exchange showed trade ${tradeId}: ${side} ${quantity} at ${price}`,
    })),
  ];
}

const decisions = {
  accepted: 'quarantined trade accepted',
  discarded: 'quarantined trade discarded',
  corrected: 'quarantined trade corrected',
} as const;

/** Quarantined trades of an order, with their decisions. */
const quarantinedSteps = (reader: JournalReader, orderId: string): Step[] =>
  reader
    .quarantinedTrades()
    .filter(({ orderIds }) => orderIds.includes(orderId))
    .flatMap(({ at, tradeId, why, raw, decision, decidedAt, by, reason }) => [
      { at, event: 'QUARANTINED trade, not booked', detail: `trade ${tradeId}: ${why}; as shown: ${raw}` },
      ...(decision === null || decidedAt === null
        ? []
        : [{ at: decidedAt, event: decisions[decision], detail: `trade ${tradeId}, by ${by}: ${reason}` }]),
    ]);

function deniedSteps(denied: Denied, speed: number): Step[] {
  const { at, lastAt, strategy, draft, reason, code, times } = denied;
  const verdict = `verdict: DENIED by ${code}${times > 1 ? ` (${times} times)` : ''}`;
  return [
    { at, event: `signal of ${strategy}`, detail: `planned ${draft}; because ${reason}` },
    { at: lastAt, event: verdict, detail: denialText(denied, speed) },
  ];
}

const stoppedStep = ({ at, error }: StoppedStrategy): Step => ({
  at,
  event: 'STOPPED after an error; starts again with the daemon',
  detail: error,
});

/** Denied signals that are shown. */
const maxDenials = 20;

export interface Timeline {
  /** Of a timeline of an order. */
  readonly order: OrderEntryRow | undefined;
  /** Of an order of ours without a row: its time is missing in this restored journal. */
  readonly lost: { readonly clientOrderId: string; readonly orderId: string } | undefined;
  readonly alone: readonly AloneTimes[];
  readonly steps: readonly Step[];
}

/**
 * `subject`: a strategy's id, for its last denied signals; or an order's id, or its beginning or end. Refuses what the journal in `dir` does not
 * know.
 */
export function timelineOf(reader: JournalReader, dir: string, subject: string): Timeline {
  if (subject.trim() === '') throw new Refusal('name an order or a strategy: sluice orders lists the orders');
  const isStrategy = reader.strategies().includes(subject);
  const denials = reader.denials(maxDenials, subject);
  const order = denials.length === 0 ? findOrder(reader, subject) : undefined;
  const lost =
    order === undefined && denials.length === 0 && !isStrategy
      ? lostIn(dir, subject, reader.meta.get('idKey') ?? '')
      : undefined;
  const stopped = isStrategy ? stoppedIn(reader).filter(({ strategy }) => strategy === subject) : [];
  const alone = isStrategy ? aloneIn(reader).filter(({ strategy }) => strategy === subject) : [];
  if (order === undefined && lost === undefined && [denials, stopped, alone].every(({ length }) => length === 0)) {
    if (isStrategy) throw new Refusal(`no signal of ${subject} was denied: sluice orders lists its orders`);
    throw new Refusal(
      `no order in this journal has the id ${subject}, or an id that begins or ends so, and no strategy of that name has denied signals: sluice orders lists the orders`,
    );
  }
  const speed = speedOf(reader);
  const steps =
    lost !== undefined
      ? inOrder([...fillSteps(reader, lost.clientOrderId), ...evidenceSteps(reader, lost.orderId)])
      : order === undefined
        ? [...denials.toReversed().flatMap((denied) => deniedSteps(denied, speed)), ...stopped.map(stoppedStep)]
        : orderSteps(reader, order, dir);
  return { order, lost, alone, steps };
}

const speedOf = (reader: JournalReader): number => Number(reader.memories().get(speedName) ?? 1);
const inOrder = (steps: readonly Step[]): readonly Step[] => steps.toSorted((a, b) => a.at - b.at);

/** Orders of one decision whose steps are shown. */
const maxOrders = 10;

/** What became of the signal in force at a time: its orders with their steps, and the denials until the next signal. Empty without a signal. */
export function decisionTimeline(
  reader: JournalReader,
  dir: string,
  { strategy, symbol, at }: { readonly strategy: string; readonly symbol: string; readonly at: number },
): readonly Step[] {
  const signal = reader.signalBefore(strategy, symbol, at);
  if (signal === undefined) return [];
  const next = reader.signalAfter(strategy, symbol, at);
  const orders = reader.orders(
    'strategy = ? AND symbol = ? AND decision = ? ORDER BY created_at LIMIT ?',
    ...[strategy, symbol, signal.decision, maxOrders],
  );
  const denied = reader
    .denials(maxDenials, strategy)
    .filter((one) => one.symbol === symbol && one.at >= signal.at && one.at < (next?.at ?? Number.POSITIVE_INFINITY));
  const speed = speedOf(reader);
  return [
    ...signalSteps(signal, instrumentIn(dir, symbol)),
    ...inOrder([
      ...orders.flatMap((order) => ownSteps(reader, order, dir)),
      ...denied.flatMap((one) => deniedSteps(one, speed)),
    ]),
  ];
}
