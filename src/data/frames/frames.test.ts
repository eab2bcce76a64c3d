import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decoded, encoded, magic } from './file.ts';
import { compactable, frameFiles, lockFrames, markDone } from './folder.ts';
import { FrameWriter, type FrameWriterOptions } from './writer.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const record = (words: string): Buffer =>
  encoded({ kind: 'frame', seenAt: 1.5, machineAt: 2_000, bytes: Buffer.from(words) });
const wordsIn = (bytes: Buffer): readonly string[] => decoded(bytes)?.records.map((one) => text(one.bytes)) ?? [];

describe('a file of frames', () => {
  const whole = Buffer.concat([magic, record('one'), record('two')]);

  test('gives back what was written, with both clocks', () => {
    expect(decoded(whole)).toMatchObject({
      records: [{ kind: 'frame', seenAt: 1.5, machineAt: 2_000 }, {}],
      lostBytes: 0,
    });
    expect(wordsIn(whole)).toEqual(['one', 'two']);
  });

  test('that was cut off anywhere keeps every whole record before, and says how much is lost', () => {
    for (let length = 0; length <= whole.length; length++) {
      const cut = whole.subarray(0, length);
      const kept = Math.max(0, Math.floor((length - magic.length) / record('one').length));
      expect([length, wordsIn(cut).length]).toEqual([length, kept]);
      expect(decoded(cut)?.lostBytes).toBe(
        length < magic.length ? length : (length - magic.length) % record('one').length,
      );
    }
  });

  test('that was damaged is believed up to the damage', () => {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(0, damaged.length - 1);
    expect(wordsIn(damaged)).toEqual(['one']);
    expect(decoded(Buffer.from('something else'))).toBeUndefined();
  });
});

test.for<[string, number]>([
  ['its bytes', 8],
  ['its length', 0],
  ['its length, which points far behind', 3],
  ['its checksum', 4],
])('a record of which %s are damaged is lost alone, and its place is known', ([, at]) => {
  const [one, two, three] = ['one', 'two', 'three'].map(record) as [Buffer, Buffer, Buffer];
  const damaged = Buffer.from(two);
  damaged[at] = (damaged[at] ?? 0) ^ 4;
  const found = decoded(Buffer.concat([magic, one, damaged, three, three.subarray(0, 9)]));
  expect(found?.records.map(({ kind, bytes }) => (kind === 'lost' ? kind : text(bytes)))).toEqual([
    'one',
    'lost',
    'three',
  ]);
  expect(found).toMatchObject({ damagedBytes: two.length, lostBytes: 9 });
});

describe('a recording', () => {
  const day = Date.UTC(2024, 0, 10);
  function place(change: Partial<FrameWriterOptions> = {}) {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-frames-'));
    const seen = { ended: [] as string[], closed: 0, now: day };
    const unlock = lockFrames(dir);
    const open = () =>
      new FrameWriter({
        dir,
        maxBytes: 1e6,
        now: () => seen.now,
        opening: (isFirst) => Buffer.from(isFirst ? 'begins' : 'goes on'),
        ended: (why) => seen.ended.push(why),
        closed: () => seen.closed++,
        ...change,
      });
    return { dir, seen, unlock, open };
  }

  test('goes on in another file on another day, each of which is complete by itself', async () => {
    const { dir, seen, open } = place();
    const writer = open();
    writer.add('frame', Buffer.from('before midnight'));
    await writer.flush();
    seen.now += 86_400_000;
    writer.add('frame', Buffer.from('after it'));
    await writer.close();
    expect(frameFiles(dir).map(({ path }) => wordsIn(readFileSync(path)))).toEqual([
      ['begins', 'before midnight'],
      ['goes on', 'after it'],
    ]);
    expect(seen).toMatchObject({ closed: 2, ended: [] });
  });

  test('ends at its limit, and never takes more; what is in the catalogue gives way first', async () => {
    const { dir, seen, open } = place({ maxBytes: 2_000 });
    const first = open();
    first.add('frame', Buffer.alloc(1_000));
    await first.close();
    const second = open();
    second.add('frame', Buffer.alloc(1_500));
    await second.close();
    expect(seen.ended).toEqual([expect.stringMatching(/^recorded frames take 0 MB, the limit/)]);
    expect(second.against).toBe(seen.ended[0]);
    second.add('frame', Buffer.alloc(10));
    expect(frameFiles(dir).reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(2_000);
    for (const path of compactable(dir)) markDone(path);
    const third = open();
    third.add('frame', Buffer.alloc(1_500));
    await third.close();
    expect(seen.ended).toHaveLength(1);
    expect(frameFiles(dir).filter(({ state }) => state === 'waiting')).toHaveLength(1);
  });

  test('ends where its folder cannot be written to, and reports why once', async () => {
    const { dir, seen, open } = place();
    const writer = open();
    writeFileSync(join(dir, 'frames.away'), '');
    const gone = frameWriterIn(join(dir, 'frames.away'), seen.ended);
    gone.add('frame', Buffer.from('x'));
    await gone.close();
    gone.add('frame', Buffer.from('y'));
    await gone.close();
    expect(seen.ended).toEqual([expect.stringMatching(/ENOTDIR/)]);
    await writer.close();
  });

  test('of a process that is gone is compacted, of one that lives only what it has closed', async () => {
    const { dir, seen, unlock, open } = place();
    const writer = open();
    writer.add('frame', Buffer.from('x'));
    await writer.flush();
    expect(compactable(dir)).toEqual([]);
    seen.now += 86_400_000;
    writer.add('frame', Buffer.from('y'));
    await writer.flush();
    expect(compactable(dir)).toHaveLength(1);
    unlock();
    expect(compactable(dir)).toHaveLength(2);
  });

  const frameWriterIn = (dir: string, ended: string[]) =>
    new FrameWriter({
      dir,
      maxBytes: 1e6,
      now: () => day,
      opening: () => Buffer.from('begins'),
      ended: (why) => ended.push(why),
      closed: () => {},
    });
});
