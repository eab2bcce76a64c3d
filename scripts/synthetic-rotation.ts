/** Writes the synthetic klines of backtests/data/synthetic-rotation anew: `node scripts/synthetic-rotation.ts`. A test compares them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { syntheticRotation, syntheticSeed } from '../test/kit/synthetic-rotation.ts';

const folder = new URL('../backtests/data/synthetic-rotation/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const { symbol, csv } of syntheticRotation(syntheticSeed))
  writeFileSync(new URL(`${symbol}-1d.csv.gz`, folder), gzipSync(csv, { level: 9 }));
