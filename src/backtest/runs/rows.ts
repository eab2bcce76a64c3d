/** Fills, orders, equity and stops of a run as CSV files. */

import type { Instrument } from '../../domain/instrument.ts';
import { priceText, quantityText, unitsText } from '../../domain/money.ts';
import type { Fill, Signal } from '../../domain/order.ts';
import { onlyTakeProfit, type TargetOptions } from '../../domain/target-options.ts';
import type { FillEntry } from '../../journal/entries.ts';
import { restoreFill } from '../../journal/fill-entries.ts';
import { readOrders } from '../../journal/rows.ts';
import { cellText, csvRows, csvText } from '../../report/csv.ts';
import type { StopLevel } from '../../report/input.ts';
import type { Curve } from '../../research/curves.ts';
import type { RunResult } from '../run.ts';

const fillHead = [
  ...(['time', 'strategy', 'symbol', 'side', 'price', 'quantity', 'fee', 'feeAsset', 'maker', 'purpose'] as const),
  ...(['tradeId', 'orderId', 'clientOrderId', 'account', 'evidence'] as const),
] as const;

/** Lines that are joined to one piece of text: single lines would take more memory. */
const piece = 1_024;

/**
 * The file in pieces: as one text it would be in memory twice. Each line is written out instead of using `csvText`, since runs have a
 * hundred thousand fills.
 */
export function fillsCsv(fills: Iterable<Fill>, instruments: ReadonlyMap<string, Instrument>): readonly string[] {
  const pieces: string[] = [];
  let lines = [fillHead.join(',')];
  const cells = new Map<string, string>();
  for (const fill of fills) {
    const at = instruments.get(fill.symbol) as Instrument;
    const { time, strategy, symbol, side, feeAsset, maker, purpose, tradeId, orderId, clientOrderId, account } = fill;
    const price = priceText(fill.price, at);
    const quantity = quantityText(fill.quantity, at);
    lines.push(
      `${time},${strategy},${symbol},${side},${price},${quantity},${unitsText(fill.fee)},${feeAsset},${maker},${purpose},${tradeId},${orderId},${clientOrderId},${account},${evidenceCell(fill, cells)}`,
    );
    if (lines.length < piece) continue;
    pieces.push(`${lines.join('\n')}\n`);
    lines = [];
  }
  if (lines.length > 0) pieces.push(`${lines.join('\n')}\n`);
  return pieces;
}

/** Most evidence is a rule and nothing else: each such cell is made once. */
function evidenceCell({ evidence }: Fill, cells: Map<string, string>): string {
  if (evidence === undefined) return '';
  let isPlain = true;
  for (const name in evidence) if (name !== 'rule') isPlain = false;
  const known = isPlain ? cells.get(evidence.rule) : undefined;
  if (known !== undefined) return known;
  const cell = cellText(JSON.stringify(evidence));
  if (isPlain) cells.set(evidence.rule, cell);
  return cell;
}

export function readFillsCsv(text: string, instruments: ReadonlyMap<string, Instrument>): readonly Fill[] {
  return csvRows(text).flatMap((row) => {
    const at = instruments.get(row['symbol'] ?? '');
    if (at === undefined) return [];
    const { time, maker, evidence, ...texts } = row as Record<(typeof fillHead)[number], string>;
    const values = { kind: 'fill', maker: maker === 'true', time: Number(time), evidence: evidence || null };
    const entry = { ...texts, ...values } as FillEntry;
    return [restoreFill(entry, at)];
  });
}

const curveHead = ['time', 'equity', 'buyAndHold', 'drawdown', 'exposure'] as const;

/** Twelve digits hide the rounding of sums (49999.99999999999). */
const rounded = (column: Float64Array, row: number): number => Number((column[row] as number).toPrecision(12));

const mapCurve = <T>(make: (name: Exclude<keyof Curve, 'time'>) => T) => ({
  ...{ equity: make('equity'), buyAndHold: make('buyAndHold'), drawdown: make('drawdown'), exposure: make('exposure') },
});

export const equityCsv = ({ time, ...columns }: Curve): string =>
  csvText(
    curveHead,
    Array.from(time, (at, row) => ({ time: at, ...mapCurve((name) => rounded(columns[name], row)) })),
  );

export function readEquityCsv(text: string): Curve {
  const rows = csvRows(text);
  const column = (name: keyof Curve): Float64Array => Float64Array.from(rows, (row) => Number(row[name]));
  return { time: column('time'), ...mapCurve(column) };
}

const orderHead = [
  ...(['createdAt', 'strategy', 'symbol', 'side', 'type', 'quantity', 'amount', 'price', 'purpose', 'state'] as const),
  ...(['filled', 'closedAt', 'reason', 'clientOrderId', 'orderId', 'account', 'expected', 'venueStatus'] as const),
] as const;

export const ordersCsv = (journal: ReturnType<RunResult['journal']>): string =>
  csvText(orderHead, readOrders(journal, '1 ORDER BY created_at, client_order_id'));

const stopHead = ['time', 'strategy', 'symbol', 'stop', 'takeProfit', 'trailing', 'breakEven'] as const;
const levelNames = ['stop', 'takeProfit', 'trailing', 'breakEven'] as const;

/** A price or a fraction is a number; what is measured from the entry is JSON. */
export const stopsCsv = (stops: readonly StopLevel[]): string =>
  csvText(
    stopHead,
    stops.map(({ time, strategy, symbol, stop, takeProfit, trailing, breakEven }) => ({
      ...{ time, strategy, symbol, stop: cellOf(stop), takeProfit: cellOf(takeProfit), trailing: cellOf(trailing) },
      breakEven: cellOf(breakEven),
    })),
  );

const cellOf = (level: StopLevel[(typeof levelNames)[number]]): string | number | null =>
  typeof level === 'object' && level !== null ? JSON.stringify(level) : (level ?? null);

export const readStopsCsv = (text: string): readonly StopLevel[] =>
  csvRows(text).map((row) => {
    const { strategy = '', symbol = '', time } = row;
    const levels = Object.fromEntries(
      levelNames.map((name) => [name, row[name] ? (JSON.parse(row[name]) as unknown) : null]),
    ) as Pick<StopLevel, (typeof levelNames)[number]>;
    return { time: Number(time), strategy, symbol, ...levels };
  });

const noLevels = JSON.stringify({ stop: null, takeProfit: null, trailing: null, breakEven: null });

/** The stops and take-profits of targets as they change; a row of nulls ends them. */
export function stopsOf(journal: ReturnType<RunResult['journal']>): readonly StopLevel[] {
  const rows = journal.prepare('SELECT at, strategy, symbol, signal FROM signals ORDER BY at, seq').all() as {
    at: number;
    strategy: string;
    symbol: string;
    signal: string;
  }[];
  const last = new Map<string, string>();
  return rows.flatMap(({ at, strategy, symbol, signal: text }) => {
    const signal = JSON.parse(text) as Signal;
    const exits: TargetOptions = signal.kind === 'target' ? signal : {};
    const { stop = null, trailing = null, breakEven = null } = exits;
    const row = { stop, takeProfit: onlyTakeProfit(exits) ?? null, trailing, breakEven };
    const key = `${strategy} ${symbol}`;
    const now = JSON.stringify(row);
    const before = last.get(key) ?? noLevels;
    last.set(key, now);
    return now === before ? [] : [{ time: at, strategy, symbol, ...row }];
  });
}
