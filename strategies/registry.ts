/** The shipped strategies by the name that a configuration uses. */
import type { Registry } from '../src/strategy/load.ts';
import { resolveSluice } from '../src/strategy/resolve-sluice.ts';

// Strategies import from 'sluice', which Node would resolve to dist/.
resolveSluice();

export const registry = {
  'sma-cross': () => import('./sma-cross/index.ts'),
  donchian: () => import('./donchian/index.ts'),
  'mean-reversion': () => import('./mean-reversion/index.ts'),
  dca: () => import('./dca/index.ts'),
  pair: () => import('./pair/index.ts'),
  rotation: () => import('./rotation/index.ts'),
  grid: () => import('./grid/index.ts'),
  maker: () => import('./maker/index.ts'),
} satisfies Registry;
