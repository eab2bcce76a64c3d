import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SimClock } from '../clock/sim-clock.ts';
import { type Bans, noBans, reread } from './bans.ts';
import { sharedFile } from './shared-file.ts';

const start = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
const banned: Bans = { ...noBans, stopUntil: start + 60_000 };

describe('a ban read by a process whose clock is not that of whoever wrote it', () => {
  const written = { utc: start, steady: 500_000 };

  it('ends when it ends, whether the clock is an hour ahead or behind, or less than a second', () => {
    for (const wrong of [hour, -hour, 926, -926]) {
      const now = start + 20_000 + wrong;
      expect(reread(banned, written, { utc: now, steady: 520_000 }).stopUntil - now).toBe(40_000);
    }
  });

  it('is left as it is where both clocks agree, and where nothing was forbidden', () => {
    expect(reread(banned, written, { utc: start + 20_000, steady: 520_000 })).toBe(banned);
    expect(reread(noBans, written, { utc: start + hour, steady: 520_000 }).stopUntil).toBe(0);
  });

  it('goes by the wall clock once the machine was started anew, since its steady one begins at zero', () => {
    expect(reread(banned, written, { utc: start + 30_000, steady: 9_000 })).toBe(banned);
  });
});

it('a ban in the file outlasts a restart with the machine’s wall clock set wrong, and the moment it is set right', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'sluice-bans-')), 'limits.db');
  let passed = 0;
  const opened = (clock: SimClock) =>
    sharedFile({ path, address: 'x:1', clock, warn: () => {}, steady: () => 500_000 + passed });
  opened(new SimClock(start)).forbid(banned);
  passed = 20_000;
  for (const wrong of [hour, -hour]) {
    const wall = start + passed + wrong;
    const next = opened(new SimClock(wall));
    expect(next.read().bans.stopUntil - wall).toBe(40_000);
    expect(next.bans.stopUntil - wall).toBe(40_000);
  }
});
