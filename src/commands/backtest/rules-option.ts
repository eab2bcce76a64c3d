/** `--rules NAME`. */
import { Option } from 'commander';
import { rulesetNames } from '../../fill/ruleset-names.ts';

export const rulesOption = (): Option =>
  new Option('--rules <NAME>', 'fill by the rules of another library, in place of those that are configured').choices([
    ...rulesetNames,
  ]);
