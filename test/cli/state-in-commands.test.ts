/** Alerts name the state directory in each command that takes one. */
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addAlerts } from '../../src/commands/alerts/register.ts';
import { addBooks } from '../../src/commands/books/register.ts';
import { addControl } from '../../src/commands/control/register.ts';
import { addJournal } from '../../src/commands/journal/register.ts';
import { addShow } from '../../src/commands/show/register.ts';
import { withState } from '../../src/session/state-in-commands.ts';

const option = ' --state /srv/x';

test('every command that finds a state directory by itself is known', () => {
  const program = new Command('sluice');
  const io = { out() {}, say() {}, signal: new AbortController().signal };
  for (const add of [addAlerts, addBooks, addControl, addJournal, addShow]) add(program, io);
  const named = (command: Command, path: string): readonly string[] => [
    ...(command.options.some(({ long }) => long === '--state') ? [path] : []),
    ...command.commands.flatMap((one) => named(one, `${path} ${one.name()}`)),
  ];
  const all = named(program, 'sluice').filter((path) => path !== 'sluice journal restore');
  expect(all.length).toBeGreaterThan(15);
  for (const path of all) expect(withState(path, option)).toBe(`${path}${option}`);
});
