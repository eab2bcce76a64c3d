/** `sluice orders`, `fills` and `positions`. */

import { instrument } from '../../domain/instrument.ts';
import { Decimal, unitsNumber, unitsText } from '../../domain/money.ts';
import type { TargetOptions } from '../../domain/target-options.ts';
import { moment, roundedMoney } from '../../domain/words.ts';
import type { OrderEntryRow } from '../../journal/entries.ts';
import type { HeldPosition, JournalReader } from '../../journal/reader.ts';
import { decisionText } from '../../session/history/timeline.ts';
import { type UnprotectedRow, unprotectedMemory } from '../../session/watch/unprotected-time.ts';
import { textTable } from '../../terminal/table.ts';
import { exitTexts, fillJson, isDust, shortId } from '../../trading/format.ts';
import { type ShowOptions, withState } from './read-state.ts';

function print<T>(
  { json, out }: ShowOptions,
  rows: readonly T[],
  jsonOf: (row: T) => object,
  head: readonly string[],
  cellsOf: (row: T) => readonly string[],
  empty: string,
): void {
  if (json) for (const row of rows) out(JSON.stringify(jsonOf(row)));
  else out(textTable(head, rows.map(cellsOf), empty));
}

const fillHead = ['time (UTC)', 'strategy', 'symbol', 'side', 'quantity', 'price', 'fee', 'liquidity', 'trade id'];

export const showFills = (options: ShowOptions): void =>
  withState(options, (reader) =>
    print(
      options,
      reader.fills(),
      fillJson,
      fillHead,
      ({ time, strategy, symbol, side, quantity, price, fee, feeAsset, maker, tradeId }) => [
        ...[moment(time), strategy, symbol, side, quantity, price, `${fee} ${feeAsset}`],
        ...[maker ? 'maker' : 'taker', tradeId],
      ],
      'no fills yet',
    ),
  );

/** One order as `orders --json` prints it (docs/reference/json.md). */
export const orderJson = ({ expected, executed, filled, venueStatus, tradeFloor, ...order }: OrderEntryRow) => ({
  ...order,
  kind: undefined,
  expectedQuantity: expected,
  filledQuantity: filled,
  exchangeQuantity: executed,
  exchangeStatus: venueStatus,
  lastTradeIdBefore: tradeFloor,
});

/** Orders with the sums of their fills: the row of an order is written when its state changes, not with each fill. */
function ordersOf(reader: JournalReader): readonly OrderEntryRow[] {
  const filled = new Map<string, Decimal>();
  for (const { clientOrderId, quantity } of reader.fills())
    filled.set(clientOrderId, (filled.get(clientOrderId) ?? new Decimal(0)).plus(quantity));
  return reader.orders().map((order) => ({ ...order, filled: filled.get(order.clientOrderId)?.toFixed() ?? '0' }));
}

const orderHead = ['created (UTC)', 'strategy', 'decision', 'symbol', 'side', 'quantity', 'price', 'filled', 'state'];

export const showOrders = (options: ShowOptions): void =>
  withState(options, (reader) =>
    print(
      options,
      ordersOf(reader),
      orderJson,
      [...orderHead, 'order'],
      (order) => [
        ...[moment(order.createdAt), order.strategy, decisionText(order), order.symbol, order.side],
        ...[order.quantity ?? `for ${order.amount}`, order.price ?? 'market', order.filled, order.state],
        shortId(order.clientOrderId),
      ],
      'no orders yet',
    ),
  );

/** A position as `positions --json` prints it (docs/reference/json.md). */
function positionJson({ strategy, symbol, instrument: entry, position, protection }: HeldPosition) {
  const at = instrument(entry);
  const { base, cost, realised, fees } = position;
  const entryPrice = base === 0n ? null : (unitsNumber(cost) / unitsNumber(base)).toFixed(at.pricePrecision + 2);
  return {
    ...{ strategy, symbol, quantity: unitsText(base), isDust: isDust(position, at), baseAsset: at.base, entryPrice },
    ...{ realised: unitsText(realised), fees: unitsText(fees), quoteAsset: at.quote },
    protection: protectionJson(protection),
  };
}

function protectionJson(protection: HeldPosition['protection']): object | null {
  if (protection === undefined) return null;
  const { size, taken, best, leftSize, leftWhy, ...levels } = protection;
  return {
    target: size,
    ...levels,
    bestPrice: best,
    soldByTakeProfit: taken,
    exitedTarget: leftSize,
    exitReason: leftWhy,
  };
}

export const showPositions = (options: ShowOptions): void =>
  withState(options, (reader, { running }) => {
    const rows = reader.positions().map((held) => ({ row: positionJson(held), exits: exitsText(held) }));
    print(
      options,
      rows,
      ({ row }) => row,
      ['strategy', 'symbol', 'quantity', 'entry', 'realised', 'fees', 'protection'],
      ({ row, exits }) => [
        ...[row.strategy, row.symbol, row.isDust ? `0 (dust ${row.quantity})` : row.quantity],
        row.isDust ? '' : (row.entryPrice ?? ''),
        ...[row.realised, row.fees].map((amount) => `${roundedMoney(amount)} ${row.quoteAsset}`),
        row.isDust ? '' : exits,
      ],
      'no positions yet',
    );
    if (!options.json && running === undefined && rows.some(({ row, exits }) => !row.isDust && exits !== ''))
      options.out('The protection works only while a daemon runs, and none runs here.');
    if (options.json || running === undefined) return;
    for (const { strategy, symbol, since } of unprotectedIn(reader))
      if (since !== null && rows.some(({ row }) => row.strategy === strategy && row.symbol === symbol && !row.isDust))
        options.out(
          `The position of ${strategy} on ${symbol} is unprotected since ${moment(since)} UTC: its exits cannot act now.`,
        );
  });

/** How long positions were unprotected, as the daemon wrote it down. */
export const unprotectedIn = (reader: JournalReader) =>
  (JSON.parse(reader.memories().get(unprotectedMemory) ?? '[]') as readonly UnprotectedRow[]).map(
    ([strategy, symbol, longestMs, since, longestAt = null]) => ({ strategy, symbol, longestMs, since, longestAt }),
  );

/** The exits of a position that wait for prices. */
export function exitsText({ protection = {} }: Pick<HeldPosition, 'protection'>): string {
  const { relative, exitAt } = protection;
  return [
    ...['stop', 'takeProfit', 'trailing']
      .filter((name) => name in protection)
      .map((name) => `${name} ${protection[name]}`),
    ...exitTexts({
      ...(relative === undefined ? {} : (JSON.parse(relative) as TargetOptions)),
      ...(exitAt !== undefined && { exitAt }),
    }),
  ].join(', ');
}
