import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openData, unzstd } from './unpack.ts';

const text = 'time_ms,open,high,low,close,volume\n1580515200000,1,2,1,2,3\n';
// Both hold that text: made by xz 5.4 and zip 3.0.
const xz = Buffer.from(
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AA6ADhdADoaSfri7sKfPE3SUHYRkC4Svq7wdNrg107V9NlMMLOpjMD2uvOrlDRxsuBinTZ0lazCaAcZmYAAADxaybtcoqNzAAFUO1/EWk8ftvN9AQAAAAAEWVo=',
  'base64',
);
const zip = Buffer.from(
  'UEsDBBQAAAAIAIqOdV3UMDZ+NwAAADsAAAAOABwAQlRDVVNEVC0xbS5jc3ZVVAkAA1TaAWtU2gFrdXgLAAEEAAAAAAQAAAAAK8nMTY3PLdbJL0jN08nITM/Qyckv10nOyS9O1SnLzynNTeUyNLUwMDU0NTIAAR1DHSMwNuYCAFBLAQIeAxQAAAAIAIqOdV3UMDZ+NwAAADsAAAAOABgAAAAAAAEAAACkgQAAAABCVENVU0RULTFtLmNzdlVUBQADVNoBa3V4CwABBAAAAAAEAAAAAFBLBQYAAAAAAQABAFQAAAB/AAAAAAA=',
  'base64',
);
const random = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, at) => (at * at * 7919) % 251));
const folder = mkdtempSync(join(tmpdir(), 'sluice-unpack-'));

async function read(content: string | Uint8Array): Promise<{ readonly text: string; readonly name: string }> {
  const path = join(folder, 'given');
  writeFileSync(path, content);
  const file = await openData(path);
  const blocks: Uint8Array[] = [];
  for await (const block of file.blocks) blocks.push(Uint8Array.from(block));
  expect(file.sha256()).toMatch(/^[0-9a-f]{64}$/);
  expect(file.bytes()).toBe(Buffer.byteLength(content));
  return { text: Buffer.concat(blocks).toString(), name: file.name };
}

test.for([
  ['plain', Buffer.from(text)],
  ['gzip', gzipSync(text)],
  ['zstd', zstdCompressSync(text)],
  ['xz', xz],
  ['zip', zip],
] as const)('a file packed as %s is read whole, whatever its name', async ([, content]) => {
  expect((await read(content)).text).toBe(text);
});

/** Frames that hold no data, as pzstd puts them before its own. */
const skipped = (bytes: number): Buffer =>
  Buffer.concat([Buffer.of(0x50, 0x2a, 0x4d, 0x18, bytes, 0, 0, 0), Buffer.alloc(bytes, 7)]);
const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
// Blocks of each kind: raw, of one byte that is repeated, packed.
const parts = ['', text, 'a'.repeat(300_000), text.repeat(9_000), Buffer.from(random(200_000)).toString('latin1')];

test('a file of several zstd frames is read whole', async () => {
  const frames = [
    ...parts.map((part) => zstdCompressSync(part, checked)),
    ...parts.map((part) => zstdCompressSync(part)),
  ];
  const all = [...parts, ...parts].join('');
  expect((await read(Buffer.concat(frames))).text).toBe(all);
  expect((await read(Buffer.concat(frames.flatMap((frame) => [skipped(4), frame, skipped(0)])))).text).toBe(all);
});

test('the end of a zstd frame is found wherever the blocks of a file end', async () => {
  const frames = Buffer.concat([...parts.map((part) => zstdCompressSync(part.slice(0, 500), checked)), skipped(3)]);
  const one = async function* (bytes: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < frames.length; at += bytes) yield frames.subarray(at, at + bytes);
  };
  for (const bytes of [1, 2, 3, 5, 64]) {
    const out: Uint8Array[] = [];
    for await (const block of unzstd(one(bytes), 1_024)) out.push(Uint8Array.from(block));
    expect(Buffer.concat(out).toString()).toBe(parts.map((part) => part.slice(0, 500)).join(''));
  }
});

test('a zip gives the name of the file inside, which says the symbol', async () => {
  expect((await read(zip)).name).toBe('BTCUSDT-1m.csv');
});

test('text longer than a block comes in several, in order', async () => {
  const long = Array.from({ length: 300_000 }, (_, row) => `row ${row}`).join('\n');
  for (const content of [Buffer.from(long), gzipSync(long), zstdCompressSync(long)])
    expect((await read(content)).text).toBe(long);
});

test.for([
  ['gzip', gzipSync(random(5_000)).subarray(0, -9)],
  ['zstd', zstdCompressSync(random(5_000)).subarray(0, -9)],
  ['zstd', Buffer.concat([zstdCompressSync(text), zstdCompressSync(random(5_000)).subarray(0, -9)])],
  ['zstd', Buffer.concat([zstdCompressSync(text), Buffer.alloc(20)])],
  ['xz', xz.subarray(0, -30)],
  ['zip', zip.subarray(0, -20)],
] as const)('a file packed as %s that was cut off is refused', async ([packing, content]) => {
  await expect(read(content)).rejects.toThrow(
    new RegExp(`given is damaged or cut off \\(${packing}: .*fetch the file again`),
  );
});

test('a zip whose content is not that of its checksum is refused', async () => {
  // The method and both sizes, as zip writes what is stored.
  const stored = Buffer.from(zip);
  const name = 14;
  const inside = zip.readUInt32LE(18);
  const from = 30 + name + zip.readUInt16LE(28);
  const directory = from + inside;
  stored.writeUInt16LE(0, 8);
  stored.writeUInt16LE(0, directory + 10);
  stored.writeUInt32LE(text.length, 18);
  stored.writeUInt32LE(text.length, directory + 20);
  const end = Buffer.from(stored.subarray(-22));
  end.writeUInt32LE(from + text.length, 16);
  const packed = (content: string): Buffer =>
    Buffer.concat([stored.subarray(0, from), Buffer.from(content), stored.subarray(directory, -22), end]);
  expect((await read(packed(text))).text).toBe(text);
  await expect(read(packed(text.replace('1,2,1,2,3', '1,2,1,2,9')))).rejects.toThrow(
    /given is damaged or cut off \(zip: its checksum does not match\): fetch the file again/,
  );
});

test('a file that is not there is refused', async () => {
  await expect(openData(join(folder, 'nowhere'))).rejects.toThrow(/nowhere does not exist: check the path/);
});

test.skipIf(process.platform === 'win32')('a pipe is refused, with what to do', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const held = openSync(path, 'r+');
  await expect(openData(path)).rejects.toThrow(/pipe is a pipe, which Sluice does not read: write it to a file/);
  closeSync(held);
});
