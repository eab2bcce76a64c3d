/** Recorded books (depth) from a file of JSON lines. */
import { z } from 'zod';
import type { Depth } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';
import { linesOf } from './bytes.ts';

// {"t":1723161256000,"b":[[61828.01,0.0455],…],"a":[[61828.02,1.2],…]}: UTC ms, bids and asks, best first
const level = z.tuple([z.number().positive(), z.number().nonnegative()]);
const book = z.strictObject({ t: z.int().positive(), b: z.array(level).min(1), a: z.array(level).min(1) });

/**
 * Reads whole books, one JSON object `{t, b, a}` a line, `.jsonl` or `.jsonl.gz`, in their order of time. Crossed books are
 * refused: whoever fills against one buys below what it sells at. Throws a `Refusal` with the line number.
 */
export function loadDepth({ path, symbol }: { readonly path: string; readonly symbol: string }): readonly Depth[] {
  const out: Depth[] = [];
  let line = 0;
  for (const text of linesOf(path)) {
    line++;
    const read = readBook(text);
    const time = typeof read === 'string' ? 0 : read.t;
    const last = out.at(-1)?.time ?? 0;
    const fault =
      typeof read === 'string'
        ? read
        : time < last
          ? `it is ${last - time} ms earlier than the line before`
          : faultOf(read);
    if (typeof read === 'string' || fault !== undefined)
      throw new Refusal(`${path}, line ${line}: ${fault}: correct the file or fetch it again`);
    out.push({ symbol, time, bids: read.b, asks: read.a, seenAt: time });
  }
  return out;
}

type Book = z.infer<typeof book>;

/** The book, or what is wrong with the text. */
function readBook(text: string): Book | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'it is not JSON (a file that was cut off ends like that)';
  }
  const read = book.safeParse(json);
  return read.success
    ? read.data
    : `it is no book: ${read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')}`;
}

function faultOf({ a, b }: Book): string | undefined {
  const [ask, bid] = [a[0]?.[0] ?? 0, b[0]?.[0] ?? 0];
  if (bid > ask) return `the book is crossed (bid ${bid} above ask ${ask})`;
  const sorted =
    b.every((at, index) => index === 0 || at[0] < (b[index - 1]?.[0] ?? 0)) &&
    a.every((at, index) => index === 0 || at[0] > (a[index - 1]?.[0] ?? 0));
  return sorted ? undefined : 'its levels are not sorted best first';
}
