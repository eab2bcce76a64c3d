/** A full disk: what cannot be journalled is not sent, and cancels still are. Needs root and mount for a small tmpfs; else it is skipped. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { makeRig, openExchange, price, quotes, type Rig, target, trader } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';
import { fillUp } from '../torture/disk.ts';

let exchange: Simulator;
let rig: Rig;

beforeEach(async () => {
  exchange = await openExchange();
  rig = makeRig(exchange);
});
afterEach(async () => {
  unmount(rig.state);
  rig.remove();
  await exchange.close();
});

function mount(dir: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', dir], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function unmount(dir: string): void {
  try {
    execFileSync('umount', ['-l', dir], { stdio: 'ignore' });
  } catch {
    // It was not mounted.
  }
}

test('no order is created while the disk is full, cancels go, and trading goes on when there is space', async ({
  skip,
}) => {
  await (await rig.start()).end('SIGINT');
  rmSync(rig.state, { recursive: true });
  execFileSync('mkdir', ['-m', '700', rig.state]);
  if (!mount(rig.state)) skip('mounting a tmpfs is not allowed here');
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
  rig.emit('taker', target(0.1));
  // A journal was there, and a disk that is not mounted looks the same.
  const refused = rig.launch();
  expect((await refused.exited).code).toBe(3);
  expect(refused.lines.join('\n')).toContain('journal.db is missing, but a journal there has traded');
  const daemon = await rig.start('--accept-restored', 'a disk of its own');
  await quiet(rig, exchange);
  const ballast = fillUp(rig.state);
  const orders = exchange.allOrders(trader.uid).length;
  rig.emit('taker', target(0));
  rig.emit('other', target(0.1));
  await pass(1_500);
  expect(exchange.allOrders(trader.uid)).toHaveLength(orders);
  expect(daemon.runs).toBe(true);
  rig.emit('maker', quotes());
  await until('the cancel', () => exchange.openOrders(trader.uid).length === 0);
  rmSync(ballast);
  await until('orders again', () => exchange.allOrders(trader.uid).length >= orders + 2);
  expect(await differencesAtRest(rig, exchange)).toEqual([]);
  expect((await rig.run('kill', '--reason', 'a test')).code).toBe(0);
  const again = fillUp(rig.state);
  rig.emit('other', target(0));
  await until('that it is told', async () =>
    /^ATTENTION +the disk of .* is full/m.test((await rig.run('status')).stdout),
  );
  rmSync(again);
  await daemon.line(/the journal can be written again: nothing is created before sluice resume/);
  await until('that it is over', async () => !(await rig.run('status')).stdout.includes('ATTENTION'));
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

test('what is confirmed while the disk is full holds at the next start, or is said not to be written', async ({
  skip,
}) => {
  await (await rig.start()).end('SIGINT');
  rmSync(rig.state, { recursive: true });
  execFileSync('mkdir', ['-m', '700', rig.state]);
  if (!mount(rig.state)) skip('mounting a tmpfs is not allowed here');
  const daemon = await rig.start('--accept-restored', 'a disk of its own');
  await quiet(rig, exchange);
  const ballast = fillUp(rig.state);
  rig.emit('taker', target(0.1));
  await daemon.line(/the disk is full/);
  const adjusted = await rig.run('adjust', 'USDT', '1', '--reason', 'a test');
  expect(adjusted.code).toBe(1);
  expect(adjusted.stderr).toMatch(
    /The ledger counts 1 USDT more; .* But the disk of .* is full, and this is not journalled/,
  );
  const killed = await rig.run('kill', '--reason', 'a full disk');
  expect(killed.code).toBe(0);
  expect(killed.stdout).toMatch(
    /^All strategies are killed, .* until there is space the kill is stored as the file .*\/kill, /,
  );
  expect((await rig.run('status')).stdout).toMatch(
    /^KILL PENDING of all strategies by the file .* \(it is in force, and is journalled once the disk has space\)$/m,
  );
  expect((await daemon.end('SIGKILL')).code).toBe(null);
  rmSync(ballast);
  const next = await rig.start();
  const orders = exchange.allOrders(trader.uid).length;
  rig.emit('other', target(0.1));
  await until('the kill in the journal', () => !existsSync(join(rig.state, 'kill')));
  await pass(1_000);
  expect(exchange.allOrders(trader.uid)).toHaveLength(orders);
  expect((await rig.run('status')).stdout).toContain('KILLED');
  expect((await rig.run('resume')).code).toBe(0);
  await until('orders again', () => exchange.allOrders(trader.uid).length > orders);
  expect((await next.end('SIGINT')).code).toBe(130);
});

test('what a limit kills while the disk is full, and what a signal does, holds at the next start', async ({ skip }) => {
  await (await rig.start()).end('SIGINT');
  rmSync(rig.state, { recursive: true });
  execFileSync('mkdir', ['-m', '700', rig.state]);
  if (!mount(rig.state)) skip('mounting a tmpfs is not allowed here');
  rig.configure({ risk: { maxDenials: 2 } });
  const daemon = await rig.start('--accept-restored', 'a disk of its own');
  await quiet(rig, exchange);
  const ballast = fillUp(rig.state);
  rig.emit('other', target(0.001));
  await daemon.line(/the disk is full/);
  let tons = 1e6;
  await until('what the rules refuse too often', async () => {
    rig.emit('maker', target(tons++));
    await pass(100);
    return existsSync(join(rig.state, 'kill-maker.denials'));
  });
  execFileSync('kill', ['-USR2', String(daemon.pid)]);
  await until('the file of the signal', () => existsSync(join(rig.state, 'kill')));
  await daemon.line(/All strategies were killed by (file|signal): /);
  expect((await daemon.end('SIGKILL')).code).toBe(null);
  rmSync(ballast);
  const next = await rig.start();
  await until('both in the journal', () => !readdirSync(rig.state).some((name) => name.startsWith('kill')));
  const { kills } = JSON.parse((await rig.run('status', '--json')).stdout) as { kills: { by: string }[] };
  expect(kills.map(({ by }) => by).toSorted()).toEqual(['denials', expect.stringMatching(/^(file|signal)$/)]);
  expect((await next.end('SIGINT')).code).toBe(130);
});
