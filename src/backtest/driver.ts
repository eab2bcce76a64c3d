/** Which runs only the live graph can do. */
import { isStreaming } from '../strategy/contract.ts';
import type { RunInput } from './run.ts';

/** Strategies made of streams need it, and so does margin: no loop over columns knows interest and liquidation. */
export const needsGraph = ({ hosted, margin }: Pick<RunInput, 'hosted' | 'margin'>): boolean =>
  margin !== undefined || hosted.some(({ strategy }) => isStreaming(strategy));
