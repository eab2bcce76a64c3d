import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openData } from './unpack.ts';

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

test('a zip gives the name of the file inside, which says the symbol', async () => {
  expect((await read(zip)).name).toBe('BTCUSDT-1m.csv');
});

test('text longer than a block comes in several, in order', async () => {
  const long = Array.from({ length: 300_000 }, (_, row) => `row ${row}`).join('\n');
  for (const content of [Buffer.from(long), gzipSync(long), zstdCompressSync(long)])
    expect((await read(content)).text).toBe(long);
});

const random = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 251));
test.for([
  ['gzip', gzipSync(random).subarray(0, -9)],
  ['zstd', zstdCompressSync(random).subarray(0, -9)],
  ['xz', xz.subarray(0, -30)],
  ['zip', zip.subarray(0, -20)],
] as const)('a file packed as %s that was cut off is refused', async ([packing, content]) => {
  await expect(read(content)).rejects.toThrow(
    new RegExp(`given is damaged or cut off \\(${packing}: .*fetch the file again`),
  );
});

test('a file that is not there is refused', async () => {
  await expect(openData(join(folder, 'nowhere'))).rejects.toThrow(/nowhere is not there: check the path/);
});
