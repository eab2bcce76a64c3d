/** `docs/reference/exchange.md` says what is there: every cell is filled, points somewhere, and is as the tables have it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addManual } from '../../src/commands/manual/register.ts';
import { exchange } from '../../src/venue/exchange/exchange.ts';
import {
  exchangePage,
  type Place,
  restCells,
  restRows,
  socketCells,
  socketRows,
  testOf,
} from '../kit/exchange-page.ts';
import { client } from '../kit/exchange-stub.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rows: readonly (Place & { readonly name: string })[] = [...restRows, ...socketRows];

describe('exchange.md', () => {
  test('is what `npm run docs` makes', () => {
    expect(readFileSync(join(root, 'docs', 'reference', 'exchange.md'), 'utf8')).toBe(exchangePage());
  });

  test('has no empty cell', () => {
    const lines = exchangePage()
      .split('\n')
      .filter((line) => line.startsWith('|'));
    expect(lines.length).toBeGreaterThan(80);
    for (const line of lines) for (const cell of line.slice(1, -1).split('|')) expect(cell, line).toMatch(/\S/);
    for (const cells of [...restRows.map(restCells), ...socketRows.map(socketCells)])
      for (const cell of cells) expect(cell).not.toBe('``');
  });

  test('names tests that exist', () => {
    for (const row of rows) expect([testOf(row), existsSync(join(root, testOf(row)))]).toEqual([testOf(row), true]);
  });

  test('names functions that exist', () => {
    expect(exchange).toBeTypeOf('function');
    const { exchange: made } = client('http://127.0.0.1:1');
    for (const { call } of rows.filter(({ name }) => name !== 'withdrawal apply')) {
      const found = call
        .split('.')
        .reduce<unknown>((place, part) => (place as Readonly<Record<string, unknown>>)[part], made);
      expect([call, typeof found]).toEqual([call, 'function']);
    }
    made.close();
  });

  test('names commands that exist, with the options they have', () => {
    const program = new Command('sluice');
    addManual(program, { out: () => {}, say: () => {}, signal: new AbortController().signal });
    for (const { command } of rows.filter(({ command: line }) => !line.startsWith('sluice-withdraw'))) {
      const words = command.split(' ').slice(1);
      let at = program;
      for (const word of words) {
        const next = at.commands.find((one) => one.name() === word);
        if (next === undefined) break;
        at = next;
      }
      expect([command, at === program]).toEqual([command, false]);
      for (const option of words.filter((word) => word.startsWith('--')))
        expect([command, at.options.some(({ long }) => long === option)]).toEqual([command, true]);
    }
  });
});
