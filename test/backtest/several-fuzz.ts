/** Generated runs of strategies of several markets, by the product and by the slow reference, for `npm run fuzz`. */
import { deepStrictEqual } from 'node:assert';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { generatedCase, kinds } from '../reference/generated-several.ts';
import { byProduct, bySlowReference } from './several-agreement.ts';

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

/** What is left out and what is undefined are the same. */
const asJson = (rows: object): unknown => JSON.parse(JSON.stringify(rows));
