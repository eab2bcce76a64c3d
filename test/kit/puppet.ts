/** A strategy on strings: it wants what a file says, so that a test decides what is signalled and when. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeMap } from 'rxjs';
import { defineStrategy, integer, type Signal } from '../../src/index.ts';

/** Where the signals lie, one file for each number. */
export const stringsVariable = 'SLUICE_TEST_STRINGS';
export const stringsFile = (dir: string, number: number): string => join(dir, `signal-${number}.json`);

export default defineStrategy({
  name: 'puppet',
  about: 'Wants what a file says at each trade; throws when it says so; has nothing to say without a file',
  params: { number: integer(1, { min: 1, max: 99 }, 'which file') },
  signals({ params, trades }) {
    const file = stringsFile(process.env[stringsVariable] ?? '.', params.number);
    return trades.pipe(
      mergeMap(() => {
        const signal = existsSync(file) ? signalIn(file) : undefined;
        if (signal === undefined) return [];
        if (signal.kind === 'throw') throw new Error(signal.text ?? 'the puppet was told to throw');
        if (signal.kind === 'crash')
          queueMicrotask(() => {
            throw new Error(signal.text);
          });
        if (signal.kind === 'crash') return [];
        return [signal];
      }),
    );
  },
});

/** What a puppet wants, or how it fails: by throwing, or later, in a task of its own, which ends the program. */
export type PuppetSignal =
  | Signal
  | { readonly kind: 'throw'; readonly text?: string }
  | { readonly kind: 'crash'; readonly text: string };

/** undefined while the daemon can open no file: that is not the strategy's business. */
function signalIn(file: string): PuppetSignal | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PuppetSignal;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') return undefined;
    throw error;
  }
}
