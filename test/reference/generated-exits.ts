/** Generated targets with every exit that is measured from the entry, in quote, in klines or by the time of day, and pauses after them. */
import { draws } from './generated.ts';
import type { Kline, Level, Side, Signal, Target } from './types.ts';

export interface Options {
  /** Whether some of the targets are short. */
  readonly isShort: boolean;
  /** Chance of another signal after a kline. */
  readonly changes: number;
  readonly intervalMs: number;
  /** The exits that targets may have; all when left out. */
  readonly only?: readonly (keyof Target)[];
}

/** What is wanted after each kline. Sizes often stay the same while levels move, grow, or turn the position round. */
export function measured(klines: readonly Kline[], seed: number, options: Options): readonly Signal[] {
  const chance = draws(seed);
  const signals: Signal[] = [];
  let size = 5;
  for (const kline of klines) {
    const last = signals.at(-1);
    if (last !== undefined && chance() >= options.changes) {
      signals.push(last);
      continue;
    }
    const kind = chance();
    if (kind < 0.1) signals.push({ quantity: '0' });
    else if (kind < 0.16) signals.push(quotesAt(kline.close));
    else {
      size = Math.max(-20, Math.min(20, nextSize(chance, size, options.isShort)));
      signals.push(targetOf(chance, size, kline, options));
    }
  }
  return signals;
}

type Chance = () => number;

function quotesAt(price: number): Signal {
  const quote = (side: Side, by: number, quantity: string) => ({ side, price: (price + by).toFixed(2), quantity });
  return { quotes: [quote('BUY', -1, '5'), quote('SELL', 1, '3')] };
}

function nextSize(chance: Chance, size: number, isShort: boolean): number {
  const kind = chance();
  if (kind < 0.35) return size;
  if (kind < 0.55) return size + Math.sign(size) * (1 + Math.floor(chance() * 4));
  if (kind < 0.75 && isShort) return -size;
  const next = 1 + Math.floor(chance() * 12);
  return isShort && chance() < 0.4 ? -next : next;
}

/** A target with some of the exits. */
export function targetOf(chance: Chance, size: number, { close, time }: Kline, { intervalMs, only }: Options): Target {
  const way = Math.sign(size);
  const between = (least: number, most: number, digits: number): string =>
    (least + chance() * (most - least)).toFixed(digits);
  const distance = (): { distance: string; moving?: true } => ({
    distance: between(0.3, 3, chance() < 0.5 ? 2 : 5),
    ...(chance() < 0.35 ? { moving: true as const } : {}),
  });
  const level = (sign: number): Level => {
    const kind = chance();
    if (kind < 0.25) return (close + sign * way * Number(between(0.3, 3, 2))).toFixed(2);
    return kind < 0.6 ? { fromEntry: between(0.003, 0.03, 4) } : distance();
  };
  const far = () => (chance() < 0.5 ? between(0.004, 0.03, 4) : distance());
  const count = (most: number): number => 1 + Math.floor(chance() * most);
  const time24 = (minutes: number): string => {
    const minute = Math.floor(time / 60_000 + minutes) % 1_440;
    return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  };
  const held = chance();
  const pause = chance();
  const all: Target = {
    ...(chance() < 0.25 ? { share: (size / 20).toFixed(2) } : { quantity: String(size) }),
    ...(chance() < 0.2 ? { limit: (close + way * (chance() * 1.5 - 1)).toFixed(2) } : {}),
    ...(chance() < 0.6 ? { stop: level(-1) } : {}),
    ...(chance() < 0.3 ? { trailing: far() } : {}),
    ...(chance() < 0.3
      ? { breakEven: { after: far(), ...(chance() < 0.5 ? { plus: between(0, 0.002, 4) } : {}) } }
      : {}),
    ...(chance() < 0.4 ? { takeProfit: chance() < 0.75 ? level(1) : [...halves(level(1), level(1))] } : {}),
    ...(held < 0.12 ? { exitAfterMs: 30_000 * count(20) } : held < 0.25 ? { exitAfterKlines: count(12) } : {}),
    ...(chance() < 0.2 ? { exitAt: time24(((chance() * 20 - 1) * intervalMs) / 60_000 + 1_440) } : {}),
    ...(pause < 0.25
      ? { reenterAfterMs: Math.round((chance() * 8 * intervalMs) / 1000) * 1000 }
      : pause < 0.5
        ? { reenterAfterKlines: count(6) }
        : {}),
  };
  const life = chance();
  const expiring: Target =
    all.limit === undefined || life > 0.6
      ? all
      : { ...all, ...(life < 0.3 ? { expiresAfterMs: 30_000 * count(12) } : { expiresAfterKlines: count(5) }) };
  const made: Target = expiring.limit !== undefined && chance() < 0.4 ? { ...expiring, postOnly: true } : expiring;
  if (only === undefined) return made;
  const kept = new Set<string>(['quantity', 'share', ...only]);
  return Object.fromEntries(Object.entries(made).filter(([name]) => kept.has(name))) as Target;
}

const halves = (first: Level, second: Level) =>
  JSON.stringify(first) === JSON.stringify(second)
    ? [{ at: first, share: '1' }]
    : [
        { at: first, share: '0.5' },
        { at: second, share: '0.4' },
      ];
