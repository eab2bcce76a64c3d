/** The components of a trader that share its positions. */
import type { Flattening } from '../portfolio/flattening.ts';
import type { LegsAlone } from '../portfolio/legs-alone.ts';
import type { Planner } from '../portfolio/planner.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Protection } from '../portfolio/protection.ts';
import type { Risk } from '../risk/risk.ts';
import type { Unprotected } from './unprotected.ts';

export interface TradingComponents {
  readonly portfolio: Portfolio;
  readonly planner: Planner;
  readonly protection: Protection;
  readonly risk: Risk;
  readonly unprotected: Unprotected;
  readonly legsAlone: LegsAlone;
  readonly flattening: Flattening;
}
