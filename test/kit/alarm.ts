/** A strategy that makes the file `kill` itself, and wants a position in the same moment: before the daemon's next look for the file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { map, take } from 'rxjs';
import { defineStrategy } from '../../src/index.ts';
import { stringsVariable } from './puppet.ts';

export default defineStrategy({
  name: 'alarm',
  about: 'Makes the file kill and wants a position at once',
  params: {},
  signals: ({ trades }) =>
    trades.pipe(
      take(1),
      map(() => {
        writeFileSync(join(process.env[stringsVariable] ?? '.', 'state', 'kill'), 'smoke');
        return { kind: 'target', goal: { quantity: 0.1 }, reason: 'the test wants it' } as const;
      }),
    ),
});
