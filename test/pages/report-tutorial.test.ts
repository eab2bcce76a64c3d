/** The tutorial from a CSV to a report does what it says: its file, its commands and what they print are taken from the page. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'tutorial', 'report.md'), 'utf8');
const at = desk();
afterAll(() => at.remove());

test('from a CSV to a report, as the page says', async () => {
  symlinkSync(join(root, 'backtests'), join(at.dir, 'backtests'));
  const [, name = '', text = ''] = /```yaml file=(\S+)\n(.*?)^```$/ms.exec(page) ?? [];
  at.write(name, text);
  const shown = /```text output=backtest\n(.*?)^```$/ms.exec(page)?.[1];
  const commands = [...page.matchAll(/^npx sluice ([^#\n]*)/gm)].map(([, line = '']) => line.trim().split(/\s+/));
  expect(commands.length).toBeGreaterThan(5);
  const out: string[] = [];
  const err: string[] = [];
  // The last one names a run of the reader's.
  for (const args of commands.slice(0, -1)) {
    const answer = await at.sluice(args);
    expect(answer.code, `${args.join(' ')}: ${answer.err}`).toBe(0);
    out.push(answer.out);
    err.push(answer.err);
  }
  expect(out[1]).toBe(shown);
  // What was found at the import is printed again beside the result.
  expect(out[0]).toContain('17 klines without volume');
  expect(err[1]).toContain('used as recorded: 2,546 open outside [low, high], 17 have no volume');
  expect(existsSync(join(at.dir, 'report.html'))).toBe(true);
  const ids = (out[4] ?? '').split('\n').map((line) => line.split(' ')[0] ?? '');
  const [verb = '', last = '', , ...rest] = commands.at(-1) ?? [];
  const compared = await at.sluice([verb, last, ids[2] ?? '', ...rest]);
  expect([compared.code, existsSync(join(at.dir, 'compared.html'))]).toEqual([0, true]);
});
