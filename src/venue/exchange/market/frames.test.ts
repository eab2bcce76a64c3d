import { existsSync, readFileSync } from 'node:fs';
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fc, property } from '../../../../test/kit/properties.ts';
import { isFields, timeOf } from '../rest/json.ts';
import { decodeFrame, maxFrameBytes } from './frames.ts';
import { readBook, readKline, readPrint, readTicker } from './read-market.ts';

interface Recorded {
  readonly venue: string;
  readonly dir: string;
  readonly what: string;
  readonly frame: string;
}

const file = new URL('../../../../backtests/data/chainup-frames-mit.jsonl.gz', import.meta.url);
const recorded = gunzipSync(readFileSync(file))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);
const received = recorded.filter(({ dir }) => dir === 's2c');
const decode = (text: string) => decodeFrame(gzipSync(text));

/** What each recording is, by what its recorder called it. */
const kindOf = ({ what, frame }: Recorded): string => {
  if (what.includes('ping') || what.includes('client pong')) return frame.startsWith('{"pong"') ? 'pong' : 'ping';
  if (what.includes('echo') || what.includes('system ready')) return 'other';
  if (what.includes('history')) return 'history';
  if (what === 'error') return 'error';
  return what.endsWith('ack') ? 'ack' : 'push';
};

describe('the frames recorded from nine venues', () => {
  it('are fifty', () => {
    expect(recorded).toHaveLength(50);
  });

  it.each(received.map((one) => [one.venue, one.what, one] as const))('%s, %s', (_venue, _what, one) => {
    expect(decode(one.frame).kind).toBe(kindOf(one));
  });

  it('give the same compressed by gzip, by zlib, or not at all', () => {
    for (const { frame } of recorded) {
      expect(decodeFrame(deflateSync(frame))).toEqual(decode(frame));
      expect(decodeFrame(Buffer.from(frame))).toEqual(decode(frame));
    }
  });

  it('hold a usable book in every depth frame but those that are empty or dead', () => {
    const problems = received.flatMap((one) => {
      const frame = decode(one.frame);
      if (frame.kind !== 'push' || !frame.channel.includes('_depth_')) return [];
      const book = readBook(frame.tick['buys'] ?? frame.tick['bids'], frame.tick['asks']);
      if (typeof book !== 'string') expect(book.bids.length + book.asks.length).toBe(6);
      return typeof book === 'string' ? [`${one.what}: ${book}`] : [];
    });
    expect(problems).toEqual([
      'depth empty: empty depth',
      'unknown channel = empty book, status ok: empty depth',
      'unknown symbol: empty depth',
      'unknown step: ts is 0: empty depth',
      'unknown symbol: empty depth',
      'delisted symbol: zero in depth',
    ]);
  });
});

/** What is in a frame, as whoever listens to its channel reads it; the problem in words where it cannot be read. */
function contentOf(frame: ReturnType<typeof decode>): unknown {
  if (frame.kind === 'history') {
    const seenAt = timeOf(frame.ts) ?? 1;
    return frame.rows.map((row) =>
      frame.channel.includes('_kline_') && isFields(row)
        ? readKline(row, row['id'])
        : readPrint(row, 'X', seenAt, seenAt),
    );
  }
  if (frame.kind !== 'push') return frame.kind;
  const { channel, tick } = frame;
  if (channel.includes('_depth_')) return readBook(tick['buys'] ?? tick['bids'], tick['asks']);
  if (channel.includes('_kline_')) return readKline(tick, tick['id']);
  if (channel.endsWith('_trade_ticker')) {
    const rows = tick['data'];
    // One deployment pushes a ticker on the channel of trades, too.
    return Array.isArray(rows) ? rows.map((row) => readPrint(row, 'X', 1, 1)) : readTicker(tick, 'X', 1);
  }
  return channel.endsWith('_ticker') ? readTicker(tick, 'X', 1) : 'of no use';
}

const beside = new URL('../../../../../shared/spec/frames/frames.jsonl', import.meta.url);
const all: readonly Recorded[] = !existsSync(beside)
  ? recorded
  : readFileSync(beside, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Recorded);

describe('every recorded frame', () => {
  it('is there: those that ship, or all 59 where the collection is beside the repository', () => {
    expect(all).toHaveLength(existsSync(beside) ? 59 : 50);
    for (const one of recorded) expect(all.map(({ frame }) => frame)).toContain(one.frame);
  });

  it.each(all.filter(({ dir }) => dir === 's2c').map((one) => [one.venue, one.what, one] as const))(
    'is read to the last row: %s, %s',
    (_venue, what, { frame }) => {
      const content = contentOf(decode(frame));
      expect(content).toBeDefined();
      for (const row of Array.isArray(content) ? content : []) expect(row).toBeDefined();
      // A book with an empty side or a zero is refused in so many words, since nobody may act on half a market; nothing else is.
      const isRefused = typeof content === 'string' && content.endsWith(' depth');
      if (isRefused || content === 'zero in depth') expect(what).toMatch(/empty|unknown|delisted|one-sided/);
    },
  );
});

describe('a frame', () => {
  it('above 1 MiB is reported before it is unpacked or parsed', () => {
    const bomb = Buffer.alloc(50 * maxFrameBytes, ' ');
    expect(decodeFrame(gzipSync(bomb))).toEqual({ kind: 'tooLarge' });
    expect(decodeFrame(deflateSync(bomb))).toEqual({ kind: 'tooLarge' });
    expect(decodeFrame(Buffer.alloc(maxFrameBytes + 1, ' '))).toEqual({ kind: 'tooLarge' });
  });

  it('that is broken is malformed, and its sample is short', () => {
    const cut = gzipSync('{"channel":"x","tick":{}}').subarray(0, 20);
    for (const bytes of [
      cut,
      Buffer.from('x'.repeat(10_000)),
      Buffer.from('[1]'),
      Buffer.from('null'),
      Buffer.alloc(0),
    ]) {
      const frame = decodeFrame(bytes);
      expect(frame.kind).toBe('malformed');
      expect(JSON.stringify(frame).length).toBeLessThan(200);
    }
  });

  property.prop([fc.uint8Array({ maxLength: 200 })])('of any bytes never throws', (bytes) => {
    expect(() => decodeFrame(Buffer.from(bytes))).not.toThrow();
    expect(() => decodeFrame(gzipSync(bytes))).not.toThrow();
  });

  property.prop([fc.constantFrom(...recorded), fc.nat(), fc.string({ maxLength: 3 })])(
    'that was changed anywhere never throws',
    ({ frame }, at, text) => {
      const place = at % frame.length;
      expect(() => decode(frame.slice(0, place) + text + frame.slice(place + 1))).not.toThrow();
    },
  );
});

describe('a book', () => {
  it('of numbers, texts and cumulative columns is read alike', () => {
    const levels = {
      bids: [[99.5, 2]],
      asks: [
        [100, 1.5],
        [101, 3],
      ],
    };
    expect(readBook(levels.bids, levels.asks)).toEqual(levels);
    expect(
      readBook(
        [['99.50', '2', '2', '199']],
        [
          ['100', 1.5, 9],
          ['101', '3E0'],
        ],
      ),
    ).toEqual(levels);
  });

  it.each<[string, unknown, unknown]>([
    ['empty depth', [], [[1, 1]]],
    ['empty depth', [[1, 1]], []],
    ['crossed depth', [[100, 1]], [[100, 1]]],
    ['crossed depth', [[101, 1]], [[100, 1]]],
    ['zero in depth', [[0, 0]], [[1, 1]]],
    ['zero in depth', [[1, 1]], [[2, 0]]],
    [
      'unsorted depth',
      [
        [1, 1],
        [2, 1],
      ],
      [[3, 1]],
    ],
    ['unreadable depth', [['x', 1]], [[3, 1]]],
    ['unreadable depth', [7], [[3, 1]]],
    ['unreadable depth', '', ''],
    ['unreadable depth', undefined, [[1, 1]]],
  ])('is refused as %s', (problem, bids, asks) => {
    expect(readBook(bids, asks)).toBe(problem);
  });
});
