/**
 * `sluice backtest --all [DIR]`: every configuration of a folder against the result that is written down beside it
 * (`NAME.expected.json`), as regression tests of strategies, rules and data.
 */

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import type { Output } from '../../terminal/output.ts';

/** What is compared: the money and every fill, exactly. */
const expectation = z.object({
  finalEquity: z.string(),
  ambiguousKlines: z.number(),
  fills: z.array(
    z.object({
      time: z.number(),
      symbol: z.string().optional(),
      side: z.string(),
      price: z.string(),
      quantity: z.string(),
      fee: z.string(),
      feeAsset: z.string(),
    }),
  ),
});
export type Expectation = z.output<typeof expectation>;
type ExpectedFill = Expectation['fills'][number];

export interface AllOptions extends Output {
  readonly dir: string;
  /** Write down what comes out in place of comparing. */
  readonly accept: boolean;
  readonly signal?: AbortSignal;
  /** What `sluice backtest --config FILE --json` prints. */
  readonly run: (config: string) => Promise<string>;
}

interface Judged {
  readonly name: string;
  readonly state: 'as expected' | 'accepted' | 'differs' | 'nothing expected' | 'failed';
  /** Line by line what differs, or why it failed. */
  readonly differences: readonly string[];
}

/** Differences shown of one scenario; the rest is counted. */
const shownDifferences = 8;

/** Throws a `Refusal` with exit code 1, once all are judged, where one is not as expected. */
export async function checkAll(options: AllOptions): Promise<void> {
  const { dir, json, out, signal } = options;
  if (!existsSync(dir) || !statSync(dir).isDirectory())
    throw new Refusal(`folder ${resolve(dir)} does not exist: give --all a folder of configurations (*.yaml)`);
  const names = readdirSync(dir)
    .filter((file) => /\.ya?ml$/.test(file))
    .toSorted();
  if (names.length === 0) throw new Refusal(`${resolve(dir)} contains no configuration (*.yaml)`);
  const all: Judged[] = [];
  for (const name of names) {
    if (signal?.aborted === true) break;
    const judged = await judge(options, name);
    all.push(judged);
    if (json) out(JSON.stringify({ version: 2, ...judged }));
    else for (const line of linesOf(judged)) out(line);
  }
  const bad = all.filter(({ state }) => state !== 'as expected' && state !== 'accepted');
  if (all.length < names.length) options.say(`stopped: ${names.length - all.length} of ${names.length} were not run`);
  if (bad.length === 0) return;
  // Of one that does not run nothing comes out.
  const hint =
    options.accept || bad.every(({ state }) => state === 'failed')
      ? ''
      : ' (--accept saves the new results as expectations)';
  const what = options.accept ? 'could not be run' : 'not as expected';
  throw new Refusal(`${bad.length} of ${all.length} ${what}: ${bad.map(({ name }) => name).join(', ')}${hint}`, 1);
}

async function judge({ dir, accept, run }: AllOptions, file: string): Promise<Judged> {
  const name = file.replace(/\.ya?ml$/, '');
  const beside = join(dir, `${name}.expected.json`);
  let found: Expectation;
  try {
    found = expectation.parse(JSON.parse(await run(join(dir, file))));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { name, state: 'failed', differences: error.message.split('\n') };
  }
  if (accept) {
    writeFileSync(beside, `${JSON.stringify(found, null, 2)}\n`);
    return { name, state: 'accepted', differences: [] };
  }
  if (!existsSync(beside)) return { name, state: 'nothing expected', differences: [`${beside} does not exist`] };
  const expected = readExpectation(beside);
  if (typeof expected === 'string') return { name, state: 'nothing expected', differences: [expected] };
  const differences = differencesOf(expected, found);
  return { name, state: differences.length === 0 ? 'as expected' : 'differs', differences };
}

/** A text says why it is none: the others are judged all the same. */
function readExpectation(file: string): Expectation | string {
  try {
    return expectation.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return `${file} is not an expectation (finalEquity, ambiguousKlines, fills): --accept rewrites it`;
  }
}

/** In words, the first difference of the fills first: what follows is mostly its consequence. */
export function differencesOf(expected: Expectation, found: Expectation): readonly string[] {
  const differences: string[] = [];
  const max = Math.max(expected.fills.length, found.fills.length);
  for (let index = 0; index < max; index++) {
    const [before, now] = [expected.fills[index], found.fills[index]];
    if (before !== undefined && now !== undefined && sameFill(before, now)) continue;
    differences.push(
      `fill ${index + 1}: expected ${fillText(before)}`,
      `${' '.repeat(`fill ${index + 1}`.length)}     found ${fillText(now)}`,
    );
  }
  if (expected.fills.length !== found.fills.length)
    differences.unshift(`${counted(found.fills.length, 'fill')}, ${expected.fills.length} expected`);
  if (expected.ambiguousKlines !== found.ambiguousKlines)
    differences.unshift(`${found.ambiguousKlines} ambiguous klines, ${expected.ambiguousKlines} expected`);
  if (expected.finalEquity !== found.finalEquity)
    differences.unshift(`final equity ${found.finalEquity}, ${expected.finalEquity} expected`);
  return differences;
}

/** A symbol is compared where one is expected: those of a single symbol need not name it. */
const sameFill = (a: ExpectedFill, b: ExpectedFill): boolean =>
  fillText(a) === fillText(b) && (a.symbol === undefined || a.symbol === b.symbol);

const fillText = (fill: ExpectedFill | undefined): string =>
  fill === undefined
    ? 'none'
    : `${new Date(fill.time).toISOString()} ${fill.side} ${fill.quantity} at ${fill.price}, fee ${fill.fee} ${fill.feeAsset}`;

function linesOf({ name, state, differences }: Judged): readonly string[] {
  const more = differences.length - shownDifferences * 2;
  return [
    `${state.padEnd(17)} ${name}`,
    ...differences.slice(0, shownDifferences * 2).map((line) => `    ${line}`),
    ...(more > 0 ? [`    and ${more} lines more`] : []),
  ];
}
