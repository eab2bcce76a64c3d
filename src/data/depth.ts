/** Recorded books (depth) from a file of JSON lines. */
import { z } from 'zod';
import type { Depth } from '../domain/market.ts';
import { Refusal } from '../domain/refusal.ts';
import { DepthChecks } from './check/depth.ts';
import { refuseEmpty, refuseNamed, refuseUnits } from './check/errors.ts';
import { type Lines, linesOf } from './read-bytes.ts';
import { addBooks, bookColumns } from './tape-files.ts';

// {"t":1723161256000,"b":[[61828.01,0.0455],…],"a":[[61828.02,1.2],…]}: UTC ms, bids and asks, best first
const level = z.tuple([z.number(), z.number()]);
const book = z.strictObject({ t: z.number(), b: z.array(level), a: z.array(level) });

/**
 * Reads whole books, one JSON object `{t, b, a}` a line, `.jsonl` or `.jsonl.gz`, in their order of time. Throws a `Refusal` with
 * the line number for a line that cannot be read, and for all that stands against an import.
 */
export function readDepth({ path, symbol }: DepthFile): { readonly books: readonly Depth[] } & Pick<Lines, 'ended'> {
  const { lines, ended } = linesOf(path);
  const out: Depth[] = [];
  let line = 0;
  for (const text of lines) {
    line++;
    const read = readBook(text);
    if (typeof read === 'string')
      throw new Refusal(`${path}, line ${line}: ${read}: correct the file or fetch it again`);
    out.push({ symbol, time: read.t, bids: read.b, asks: read.a, seenAt: read.t });
  }
  refuseEmpty(path, out.length);
  refuseUnits(
    path,
    Float64Array.from(out, ({ time }) => time),
    1,
  );
  const checks = new DepthChecks();
  addBooks(checks, bookColumns(out), [0, out.length], 1);
  refuseNamed(path, checks.findings(), checks.rows);
  return { books: out, ended };
}

interface DepthFile {
  readonly path: string;
  readonly symbol: string;
}

/** The books alone. */
export const loadDepth = (file: DepthFile): readonly Depth[] => readDepth(file).books;

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
  if (read.success) return read.data.b.length + read.data.a.length === 0 ? 'the book is empty' : read.data;
  const [issue] = read.error.issues;
  return `it is not a depth snapshot: ${issue?.path.join('.')} ${issue?.message}`;
}
