/** What a limit that stopped a run says, and when it did. */
import type { Summary } from '../research/summary.ts';
import type { Stressed } from '../research/verdict.ts';
import { figureText, momentText } from './figures.ts';

export const stoppedTexts = ({ kills, stoppedAt }: Pick<Summary, 'kills' | 'stoppedAt'>): readonly string[] =>
  kills.map((kill, index) => (index > 0 || stoppedAt === undefined ? kill : `${momentText(stoppedAt)} UTC: ${kill}`));

/** `Sharpe 0.36; stopped by a limit: …`, of a run under worse conditions. */
export const stressedText = ({ sharpe, kills }: Pick<Stressed, 'sharpe' | 'kills'>): string =>
  `Sharpe ${figureText(sharpe, 'ratio')}${kills === undefined ? '' : `; stopped by a limit: ${kills.join('; ')}`}`;
