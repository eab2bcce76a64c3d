/** The folder of kept runs, and the ledger of trials in it. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { appendToLedger, findRun, keepRun, readLedger } from '../../src/backtest/runs/store.ts';
import { showRuns } from '../../src/commands/runs/show.ts';
import { csvRows, csvText } from '../../src/report/csv.ts';
import { desk } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());

describe('the store', () => {
  const dir = join(at.dir, 'store');
  const kept = { id: 'x' };

  test('removes runs of its own folder alone, each once', () => {
    const keep = (id: string): string => keepRun(dir, { ...kept, id }, new Map());
    const [first, second] = [keep('20260101-000000-aaaa'), keep('20260102-000000-bbbb')];
    const elsewhere = join(dir, '..', 'mine');
    mkdirSync(elsewhere, { recursive: true });
    appendFileSync(join(elsewhere, 'result.json'), '{}');
    const remove = (...names: readonly string[]): string[] => {
      const lines: string[] = [];
      const take = (line: string): void => void lines.push(line);
      showRuns({ runs: dir, remove: names, json: false, out: take, say: take });
      return lines;
    };
    expect(() => remove(elsewhere)).toThrow(/is not a run in .*: name one that sluice runs lists/);
    expect(() => remove('')).toThrow('give a run');
    expect([elsewhere, first, second].every((folder) => existsSync(folder))).toBe(true);
    // What is left is not listed, which these could not be.
    expect(remove('last', 'last')).toEqual([`${basename(second)} removed; its trial still counts`]);
    remove(first);
    expect(readdirSync(dir)).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });

  test('names the first of the runs that a name fits, and how many more there are', () => {
    const ids = Array.from({ length: 6 }, (_, index) => `2026010${index + 1}-000000-aaaa`);
    for (const id of ids) keepRun(dir, { ...kept, id }, new Map());
    expect(() => findRun(dir, '2026')).toThrow(
      `2026 fits 6 runs: ${ids.toReversed().slice(0, 5).join(', ')} and 1 more`,
    );
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
  });

  test('leaves nothing behind when a run cannot be written', () => {
    expect(() => keepRun(dir, kept, new Map([['no/such/folder' as 'fills.csv', ['']]]))).toThrow(/ENOENT/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('reads past a line that a crash cut short', () => {
    const line = { settings: 's', family: 'f', symbols: ['S'], from: 0, to: 1 };
    mkdirSync(dir, { recursive: true });
    appendToLedger(dir, 5, { ...line, trials: [['h', null]] });
    appendFileSync(join(dir, 'tries.jsonl'), '{"settings":"cut');
    appendToLedger(dir, 6, { ...line, trials: [['g', 0.5]] });
    expect(readLedger(dir).flatMap(({ trials }) => trials)).toEqual([
      ['h', null],
      ['g', 0.5],
    ]);
  });

  test('texts with commas, quotes and nothing in them come back from CSV', () => {
    const rows = [
      { a: 'x,y', b: '{"rule":"a, b"}', c: '' },
      { a: 'plain', b: '', c: '"' },
    ];
    expect(csvRows(csvText(['a', 'b', 'c'], rows))).toEqual(rows);
  });
});
