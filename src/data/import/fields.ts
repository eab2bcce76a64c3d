/** Which column is which: by the names in the header, or, without one, by the number of columns and what is in them. */

import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Kind } from '../catalogue/kinds.ts';
import { SwappedColumns } from '../check/swapped-columns.ts';
import { numberFrom } from './csv-rows.ts';
import { columnNamed, refuseTwice, timeOfTrade, volumeOfBase } from './file-names.ts';
import type { Told } from './layout.ts';

export interface FieldPlaces {
  readonly kind: Kind;
  readonly about: string;
  readonly time: number;
  /** Column by name (`open`, `price`, `makerBuys`, …). */
  readonly values: Readonly<Record<string, number>>;
  readonly symbol?: number;
  readonly source?: string;
  readonly endStamps: boolean;
  readonly notes: readonly string[];
}

const klineFields = ['open', 'high', 'low', 'close'] as const;

/** By a header, or by the names the user gave; a `Refusal` where these do not tell. */
export function fieldsOf(header: readonly string[], told: Told, path: string): FieldPlaces {
  const fields = fieldsNamed(header, told, path);
  refuseTwice(path, header, [fields.time, ...Object.values(fields.values)]);
  return fields;
}

function fieldsNamed(header: readonly string[], told: Told, path: string): FieldPlaces {
  const at = (field: Parameters<typeof columnNamed>[1]): number => columnNamed(header, field);
  const names = header.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ''));
  const hasKlines = klineFields.every((field) => at(field) >= 0);
  const hasTrades = at('price') >= 0 && at('quantity') >= 0;
  const kind = told.kind ?? (hasKlines ? 'klines' : hasTrades ? 'trades' : undefined);
  const ends = at('time') < 0 && names.includes('closetime');
  const named = kind === 'trades' ? timeOfTrade(header) : at('time');
  const time = ends ? names.indexOf('closetime') : named;
  const missing = [
    ...(time < 0 ? ['time'] : []),
    ...(kind === 'klines' ? klineFields.filter((field) => at(field) < 0) : []),
    ...(kind === 'klines' && volumeOfBase(header, told.symbol) < 0 ? ['volume'] : []),
    ...(kind === 'trades' ? (['price', 'quantity'] as const).filter((field) => at(field) < 0) : []),
    ...(kind === 'trades' && at('side') < 0 && at('makerBuys') < 0 ? ['side'] : []),
  ];
  const among = `among "${escapeLine(header.join(',').slice(0, 120))}"`;
  if (missing.join() === 'volume')
    throw new Refusal(
      `${path}: no column for volume ${among}, and klines need it (in the base asset, not in the quote), since by it orders fill in part and move the price: if one of these is it, name them in their order (--columns time,open,high,low,close,volume; - for one to leave out); if none is, fetch klines that have it, or add a column of what you believe was traded (0 says nothing was, and limit orders do not fill)`,
    );
  if (kind === undefined || missing.length > 0)
    throw new Refusal(
      `${path}: no column for ${missing.length > 0 ? missing.join(', ') : 'klines or trades'} ${among}: name them in their order (--columns ${kind === 'trades' ? 'time,price,quantity,side' : 'time,open,high,low,close,volume'}; - for one to leave out)`,
    );
  const symbol = at('symbol');
  const rest = { kind, time, endStamps: ends, ...(symbol >= 0 && { symbol }) };
  if (kind === 'trades') return { ...rest, ...tradeFields(header, names) };
  const values = Object.fromEntries(klineFields.map((field) => [field, at(field)]));
  const about = aboutKlines(names);
  return {
    ...rest,
    about,
    values: { ...values, volume: volumeOfBase(header, told.symbol) },
    notes: bitmexNotes(names, told),
  };
}

/** Somebody may have moved the times of what BitMEX gave. */
const bitmexNotes = (names: readonly string[], { endStamps = false }: Told): readonly string[] =>
  !endStamps && ['homenotional', 'vwap', 'lastsize'].every((name) => names.includes(name))
    ? [
        'times are read as openings, and BitMEX gives the ends of its klines (--stamps close, where nobody has moved them)',
      ]
    : [];

function aboutKlines(names: readonly string[]): string {
  if (names.includes('takerbuyvolume') || names.includes('takerbuybaseassetvolume')) return 'Binance klines';
  if (names.includes('unix') && names.includes('date')) return 'CryptoDataDownload klines';
  return names[0] === 'time' && names.includes('volume') ? 'klines (TradingView and others)' : 'klines';
}

function tradeFields(
  header: readonly string[],
  names: readonly string[],
): Pick<FieldPlaces, 'about' | 'values' | 'notes'> {
  const [side, makerBuys] = [columnNamed(header, 'side'), columnNamed(header, 'makerBuys')];
  const by = makerBuys >= 0 ? { makerBuys } : { side };
  const values = { price: columnNamed(header, 'price'), quantity: columnNamed(header, 'quantity'), ...by };
  const tardis = names.includes('localtimestamp') && names.includes('exchange');
  const binance = names.includes('aggtradeid') ? 'Binance aggTrades' : 'Binance trades';
  return { about: tardis ? 'Tardis trades' : makerBuys >= 0 ? binance : 'trades', values, notes: [] };
}

export type Rows = readonly (readonly string[])[];

const isFlag = (cell: string | undefined): boolean => /^(true|false)$/i.test(cell ?? '');
const isSide = (cell: string | undefined): boolean => /^(buy|sell)$/i.test(cell ?? '');

/** Orders of the values of a kline behind its time that sources are known for, the usual one first. */
const orders: readonly (readonly [string, readonly string[]])[] = [
  ['klines without header', ['open', 'high', 'low', 'close', 'volume']],
  ['klines in the order of Bitfinex', ['open', 'close', 'high', 'low', 'volume']],
  ['klines in the order of Coinbase', ['low', 'high', 'open', 'close', 'volume']],
  ['klines in the order of Gate.io', ['volume', 'close', 'high', 'low', 'open']],
];

/** Share of the rows that must be possible in an order for it to be the one. */
export const mostlyRight = 0.95;
/** Rows from which on a volume that is always among the prices is no chance. */
const leastJudged = 10;
/** Of high and low: an open beyond is none, but a volume. */
const farTimes = 3;

/** Without a header. */
export function fieldsByPlace(rows: Rows, told: Told, path: string): FieldPlaces {
  const first = rows[0] ?? [];
  const width = first.length;
  const none = { endStamps: false, notes: [] as readonly string[] };
  const flags = first.filter(isFlag).length;
  if (flags > 0 && told.kind !== 'klines') {
    // id,price,qty,quote_qty,time,is_buyer_maker[,is_best_match], or id,price,qty,first,last,time,is_buyer_maker[,is_best_match]
    const makerBuys = first.findIndex(isFlag);
    const about = makerBuys === 5 ? 'Binance trades' : 'Binance aggTrades';
    return {
      ...none,
      kind: 'trades',
      about,
      source: 'binance',
      time: makerBuys - 1,
      values: { price: 1, quantity: 2, makerBuys },
    };
  }
  const side = first.findIndex(isSide);
  if (side >= 0 && width === 7 && side === 3)
    return { ...none, kind: 'trades', about: 'freqtrade trades', time: 0, values: { price: 4, quantity: 5, side } };
  if (side === 3 && width === 4)
    return {
      ...none,
      kind: 'trades',
      about: 'trades without header',
      time: 0,
      values: { price: 1, quantity: 2, side },
    };
  if (width >= 6 && told.kind !== 'trades' && side < 0) {
    const binance = width === 11 || width === 12;
    const found = orderOf(rows);
    if (found !== undefined) {
      const [about, order] = found;
      const values: Readonly<Record<string, number>> = Object.fromEntries(order.map((field, at) => [field, at + 1]));
      refuseMean(rows, values, path);
      const notes = found === orders[0] ? [] : [`columns are read as time,${order.join(',')}`];
      return {
        ...none,
        kind: 'klines',
        about: binance ? 'Binance klines' : about,
        time: 0,
        values,
        notes,
        ...(binance && { source: 'binance' }),
      };
    }
  }
  throw new Refusal(
    `${path} has no header, and its ${width} columns ("${escapeLine(first.join(',').slice(0, 80))}") are of no known order: name them (--columns time,open,high,low,close,volume; - for one to leave out)`,
  );
}

/**
 * The order in which nearly all rows are possible; of several the one in which the most opens lie within their klines. In an order other than
 * the usual one nearly all have to: a volume in their place does not, while those of sources whose open is the close before are near.
 */
function orderOf(rows: Rows): (typeof orders)[number] | undefined {
  const values = rows.map((cells) => cells.slice(1, 6).map((cell) => numberFrom(cell.replace(',', '.'))));
  const judged = orders.map((known) => {
    const [open = 0, high = 0, low = 0, close = 0] = klineFields.map((field) => known[1].indexOf(field));
    const at = (row: readonly number[], place: number): number => row[place] ?? Number.NaN;
    const right = values.filter((row) => isPossible(at(row, open), at(row, high), at(row, low), at(row, close)));
    const whole = right.filter((row) => at(row, open) >= at(row, low) && at(row, open) <= at(row, high));
    return { known, right: right.length, whole: whole.length };
  });
  const enough = mostlyRight * values.length;
  const possible = judged.filter(({ known, right, whole }) => (known === orders[0] ? right : whole) >= enough);
  // Sorting keeps the usual order before the others where they are alike.
  return possible.toSorted((a, b) => b.whole - a.whole)[0]?.known;
}

const isPossible = (open: number, high: number, low: number, close: number): boolean =>
  high >= low && close >= low && close <= high && open >= low / farTimes && open <= high * farTimes;

/** A `Refusal` when the volume lies between low and high in nearly all rows: Kraken and others have a mean price there. */
function refuseMean(
  rows: Rows,
  { volume = 0, high = 0, low = 0 }: Readonly<Record<string, number>>,
  path: string,
): void {
  const at = (cells: readonly string[], place: number): number => numberFrom((cells[place] ?? '').replace(',', '.'));
  // Kraken has 0 where nothing was traded.
  const judged = rows.filter((cells) => at(cells, volume) !== 0);
  const among = judged.filter((cells) => at(cells, volume) >= at(cells, low) && at(cells, volume) <= at(cells, high));
  if (judged.length < leastJudged || among.length < mostlyRight * judged.length) return;
  throw new Refusal(
    `${path} has no header, and its column ${volume + 1} lies between low and high, so it is a price and no volume (Kraken has a mean price before the volume): name the columns in their order (--columns time,open,high,low,close,-,volume; - for one to leave out)`,
  );
}

/** A `Refusal` where opens are closes, and the other way round: no row tells, but klines open where those before closed. */
export function refuseSwapped(path: string, { time, values }: FieldPlaces, rows: Rows, times: readonly number[]): void {
  const { open, close } = values;
  if (open === undefined || close === undefined) return;
  const at = (cells: readonly string[], place: number): number => numberFrom((cells[place] ?? '').replace(',', '.'));
  const swapped = new SwappedColumns();
  const column = (place: number): Float64Array => Float64Array.from(rows, (cells) => at(cells, place));
  swapped.add(Float64Array.from(times), column(open), column(close), rows.length);
  if (!swapped.isSwapped) return;
  const names = (rows[0] ?? []).map(() => '-');
  names[time] = 'time';
  for (const [name, place] of Object.entries({ ...values, open: close, close: open })) names[place] = name;
  throw new Refusal(
    `${path}: column ${open + 1} is taken for the open and column ${close + 1} for the close, and it is the other way round, since klines open where those before closed: name the columns in their order (--columns ${names.join(',')})`,
  );
}

/** The order in which rows are possible that are not in the usual one; undefined when there is none. */
export function betterOrder(rows: readonly (readonly number[])[]): string | undefined {
  const found = orderOf(rows.map((row) => ['', ...row.map(String)]));
  return found === undefined || found === orders[0] ? undefined : `time,${found[1].join(',')}`;
}
