/** Books that come as columns, made into JSON lines, which have one reader. */

import { isoMs } from './times.ts';

const encoder = new TextEncoder();

async function* lines(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const block of blocks) {
    const cut = (rest + decoder.decode(block, { stream: true })).split('\n');
    rest = cut.pop() ?? '';
    for (const line of cut) yield line.trim().split(',');
  }
  if (rest !== '') yield rest.trim().split(',');
}

type Level = readonly [price: string | undefined, quantity: string | undefined];

const bookLine = (t: string | undefined, b: readonly Level[], a: readonly Level[]): Uint8Array =>
  encoder.encode(`${JSON.stringify({ t: t ?? '', b, a })}\n`);

/** Tardis `book_snapshot_5` and `_25`: columns `asks[0].price,asks[0].amount,bids[0].price,…` beside `timestamp` in µs. */
export async function* snapshotsAsBooks(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let header: readonly string[] | undefined;
  for await (const cells of lines(blocks)) {
    if (header === undefined) {
      header = cells;
      // Lines stay numbered as in the file.
      yield encoder.encode('\n');
      continue;
    }
    const names = header;
    const cell = (name: string): string | undefined => cells[names.indexOf(name)];
    const side = (of: string): Level[] => {
      const levels: Level[] = [];
      for (let at = 0; cell(`${of}[${at}].price`); at++)
        levels.push([cell(`${of}[${at}].price`), cell(`${of}[${at}].amount`)]);
      return levels;
    };
    if (cells.length > 1) yield bookLine(cell('timestamp'), side('bids'), side('asks'));
  }
}

interface Band {
  readonly percentage: number;
  readonly depth: number;
  readonly notional: number;
}

/** Binance `bookDepth`: what lies within 1, 2, … 5 % of the middle, added up; each band becomes a level at its mean price. */
export async function* bandsAsBooks(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let header: readonly string[] | undefined;
  let time = '';
  let bands: Band[] = [];
  for await (const cells of lines(blocks)) {
    if (header === undefined) {
      header = cells.map((name) => name.toLowerCase());
      continue;
    }
    const names = header;
    const cell = (name: string): string => cells[names.indexOf(name)] ?? '';
    if (cells.length < 2) continue;
    if (cell('timestamp') !== time && bands.length > 0) {
      yield bandLine(time, bands);
      bands = [];
    }
    time = cell('timestamp');
    bands.push({
      percentage: Number(cell('percentage')),
      depth: Number(cell('depth')),
      notional: Number(cell('notional')),
    });
  }
  if (bands.length > 0) yield bandLine(time, bands);
}

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
