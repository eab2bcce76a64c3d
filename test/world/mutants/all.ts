/** Every mutant. */
import { answerMutants } from './answers.ts';
import { byHandMutants } from './by-hand.ts';
import { identityMutants } from './identity.ts';
import { memoryMutants } from './memory.ts';
import type { Mutant } from './mutant.ts';
import { priceMutants } from './prices.ts';
import { requestMutants } from './requests.ts';

export const mutants: readonly Mutant[] = [
  ...answerMutants,
  ...identityMutants,
  ...memoryMutants,
  ...requestMutants,
  ...priceMutants,
  ...byHandMutants,
];
