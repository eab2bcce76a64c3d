/** Reads depth, one row for each level: time, number of the book, side (1 or -1), price, quantity; bids first, best first. */

import { z } from 'zod';
import { jsonOf } from '../../domain/json.ts';
import { issuesText } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { columnsOf } from '../catalogue/kinds.ts';
import { cellText, numberFrom } from './csv-reader.ts';
import { checkSymbol, LineReader, maxLevels, notJson } from './line-reader.ts';
import { SymbolCheck, type UnreadableLines } from './row-reader.ts';
import { isoMs } from './times.ts';

/** Levels of either side that are kept of updates: as many as Tardis' own snapshots have. */
export const keptLevels = 25;
/** The least time between two books made of updates, ms: a book of fifty rows for each update would fill the disk. */
export const minStepMs = 100;
/** Levels of one side that are followed; more would fill the memory. */
const maxFollowed = 100_000;

export type DepthLayout = 'json' | 'levels' | 'objects' | 'tardis' | 'bands' | 'updates';

/** `symbol` names the column, or key, of the symbol. */
export function depthReader(layout: DepthLayout, unreadable: UnreadableLines, symbol?: string): LineReader {
  switch (layout) {
    case 'json':
      return jsonDepthReader(unreadable, symbol);
    case 'tardis':
      return new TardisBooks(unreadable, symbol);
    case 'bands':
      return new Bands(unreadable, symbol);
    case 'updates':
      return new Updates(unreadable, symbol);
    case 'levels':
    case 'objects':
      return new Levels(unreadable, symbol, layout === 'objects');
  }
}

/** One whole book a line; `onlyMs`: times in other units are refused. */
export const jsonDepthReader = (unreadable: UnreadableLines, symbol?: string, onlyMs = false): LineReader =>
  new JsonBooks(unreadable, symbol, onlyMs);

type Text = string | undefined;
type Level = readonly [price: Text | number, quantity: Text | number];

abstract class DepthReader extends LineReader {
  readonly #symbols: SymbolCheck;
  protected readonly symbol: string | undefined;
  #book = 0;

  constructor(unreadable: UnreadableLines, symbol: string | undefined, onlyMs = false) {
    super(columnsOf.depth.length, unreadable, onlyMs);
    this.#symbols = new SymbolCheck(unreadable.path);
    this.symbol = symbol;
  }

  protected checkSymbol(of: object): void {
    checkSymbol(this.#symbols, of, this.symbol, this.lines);
  }

  /** Adds a whole book; returns why it is none. */
  protected book(time: string, bids: readonly Level[], asks: readonly Level[], line = this.lines): string | undefined {
    const ms = this.value('epoch', time, 'UTC', 0);
    if (Number.isNaN(ms)) return 'the book has no time (t, time, ts or timestamp)';
    const count = bids.length + asks.length;
    if (count === 0) return 'the book is empty';
    if (count > maxLevels) return tooManyLevels(counted(count, 'level'));
    const rows: number[][] = [];
    for (const [levels, side] of [[bids, 1] as const, [asks, -1] as const])
      for (const [price, quantity] of levels) {
        const values = [price, quantity].map((text, at) => this.value('number', String(text), '', 3 + at));
        if (values.some(Number.isNaN)) return `a level is not a pair of numbers: ${JSON.stringify([price, quantity])}`;
        if (values[1] === 0)
          return `the level at ${price} has quantity 0, as in depth updates: only full snapshots are read`;
        rows.push([ms, this.#book, side, ...values]);
      }
    for (const row of rows) this.push(row, line);
    this.#book++;
    return undefined;
  }
}

const tooManyLevels = (has: string): string =>
  `the book has ${has}, but at most ${counted(maxLevels, 'level')} are read: keep the best of each side`;

const figure = z.union([z.number(), z.string()]);
const level = z.union([
  z.tuple([figure, figure], figure).transform(([price, quantity]): Level => [price, quantity]),
  z.looseObject({ price: figure, amount: figure }).transform(({ price, amount }): Level => [price, amount]),
]);
// {"t":1723161256000,"b":[[61828.01,0.0455],…],"a":[[61828.02,1.2],…]}, or {"ts":…,"bids":[["61828.01","0.0455"],…],"asks":…}
const bookSchema = z.looseObject({
  t: figure.optional(),
  time: figure.optional(),
  time_ms: figure.optional(),
  ts: figure.optional(),
  timestamp: figure.optional(),
  E: figure.optional(),
  b: z.array(level).optional(),
  bids: z.array(level).optional(),
  a: z.array(level).optional(),
  asks: z.array(level).optional(),
});

/** Whether a line updates a book (`depthUpdate` of Binance and others): whole books have no levels of quantity 0. */
export function isUpdate(json: unknown): boolean {
  const read = bookSchema.safeParse(json);
  if (!read.success) return false;
  const { b = [], bids = b, a = [], asks = a, e } = read.data;
  return e === 'depthUpdate' || [...bids, ...asks].some(([, quantity]) => numberFrom(String(quantity)) === 0);
}

class JsonBooks extends DepthReader {
  protected take(line: string): string | undefined {
    const json = jsonOf(line);
    if (json === undefined) return notJson;
    if (typeof json === 'object' && json !== null) this.checkSymbol(json);
    const read = bookSchema.safeParse(json);
    if (!read.success) return `it is not a depth snapshot: ${issuesText(read.error.issues.slice(0, 1))}`;
    const { t, time, time_ms, ts, timestamp, E, b, bids = b ?? [], a, asks = a ?? [] } = read.data;
    return this.book(String(t ?? time ?? time_ms ?? ts ?? timestamp ?? E ?? ''), bids, asks);
  }
}

type Cells = (name: string) => string;

/** Lines of cells under a header. */
abstract class DepthTable extends DepthReader {
  #columns: ReadonlyMap<string, number> | undefined;

  protected take(line: string): string | undefined {
    const cells = line.split(',');
    const columns = this.#columns;
    if (columns === undefined) {
      this.#columns = new Map(cells.map((name, at) => [name.toLowerCase(), at]));
      return undefined;
    }
    if (cells.length !== columns.size) return `${cells.length} columns, not ${columns.size}`;
    const cell = (name: string): string => cells[columns.get(name) ?? -1] ?? '';
    if (this.symbol !== undefined) this.checkSymbol({ [this.symbol]: cell(this.symbol.toLowerCase()) });
    return this.takeCells(cell, line);
  }

  protected abstract takeCells(cell: Cells, line: string): string | undefined;
}

/** Tardis `book_snapshot_5` and `_25`: columns `asks[0].price,asks[0].amount,bids[0].price,…` beside `timestamp` in µs. */
class TardisBooks extends DepthTable {
  protected takeCells(cell: Cells): string | undefined {
    const side = (of: string): Level[] => {
      const levels: Level[] = [];
      for (let at = 0; cell(`${of}[${at}].price`) !== ''; at++)
        levels.push([cell(`${of}[${at}].price`), cell(`${of}[${at}].amount`)]);
      return levels;
    };
    return this.book(cell('timestamp'), side('bids'), side('asks'));
  }
}

/** Books of several lines each: one is complete when a line of another key comes. */
class BookLines<T> {
  readonly #complete: (time: string, rows: readonly T[], line: number) => void;
  #key: string | undefined;
  #time = '';
  #line = 0;
  #rows: T[] = [];
  #isFaulty = false;

  constructor(complete: (time: string, rows: readonly T[], line: number) => void) {
    this.#complete = complete;
  }

  /** Takes the row of a line, or why it is none; returns the latter. A book with such a line is left out. */
  add(key: string, time: string, line: number, row: T | string): string | undefined {
    if (key !== this.#key) this.end();
    [this.#key, this.#time, this.#line] = [key, time, line];
    const fault =
      typeof row === 'string'
        ? row
        : this.#rows.length === maxLevels
          ? tooManyLevels(`more than ${counted(maxLevels, 'level')}`)
          : undefined;
    if (fault !== undefined) this.#isFaulty = true;
    else this.#rows.push(row as T);
    return fault;
  }

  end(): void {
    if (this.#rows.length > 0 && !this.#isFaulty) this.#complete(this.#time, this.#rows, this.#line);
    this.#rows = [];
    this.#isFaulty = false;
  }
}

const levelNames = columnsOf.depth.map(({ name }) => name);

/** As `sluice data export` writes them: one level a line, best first; `book` numbers the books. */
export const isOfLevels = (header: readonly string[]): boolean => levelNames.every((name) => header.includes(name));

/** One level a line, as cells under a header or as JSON objects. */
class Levels extends DepthTable {
  readonly #isJson: boolean;
  readonly #books = new BookLines<{ readonly side: string; readonly level: Level }>((time, rows, line) => {
    const of = (side: string): Level[] => rows.filter((one) => one.side === side).map((one) => one.level);
    const fault = this.book(time, of('bid'), of('ask'), line);
    if (fault !== undefined) this.unreadable.note(line, fault);
  });

  constructor(unreadable: UnreadableLines, symbol: string | undefined, isJson: boolean) {
    super(unreadable, symbol);
    this.#isJson = isJson;
  }

  protected override take(line: string): string | undefined {
    if (!this.#isJson) return super.take(line);
    const json = jsonOf(line);
    if (typeof json !== 'object' || json === null) return `"${line.slice(0, 60)}" is not a level of depth`;
    this.checkSymbol(json);
    const cells = levelNames.map((name) => cellText(Reflect.get(json, name)));
    return this.takeCells((name) => cells[levelNames.indexOf(name)] ?? '', cells.join(','));
  }

  protected takeCells(cell: Cells, line: string): string | undefined {
    const [time, side] = [cell('time_ms'), cell('side')];
    const row = side === 'bid' || side === 'ask' ? { side, level: [cell('price'), cell('quantity')] as const } : '';
    const fault = row === '' ? `"${line.slice(0, 60)}" is not a level of depth` : row;
    return this.#books.add(`${time} ${cell('book')}`, time, this.lines, fault);
  }

  protected override complete(): void {
    this.#books.end();
  }
}

interface Band {
  readonly percentage: number;
  readonly depth: number;
  readonly notional: number;
}

/** Binance `bookDepth`: what lies within 1, 2, … 5 % of the middle, added up; each band becomes a level at its mean price. */
class Bands extends DepthTable {
  readonly #books = new BookLines<Band>((time, bands, line) => {
    const ms = /^\d{4}-/.test(time) ? String(isoMs(time, 'UTC')) : time;
    const fault = this.book(ms, levelsOf(bands, -1), levelsOf(bands, 1), line);
    if (fault !== undefined) this.unreadable.note(line, fault);
  });

  protected takeCells(cell: Cells, line: string): string | undefined {
    const time = cell('timestamp');
    const [percentage = 0, depth = 0, notional = 0] = ['percentage', 'depth', 'notional'].map((name) =>
      numberFrom(cell(name)),
    );
    const isBand = !Number.isNaN(percentage + depth + notional);
    const row = isBand ? { percentage, depth, notional } : `"${line.slice(0, 60)}" is not a band of depth`;
    return this.#books.add(time, time, this.lines, row);
  }

  protected override complete(): void {
    this.#books.end();
  }
}

function levelsOf(bands: readonly Band[], sign: number): readonly Level[] {
  let [depth, notional] = [0, 0];
  return bands
    .filter(({ percentage }) => percentage * sign > 0)
    .toSorted((a, b) => Math.abs(a.percentage) - Math.abs(b.percentage))
    .flatMap((band): Level[] => {
      const [quantity, value] = [band.depth - depth, band.notional - notional];
      [depth, notional] = [band.depth, band.notional];
      return quantity > 0 ? [[(value / quantity).toPrecision(12), quantity.toPrecision(12)]] : [];
    });
}

/** One side of a book that is updated, best first. */
class Side {
  readonly #sign: 1 | -1;
  readonly #levels: { readonly price: number; readonly level: Level }[] = [];

  /** 1: the highest price first, as of bids. */
  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  set(price: number, amount: number, level: Level): void {
    let [from, to] = [0, this.#levels.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (((this.#levels[middle]?.price ?? 0) - price) * this.#sign > 0) from = middle + 1;
      else to = middle;
    }
    const isKnown = this.#levels[from]?.price === price;
    this.#levels.splice(from, isKnown ? 1 : 0, ...(amount === 0 ? [] : [{ price, level }]));
    if (this.#levels.length > maxFollowed) this.#levels.pop();
  }

  get best(): readonly Level[] {
    return this.#levels.slice(0, keptLevels).map((one) => one.level);
  }
}

/**
 * Tardis `incremental_book_L2`: updates, which become whole books. Rows of one `local_timestamp` are one message; a book follows a
 * message, `minStepMs` after the one before.
 */
class Updates extends DepthTable {
  #bids = new Side(1);
  #asks = new Side(-1);
  #message = '';
  #time = '';
  #line = 0;
  #isSnapshot = false;
  #hasSnapshot = false;
  #storedAt = Number.NEGATIVE_INFINITY;

  protected takeCells(cell: Cells, line: string): string | undefined {
    const message = cell('local_timestamp');
    if (message !== this.#message) this.complete();
    [this.#message, this.#time, this.#line] = [message, cell('timestamp'), this.lines];
    const [side, level, isSnapshot] = [
      cell('side'),
      [cell('price'), cell('amount')] as const,
      cell('is_snapshot') === 'true',
    ];
    const [price, amount] = [numberFrom(level[0]), numberFrom(level[1])];
    if (!(price > 0 && amount >= 0) || (side !== 'bid' && side !== 'ask'))
      return `"${line.slice(0, 60)}" is not a level of depth`;
    // A snapshot after updates begins anew: the connection was lost between.
    if (isSnapshot && !this.#isSnapshot) [this.#bids, this.#asks] = [new Side(1), new Side(-1)];
    this.#isSnapshot = isSnapshot;
    this.#hasSnapshot ||= isSnapshot;
    if (!this.#hasSnapshot) return 'an update before the first snapshot, so its book is unknown';
    (side === 'bid' ? this.#bids : this.#asks).set(price, amount, level);
    return undefined;
  }

  protected override complete(): void {
    const ms = Math.floor(Number(this.#time) / 1_000);
    if (!this.#hasSnapshot || ms - this.#storedAt < minStepMs) return;
    const [bids, asks] = [this.#bids.best, this.#asks.best];
    if (bids.length === 0 || asks.length === 0) return;
    this.#storedAt = ms;
    this.book(this.#time, bids, asks, this.#line);
  }
}
