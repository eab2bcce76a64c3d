/** Detects how a file is laid out, from its beginning, its header and its name. What these do not say has to be stated. */

import { allIntervals, type Interval, intervalMs, isExchangeInterval } from '../../domain/interval.ts';
import { jsonOf } from '../../domain/json.ts';
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { columnsOf } from '../catalogue/kinds.ts';
import {
  columnNamed,
  columnPlaces,
  quantityNotes,
  type Rows,
  refuseDuplicates,
  refuseNameless,
  symbolColumn,
} from './columns.ts';
import { type CsvColumn, cellText, numberFrom, textValue } from './csv-reader.ts';
import { type DepthLayout, isOfLevels, isUpdate, keptLevels, minStepMs } from './depth-reader.ts';
import { namedSymbol, nameParts } from './file-names.ts';
import type { Layout, LayoutOptions } from './layout.ts';
import { longestLine, refuseSeveralSymbols, tooLong } from './row-reader.ts';
import { epochMs, hasZone, refuseRounded } from './times.ts';
import type { DataFile } from './unpack.ts';

const headBytes = 2 ** 16;
const sampledRows = 200;
const lineFeed = 10;

type FileStart = Pick<DataFile, 'path' | 'name' | 'head'>;

/** The layout of a file; what the user states counts first. Throws a `Refusal` that says what to state. */
export function detectLayout(file: FileStart, given: LayoutOptions): Layout {
  const { path, head } = file;
  if (isParquet(head)) return parquetLayout(file, given);
  refuseBinary(file);
  const text = new TextDecoder().decode(head.subarray(0, headBytes)).replace(/^\uFEFF/, '');
  const start = text.trimStart();
  if (start === '') throw new Refusal(`${path} is empty: fetch it again`);
  const isArrays = start.startsWith('[');
  if (!isArrays && head.length >= longestLine && !head.includes(lineFeed)) throw tooLong(path, 1);
  if (start.startsWith('{')) return objectLayout(file, given);
  if (/^\[\s*\{/.test(start))
    throw new Refusal(`${path} is one JSON array of objects: write one object a line (jq -c '.[]' FILE > FILE.jsonl)`);
  const lines = isArrays ? arrayLines(start) : text.split('\n').slice(0, sampledRows + 20);
  if (!isArrays && lines.length > 1 && text.length >= headBytes) lines.pop();
  return tableLayout(file, lines, isArrays, given);
}

export const isParquet = (head: Uint8Array): boolean => new TextDecoder().decode(head.subarray(0, 4)) === 'PAR1';

/** The share of bytes that are no UTF-8 from which on a file is no text. */
const maxBroken = 0.02;

function refuseBinary({ path, head }: FileStart): void {
  const start = head.subarray(0, headBytes);
  const text = new TextDecoder().decode(start);
  if (/^(ARROW1|FEA1)/.test(text))
    throw new Refusal(
      `${path} is a Feather file, which Sluice does not read: convert it to JSON or Parquet (freqtrade convert-data --format-from feather --format-to json; in Python pandas.read_feather(FILE).to_parquet(FILE))`,
    );
  const [first = 0, second = 0] = start;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new Refusal(
      `${path} is text in UTF-16, which Sluice does not read: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)`,
    );
  if (start.includes(0) || text.split('\u{fffd}').length - 1 > maxBroken * start.length)
    throw new Refusal(
      `${path} is neither text nor another known format (Parquet, or text packed as gz, xz, zst or zip): is it the right file?`,
    );
}

const arrayLines = (text: string): string[] =>
  [...text.matchAll(/\[([^[\]]+)\]/g)].slice(0, sampledRows).map(([, row = '']) => row.replaceAll(/\s*\n\s*/g, ''));

/** Symbol, interval and source: as stated, by the rows, or by the file's name. */
function keyParts(
  file: Pick<DataFile, 'name' | 'path'>,
  given: LayoutOptions,
  cell: string | undefined,
  step?: Interval,
): Pick<Layout, 'symbol' | 'interval' | 'source'> {
  const [outer, inner] = [nameParts(file.path.replace(/^.*[/\\]/, '')), nameParts(file.name)];
  const symbol = given.symbol ?? (cell === '' ? undefined : cell) ?? inner.symbol ?? outer.symbol;
  return {
    symbol: symbol === undefined ? undefined : namedSymbol(symbol),
    interval: given.interval ?? step ?? inner.interval ?? outer.interval,
    source: given.source ?? inner.source ?? outer.source,
  };
}

function parquetLayout(file: FileStart, given: LayoutOptions): Layout {
  const { kind } = given;
  if (kind === undefined)
    throw new Refusal(
      `${file.path} is Parquet, and its column names do not identify its contents: add --as klines, trades or depth`,
    );
  const base = { kind, about: 'Parquet', form: { is: 'parquet' }, newestFirst: false, endStamps: false } as const;
  return { ...base, notes: [], ...keyParts(file, given, undefined) };
}

function objectLayout(file: FileStart, given: LayoutOptions): Layout {
  const { path } = file;
  const objects = sampledObjects(file);
  const [first] = objects;
  if (first === undefined) throw new Refusal(`${path}, line 1 is not a JSON object`);
  const keys = Object.keys(first);
  const rows = objects.map((one) => keys.map((key) => cellText(one[key])));
  const at = symbolColumn(keys, given.columns);
  refuseSeveralSymbols(
    path,
    rows.map((cells) => cells[at]),
  );
  const symbolKey = keys[at];
  // In Binance's trades `b` and `a` are numbers of orders.
  const isSide = (key: string): boolean => Array.isArray(first[key]);
  const isBook = ['b', 'bids'].some(isSide) && ['a', 'asks'].some(isSide);
  if (isBook && objects.some(isUpdate))
    throw new Refusal(
      `${path} holds depth updates (levels of quantity 0), but only full snapshots are read: record snapshots (Binance's streams depth5, depth10 and depth20, or GET /depth), or apply the updates first`,
    );
  if (isBook) return depthLayout(file, given, 'json', 'books, one JSON object a line', symbolKey, rows[0]?.[at]);
  if (isOfLevels(keys)) return depthLayout(file, given, 'objects', 'books, one level a line', symbolKey, rows[0]?.[at]);
  if (given.kind === 'depth') refuseNoDepth(path, keys);
  const header = given.columns ?? keys;
  if (header.length > keys.length)
    throw new Refusal(
      `${path}: --columns names ${counted(header.length, 'column')}, and its first object has ${counted(keys.length, 'key')} ("${escapeLine(keys.join(',').slice(0, 120))}"): name these in order (- skips one)`,
    );
  const { columns, ...rest } = rowLayout(file, header, rows, given);
  const form = {
    is: 'objects',
    zone: given.zone ?? 'UTC',
    keys: columns.flatMap(({ role, to }, place) => (role === 'skip' ? [] : [{ key: keys[place] ?? '', role, to }])),
    symbolKey,
  } as const;
  return { ...rest, about: `${rest.kind}, one JSON object a line`, form };
}

/** The objects of the first lines, up to one that is none, such as the last one of a head that ends within it. */
function sampledObjects({ path, head }: FileStart): readonly Readonly<Record<string, unknown>>[] {
  // The first line is read whole however long it is: depth of thousands of levels is.
  const end = head.indexOf(lineFeed, head.indexOf(0x7b));
  const text = new TextDecoder().decode(head.subarray(0, end < 0 ? head.length : Math.max(headBytes, end)));
  const found: Record<string, unknown>[] = [];
  for (const line of text.trimStart().split('\n', sampledRows)) {
    const json = jsonOf(line);
    if (json === undefined && found.length === 0)
      throw new Refusal(`${path}, line 1 is not JSON although it begins like JSON: does it have one object a line?`);
    if (typeof json !== 'object' || json === null) break;
    found.push(json as Record<string, unknown>);
  }
  return found;
}

function tableLayout(file: FileStart, lines: readonly string[], isArrays: boolean, given: LayoutOptions): Layout {
  const { path } = file;
  const separator = isArrays ? ',' : separatorOf(lines);
  const table = lines.map((line) => cellsOf(line, separator));
  const width = mostFrequent(table.map((cells) => cells.length).filter((length) => length > 1)) ?? 1;
  const isRow = (cells: readonly string[]): boolean => cells.length === width && isData(cells);
  const firstRow = table.findIndex(isRow);
  if (firstRow < 0) {
    const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
    throw new Refusal(
      `${path} has no rows of numbers in its first ${count === 1 ? 'line' : `${count} lines`}: is it the right file?`,
    );
  }
  const rows = table.slice(firstRow).filter(isRow);
  const names = headerOf(table.slice(0, firstRow), rows, width);
  if (names === undefined && given.columns === undefined)
    refuseWidth(path, table.slice(0, firstRow).findLast(isWords)?.length ?? 0, rows, separator);
  const at = symbolColumn(names ?? [], given.columns);
  refuseSeveralSymbols(
    path,
    rows.map((cells) => cells[at]),
  );
  const depth = depthColumns(names ?? []);
  if (depth !== undefined && names !== undefined) {
    refuseDuplicates(path, names, [...names.keys()]);
    const amounts = names.flatMap((name, place) => (/amount$/i.test(name) ? [place] : []));
    const notes = [...depth.notes, ...quantityNotes('depth', file.name, [], rows, amounts)];
    return { ...depthLayout(file, given, depth.layout, depth.about, names[at], rows[0]?.[at]), notes };
  }
  if (given.kind === 'depth') refuseNoDepth(path, names);
  const header = given.columns ?? names;
  if (header === undefined) refuseNameless(path, rows);
  const { columns, ...rest } = rowLayout(file, header, rows, given);
  if (at >= 0 && columns[at]?.role === 'skip') columns[at] = { role: 'symbol', to: 0 };
  const decimalComma = separator !== ',' && rows.some((cells) => cells.some((cell) => /^\d+,\d+$/.test(cell)));
  const form = {
    is: isArrays ? 'arrays' : 'csv',
    ...{ columns, separator, decimalComma },
    skipLines: firstRow,
    zone: given.zone ?? 'UTC',
  } as const;
  return { ...rest, form, notes: [...rest.notes, ...(decimalComma ? ['decimals are written with a comma'] : [])] };
}

/** The character that cuts the most lines into the same number of cells. */
function separatorOf(lines: readonly string[]): string {
  const counts = [',', ';', '\t', '|'].map((separator) => {
    const widths = lines.filter((line) => line.trim() !== '').map((line) => cellsOf(line, separator).length);
    const width = widths.at(-1) ?? 0;
    return { separator, agree: width < 2 ? 0 : widths.filter((one) => one === width).length, width };
  });
  return counts.toSorted((a, b) => b.agree - a.agree || b.width - a.width)[0]?.separator ?? ',';
}

/** A cell that begins with a quote goes on to its closing one; a doubled quote inside does not close it. */
function cellsOf(line: string, separator: string): string[] {
  const cell = new RegExp(`[${separator}]("(?:[^"]|"")*"[^${separator}]*|[^${separator}]*)`, 'g');
  const cells = [...`${separator}${line.replace(/\r$/, '')}`.matchAll(cell)];
  return cells.map(([, text = '']) => text.trim().replace(/^"(.*)"$/, '$1'));
}

/** Rows have a number or a moment in their first cells; headers do not. */
const isData = (cells: readonly string[]): boolean =>
  cells.slice(0, 4).some((cell) => /^-?\d/.test(cell)) && !cells.some((cell) => /^(open|close|price)$/i.test(cell));

const isWords = (cells: readonly string[]): boolean => !cells.some((cell) => /\d/.test(cell));

/** The header among the lines above the rows. It may be narrower where the columns behind it are empty, as after a comma at the end. */
function headerOf(above: Rows, rows: Rows, width: number): readonly string[] | undefined {
  const whole = above.findLast((cells) => cells.length === width && cells.some((cell) => cell !== ''));
  if (whole !== undefined) return whole;
  const words = above.findLast(isWords);
  const isEnough = words !== undefined && words.length > 1;
  return isEnough && rows.every((cells) => cells.slice(words.length).join('') === '') ? words : undefined;
}

/** Refuses rows that are wider than their header, such as those of numbers with decimal commas between commas. */
function refuseWidth(path: string, named: number, rows: Rows, separator: string): void {
  const width = rows[0]?.length ?? 0;
  if (named < 4 || named >= width) return;
  const hasPoint = rows.some((cells) => cells.some((cell) => cell.includes('.')));
  const isCut = separator === ',' && width >= named + 2 && width <= 2 * named && !hasPoint;
  throw new Refusal(
    `${path}: its header has ${named} columns and most rows have ${width}: ${
      isCut
        ? 'their commas are decimals as well as separators, which is ambiguous; export it with semicolons, or with decimal points'
        : 'name them in their order (--columns time,open,high,low,close,volume; - for one to leave out)'
    }`,
  );
}

function refuseNoDepth(path: string, names: readonly string[] = []): never {
  const has = names.length === 0 ? '' : ` (it has ${escapeLine(names.join(', ').slice(0, 120))})`;
  throw new Refusal(
    `${path}has no readable depth${has}: give --as klines or trades, or a file of bids and asks (docs/reference/cli.md has the layouts)`,
  );
}

function depthColumns(
  header: readonly string[],
): { readonly layout: DepthLayout; readonly about: string; readonly notes: readonly string[] } | undefined {
  const names = header.map((name) => name.toLowerCase());
  if (names.includes('asks[0].price')) return { layout: 'tardis', about: 'Tardis book snapshots', notes: [] };
  if (isOfLevels(header)) return { layout: 'levels', about: 'books, one level a line', notes: [] };
  if (['percentage', 'depth', 'notional'].every((name) => names.includes(name))) {
    const note =
      'percentage bands, not levels: each becomes one level at its mean price, which is too coarse for fills near the touch';
    return { layout: 'bands', about: 'Binance bookDepth', notes: [note] };
  }
  if (!names.includes('is_snapshot')) return undefined;
  const note = `updates become books of the best ${keptLevels} levels, at most one each ${minStepMs} ms`;
  return { layout: 'updates', about: 'Tardis depth updates', notes: [note] };
}

function depthLayout(
  file: FileStart,
  given: LayoutOptions,
  layout: DepthLayout,
  about: string,
  symbol: string | undefined,
  cell: string | undefined,
): Layout {
  if (given.kind !== undefined && given.kind !== 'depth')
    throw new Refusal(`${file.path} holds depth, not ${given.kind}: give --as depth, or leave --as out`);
  const form = { is: 'depth', layout, symbol } as const;
  const base = { kind: 'depth', about, form, newestFirst: false, endStamps: false, notes: [] } as const;
  return { ...base, ...keyParts(file, given, cell) };
}

type RowLayout = Omit<Layout, 'form'> & { readonly columns: CsvColumn[] };

/** The columns of klines or trades, and what their times show. */
function rowLayout(file: FileStart, header: readonly string[], rows: Rows, given: LayoutOptions): RowLayout {
  const symbolCell = rows[0]?.[columnNamed(header, 'symbol')];
  const { symbol = '' } = keyParts(file, given, symbolCell);
  const places = columnPlaces(header, symbol === '' ? given : { ...given, symbol }, file.path);
  const { kind, endStamps } = places;
  const cells = rows.map((row) => row[places.time] ?? '');
  refuseRounded(file.path, cells);
  const isEpoch = numberFrom(cells[0] ?? '') >= 1e8;
  const times = cells.map((cell) =>
    isEpoch ? epochMs(numberFrom(cell)) : textValue('moment', cell, given.zone ?? 'UTC'),
  );
  if (Number.isNaN(times[0])) refuseTime(file.path, places.time, cells[0] ?? '', given);
  const columns = Array.from({ length: rows[0]?.length ?? 0 }, (): CsvColumn => ({ role: 'skip', to: 0 }));
  columns[places.time] = { role: isEpoch ? 'epoch' : 'moment', to: 0 };
  const names = columnsOf[kind].map(({ name }) => name);
  for (const [name, at] of Object.entries(places.values)) {
    const isSide = name === 'makerBuys' || name === 'side';
    columns[at] = { role: isSide ? name : 'number', to: names.indexOf(isSide ? 'side' : name) };
  }
  const isLocal = !isEpoch && !hasZone(cells[0] ?? '');
  const assumed = isLocal && given.zone === undefined;
  const { volume, quantity } = places.values;
  return {
    ...{ kind, about: kind, columns, newestFirst: isNewestFirst(times), endStamps, isLocal },
    notes: [
      ...quantityNotes(kind, file.name, header, rows, [kind === 'trades' ? quantity : volume]),
      ...(assumed ? ['times without a zone are read as UTC (--zone sets another)'] : []),
    ],
    ...keyParts(file, given, symbolCell, kind === 'klines' ? (given.interval ?? usualStep(times)) : undefined),
  };
}

function refuseTime(path: string, column: number, cell: string, { columns }: LayoutOptions): never {
  throw new Refusal(
    `${path}: column ${column + 1} is read as the time, but "${escapeLine(cell.slice(0, 40))}" is not one. Times are s, ms, µs or ns since 1970, or 2024-08-08, or 2024-08-08 23:54:00 with or without fractions of a second and a zone (T or space, - or / between); rewrite others, such as 8.8.2024; ${columns === undefined ? 'if another column holds the time, name the columns in order (--columns time,open,…)' : 'if another column holds the time, correct --columns'}`,
  );
}

/** Most steps go back. In rows in disorder most steps go forward. */
function isNewestFirst(times: readonly number[]): boolean {
  const steps = times.slice(1).map((time, row) => time - (times[row] as number));
  const back = steps.filter((step) => step < 0).length;
  return (times[0] ?? 0) > (times.at(-1) ?? 0) && back > steps.filter((step) => step > 0).length;
}

function mostFrequent(values: readonly number[]): number | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/** The interval by which most rows are apart; undefined when it is no interval. */
function usualStep(times: readonly number[]): Interval | undefined {
  const step = mostFrequent(times.slice(1).map((time, row) => Math.abs(time - (times[row] as number)))) ?? 0;
  const found = allIntervals.find((one) => one !== '1month' && intervalMs(one, 0) === step);
  // Minutes that the exchange does not have are guessed only where all rows lie on their grid: a file may just have holes.
  if (found !== undefined && (isExchangeInterval(found) || times.every((time) => time % step === 0))) return found;
  return step >= 28 * 86_400_000 && step <= 31 * 86_400_000 ? '1month' : undefined;
}
