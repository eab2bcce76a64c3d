/** What a file of rounds comes to: one line of JSON for each comparison, added to by every run. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Round } from './run.ts';

/** A comparison as it stands in the file. */
export interface Line extends Round {
  readonly commit: string;
}

/** All comparisons of a kind. */
export interface Total {
  readonly done: number;
  readonly comparisons: number;
  readonly mismatches: number;
  readonly seconds: number;
  readonly orders: number;
  readonly fills: number;
  readonly unknowns: number;
  readonly facts: Readonly<Record<string, number>>;
}

export const noTotal: Total = {
  done: 0,
  comparisons: 0,
  mismatches: 0,
  seconds: 0,
  orders: 0,
  fills: 0,
  unknowns: 0,
  facts: {},
};

/** Numbers add up, save those whose name says that they are a greatest one. */
function addFacts(a: Total['facts'], b: Total['facts']): Total['facts'] {
  const sum: Record<string, number> = { ...a };
  for (const [name, value] of Object.entries(b))
    sum[name] = /^(most|longest|greatest)/.test(name) ? Math.max(sum[name] ?? 0, value) : (sum[name] ?? 0) + value;
  return sum;
}

export const added = (total: Total, round: Round): Total => ({
  done: total.done + round.count,
  comparisons: total.comparisons + 1,
  mismatches: total.mismatches + (round.faults.length > 0 ? 1 : 0),
  seconds: total.seconds + round.seconds,
  orders: total.orders + round.orders,
  fills: total.fills + round.fills,
  unknowns: total.unknowns + round.unknowns,
  facts: addFacts(total.facts, round.facts),
});

/** The rounds of a file, of every run so far. */
export function readLines(file: string): readonly Line[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('{"kind"')).map((line) => JSON.parse(line) as Line);
}

export function append(file: string, line: object): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}
