/**
 * Ten invented symbols with daily klines, the same from the same seed on every machine: it adds, multiplies and divides only. They share a
 * market and have trends of their own that last for weeks, so that there is something to rotate among. No market is like that by promise.
 */
import { type Rng, seededRng } from '../../src/clock/clock.ts';

export const syntheticSeed = 1;
const symbolCount = 10;
const day = 86_400_000;
const from = Date.UTC(2023, 0, 1);
const days = 1_096;
/** The last one has klines from its second year on only, as a symbol that was listed later. */
const lateDays = 365;
const decimals = 4;

const market = { drift: 0.001, deviation: 0.022, days: 120 };
const own = { drift: 0.0025, deviation: 0.028, days: 45 };

export interface SyntheticFile {
  readonly symbol: string;
  /** As a klines file has it. */
  readonly csv: string;
}

/** All ten. Prices in quote with four decimals, volumes in base. */
export function syntheticRotation(seed: number): readonly SyntheticFile[] {
  const rng = seededRng(seed);
  const returns = marketReturns(rng);
  return Array.from({ length: symbolCount }, (_, index) => ({
    symbol: `SYNTH${String(index + 1).padStart(2, '0')}USDT`,
    csv: klinesOf(rng, returns, index + 1 === symbolCount ? lateDays : 0),
  }));
}

/** It rises or falls for months. */
function marketReturns(rng: Rng): readonly number[] {
  let direction = 1;
  return Array.from({ length: days }, () => {
    if (rng() < 1 / market.days) direction = -direction;
    return direction * market.drift + normal(rng) * market.deviation;
  });
}

function klinesOf(rng: Rng, returns: readonly number[], first: number): string {
  const share = 0.7 + 0.6 * rng();
  let close = rounded(1 + 199 * rng());
  let direction = 0;
  const lines = ['time_ms,open,high,low,close,volume'];
  for (const [index, ofMarket] of returns.entries()) {
    if (rng() < 1 / own.days) direction = Math.floor(rng() * 3) - 1;
    const open = close;
    const change = share * ofMarket + direction * own.drift + normal(rng) * own.deviation;
    close = rounded(open * (1 + change));
    const high = rounded(Math.max(open, close) * (1 + 0.02 * rng()));
    const low = rounded(Math.min(open, close) * (1 - 0.02 * rng()));
    const volume = Math.round((20_000_000 * (0.5 + rng())) / close);
    if (index >= first) lines.push([from + index * day, open, high, low, close, volume].join(','));
  }
  return `${lines.join('\n')}\n`;
}

const rounded = (price: number): number => Math.round(price * 10 ** decimals) / 10 ** decimals;

/** Nearly normal: the sum of twelve uniform draws. A logarithm may differ from machine to machine in its last digit. */
function normal(rng: Rng): number {
  let sum = -6;
  for (let count = 0; count < 12; count++) sum += rng();
  return sum;
}
