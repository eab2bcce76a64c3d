/**
 * Sells all positions at the last close if the rules say so (`closeAtEnd`), in every engine. This is an assumption about the end, not
 * trading: it ignores limits and the kline's volume, and its evidence says so.
 */
import type { Instrument } from '../../domain/instrument.ts';
import { closeTime } from '../../domain/interval.ts';
import type { Side } from '../../domain/market.ts';
import {
  absolute,
  baseUnits,
  type Lots,
  lotsIn,
  minus,
  noLots,
  notional,
  noUnits,
  plus,
  priceFor,
  ticksOf,
  type Units,
  worsened,
  worth,
} from '../../domain/money.ts';
import { type Fill, mainRole } from '../../domain/order.ts';
import { orderRow } from '../../execution/records.ts';
import { feeOf, ratesOf, Turnover } from '../../fill/fees.ts';
import { fillRow } from '../../journal/fill-entries.ts';
import { writer } from '../../journal/writer.ts';
import type { WorkingOrder } from '../../portfolio/portfolio.ts';
import { fillTable } from '../../research/fill-table.ts';
import { type RunInput, type RunResult, type RunSeries, spanOf } from '../run.ts';
import { lifeMs } from './klines/order-column.ts';

/** A position after the last fill. */
interface Held {
  readonly last: Fill;
  base: Units;
}

/** The result with these sales, or as it is: by rules that leave positions open, and of a run that ended before its time. */
export function closedAtEnd(input: RunInput, result: RunResult): RunResult {
  if (!input.rules.closeAtEnd || result.endedAt !== undefined) return result;
  const { fills, fillAt: _, ...others } = result;
  let finalEquity = result.finalEquity;
  let all = fills;
  const sales: Fill[] = [];
  for (const held of heldAfter(fills, input)) {
    const sale = saleOf(held, input, fills, sales.length);
    if (sale === undefined) continue;
    const { fill, markedAt, fee } = sale;
    sales.push(fill);
    // Bought back, a short position costs what a long one brings.
    const gain = minus(notional(fill.price, fill.quantity, instrumentOf(input, fill)), markedAt);
    finalEquity = minus(fill.side === 'SELL' ? plus(finalEquity, gain) : minus(finalEquity, gain), fee);
    all = all.toSpliced(all.findLastIndex(({ time }) => time <= fill.time) + 1, 0, fill);
  }
  const asked = result.asked();
  const journal = (): ReturnType<RunResult['journal']> => written(result.journal(), sales, input);
  return {
    ...others,
    fills: all,
    table: () => fillTable(all, input.instruments),
    finalEquity,
    asked: () => asked,
    journal,
  };
}

const instrumentOf = ({ instruments }: RunInput, { symbol }: Pick<Fill, 'symbol'>): Instrument => {
  const at = instruments.get(symbol);
  if (at === undefined) throw new Error(`${symbol} was traded and has no instrument`);
  return at;
};

function heldAfter(fills: readonly Fill[], input: RunInput): readonly Held[] {
  const held = new Map<string, Held>();
  for (const fill of fills) {
    const at = instrumentOf(input, fill);
    const key = `${fill.strategy} ${fill.symbol}`;
    const base = held.get(key)?.base ?? noUnits;
    const moved = baseUnits(fill.quantity, at);
    const after = fill.side === 'BUY' ? plus(base, moved) : minus(base, moved);
    held.set(key, { last: fill, base: fill.feeAsset === at.base ? minus(after, fill.fee) : after });
  }
  return [...held.values()];
}

/** Nothing where what is left is less than the exchange takes. */
function saleOf(
  { last, base }: Held,
  input: RunInput,
  fills: readonly Fill[],
  index: number,
): { readonly fill: Fill; readonly markedAt: Units; readonly fee: Units } | undefined {
  const { strategy, account, symbol } = last;
  const at = instrumentOf(input, last);
  const series = input.series.find((one) => one.symbol === symbol) as RunSeries;
  const close = series.columns.close[series.end - 1] as number;
  const time = closeTime(series.interval, series.columns.openTime[series.end - 1] as number);
  const side: Side = base > 0n ? 'SELL' : 'BUY';
  const price = worsened(side, priceFor(side, close, at), input.rules.halfSpread);
  const quantity: Lots = lotsIn(absolute(base), at);
  if (quantity === noLots || quantity < at.minQuantity || notional(price, quantity, at) < at.minNotional)
    return undefined;
  const traded = new Turnover();
  for (const fill of fills) traded.add(fill.time, notional(fill.price, fill.quantity, instrumentOf(input, fill)));
  const rates = ratesOf(input.fees, symbol, traded.before(time));
  // After every id of the run in the order of text.
  const id = `e${String(index).padStart(9, '0')}`;
  const fill: Fill = {
    ...{ tradeId: id, orderId: id, clientOrderId: id },
    ...{ strategy, account, symbol, side, price, quantity, time },
    ...feeOf({ side, price, quantity, maker: false }, rates, input.rules.feeIn, at),
    maker: false,
    purpose: 'exit',
    evidence: { rule: 'end-of-run' },
  };
  const mark = ticksOf(close, at, 'down');
  // Who buys back pays it in what was bought, and is short of it again by so much.
  const fee = fill.feeAsset === at.base ? worth(fill.fee, mark, at) : fill.fee;
  return { fill, markedAt: notional(mark, quantity, at), fee };
}

/** The journal with the sales; what still rested is over. Asked twice, one that is kept open has them already. */
function written(db: ReturnType<RunResult['journal']>, sales: readonly Fill[], input: RunInput): typeof db {
  db.prepare("UPDATE orders SET state = 'canceled', closed_at = ? WHERE closed_at IS NULL").run(
    spanOf(input.series).end,
  );
  const known = db.prepare('SELECT 1 FROM orders WHERE client_order_id = ?');
  if (sales.some(({ clientOrderId }) => known.get(clientOrderId) !== undefined)) return db;
  // The rows of a run are of the first opening: those after it are counted above them.
  writer(
    db,
    1,
  )(
    sales.flatMap((fill) => {
      const at = instrumentOf(input, fill);
      return [orderRow(orderOf(fill), at, fill.time), fillRow(fill, at)];
    }),
  );
  return db;
}

const orderOf = ({ clientOrderId, orderId, strategy, account, symbol, side, quantity, time }: Fill): WorkingOrder => ({
  intent: {
    ...{ clientOrderId, decision: 0, strategy, role: mainRole, account, symbol, side, type: 'MARKET' },
    volume: { lots: quantity },
    ...{ expectedLots: quantity, createdAt: time, expiresAt: time + lifeMs, purpose: 'exit', reason: 'the run ends' },
  },
  ...{ state: 'filled', orderId, filled: quantity, executed: quantity, venueStatus: 'FILLED', cancelRequested: false },
  ...{ spent: noUnits, signedAt: undefined, recvWindowMs: undefined, bodyHash: undefined },
  ...{ tradeFloor: undefined, quarantineReason: undefined, batch: undefined },
});
