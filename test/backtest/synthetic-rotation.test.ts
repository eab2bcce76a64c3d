/** The synthetic klines of `backtests/data/synthetic-rotation` are those of their generator and seed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { syntheticRotation, syntheticSeed } from '../kit/synthetic-rotation.ts';

const folder = fileURLToPath(new URL('../../backtests/data/synthetic-rotation', import.meta.url));
const files = readdirSync(folder).filter((file) => file.endsWith('.csv.gz'));

test('each file is what the generator makes from the stated seed, and there is no other', () => {
  const made = syntheticRotation(syntheticSeed);
  expect(files).toEqual(made.map(({ symbol }) => `${symbol}-1d.csv.gz`));
  for (const { symbol, csv } of made)
    expect(gunzipSync(readFileSync(join(folder, `${symbol}-1d.csv.gz`))).toString() === csv, symbol).toBe(true);
});

test('another seed makes other prices', () => {
  const [one] = syntheticRotation(syntheticSeed);
  const [other] = syntheticRotation(syntheticSeed + 1);
  expect(one?.csv).not.toBe(other?.csv);
});
