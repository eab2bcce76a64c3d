/** What is held, wished, protected and allowed: the parts of a trader that belong together. */
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection } from '../portfolio/protection.ts';
import type { Unprotected } from '../portfolio/unprotected.ts';
import type { Risk } from '../risk/risk.ts';

export interface Book {
  readonly portfolio: Portfolio;
  readonly planner: Planner;
  readonly protection: Protection;
  readonly risk: Risk;
  readonly unprotected: Unprotected;
}
