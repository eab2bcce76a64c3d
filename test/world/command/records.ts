/** Files that a campaign is gone on with: what was run, on which commit, and what it came to. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Totals } from '../campaign.ts';
import type { Build } from './build.ts';

/** A stretch of seeds without a gap. */
export interface Stretch extends Totals {
  readonly commit: string;
  readonly protocol: string;
  readonly from: number;
  to: number;
  failed: number[];
  /** The sum of all trace hashes, 64 bits in hex: the same seeds on the same code give the same. */
  hashes: string;
}

/** Seeds that were run twice. */
export interface Twice {
  readonly commit: string;
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
  readonly unlike: readonly number[];
}

export interface CampaignFile {
  readonly stretches: Stretch[];
  readonly twice: Twice[];
}

/** One scenario under one fault, gone through to its end. */
export interface CornerRecord {
  readonly commit: string;
  readonly protocol: string;
  readonly first: number;
  readonly second: number;
  readonly steps: number;
  readonly failed: readonly string[];
}

export function read<T>(file: string, empty: T): T {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : empty;
}

/** Written beside and renamed: who is interrupted keeps what was there. */
export function keep(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(value, undefined, 1)}\n`);
  renameSync(`${file}.new`, file);
}

export const counts = ({ protocol }: { readonly protocol: string }, build: Build): boolean =>
  protocol === build.protocol && !build.changed;

/** The first seed that nobody has run. */
export const nextSeed = ({ stretches }: CampaignFile): number => Math.max(0, ...stretches.map(({ to }) => to)) + 1;
