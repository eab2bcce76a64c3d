/** A strategy that says what a file holds until it holds something, and nothing from then on. */
import { readFileSync } from 'node:fs';
import { filter, map } from 'rxjs';
import { defineStrategy, type Signal } from '../../src/index.ts';
import { stringsFile, stringsVariable } from './puppet.ts';

export default defineStrategy({
  name: 'once',
  about: 'Wants what a file says until it holds something',
  params: {},
  signals: ({ trades, holding }) =>
    trades.pipe(
      filter(() => holding().quantity === 0),
      map(() => JSON.parse(readFileSync(stringsFile(process.env[stringsVariable] ?? '.', 1), 'utf8')) as Signal),
    ),
});
