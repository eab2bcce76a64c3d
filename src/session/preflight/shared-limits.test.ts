import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimClock } from '../../clock/sim-clock.ts';
import { tradingSchema } from '../../config/schema.ts';
import { noLog } from '../log/log.ts';
import { sharedLimits } from './shared-limits.ts';

const config = tradingSchema.parse({
  exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' },
  strategies: [{ id: 'a', use: 'grid', symbol: 'BTCUSDT', interval: '1min', allocation: '1000' }],
  risk: { maxOrderValue: '100', maxPosition: '200' },
});
const start = Date.UTC(2026, 0, 1, 12);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-shared-limits-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** What is said on the terminal when the limits are opened. */
function opened(place: string, speed = 1) {
  const said: string[] = [];
  const environment = { XDG_STATE_HOME: place };
  const say = (line: string): void => void said.push(line);
  const clock = Object.assign(new SimClock(start), { machine: (ms: number) => ms * speed });
  const limits = sharedLimits({ config, secrets: undefined, environment, log: noLog(), say }, clock);
  return { limits, said };
}

test('limits that can be shared are not talked about', () => {
  const { limits, said } = opened(dir);
  expect(said).toEqual([]);
  limits.close();
});

test('a file that cannot be used is reported on the terminal, with how long that costs and what to do', () => {
  const file = join(dir, 'file');
  writeFileSync(file, '');
  const { limits, said } = opened(file);
  expect(said).toEqual([
    'the file of request limits cannot be written; other processes will not know',
    `${file}/sluice/limits.db cannot be used, so the weight spent before this start is unknown. For one minute Sluice sends only cancels of a kill. To trade sooner, make it writable, or set XDG_STATE_HOME to a directory that is, and start again`,
    'requests to http://127.0.0.1:1 wait for 60 s, and so does the start',
  ]);
  limits.close();
});

test('a ban from before the start is told of, too', () => {
  const before = opened(dir).limits;
  before.notice({ status: 429, retryAfterMs: 90_000 });
  before.close();
  const { limits, said } = opened(dir);
  expect(said).toEqual(['requests to http://127.0.0.1:1 wait for 90 s, and so does the start']);
  limits.close();
});

test('a wait is said in real time where the clock runs faster', () => {
  const before = opened(dir, 2).limits;
  before.notice({ status: 429, retryAfterMs: 90_000 });
  before.close();
  const { limits, said } = opened(dir, 2);
  expect(said).toEqual(['requests to http://127.0.0.1:1 wait for 45 s, and so does the start']);
  limits.close();
});
