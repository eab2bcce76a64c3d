import { expect, test } from 'vitest';
import { frontAfter } from './queue.ts';
import type { QueueModel } from './rules.ts';

const kinds: readonly QueueModel['kind'][] = ['riskAverse', 'log', 'log2', 'power', 'power2', 'power3'];

test.each(kinds)('by %s nobody is behind more than the level displays, whatever it displayed before', (kind) => {
  for (const front of [0, 1, 5, 50, Number.POSITIVE_INFINITY])
    for (const before of [0, 5, 50])
      for (const now of [0, 1, 4, 49, 200])
        for (const printed of [0, 3, 60])
          expect(frontAfter({ kind, n: 2 }, { front, before, now, printed })).toBeLessThanOrEqual(now);
});
