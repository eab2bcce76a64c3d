/** The shipped strategies by the name that a configuration uses. */
import type { Registry } from '../src/strategy/load.ts';

export const registry: Registry = {
  'sma-cross': () => import('./sma-cross/index.ts'),
  grid: () => import('./grid/index.ts'),
  maker: () => import('./maker/index.ts'),
};
