/** What Linux says about a process. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Resident memory, MB. */
export const resident = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Processor time of all its threads since its start, ms. */
export function processor(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields after the name, which may contain anything: the state is the third.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
}

export interface Sample {
  /** ms since the start. */
  readonly at: number;
  readonly mb: number;
}

/** The slope by least squares, and how far it may be off: twice its standard error. */
export function growth(samples: readonly Sample[]): string {
  const n = samples.length;
  if (n < 3) return 'too few samples';
  const hours = samples.map(({ at }) => at / 3_600_000);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / n;
  const [x, y] = [mean(hours), mean(samples.map(({ mb }) => mb))];
  const spread = hours.reduce((sum, hour) => sum + (hour - x) ** 2, 0);
  const slope = samples.reduce((sum, { mb }, index) => sum + ((hours[index] ?? 0) - x) * (mb - y), 0) / spread;
  const rest = samples.reduce((sum, { mb }, index) => sum + (mb - y - slope * ((hours[index] ?? 0) - x)) ** 2, 0);
  const error = Math.sqrt(rest / (n - 2) / spread);
  return `${slope.toFixed(1)} ± ${(2 * error).toFixed(1)} MB an hour`;
}
