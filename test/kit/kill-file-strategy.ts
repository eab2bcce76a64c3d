/** A strategy that creates the kill file and emits a target at the same moment, before the daemon next checks for the file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { map, take } from 'rxjs';
import { defineStrategy } from '../../src/index.ts';
import { stringsVariable } from './puppet.ts';

export default defineStrategy({
  name: 'kill-file',
  about: 'Creates the kill file and emits a target at the same moment',
  params: {},
  signals: ({ trades }) =>
    trades.pipe(
      take(1),
      map(() => {
        writeFileSync(join(process.env[stringsVariable] ?? '.', 'state', 'kill'), 'smoke');
        return { kind: 'target', size: { quantity: 0.1 }, reason: 'the test signals it' } as const;
      }),
    ),
});
