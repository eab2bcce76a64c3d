/** What a run that was stopped says, and when it was. */
import type { Summary } from '../research/summary.ts';
import type { Stressed } from '../research/verdict.ts';
import { figureText, momentText } from './figures.ts';

export const stoppedTexts = ({ kills, stoppedAt }: Pick<Summary, 'kills' | 'stoppedAt'>): readonly string[] =>
  kills.map((kill, index) => (index > 0 || stoppedAt === undefined ? kill : `${momentText(stoppedAt)} UTC: ${kill}`));

/** Of a run that Ctrl-C ended, which looks like a finished one otherwise. */
export const endedText = (endedAt: number): string =>
  `at ${momentText(endedAt)} UTC, before its end: everything is of the time until then`;

/** `Sharpe 0.36; stopped by a limit: …`, of a run under worse conditions. */
export const stressedText = ({ sharpe, kills }: Pick<Stressed, 'sharpe' | 'kills'>): string =>
  `Sharpe ${figureText(sharpe, 'ratio')}${kills === undefined ? '' : `; stopped by a limit: ${kills.join('; ')}`}`;
