/**
 * How far an order moves up in the queue when the displayed size at its price changes. Sizes are base quantities. Prints shorten the queue
 * directly; the rest of a change was cancelled by others, ahead of the order or after it.
 */
import type { QueueModel } from './rules.ts';

export interface LevelChange {
  /** What was before the order until now. */
  readonly front: number;
  /** What the level displayed before, and displays now. */
  readonly before: number;
  readonly now: number;
  /** What prints took from the level between the two. */
  readonly printed: number;
}

/**
 * The quantity ahead of the order now. Without a model all cancels count as behind the order, so only a level smaller than its queue moves
 * it.
 */
export function frontAfter({ kind, n }: QueueModel, { front, before, now, printed }: LevelChange): number {
  const fall = before - now - printed;
  if (kind === 'riskAverse' || fall < 0 || !Number.isFinite(front)) return Math.min(front, now);
  const back = before - front;
  const chance = behind(kind, n, Math.max(front, 0), Math.max(back, 0));
  const moved = front - (1 - chance) * fall + Math.min(back - chance * fall, 0);
  return Math.min(moved, now);
}

/** The chance that a cancel was behind the order: hftbacktest's `models/queue.rs`, by their names. */
export function behind(
  kind: Exclude<QueueModel['kind'], 'riskAverse'>,
  n: number,
  front: number,
  back: number,
): number {
  const weight = (size: number): number => (kind === 'log' || kind === 'log2' ? Math.log1p(size) : size ** n);
  const whole = kind === 'log' || kind === 'power' ? weight(back) + weight(front) : weight(back + front);
  const chance = kind === 'power3' ? 1 - weight(front / (front + back)) : weight(back) / whole;
  // Nothing before and nothing behind: it does not matter where a cancel was.
  return Number.isFinite(chance) ? chance : 1;
}
