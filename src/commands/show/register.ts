/** The command lines of `sluice orders`, `fills`, `positions`, `status` and `why`. */
import type { Command } from 'commander';
import { type Io, jsonOption, run, stateOption } from '../../terminal/options.ts';

export function addShow(program: Command, io: Io): void {
  const add = (name: string, about: string): Command =>
    program.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
  const load = () => import('./show.ts');
  run(add('orders', 'every order and its state'), io, async () => (await load()).showOrders);
  run(add('fills', 'every fill, one row each'), io, async () => (await load()).showFills);
  run(add('positions', 'the position of each strategy'), io, async () => (await load()).showPositions);
  const status = add('status', 'running daemon, open orders, unknown outcomes, kills');
  run(status, io, async () => (await import('./status.ts')).showStatus);
  run(
    add('top', 'what the dashboard shows, in the terminal; q quits'),
    io,
    async () => (await import('./top.ts')).showTop,
  );
  const why = add('why', 'the timeline of an order, or of denied signals').argument(
    '<ORDER>',
    "the id of an order, ours or the exchange's, or its beginning or end; or the id of a strategy",
  );
  run(why, io, async () => (await import('./why.ts')).showWhy);
}
