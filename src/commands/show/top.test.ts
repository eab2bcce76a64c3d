import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { FakeDaemon, serve, token } from '../../../test/kit/dashboard.ts';
import { view } from '../../../test/kit/view.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { topLines } from '../../dashboard/terminal.ts';
import type { View } from '../../dashboard/view.ts';
import { openState } from '../../journal/open.ts';
import { writeDaemonInfo } from '../../session/state.ts';
import { draw, showTop } from './top.ts';

const wide = { columns: 120, rows: 60 };
const plain = (lines: readonly string[]): string => stripVTControlCharacters(lines.join('\n'));

test('shows orders and the most used limits below the status', () => {
  const text = plain(topLines(view(), wide));
  expect(text).toMatch(/Equity +99,320\.18 USD/);
  expect(text).toMatch(/Orders +grid +SELL 0\.05 XBTUSD at 6095 +open/);
  expect(text).toMatch(/Limits +maxPosition XBTUSD +95 % +18,900 of 20,000/);
  expect(text).toContain('q quits');
});

test('fits a narrow terminal, and cuts the end of what is too long for it but not its last line', () => {
  const lines = topLines(view(), { columns: 44, rows: 12 });
  expect(lines).toHaveLength(12);
  expect(Math.max(...lines.map((line) => stripVTControlCharacters(line).length))).toBeLessThanOrEqual(44);
  expect(plain(lines.slice(-1))).toContain('q quits');
});

test('shows no control character of a strategy or an exchange', () => {
  const text = topLines(view({ stateText: 'a\u001b[2Jb' }), wide).join('\n');
  expect(text).not.toContain('\u001b[2J');
});

test('draws again each second, says when the daemon is gone, and leaves the terminal as it was', async () => {
  const clock = new SimClock(0);
  const written: string[] = [];
  const ended = new AbortController();
  let answer: () => Promise<View> = async () => view({ stateText: 'second look' });
  const drawing = draw({
    ...{ first: view({ stateText: 'first look' }), look: () => answer(), clock, signal: ended.signal },
    ...{ size: () => wide, write: (text: string) => void written.push(text) },
  });
  expect(written.join('')).toContain('first look');
  await clock.advanceTo(1_000);
  expect(written.at(-1)).toContain('second look');
  answer = () => Promise.reject(new Error('connection refused'));
  await clock.advanceTo(2_000);
  expect(plain(written.slice(-1))).toMatch(/Not connected: connection refused\. What you see is old/);
  ended.abort();
  await drawing;
  expect(written[0]).toContain('\u001b[?1049h');
  expect(written.at(-1)).toBe('\u001b[?25h\u001b[?1049l');
});

test('asks the running daemon with its token, prints plainly where there is no terminal, and refuses without a daemon', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-top-'));
  const dashboard = await serve(new FakeDaemon());
  const { lock } = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  const out: string[] = [];
  const options = {
    ...{ state: dir, json: false },
    out: (line: string) => void out.push(line),
    say: () => {},
    signal: AbortSignal.abort(),
  };
  const info = {
    pid: 1,
    mode: 'live',
    startedAt: 1,
    exchange: 'x',
    control: `http://127.0.0.1:${dashboard.port}`,
    token,
  };
  try {
    writeDaemonInfo(dir, info);
    await showTop(options);
    expect(out[0]).toMatch(/^Sluice demo {2}ready/);
    out.length = 0;
    await showTop({ ...options, json: true });
    expect(out.map((line) => JSON.parse(line))).toEqual([JSON.parse(JSON.stringify(view()))]);
    writeDaemonInfo(dir, { ...info, token: `${token}x` });
    await expect(showTop(options)).rejects.toThrow(/no valid token/);
    lock.release();
    await expect(showTop(options)).rejects.toThrow('no daemon runs on');
  } finally {
    await dashboard.close();
    rmSync(dir, { recursive: true });
  }
});
