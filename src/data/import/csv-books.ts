/** Books that come as columns, made into JSON lines, which have one reader. */

import { columnsOf } from '../catalogue/kinds.ts';
import { counted } from '../check/finding.ts';
import type { UnreadableLines } from './batch.ts';
import { cellText, numberFrom } from './csv-rows.ts';
import { mostLevels, tooManyLevels } from './json-rows.ts';
import { linesIn } from './lines.ts';
import { isoMs } from './times.ts';

const encoder = new TextEncoder();
const lineFeed = 10;

const separated = (line: string): readonly string[] => line.trim().split(',');

/** The cells of line after line. */
async function* lines(
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
  cellsOf = separated,
): AsyncGenerator<readonly string[]> {
  for await (const { texts } of linesIn(blocks, unreadable)) for (const text of texts) yield cellsOf(text);
}

/** Books end as the file does of which they are made: without a line feed where it has none, since it may be cut off. */
export async function* endedAs(
  blocks: AsyncIterable<Uint8Array>,
  make: (blocks: AsyncIterable<Uint8Array>, unreadable: UnreadableLines) => AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
): AsyncGenerator<Uint8Array> {
  let last = lineFeed;
  async function* watched(): AsyncGenerator<Uint8Array> {
    for await (const block of blocks) {
      last = block.at(-1) ?? last;
      yield block;
    }
  }
  let held: Uint8Array = new Uint8Array();
  for await (const line of make(watched(), unreadable)) {
    if (held.length > 0) yield held;
    held = line;
  }
  yield last === lineFeed ? held : held.subarray(0, -1);
}

type Level = readonly [price: string | undefined, quantity: string | undefined];

const bookLine = (t: string | undefined, b: readonly Level[], a: readonly Level[]): Uint8Array =>
  encoder.encode(`${JSON.stringify({ t: t ?? '', b, a })}\n`);
/** For the reader of books to count. */
const faultLine = (fault: string): Uint8Array => encoder.encode(`${JSON.stringify({ fault })}\n`);
const emptyLine = encoder.encode('\n');

/** Books in columns: a book a line, or a level a line. */
export async function* snapshotsAsBooks(
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
): AsyncGenerator<Uint8Array> {
  const rows = lines(blocks, unreadable);
  const { value: header } = await rows.next();
  if (header === undefined) return;
  // Lines stay numbered as in the file.
  yield emptyLine;
  yield* isOfLevels(header) ? levelsAsBooks(rows, header) : wholeBooks(rows, header);
}

/** Tardis `book_snapshot_5` and `_25`: columns `asks[0].price,asks[0].amount,bids[0].price,…` beside `timestamp` in µs. */
async function* wholeBooks(
  rows: AsyncIterable<readonly string[]>,
  names: readonly string[],
): AsyncGenerator<Uint8Array> {
  for await (const cells of rows) {
    const cell = (name: string): string | undefined => cells[names.indexOf(name)];
    const side = (of: string): Level[] => {
      const levels: Level[] = [];
      for (let at = 0; cell(`${of}[${at}].price`); at++)
        levels.push([cell(`${of}[${at}].price`), cell(`${of}[${at}].amount`)]);
      return levels;
    };
    if (cells.join('') === '') yield emptyLine;
    else if (cells.length === names.length) yield bookLine(cell('timestamp'), side('bids'), side('asks'));
    else yield faultLine(`${cells.length} columns, not ${names.length}`);
  }
}

const ofLevels = columnsOf.depth.map(({ name }) => name);

/** As `sluice data export` writes them: one level a line, best first, `book` telling apart those of one time. */
export const isOfLevels = (header: readonly string[]): boolean => ofLevels.every((name) => header.includes(name));

/** The same as JSON, one object a line. */
export const objectsAsBooks = (
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
): AsyncGenerator<Uint8Array> => levelsAsBooks(lines(blocks, unreadable, levelCells), ofLevels);

/** The line itself, which is no level, where it is no object. */
function levelCells(line: string): readonly string[] {
  try {
    const json: unknown = JSON.parse(line);
    return typeof json === 'object' && json !== null
      ? ofLevels.map((name) => cellText(Reflect.get(json, name)))
      : [line];
  } catch {
    return [line.trim()];
  }
}

async function* levelsAsBooks(
  rows: AsyncIterable<readonly string[]>,
  header: readonly string[],
): AsyncGenerator<Uint8Array> {
  const places = ofLevels.map((name) => header.indexOf(name));
  let [is, time, fault, ofLine] = ['', '', '', ''];
  let bids: Level[] = [];
  let asks: Level[] = [];
  const whole = (): Uint8Array => {
    const line = fault === '' ? bookLine(time, bids, asks) : faultLine(fault);
    [is, fault, bids, asks] = ['', '', [], []];
    return line;
  };
  for await (const cells of rows) {
    const [at = '', book = '', side, price, quantity] = places.map((place) => cells[place]);
    if (cells.join('') === '') {
      yield emptyLine;
      continue;
    }
    // A book stands in the line of its last level, which the next one tells.
    if (is !== '') yield is !== `${at} ${book}` ? whole() : ofLine === '' ? emptyLine : faultLine(ofLine);
    [is, time, ofLine] = [`${at} ${book}`, at, ''];
    if (bids.length + asks.length === mostLevels) ofLine = tooManyLevels(`more than ${counted(mostLevels, 'level')}`);
    else if (side === 'bid' || side === 'ask') (side === 'bid' ? bids : asks).push([price, quantity]);
    else ofLine = `"${cells.join(',').slice(0, 60)}" is not a level of depth`;
    if (ofLine !== '') fault = ofLine;
  }
  if (is !== '') yield whole();
}

interface Band {
  readonly percentage: number;
  readonly depth: number;
  readonly notional: number;
}

/** Binance `bookDepth`: what lies within 1, 2, … 5 % of the middle, added up; each band becomes a level at its mean price. */
export async function* bandsAsBooks(
  blocks: AsyncIterable<Uint8Array>,
  unreadable: UnreadableLines,
): AsyncGenerator<Uint8Array> {
  let names: readonly string[] | undefined;
  let [time, fault, ofLine] = ['', '', ''];
  let bands: Band[] = [];
  const whole = (): Uint8Array => {
    const line = fault === '' ? bandLine(time, bands) : faultLine(fault);
    [fault, bands] = ['', []];
    return line;
  };
  for await (const cells of lines(blocks, unreadable)) {
    if (names === undefined || cells.join('') === '') {
      names ??= cells.map((name) => name.toLowerCase());
      yield emptyLine;
      continue;
    }
    const [header, before] = [names, time];
    const cell = (name: string): string => cells[header.indexOf(name)] ?? '';
    // A book stands in the line of its last band, which the next one tells.
    if (bands.length > 0) yield cell('timestamp') !== before ? whole() : ofLine === '' ? emptyLine : faultLine(ofLine);
    time = cell('timestamp');
    const [percentage = 0, depth = 0, notional = 0] = bandFields.map((name) => numberFrom(cell(name)));
    bands.push({ percentage, depth, notional });
    const isBand = !Number.isNaN(percentage + depth + notional);
    ofLine = isBand ? '' : `"${cells.join(',').slice(0, 60)}" is not a band of depth`;
    if (!isBand) fault = ofLine;
  }
  if (bands.length > 0) yield whole();
}

const bandFields = ['percentage', 'depth', 'notional'];

function bandLine(time: string, bands: readonly Band[]): Uint8Array {
  const side = (sign: number): Level[] => {
    let [depth, notional] = [0, 0];
    return bands
      .filter(({ percentage }) => percentage * sign > 0)
      .toSorted((a, b) => Math.abs(a.percentage) - Math.abs(b.percentage))
      .flatMap((band): Level[] => {
        const [quantity, worth] = [band.depth - depth, band.notional - notional];
        [depth, notional] = [band.depth, band.notional];
        return quantity > 0 ? [[(worth / quantity).toPrecision(12), quantity.toPrecision(12)]] : [];
      });
  };
  return bookLine(
    time.replace(/^(\d{4}-.*)$/, (text) => String(isoMs(text, 'UTC'))),
    side(-1),
    side(1),
  );
}
