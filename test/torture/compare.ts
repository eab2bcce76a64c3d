/** The exchange's ledger and the journal's, when nothing is under way: order by order, fill by fill, balance by balance. */

import { surplus } from '../../src/commands/demo/compare-ledgers.ts';
import { instrument } from '../../src/domain/instrument.ts';
import { lots, negate, noUnits, plus, ticks, type Units, units, unitsText } from '../../src/domain/money.ts';
import { isClosed } from '../../src/domain/order.ts';
import { movementOf } from '../../src/domain/position.ts';
import type { FillEntry, KillEntry, OrderEntryRow } from '../../src/journal/entries.ts';
import type { HeldPosition } from '../../src/journal/reader.ts';
import type { FillRow, OrderRow } from '../../src/simulator/simulator.ts';
import { type Rig, trader } from '../kit/rig.ts';
import type { Arrival, Truth } from './exchange-words.ts';

/** What the journal says. */
export interface Books {
  readonly orders: readonly OrderEntryRow[];
  readonly fills: readonly FillEntry[];
  readonly positions: readonly HeldPosition[];
  readonly halts: readonly KillEntry[];
}

export const booksOf = (rig: Rig): Books =>
  rig.read((reader) => ({
    orders: reader.orders(),
    fills: reader.fills(),
    positions: reader.positions(),
    halts: reader.halts(),
  }));

const repeated = (list: readonly string[]): string[] => [...new Set(surplus(list, [...new Set(list)]))];

const theirFill = (fill: FillRow): string =>
  `${fill.tradeId} ${fill.orderId} ${fill.clientOrderId} ${fill.symbol} ${fill.side} ${fill.qty} at ${fill.price} fee ${fill.fee} ${fill.feeAsset} ${fill.time}`;
const ourFill = (fill: FillEntry): string =>
  `${fill.tradeId} ${fill.orderId} ${fill.clientOrderId} ${fill.symbol} ${fill.side} ${fill.quantity} at ${fill.price} fee ${fill.fee} ${fill.feeAsset} ${fill.time}`;

/** Each order of the exchange has one intent and each intent at most one order, alike in all that was asked for. */
function orderDifferences({ orders: theirs }: Truth, { orders: ours }: Books, lost: ReadonlySet<string>): string[] {
  const intents = new Map(ours.map((order) => [order.clientOrderId, order]));
  const there = new Map(theirs.map((order) => [order.clientOrderId, order]));
  return [
    ...repeated(theirs.map(({ clientOrderId }) => clientOrderId)).map((id) => `sent twice: ${id}`),
    ...theirs.flatMap((order) => {
      const intent = intents.get(order.clientOrderId);
      if (intent === undefined && lost.has(order.clientOrderId)) return [];
      return intent === undefined ? [`order without an intent: ${order.clientOrderId}`] : endDifferences(order, intent);
    }),
    ...ours
      .filter(({ clientOrderId, orderId }) => orderId !== null && !there.has(clientOrderId))
      .map(
        ({ clientOrderId, orderId }) =>
          `intent ${clientOrderId} is bound to ${orderId}, which the exchange does not know`,
      ),
  ];
}

const asked = (order: Pick<OrderRow, 'symbol' | 'side' | 'type' | 'orderId'>): string =>
  `${order.orderId} ${order.symbol.toUpperCase()} ${order.side} ${order.type}`;

/** How the exchange calls an order that the journal calls so. */
const endings: Readonly<Partial<Record<OrderEntryRow['state'], readonly OrderRow['status'][]>>> = {
  filled: ['FILLED'],
  canceled: ['CANCELED'],
  rejected: ['REJECTED'],
  open: ['NEW', 'PARTIALLY_FILLED'],
};

/** Proven to be without effect and to come: it may have been there and be gone again, unseen (row 25). */
const wentUnseen = ({ state, orderId }: OrderEntryRow, { status, executed }: OrderRow): boolean =>
  state === 'absent' && orderId === null && units(executed) === 0n && ['CANCELED', 'REJECTED'].includes(status);

/** What is left of the amount of a MARKET BUY buys nothing more: some call that filled and some canceled. */
const isSpentMarket = ({ type, status }: OrderRow, { state }: OrderEntryRow): boolean =>
  type === 'MARKET' && status === 'FILLED' && state === 'canceled';

function endDifferences(order: OrderRow, intent: OrderEntryRow): string[] {
  if (wentUnseen(intent, order)) return [];
  const { clientOrderId: id, state, filled } = intent;
  const here = asked({ ...intent, orderId: intent.orderId ?? 'no order' });
  const wrong: string[] = [];
  if (here !== asked(order)) wrong.push(`order ${id} is ${here} here and ${asked(order)} there`);
  if (endings[state]?.includes(order.status) !== true && !isSpentMarket(order, intent))
    wrong.push(`order ${id} is ${state} here and ${order.status} there`);
  if (units(filled) !== units(order.executed))
    wrong.push(`order ${id} filled ${filled} here and ${order.executed} there`);
  return wrong;
}

const fillDifferences = ({ fills: theirs }: Truth, { fills: ours }: Books): string[] => [
  ...surplus(theirs.map(theirFill), ours.map(ourFill)).map((line) => `missing fill: ${line}`),
  ...surplus(ours.map(ourFill), theirs.map(theirFill)).map((line) => `fill too many: ${line}`),
];

/** What the account began with and our rows moved, against what it holds; and positions against the same rows. */
function balanceDifferences({ balances }: Truth, { fills, positions }: Books): string[] {
  const shapes = new Map(positions.map(({ symbol, instrument: shape }) => [symbol, instrument(shape)]));
  const expected = new Map(Object.entries(trader.balances).map(([asset, amount]) => [asset, units(amount)]));
  const add = (asset: string, amount: Units): void =>
    void expected.set(asset, plus(expected.get(asset) ?? noUnits, amount));
  for (const fill of fills) {
    const at = shapes.get(fill.symbol);
    if (at === undefined) return [`no position and no instrument of ${fill.symbol}, which was traded`];
    const moved = movementOf(
      { ...fill, price: ticks(fill.price, at), quantity: lots(fill.quantity, at), fee: units(fill.fee) },
      at,
    );
    add(at.base, moved.base);
    add(at.quote, moved.quote);
  }
  const held = new Map<string, Units>();
  for (const {
    instrument: { base },
    position,
  } of positions)
    held.set(base, plus(held.get(base) ?? noUnits, position.base));
  return [...new Set([...expected.keys(), ...Object.keys(balances)])].flatMap((asset) => {
    const there = plus(units(balances[asset]?.free ?? '0'), units(balances[asset]?.locked ?? '0'));
    const here = expected.get(asset) ?? noUnits;
    const positioned = held.get(asset) ?? here;
    return [
      ...(here === there ? [] : [`balance of ${asset}: ${unitsText(here)} here, ${unitsText(there)} there`]),
      ...(positioned === here
        ? []
        : [`positions hold ${unitsText(plus(positioned, negate(here)))} ${asset} more than their fills moved`]),
    ];
  });
}

/** Nothing left that the journal did not know, and nothing twice, whatever became of it there. */
function sendDifferences(arrivals: readonly Arrival[], { orders }: Books, lost: ReadonlySet<string>): string[] {
  const ids = arrivals.filter(({ what }) => what === 'create').map(({ clientOrderId }) => clientOrderId);
  const known = new Set([...lost, ...orders.map(({ clientOrderId }) => clientOrderId)]);
  return [
    ...ids
      .filter((id) => !known.has(id))
      .map((id) => `a create left that is not in the journal: ${id || 'no client id'}`),
    ...repeated(ids).map((id) => `a create left twice: ${id}`),
  ];
}

/**
 * Every difference, in words; none when the ledgers are equal. To be asked when nothing is under way. `lost`: orders whose intents
 * were taken away with a journal that was replaced by an older one; what they did is still compared.
 */
export const differences = (
  truth: Truth,
  books: Books,
  arrivals: readonly Arrival[],
  lost: ReadonlySet<string>,
  expectedHalts: ReadonlySet<string> = new Set(),
): readonly string[] => [
  ...(truth.unsound === undefined ? [] : [`the exchange's own ledger is wrong: ${truth.unsound}`]),
  ...orderDifferences(truth, books, lost),
  ...fillDifferences(truth, books),
  ...balanceDifferences(truth, books),
  ...sendDifferences(arrivals, books, lost),
  ...books.orders
    .filter(({ state }) => !isClosed(state))
    .map(({ clientOrderId, state }) => `order ${clientOrderId} is ${state} at rest`),
  ...books.halts.filter(({ by }) => !expectedHalts.has(by)).map(({ by, reason }) => `halted by ${by}: ${reason}`),
];
