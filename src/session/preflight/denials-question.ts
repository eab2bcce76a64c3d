/** Whether the limits would have denied most of what the strategies asked for in the last days: asked before a start with new limits or code. */

import { Refusal } from '../../domain/refusal.ts';
import type { Notice } from '../../journal/entries.ts';
import type { DenialsReplay, SessionOptions } from '../options.ts';
import { isStrict, versionRows } from './limits.ts';

type Options = Pick<SessionOptions, 'config' | 'configured' | 'replayDenials' | 'confirm' | 'say'>;
type Reached = Omit<Parameters<DenialsReplay>[0], 'config' | 'steps'>;

/**
 * Replays them where the standard limits hold and the journal does not know this configuration and code. On a terminal it asks, and throws a
 * `Refusal` where the answer is no. Otherwise trading begins meanwhile, and the returned function reports what was found.
 */
export async function askAboutDenials(
  { config, configured, replayDenials, confirm, say }: Options,
  reached: Reached,
  steps: Parameters<typeof versionRows>[2],
): Promise<(notice: (said: Notice) => void) => void> {
  if (replayDenials === undefined || !isStrict(config)) return () => undefined;
  if (versionRows(config, configured, steps, 0).rows.length === 0) return () => undefined;
  const found = replayDenials({ ...reached, config, steps });
  if (confirm === undefined)
    return (notice) =>
      void found.then(
        (text) => {
          if (text !== undefined) notice({ level: 'warn', text: `the limits may be too tight: ${text}` });
        },
        (error: unknown) => notice({ level: 'warn', text: `the limits could not be tried: ${String(error)}` }),
      );
  const text = await found;
  if (text === undefined) return () => undefined;
  say(`The limits may be too tight: ${text}.`);
  if (!(await confirm('Start all the same?')))
    throw new Refusal(
      'not started: lower what the strategies ask for, or raise the limit (docs/reference/controls.md)',
      1,
    );
  return () => undefined;
}
