/** Which column is which, by the names in the header, or by those that the user or a format gave. */

import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Kind } from '../catalogue/kinds.ts';
import { columnNamed, refuseTwice, timeOfTrade, volumeOfBase } from './file-names.ts';
import { formats } from './formats.ts';
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
  if (told.columns === undefined && names.includes('homenotional'))
    throw new Refusal(
      `${path} counts contracts beside what was traded in coins: say which file it is (--format bitmex-klines, bitmex-trades, bybit-trades or bybit-inverse-trades), or name its columns in their order (--columns ${kind === 'trades' ? 'time,price,quantity,side' : 'time,open,high,low,close,volume'}; - for one to leave out)`,
    );
  if (kind === 'trades') return { ...rest, ...tradeFields(header, names) };
  const values = Object.fromEntries(klineFields.map((field) => [field, at(field)]));
  const about = aboutKlines(names);
  return {
    ...rest,
    about,
    values: { ...values, volume: volumeOfBase(header, told.symbol) },
    notes: [],
  };
}

function aboutKlines(names: readonly string[]): string {
  if (names.includes('takerbuyvolume') || names.includes('takerbuybaseassetvolume')) return 'Binance klines';
  if (names.includes('unix') && names.includes('date')) return 'CryptoDataDownload klines';
  return 'klines';
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

/** Neither a header nor the user says what the columns are. */
export function refuseNameless(path: string, rows: Rows): never {
  const first = rows[0] ?? [];
  throw new Refusal(
    `${path} has no header, and nothing says what its ${first.length} columns ("${escapeLine(first.join(',').slice(0, 80))}") are: say which file it is (--format ${Object.keys(formats).slice(0, 3).join(', ')}, …; sluice data import --help lists them), or name them in their order (--columns time,open,high,low,close,volume; - for one to leave out)`,
  );
}
