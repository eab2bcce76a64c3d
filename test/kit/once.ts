/** A strategy that says what a file holds at the first trade it hears, and nothing more; nothing at all without one. */
import { existsSync, readFileSync } from 'node:fs';
import { mergeMap, take } from 'rxjs';
import { defineStrategy, type Want } from '../../src/index.ts';
import { stringsFile, stringsVariable } from './puppet.ts';

export default defineStrategy({
  name: 'once',
  about: 'Wants what a file says, once',
  params: {},
  signals: ({ trades }) =>
    trades.pipe(
      take(1),
      mergeMap(() => {
        const file = stringsFile(process.env[stringsVariable] ?? '.', 1);
        return existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8')) as Want] : [];
      }),
    ),
});
