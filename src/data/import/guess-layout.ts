/** Guesses how a file is laid out from its beginning and its name. What cannot be told is refused with what to give. */
import { type Interval, intervals } from '../../domain/interval.ts';
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import { columnsOf } from '../catalogue/kinds.ts';
import { counted } from '../check/finding.ts';
import { lineFeed, longestLine, tooLong } from '../read-bytes.ts';
import { cellsOf, separatorOf } from './cells.ts';
import { unknownNotes, withNotes } from './contracts.ts';
import { isOfLevels } from './csv-books.ts';
import { type CsvColumn, cellText, numberFrom, type Role, textValue } from './csv-rows.ts';
import { keptLevels, leastStepMs } from './depth-differences.ts';
import { type FieldPlaces, fieldsOf, refuseNameless } from './fields.ts';
import { columnNamed, namedBy, namedSymbol, refuseTwice, symbolColumn } from './file-names.ts';
import { isDifference } from './json-rows.ts';
import type { Layout, Told } from './layout.ts';
import { refuseSeveral } from './symbols.ts';
import { epochMs, hasZone, refuseRounded } from './times.ts';
import type { DataFile } from './unpack.ts';

/** Rows of the beginning that a guess looks at. */
const sampledRows = 200;

/** Guesses; what the user told counts first. */
export function guess(file: Pick<DataFile, 'path' | 'name' | 'head'>, told: Told): Layout {
  if (isParquet(file.head)) return parquetLayout(file, told);
  refuseFeather(file);
  refuseBinary(file);
  const text = new TextDecoder().decode(file.head.subarray(0, 2 ** 16)).replace(/^\uFEFF/, '');
  const start = text.trimStart();
  if (start === '') throw new Refusal(`${file.path} is empty: fetch it again`);
  const arrays = start.startsWith('[');
  if (!arrays && file.head.length >= longestLine && !file.head.includes(lineFeed)) throw tooLong(file.path, 1);
  if (start.startsWith('{')) return objectLayout(file, textOfObjects(file.head), told);
  if (/^\[\s*\{/.test(start))
    throw new Refusal(
      `${file.path} is one JSON array of objects: write one object a line (jq -c '.[]' FILE > FILE.jsonl)`,
    );
  const lines = arrays ? arrayLines(start) : text.split('\n').slice(0, sampledRows + 20);
  if (!arrays && lines.length > 1 && text.length >= 2 ** 16) lines.pop();
  return textLayout(file, lines, arrays, told);
}

export const isParquet = (head: Uint8Array): boolean => new TextDecoder().decode(head.subarray(0, 4)) === 'PAR1';

function refuseFeather({ path, head }: Pick<DataFile, 'path' | 'head'>): void {
  const magic = new TextDecoder().decode(head.subarray(0, 6));
  if (magic === 'ARROW1' || magic.startsWith('FEA1'))
    throw new Refusal(
      `${path} is a Feather file, which Sluice does not read: convert it to JSON or Parquet (freqtrade convert-data --format-from feather --format-to json; in Python pandas.read_feather(FILE).to_parquet(FILE))`,
    );
}

/** Bytes that are no UTF-8, in a hundred, from which on a file is none. */
const mostBroken = 0.02;

function refuseBinary({ path, head }: Pick<DataFile, 'path' | 'head'>): void {
  const start = head.subarray(0, 2 ** 16);
  const [first = 0, second = 0] = start;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new Refusal(`${path} is text in UTF-16, which is not read: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)`);
  const broken = new TextDecoder().decode(start).split('\u{fffd}').length - 1;
  if (start.includes(0) || broken > mostBroken * start.length)
    throw new Refusal(
      `${path} is neither text nor another known format (Parquet, or text packed as gz, xz, zst or zip): is it the right file?`,
    );
}

const arrayLines = (text: string): string[] =>
  [...text.matchAll(/\[([^[\]]+)\]/g)].slice(0, sampledRows).map(([, row = '']) => row.replaceAll(/\s*\n\s*/g, ''));

type Known = Pick<Layout, 'symbol' | 'interval' | 'source'>;

/** Symbol, interval and source: told, or by the file's name, or by the rows. */
function known(file: Pick<DataFile, 'name' | 'path'>, told: Told, byRows: Known): Known {
  const inside = namedBy(file.name);
  const named = { ...namedBy(file.path.replace(/^.*[/\\]/, '')), ...inside };
  const symbol = told.symbol ?? byRows.symbol ?? named.symbol;
  const interval = told.interval ?? byRows.interval ?? named.interval;
  const source = told.source ?? named.source ?? byRows.source;
  return {
    ...(symbol !== undefined && { symbol: namedSymbol(symbol) }),
    ...(interval !== undefined && { interval }),
    ...(source !== undefined && { source }),
  };
}

/** What was told, and the symbol that rows or name say where none was: by it the volume in the base asset is found. */
function withSymbol(file: Pick<DataFile, 'path' | 'name'>, told: Told, cell = ''): Told {
  const { symbol } = known(file, told, cell === '' ? {} : { symbol: cell });
  return symbol === undefined ? told : { ...told, symbol };
}

function parquetLayout(file: Pick<DataFile, 'path' | 'name'>, told: Told): Layout {
  if (told.kind === undefined)
    throw new Refusal(
      `${file.path} is Parquet, and its column names do not show what it holds: add --as klines, trades or depth`,
    );
  const base = {
    kind: told.kind,
    about: 'Parquet',
    form: { is: 'parquet' } as const,
    newestFirst: false,
    endStamps: false,
  };
  return { ...base, notes: [], ...known(file, told, {}) };
}

function objectLayout(file: Pick<DataFile, 'path' | 'name'>, text: string, told: Told): Layout {
  const [row, ...others] = sampledObjects(file, text);
  if (row === undefined) throw new Refusal(`${file.path}, line 1 is not a JSON object`);
  const keys = Object.keys(row);
  const symbol = keys[columnNamed(told.columns ?? keys, 'symbol')] ?? '';
  const symbolKey = keys[symbolColumn(keys, told.columns)] ?? '';
  refuseSeveral(
    file.path,
    [row, ...others].map((one) => cellText(one[symbolKey])),
  );
  const own = symbolKey === '' ? told : withSymbol(file, told, cellText(row[symbolKey]));
  // In trades of Binance's stream both letters are numbers of orders.
  const isSide = (key: string): boolean => Array.isArray(row[key]);
  const isBook = ['b', 'bids'].some(isSide) && ['a', 'asks'].some(isSide);
  if (told.kind === 'depth' && !isBook && !isOfLevels(keys)) refuseNoBooks(file.path, keys);
  if (told.kind !== undefined && (isBook || isOfLevels(keys))) refuseOtherThanBooks(file.path, told.kind);
  if (isBook) {
    if ([row, ...others].some(isDifference))
      throw new Refusal(
        `${file.path} holds differences of books (levels of quantity 0, which take one away), and only whole books are read: record whole ones (Binance's streams depth5, depth10 and depth20, or GET /depth), or put the differences together first`,
      );
    const base = { kind: 'depth', about: 'books, one JSON object a line', form: { is: 'books' } } as const;
    return { ...base, symbolKey, newestFirst: false, endStamps: false, notes: [], ...known(file, own, {}) };
  }
  if (isOfLevels(keys)) {
    const base = { kind: 'depth', about: 'books, one level a line', form: { is: 'levels' } } as const;
    return { ...base, newestFirst: false, endStamps: false, notes: [], ...known(file, own, {}) };
  }
  const rows = [row, ...others].map((one) => keys.map((key) => cellText(one[key])));
  const named = told.columns ?? keys;
  if (named.length > keys.length)
    throw new Refusal(
      `${file.path}: --columns names ${counted(named.length, 'column')}, and its first object has ${counted(keys.length, 'key')} ("${escapeLine(keys.join(',').slice(0, 120))}"): name these in their order (- for one to leave out)`,
    );
  const fields = withNotes(
    fieldsOf(named, withSymbol(file, told, cellText(row[symbol])), file.path),
    named,
    rows,
    file.name,
  );
  const { columns, ...rest } = layoutOf(file, fields, rows, keys.length, told);
  const form = {
    is: 'objects',
    zone: told.zone ?? 'UTC',
    keys: columns.flatMap(({ role, to }, at) => (role === 'skip' ? [] : [{ key: keys[at] ?? '', role, to }])),
  } as const;
  return { ...rest, symbolKey, about: `${rest.kind}, one JSON object a line`, form };
}

/** The beginning, and all of the first line however long it is, which a book can be. */
function textOfObjects(head: Uint8Array): string {
  const end = head.indexOf(0x0a, head.indexOf(0x7b));
  const bytes = head.subarray(0, end < 0 ? head.length : Math.max(2 ** 16, end));
  return new TextDecoder().decode(bytes).trimStart();
}

type JsonObject = Readonly<Record<string, unknown>>;

/** The objects of the first lines, up to one that is none, such as the last one of a head that ends within it. */
function sampledObjects({ path }: Pick<DataFile, 'path'>, text: string): readonly JsonObject[] {
  const found: JsonObject[] = [];
  for (const line of text.split('\n', sampledRows)) {
    let json: unknown;
    try {
      json = JSON.parse(line);
    } catch {
      if (found.length > 0) break;
      throw new Refusal(`${path}, line 1 is not JSON although it begins like it: is it one object a line?`);
    }
    if (typeof json !== 'object' || json === null) break;
    found.push(json as JsonObject);
  }
  return found;
}

function textLayout(
  file: Pick<DataFile, 'path' | 'name'>,
  lines: readonly string[],
  arrays: boolean,
  told: Told,
): Layout {
  const separator = arrays ? ',' : separatorOf(lines);
  const table = lines.map((line) => cellsOf(line, separator));
  const width = commonest(table.map((cells) => cells.length).filter((length) => length > 1)) ?? 1;
  const isRow = (cells: readonly string[]): boolean => cells.length === width && isData(cells);
  const firstRow = table.findIndex(isRow);
  if (firstRow < 0)
    throw new Refusal(`${file.path} has no rows of numbers in its first ${lines.length} lines: is it the right file?`);
  const rows = table.slice(firstRow).filter(isRow);
  const words = table.slice(0, firstRow).findLast((cells) => !cells.some((cell) => /\d/.test(cell)));
  const above =
    table.slice(0, firstRow).findLast((cells) => cells.length === width && cells.some((cell) => cell !== '')) ??
    overEmpty(words, rows);
  if (above === undefined && told.columns === undefined) refuseUnnamed(file, words, rows, separator);
  const at = symbolColumn(above ?? [], told.columns);
  const symbols = arrays || at < 0 ? {} : { symbols: { at, separator, width, skipLines: firstRow } };
  refuseSeveral(
    file.path,
    rows.map((cells) => cells[at]),
  );
  const named = at < 0 ? told : withSymbol(file, told, rows[0]?.[at]);
  const special = specialLayout(above, file, named);
  if (special === undefined && told.kind === 'depth') refuseNoBooks(file.path, above);
  if (special !== undefined) {
    refuseTwice(file.path, above ?? [], [...(above ?? []).keys()]);
    if (told.kind !== undefined) refuseOtherThanBooks(file.path, told.kind);
    const amounts = above?.flatMap((name, place) => (/amount$/i.test(name) ? [place] : [])) ?? [];
    const notes = [...special.notes, ...unknownNotes('depth', file.name, [], rows, amounts)];
    return { ...special, ...symbols, notes };
  }
  const header = told.columns ?? above;
  if (header === undefined) refuseNameless(file.path, rows);
  const found = fieldsOf(header, withSymbol(file, told, rows[0]?.[columnNamed(header, 'symbol')]), file.path);
  const fields = withNotes(found, header, rows, file.name);
  const { columns, ...rest } = layoutOf(file, fields, rows, width, told);
  const decimalComma = separator !== ',' && rows.some((cells) => cells.some((cell) => /^\d+,\d+$/.test(cell)));
  const form = {
    is: arrays ? 'arrays' : 'csv',
    columns,
    separator,
    decimalComma,
    skipLines: firstRow,
    zone: told.zone ?? 'UTC',
  } as const;
  const notes = [...rest.notes, ...(decimalComma ? ['decimals are written with a comma'] : [])];
  return { ...rest, ...symbols, form, notes };
}

/** A header over rows that have nothing in the columns behind it, such as after a comma at the end of each. */
const overEmpty = (
  header: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
): readonly string[] | undefined =>
  header !== undefined && header.length > 1 && rows.every((cells) => cells.slice(header.length).join('') === '')
    ? header
    : undefined;

/** A header of fewer columns than its rows have: of six over eleven every number but the time was cut in two. */
function refuseUnnamed(
  { path }: Pick<DataFile, 'path'>,
  header: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
  separator: string,
): void {
  const [named, width] = [header?.length ?? 0, rows[0]?.length ?? 0];
  if (named < 4 || named >= width) return;
  const isCut =
    separator === ',' &&
    width >= named + 2 &&
    width <= 2 * named &&
    !rows.some((cells) => cells.some((cell) => cell.includes('.')));
  throw new Refusal(
    `${path}: its header has ${named} columns and most rows have ${width}: ${
      isCut
        ? 'the commas in them are decimals as well as separators, which is ambiguous; export it with semicolons, or with points as decimals'
        : 'name them in their order (--columns time,open,high,low,close,volume; - for one to leave out)'
    }`,
  );
}

/** Rows have a number or a moment in their first two cells; headers do not. */
const isData = (cells: readonly string[]): boolean =>
  cells.slice(0, 4).some((cell) => /^-?\d/.test(cell)) && !cells.some((cell) => /^(open|close|price)$/i.test(cell));

/** Of something else, told to be books. */
function refuseNoBooks(path: string, names: readonly string[] = []): never {
  const has = names.length === 0 ? '' : ` (it has ${escapeLine(names.join(', ').slice(0, 120))})`;
  throw new Refusal(
    `${path} holds no books that are read${has}: give --as klines or trades, or a file of bids and asks (docs/reference/cli.md has the layouts)`,
  );
}

/** Books, told to be something else. */
function refuseOtherThanBooks(path: string, told: string): void {
  if (told !== 'depth') throw new Refusal(`${path} holds books, not ${told}: give --as depth, or leave --as away`);
}

/** Files of books in columns, which become rows in a way of their own. */
function specialLayout(
  header: readonly string[] | undefined,
  file: Pick<DataFile, 'path' | 'name'>,
  told: Told,
): Layout | undefined {
  const names = header?.map((name) => name.toLowerCase()) ?? [];
  const base = { kind: 'depth', newestFirst: false, endStamps: false } as const;
  const isTardis = names.includes('asks[0].price');
  if (isTardis || isOfLevels(header ?? [])) {
    const about = isTardis ? 'Tardis book snapshots' : 'books, one level a line';
    return { ...base, about, form: { is: 'snapshots' }, notes: [], ...known(file, told, {}) };
  }
  if (names.includes('percentage') && names.includes('depth') && names.includes('notional')) {
    const notes = [
      'bands of percents, not levels: each becomes one level at its mean price, too coarse to judge fills near the touch',
    ];
    return { ...base, about: 'Binance bookDepth', form: { is: 'bands' }, notes, ...known(file, told, {}) };
  }
  if (names.includes('is_snapshot')) {
    const note = `differences are put together into the best ${keptLevels} levels, a book each ${leastStepMs} ms at the most`;
    const form = { is: 'differences' } as const;
    return { ...base, about: 'Tardis differences of books', form, notes: [note], ...known(file, told, {}) };
  }
  return undefined;
}

type Placed = Omit<Layout, 'form'> & { readonly columns: readonly CsvColumn[] };

function layoutOf(
  file: Pick<DataFile, 'path' | 'name'>,
  fields: FieldPlaces,
  rows: readonly (readonly string[])[],
  width: number,
  told: Told,
): Placed {
  const { kind } = fields;
  const timeCells = rows.map((cells) => cells[fields.time] ?? '');
  refuseRounded(file.path, timeCells);
  const role: Role = numberFrom(timeCells[0] ?? '') >= 1e8 ? 'epoch' : 'moment';
  const zone = told.zone ?? 'UTC';
  const times = timeCells.map((cell) =>
    role === 'epoch' ? epochMs(numberFrom(cell)) : textValue('moment', cell, zone),
  );
  const column = `column ${fields.time + 1}`;
  if (Number.isNaN(times[0]))
    throw new Refusal(
      `${file.path}: ${column} is taken for the time, and "${escapeLine((timeCells[0] ?? '').slice(0, 40))}" is none that is read: these are s, ms, µs or ns since 1970, 2024-08-08, and 2024-08-08 23:54:00 with or without parts of seconds and a zone (T or space, - or / between); times spelt otherwise, such as 8.8.2024, have to be rewritten as one of them first; ${told.columns === undefined ? 'if another column holds the time, name the columns in their order (--columns time,open,…)' : 'if another column holds the time, correct --columns'}`,
    );
  const columns = Array.from({ length: width }, (): CsvColumn => ({ role: 'skip', to: 0 }));
  const names = columnsOf[kind].map(({ name }) => name);
  columns[fields.time] = { role, to: 0 };
  for (const [name, at] of Object.entries(fields.values)) {
    const to = names.indexOf(name === 'makerBuys' ? 'side' : name);
    columns[at] = { role: name === 'makerBuys' || name === 'side' ? name : 'number', to };
  }
  const symbolCell = fields.symbol === undefined ? undefined : rows[0]?.[fields.symbol];
  const interval = kind === 'klines' ? (told.interval ?? commonStep(times)) : undefined;
  const found = known(file, told, {
    ...(symbolCell !== undefined && symbolCell !== '' && { symbol: symbolCell }),
    ...(interval !== undefined && { interval }),
    ...(fields.source !== undefined && { source: fields.source }),
  });
  const isLocal = role === 'moment' && !hasZone(timeCells[0] ?? '');
  return {
    kind,
    about: fields.about,
    columns,
    newestFirst: isNewestFirst(times),
    endStamps: fields.endStamps,
    isLocal,
    notes: [
      ...fields.notes,
      ...(isLocal && told.zone === undefined ? ['times name no zone and are read as UTC (--zone says another)'] : []),
    ],
    ...found,
  };
}

/** Most steps go back: rows in disorder, or files put together in the wrong order, have most of theirs forward. */
function isNewestFirst(times: readonly number[]): boolean {
  const steps = times.slice(1).map((time, row) => time - (times[row] as number));
  const back = steps.filter((step) => step < 0).length;
  return (times[0] ?? 0) > (times.at(-1) ?? 0) && back > steps.filter((step) => step > 0).length;
}

function commonest(values: readonly number[]): number | undefined {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/** The interval that most rows are apart by; undefined when it is none of the exchange's. */
function commonStep(times: readonly number[]): Interval | undefined {
  const steps = times.slice(1).map((time, row) => Math.abs(time - (times[row] as number)));
  const step = commonest(steps) ?? 0;
  const minutes = [1, 5, 15, 30, 60, 1_440, 10_080];
  const at = minutes.indexOf(step / 60_000);
  if (at >= 0) return intervals[at];
  return step >= 28 * 86_400_000 && step <= 31 * 86_400_000 ? '1month' : undefined;
}
