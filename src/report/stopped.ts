/** What a limit that stopped a run says, and when it did. */
import type { Summary } from '../research/summary.ts';
import { momentText } from './figures.ts';

export const stoppedTexts = ({ kills, stoppedAt }: Pick<Summary, 'kills' | 'stoppedAt'>): readonly string[] =>
  kills.map((kill, index) => (index > 0 || stoppedAt === undefined ? kill : `${momentText(stoppedAt)} UTC: ${kill}`));
