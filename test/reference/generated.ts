/** Generated markets and wants for property tests: the same seed gives the same, and gaps, quiet klines and touches occur. */
import type { Kline, Side, Signal } from './types.ts';

export interface Generated {
  readonly klines: readonly Kline[];
  /** What is wanted after each kline; often the same as before. */
  readonly signals: readonly Signal[];
}

/**
 * Klines of one minute around 100.00 with two decimals, and wants of every kind, in quantities of a few units. `moves` makes the moves of the
 * price smaller.
 */
export function generated(seed: number, rows: number, moves = 1): Generated {
  const chance = draws(seed);
  const klines: Kline[] = [];
  const signals: Signal[] = [];
  let price = 100;
  for (let row = 0; row < rows; row++) {
    const kline = nextKline(chance, row, price, moves);
    klines.push(kline);
    price = kline.close;
    const last = signals.at(-1);
    signals.push(last === undefined || chance() < 0.25 ? anySignal(chance, price) : last);
  }
  return { klines, signals };
}

export type Chance = () => number;

/** A linear congruential generator; good enough to vary tests. */
export function draws(seed: number): Chance {
  let state = (seed * 2_654_435_761) % 4_294_967_296;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const cents = (value: number): number => Math.round(value * 100) / 100;

export function nextKline(chance: Chance, row: number, before: number, moves = 1): Kline {
  const gap = chance() < 0.1 ? (chance() - 0.5) * 4 * moves : 0;
  const open = cents(Math.max(10, before + gap));
  const close = cents(Math.max(10, open + (chance() - 0.5) * 3 * moves));
  const high = cents(Math.max(open, close) + chance() * 1.5 * moves);
  const low = cents(Math.min(open, close) - chance() * 1.5 * moves);
  const volume = chance() < 0.05 ? 0 : Math.round(chance() * 3_000_000) / 10_000;
  return { time: row * 60_000, open, high, low, close, volume };
}

function anySignal(chance: Chance, price: number): Signal {
  const at = (distance: number): string => (price + distance).toFixed(2);
  const kind = chance();
  if (kind < 0.2) return { quantity: '0' };
  if (kind < 0.35) {
    const quote = (side: Side, distance: number, quantity: string) => ({ side, price: at(distance), quantity });
    return { quotes: [quote('BUY', -1, '5'), quote('SELL', 1, '3'), quote('BUY', -2, '4.5')] };
  }
  return {
    quantity: String(1 + Math.floor(chance() * 20)),
    ...(chance() < 0.4 ? { limit: at(chance() * 1.5 - 1) } : {}),
    ...(chance() < 0.6 ? { stop: at(-0.5 - chance() * 2) } : {}),
    ...(chance() < 0.6 ? { takeProfit: at(0.5 + chance() * 2) } : {}),
  };
}

/** The same klines, of which some in a row, up to twelve, have no trades: their prices are the last close. */
export function paused(seed: number, klines: readonly Kline[]): readonly Kline[] {
  const chance = draws(seed);
  let left = 0;
  let close = klines[0]?.close ?? 0;
  return klines.map((kline) => {
    if (left === 0 && chance() < 0.15) left = 1 + Math.floor(chance() * 12);
    if (left === 0) {
      close = kline.close;
      return kline;
    }
    left--;
    return { ...kline, open: close, high: close, low: close, close, volume: 0 };
  });
}

/** The same wants, some of them as shares of the equity in place of quantities, from a fifth of it to all of it. */
export const shared = (signals: readonly Signal[]): readonly Signal[] =>
  signals.map((signal) => {
    if (!('quantity' in signal) || Number(signal.quantity) % 3 !== 0 || signal.quantity === '0') return signal;
    const { quantity, ...rest } = signal;
    return { ...rest, share: String(Math.min(1, Number(quantity) / 15)) };
  });

/** The same wants, those of an even quantity as short ones: what limits a loss of a long position takes the profit of a short one. */
export const oftenShort = (signals: readonly Signal[]): readonly Signal[] =>
  signals.map((signal) => {
    if (!('quantity' in signal) || signal.quantity === '0' || Number(signal.quantity) % 2 === 1) return signal;
    const { quantity, stop, takeProfit, ...rest } = signal;
    if (typeof takeProfit === 'object' || typeof stop === 'object') return signal;
    return {
      ...rest,
      quantity: `-${quantity}`,
      ...(takeProfit === undefined ? {} : { stop: takeProfit }),
      ...(stop === undefined ? {} : { takeProfit: stop }),
    };
  });

/**
 * The same wants, repeated ones with other prices: with most klines a stop, a target and sometimes a limit move by a part of what the close did. Every
 * eighth want lasts for so many klines more.
 */
export function drifting(signals: readonly Signal[], klines: readonly Kline[]): readonly Signal[] {
  let base: Signal | undefined;
  let since = 0;
  return signals.map((signal, row) => {
    if (base === undefined || (signal !== signals[row - 1] && row - since > 2 + (row % 8) * 3)) {
      base = signal;
      since = row;
    }
    if ('quotes' in base || row % 7 === 0) return base;
    const { stop, takeProfit, limit } = base;
    const moved = (klines[row]?.close ?? 0) - (klines[since]?.close ?? 0);
    const by = (price: string, part: number): string => Math.max(1, Number(price) + moved * part).toFixed(2);
    return {
      ...base,
      ...(typeof stop === 'string' && { stop: by(stop, 0.5) }),
      ...(typeof takeProfit === 'string' && since % 3 > 0 && { takeProfit: by(takeProfit, 0.3) }),
      ...(limit !== undefined && since % 2 > 0 && { limit: by(limit, 1) }),
    };
  });
}

/** The same wants, some of those with a stop with one that trails, by half a percent to three, in its place or beside it, or with a time. */
export const trailed = (signals: readonly Signal[]): readonly Signal[] =>
  signals.map((signal) => {
    if (!('quantity' in signal) || signal.stop === undefined) return signal;
    const size = Math.abs(Number(signal.quantity));
    const { stop, ...rest } = signal;
    const trailing = String(0.005 * (1 + (size % 6)));
    const exits = [
      { trailing },
      { stop, trailing },
      { stop, exitAfterMs: 60_000 * (1 + (size % 7)) },
      { stop },
      { trailing, exitAfterMs: 90_000 * (1 + (size % 5)) },
    ];
    return { ...rest, ...exits[size % exits.length] };
  });

/** The same wants, those with a take-profit with two or three of them, for all of the position or a part of it, in any order. */
export const scaledOut = (signals: readonly Signal[]): readonly Signal[] =>
  signals.map((signal) => {
    if (!('quantity' in signal) || typeof signal.takeProfit !== 'string') return signal;
    const { takeProfit, quantity } = signal;
    const size = Number(quantity);
    const away = (step: number): string => (Number(takeProfit) + Math.sign(size) * step).toFixed(2);
    const lists = [
      [
        { at: takeProfit, share: '0.5' },
        { at: away(0.4), share: '0.5' },
      ],
      [
        { at: away(0.9), share: '0.3' },
        { at: takeProfit, share: '0.25' },
      ],
      [
        { at: takeProfit, share: '0.333' },
        { at: away(0.7), share: '0.334' },
        { at: away(0.3), share: '0.333' },
      ],
      [
        { at: takeProfit, share: '0.02' },
        { at: away(0.5), share: '0.9' },
        { at: away(0.6), share: '0.08' },
      ],
    ];
    return { ...signal, takeProfit: lists[Math.abs(size) % lists.length] ?? takeProfit };
  });
