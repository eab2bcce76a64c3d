/** Recorded public trades from a CSV file that a configuration names. */
import type { Trade } from '../domain/market.ts';
import { escapeLine } from '../domain/printable.ts';
import { Refusal } from '../domain/refusal.ts';
import { addRows } from './check/add-rows.ts';
import { refuseEmpty, refuseNamed, refuseUnits } from './check/errors.ts';
import { TradeChecks } from './check/trades.ts';
import { numberFrom } from './import/csv-rows.ts';
import { type Lines, linesOf } from './read-bytes.ts';
import type { TradeColumns } from './tape.ts';

const header = 'time_ms,price,qty,side';
/** Behind the header. */
const firstLine = 2;

/**
 * Reads trades with the header `time_ms,price,qty,side` (the taker's side), `.csv` or `.csv.gz`, in their order of time.
 * Identical rows are kept: venues print several equal trades in one millisecond. Throws a `Refusal` with the line number for a line
 * that cannot be read, and for all that stands against an import.
 */
export function readTrades(path: string): { readonly columns: TradeColumns } & Pick<Lines, 'ended'> {
  const refuse = (line: number, what: string): never => {
    throw new Refusal(`${path}, line ${line}: ${escapeLine(what)}: correct the file or fetch it again`);
  };
  const { lines, ended } = linesOf(path);
  const { value: first = '' } = lines.next();
  if (first.trim() !== header) refuse(1, `the columns are "${first.slice(0, 80)}", not "${header}"`);
  const rows: [time: number[], price: number[], quantity: number[], side: number[]] = [[], [], [], []];
  let line = firstLine;
  for (const text of lines) {
    const values = text.trim().split(',');
    if (values.length !== 4) refuse(line, `${values.length} columns, not 4`);
    const [time = Number.NaN, price = Number.NaN, quantity = Number.NaN] = values.slice(0, 3).map(numberFrom);
    const side = sides[(values[3] ?? '').toLowerCase()];
    if (side === undefined) return refuse(line, `the side is "${(values[3] ?? '').slice(0, 40)}", not buy or sell`);
    if (Number.isNaN(time + price + quantity)) refuse(line, `"${text.slice(0, 80)}" is not a trade`);
    for (const [at, value] of [time, price, quantity, side].entries()) rows[at]?.push(value);
    line++;
  }
  const [time, price, quantity, side] = rows.map((column) => Float64Array.from(column)) as Columns;
  refuseEmpty(path, time.length);
  refuseUnits(path, time, firstLine);
  const checks = new TradeChecks();
  addRows(checks, [time, price, quantity, side], firstLine);
  refuseNamed(path, checks.findings(), time.length);
  return { columns: { time, price, quantity, side }, ended };
}

type Columns = [time: Float64Array, price: Float64Array, quantity: Float64Array, side: Float64Array];

/** The same, one by one. */
export function loadTrades({ path, symbol }: { readonly path: string; readonly symbol: string }): readonly Trade[] {
  const { time: times, price, quantity, side } = readTrades(path).columns;
  return Array.from(times, (time, row) => ({
    symbol,
    time,
    price: price[row] as number,
    quantity: quantity[row] as number,
    side: side[row] === 1 ? 'BUY' : 'SELL',
    seenAt: time,
  }));
}

const sides: Readonly<Record<string, number>> = { buy: 1, sell: -1 };
