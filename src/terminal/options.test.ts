import { Command } from 'commander';
import { expect, test } from 'vitest';
import { collect, requireValues } from './options.ts';

test('an option is not taken as the value of the one before it', () => {
  const made = (): Command => {
    const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
    program
      .command('kill')
      .option('--strategy <ID>', '')
      .option('--state <DIR>', '')
      .option('--set <X>', '', collect, []);
    for (const one of program.commands) one.exitOverride().action(() => undefined);
    requireValues(program);
    return program;
  };
  const parse = (...args: string[]): unknown =>
    made()
      .parse(['kill', ...args], { from: 'user' })
      .commands[0]?.opts();
  expect(() => parse('--strategy', '--state', 'x')).toThrow(/'--strategy <ID>' argument '--state' is invalid.*missing/);
  expect(parse('--strategy', 'a', '--set', '-1', '--set', 'b')).toEqual({ strategy: 'a', set: ['-1', 'b'] });
});
