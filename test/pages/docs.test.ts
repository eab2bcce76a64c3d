/** The reference pages name every key, option and field there is, and none that is not. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { backtestSchema, tradingSchema } from '../../src/config/schema.ts';
import { instrumentsSchema } from '../../src/data/instruments.ts';
import { rechain } from '../../src/journal/hash-chain.ts';
import { openForWriting } from '../../src/journal/open-for-writing.ts';
import { caseOfXz, columnsOf, inputOf, scripted } from '../backtest/agreement.ts';
import { desk } from '../kit/command.ts';
import { runNow } from '../kit/run-now.ts';
import { generated } from '../reference/generated.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = (name: string): string => readFileSync(join(root, 'docs', 'reference', name), 'utf8');

/** The part of a page under a heading, up to the next one of its rank. */
function section(text: string, heading: string): string {
  const [, rest = ''] = text.split(`\n## ${heading}\n`);
  return rest.split('\n## ')[0] ?? '';
}
/** What stands in backquotes in a column of a page's tables; a cell may name several. */
const cells = (text: string, column = 1): string[] =>
  [...text.matchAll(/^\| *`.*$/gm)].flatMap(([row]) =>
    [...(row.split('|')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );

/** Every key of a schema, with a dot for what lies inside; lists and maps are not numbered. */
function keysOf(schema: z.core.$ZodType, path = ''): string[] {
  const def: Readonly<Record<string, unknown>> = { ...schema._zod.def };
  if (def['type'] === 'object')
    return Object.entries(def['shape'] as Record<string, z.core.$ZodType>).flatMap(([key, inner]) => [
      path + key,
      ...keysOf(inner, `${path}${key}.`),
    ]);
  const inner = def['element'] ?? def['innerType'] ?? def['in'] ?? (path === '' ? def['valueType'] : undefined);
  return inner === undefined ? [] : keysOf(inner as z.core.$ZodType, path);
}

describe('configuration.md', () => {
  const text = page('configuration.md');
  const every = cells(section(text, 'For every run'));
  test.for([
    ['For `live` and `paper`', tradingSchema],
    ['For `backtest`', backtestSchema],
  ] as const)('has every key %s', ([heading, schema]) => {
    expect([...every, ...cells(section(text, heading))].sort()).toEqual(keysOf(schema).sort());
  });

  test('has every key of instruments', () => {
    expect(cells(section(text, 'Instruments')).sort()).toEqual(keysOf(instrumentsSchema).sort());
  });

  test('has the defaults that hold', () => {
    const least = { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' };
    const strategies = [{ id: 'a', use: 'grid', symbol: 'BTCUSDT', interval: '1min', allocation: '1' }];
    const alerts = { channels: { phone: { type: 'ntfy' } }, routes: [{ minLevel: 'error', to: ['phone'] }], ping: {} };
    const risk = { maxOrderValue: '1', maxPosition: '1' };
    const given = tradingSchema.parse({ exchange: least, strategies, risk, alerts, metrics: {} });
    const numbers = [...text.matchAll(/^\| `([\w.]+)` +\| (\d+) +\|/gm)].map(([, key = '', value]) => [
      key,
      Number(value),
    ]);
    expect(numbers.length).toBeGreaterThan(8);
    for (const [key, value] of numbers) {
      const found = String(key)
        .split('.')
        .reduce((place: unknown, part) => (place as Readonly<Record<string, unknown>>)[part], given);
      expect([key, found]).toEqual([key, value]);
    }
  });
});

describe('cli.md and json.md', () => {
  const at = desk();
  afterAll(() => at.remove());
  const help = async (...args: readonly string[]): Promise<string> => (await at.sluice([...args, '--help'])).out;
  const cli = page('cli.md');
  const commands = cells(cli.split('\n## ')[0] ?? '').map((cell) => cell.split(' ')[0] ?? '');

  test('name every command', async () => {
    const listed = [...(await help()).matchAll(/^ {2}([a-z-]+) (?:\[|<| )/gm)].map(([, name = '']) => name);
    expect(commands.toSorted()).toEqual(listed.filter((name) => name !== 'help').toSorted());
  });

  test('name every option of every command', async () => {
    const listed = new Set<string>();
    const read = async (...command: readonly string[]): Promise<void> => {
      const [about = '', inner = ''] = (await help(...command)).split('\nCommands:\n');
      for (const [, option = ''] of about.matchAll(/^ {2}(?:-o, )?(--[a-z-]+)/gm)) listed.add(option);
      for (const [, name = ''] of inner.matchAll(/^ {2}([a-z]+) /gm)) if (name !== 'help') await read(...command, name);
    };
    for (const command of commands) await read(command);
    const named = cells(section(cli, 'Options')).map((cell) => cell.split(' ')[0] ?? '');
    expect(named.toSorted()).toEqual([...listed].toSorted());
  });

  const json = page('json.md');
  const fields = (heading: string): string[] => cells(section(json, heading)).toSorted();
  const world = generated(7, 200);
  const given = caseOfXz({
    columns: columnsOf(world.klines),
    rules: 'sluice',
    cash: '1000000',
    strategy: scripted(world.signals),
  });

  beforeAll(() => {
    const db = runNow(inputOf(given)).journal();
    db.prepare('INSERT INTO instruments VALUES (?, ?, ?, ?, ?)').run('XZ', 'X', 'Z', 2, 4);
    const path = join(at.dir, 'journal.db');
    writeFileSync(path, db.serialize());
    db.close();
    // A journal in memory has no chain, and a file without one is doubted.
    const file = openForWriting(path);
    rechain(file);
    file.close();
  });

  async function printed(...args: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { out, code, err } = await at.sluice([...args, '--json', '--state', '.']);
    expect(code, err).toBe(0);
    return out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  test.for(['orders', 'fills', 'positions', 'status'])('name every field of %s', async (command) => {
    const [first = {}] = await printed(command);
    expect(fields(command)).toEqual(Object.keys(first).toSorted());
  });

  test('name every field of why', async () => {
    const [order] = await printed('orders');
    const [why = {}] = await printed('why', String(order?.['clientOrderId']));
    expect(fields('why')).toEqual(Object.keys(why).toSorted());
    expect(Object.keys(why['order'] ?? {})).toEqual(Object.keys(order ?? {}));
  });

  test('name every field of backtest', async () => {
    const config = join(root, 'backtests', 'eth-winter-sluice.yaml');
    const result = JSON.parse((await at.sluice(['backtest', '--config', config, '--json'])).out) as Record<
      string,
      object
    >;
    expect(fields('backtest')).toEqual(Object.keys(result).toSorted());
    const [, metrics = ''] = section(json, 'backtest').split('\n### metrics\n');
    const listed = [...metrics.matchAll(/^(?:- | {2}).*/gm)].flatMap(([line]) => [...line.matchAll(/`(\w+)`/g)]);
    const names = listed.map(([, name = '']) => name);
    expect(names.toSorted()).toEqual(Object.keys(result['metrics'] ?? {}).toSorted());
  });
});
