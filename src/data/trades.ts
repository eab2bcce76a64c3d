/** Recorded public trades from a CSV file. */
import type { Side, Trade } from '../domain/market.ts';
import { shown } from '../domain/printable.ts';
import { Refusal } from '../domain/refusal.ts';
import { linesOf } from './bytes.ts';

const header = 'time_ms,price,qty,side';

/**
 * Reads trades with the header `time_ms,price,qty,side` (the taker's side), `.csv` or `.csv.gz`, in their order of time.
 * Identical rows are kept: venues print several equal trades in one millisecond. Throws a `Refusal` with the line number.
 */
export function loadTrades({ path, symbol }: { readonly path: string; readonly symbol: string }): readonly Trade[] {
  const refuse = (line: number, what: string): never => {
    throw new Refusal(`${path}, line ${line}: ${shown(what)}: correct the file or fetch it again`);
  };
  const lines = linesOf(path);
  const { value: first = '' } = lines.next();
  if (first.trim() !== header) refuse(1, `the columns are "${first.slice(0, 80)}", not "${header}"`);
  const trades: Trade[] = [];
  let [last, line] = [0, 1];
  for (const text of lines) {
    line++;
    const values = text.trim().split(',');
    const [time = Number.NaN, price = Number.NaN, quantity = Number.NaN] = values.slice(0, 3).map(numberFrom);
    const side = sides[(values[3] ?? '').toLowerCase()];
    if (values.length !== 4) return refuse(line, `${values.length} columns, not 4`);
    if (side === undefined) return refuse(line, `the side is "${(values[3] ?? '').slice(0, 40)}", not buy or sell`);
    if (!(Number.isSafeInteger(time) && price > 0 && quantity > 0))
      return refuse(line, `"${text.slice(0, 80)}" is no trade`);
    if (time < last) return refuse(line, `it is ${last - time} ms earlier than the line before`);
    last = time;
    trades.push({ symbol, time, price, quantity, side, seenAt: time });
  }
  return trades;
}

const sides: Readonly<Record<string, Side>> = { buy: 'BUY', sell: 'SELL' };

/** NaN for everything that is not plain decimal text. */
const numberFrom = (text: string): number => (/^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN);
