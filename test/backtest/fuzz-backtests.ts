/** Generated runs of strategies of several markets, of two strategies on one symbol, and over recorded trades, for `npm run fuzz`. */
import { deepStrictEqual } from 'node:assert';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { fc } from '../kit/properties.ts';
import { generatedCase, kinds } from '../reference/generated-several.ts';
import { type Drawn, drawn } from './measured-cases.ts';
import { byProduct, bySlowReference } from './several-agreement.ts';
import { overKlines, overTrades } from './ticks-exits.ts';
import { twoAnswers } from './two-strategies.ts';

/** One run of each kind, under a ruleset by its seed. Throws, with the kind, at the first that differs; gives the number of fills. */
export async function fuzzSeveral(seed: number): Promise<number> {
  let fills = 0;
  for (const [index, [name, kind]] of Object.entries(kinds).entries()) {
    const rules = rulesetNames[(seed + index) % rulesetNames.length] ?? 'plain';
    const given = generatedCase(kind, seed * 7_919 + index);
    const expected = bySlowReference(given, rules);
    const found = await byProduct(given, rules);
    deepStrictEqual(asJson(found), asJson(expected), `several markets, ${name}, rules ${rules}, case ${given.seed}`);
    for (const rows of Object.values(expected.markets)) fills += rows.fills.length;
  }
  return fills;
}

/** The same of two strategies on one symbol. */
export async function fuzzTwo(seed: number): Promise<number> {
  const rules = rulesetNames[seed % rulesetNames.length] ?? 'plain';
  const [of] = fc.sample(drawn, { seed, numRuns: 1 }) as [Drawn];
  const { expected, found, byStreams } = await twoAnswers(of, rules, seed % 3 === 0 ? '900' : undefined);
  const what = `two strategies, rules ${rules}, case ${JSON.stringify(of)}`;
  deepStrictEqual(asJson(found), asJson(expected), what);
  deepStrictEqual(asJson(byStreams), asJson(expected), `${what}, by streams`);
  return expected.reduce((sum, rows) => sum + rows.fills.length, 0);
}

/** Every exit by the engine of recorded trades, over klines and over trades. */
export async function fuzzTicks(seed: number): Promise<number> {
  const [of] = fc.sample(drawn, { seed, numRuns: 1 }) as [Drawn];
  const klines = await overKlines(of);
  deepStrictEqual(asJson(klines.found), asJson(klines.expected), `by events over klines, case ${JSON.stringify(of)}`);
  const trades = await overTrades(seed);
  deepStrictEqual(asJson(trades.found), asJson(trades.expected), `over trades, case ${seed}`);
  return klines.orders.length + trades.orders.length;
}

/** What is left out and what is undefined are the same. */
const asJson = (rows: unknown): unknown => JSON.parse(JSON.stringify(rows));
