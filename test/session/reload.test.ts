/** `sluice reload`: new code takes over in the running daemon with its position and exits, or the old code goes on. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

const write = (name: string, text: string): void => writeFileSync(join(rig.dir, name), text);
/** Holds what another file says, with a stop far below. */
const strategy = (
  body = 'return hold({ quantity: wanted }, reason, { stop: kline.close * 0.5 });',
  more = '',
): string => `
import { defineStrategy, hold, integer, of, sma } from 'sluice';
import { wanted, reason } from './words.ts';
export default defineStrategy({
  name: 'mine',
  about: 'Holds what another file says',
  params: { period: integer(3, { min: 1, max: 100 }, 'klines')${more} },
  indicators: ({ period }) => ({ average: sma('close', period) }),
  decide(_, { kline }) { ${body} },
});
`;
const wording = (wanted: number, reason: string): string =>
  `export const wanted = ${wanted};\nexport const reason = '${reason}';\n`;
const position = (): string | undefined =>
  rig
    .read((reader) => reader.fills())
    .filter(({ strategy }) => strategy === 'mine')
    .reduce((held, { side, quantity }) => held + (side === 'BUY' ? 1 : -1) * Number(quantity), 0)
    .toFixed(2);
const lastReason = (): string | undefined =>
  rig.read((reader) => reader.signalBefore('mine', 'BTCUSDT', Number.MAX_SAFE_INTEGER))?.signal.reason;
const stopped = async (): Promise<readonly unknown[]> =>
  (JSON.parse((await rig.run('status', '--json')).stdout) as { stoppedStrategies: readonly unknown[] })
    .stoppedStrategies;
const versions = () =>
  rig
    .read((reader) => reader.limits())
    .filter(({ what, name }) => what === 'version' && name === 'mine')
    .map(({ by, reason, value }) => ({ by, reason, value }));

async function started() {
  write('mine.ts', strategy());
  write('words.ts', wording(1, 'the first code'));
  rig.configure({
    strategies: [{ id: 'mine', use: './mine.ts', symbol: 'BTCUSDT', interval: '1min', allocation: '200000' }],
  });
  const daemon = await rig.start();
  await until('a position of 1', () => position() === '1.00');
  return daemon;
}

test('new code and the file that it imports take over with position and exits, and the journal says who reloaded which version', async () => {
  const daemon = await started();
  const orders = exchange.allOrders(trader.uid).length;
  write('words.ts', wording(1, 'the second code'));
  const { code, stdout, stderr } = await rig.run('reload', 'mine', '--reason', 'another reason');
  expect(code, stderr).toBe(0);
  const [first, second, ...others] = versions();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ by: 'sluice' });
  expect(second).toMatchObject({ by: 'operator', reason: 'another reason' });
  expect(second?.value).not.toBe(first?.value);
  expect(stdout).toContain(
    `Strategy mine runs version ${second?.value.slice(0, 12)}, with its position, exits and orders.`,
  );
  expect((await rig.run('limits')).stdout).toContain('mine was reloaded by operator as version');
  await until('a signal of the new code', () => lastReason() === 'the second code');
  // The same target: nothing is bought or sold for it, and its stop stays.
  expect(exchange.allOrders(trader.uid).length).toBe(orders);
  const [held] = (await rig.run('positions', '--json')).stdout.split('\n');
  expect(JSON.parse(held ?? '')).toMatchObject({ strategy: 'mine', protection: { stop: expect.anything() } });
  write('words.ts', wording(2, 'the third code'));
  expect((await rig.run('reload', 'mine')).code).toBe(0);
  await until('a position of 2', () => position() === '2.00');
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

test('whatever is wrong with the new code is said, and the old code goes on', async () => {
  const daemon = await started();
  const refused = async (text: string, says: RegExp): Promise<void> => {
    write('mine.ts', text);
    const { code, stdout, stderr } = await rig.run('reload', 'mine');
    expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^sluice: the daemon .* did not carry out reload: the old code of mine goes on: /);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n {4}at /);
  };
  await refused(strategy('return hold('), /mine\.ts cannot be loaded: .*SyntaxError/);
  await refused(strategy("throw new Error('no idea');"), /it throws: .*no idea \(mine\.ts, line \d+\)/);
  await refused(strategy('process.exit(0);'), /it ends the program/);
  await refused(strategy('return hold({ quantity: Number.NaN }, reason);'), /it throws: .*NaN/);
  await refused(strategy().replace("sma('close', period)", "sma('close', -1)"), /indicators\(\) threw/);
  await refused(
    strategy('return hold({ quantity: wanted }, reason);', ", other: integer(1, { min: 1, max: 2 }, 'more')"),
    /its parameters are others, with the new other \(integer\): restart the daemon/,
  );
  await refused(
    strategy()
      .replace('params: {', "markets: { main: 'traded' },\n  params: {")
      .replace("sma('close', period)", "of('main', sma('close', period))"),
    /it decides on \{ main: 'traded' \}, and the running one on one market/,
  );
  rmSync(join(rig.dir, 'mine.ts'));
  expect((await rig.run('reload', 'mine')).stderr).toMatch(/the old code of mine goes on: .*mine\.ts does not exist/);
  expect(versions()).toHaveLength(1);
  expect(position()).toBe('1.00');
  expect(await stopped()).toEqual([]);
  // A good one takes over after all of them.
  write('mine.ts', strategy());
  write('words.ts', wording(2, 'the next code'));
  expect((await rig.run('reload', 'mine')).code).toBe(0);
  await until('a position of 2', () => position() === '2.00');
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

test('a strategy that threw runs again with new code', async () => {
  write('mine.ts', strategy("if (kline.openTime > 0) throw new Error('at once'); return undefined;"));
  write('words.ts', wording(1, 'mended'));
  rig.configure({
    strategies: [{ id: 'mine', use: './mine.ts', symbol: 'BTCUSDT', interval: '1min', allocation: '200000' }],
  });
  const daemon = await rig.start();
  await until('it threw', async () => (await stopped()).length === 1);
  write('mine.ts', strategy("throw new Error('again');"));
  expect((await rig.run('reload', 'mine')).stderr).toMatch(
    /mine, whose old code threw, stays stopped: it throws: Error: again \(mine\.ts, line \d+\)\n$/,
  );
  expect((await stopped()).length).toBe(1);
  write('mine.ts', strategy());
  await rig.run('kill', '--strategy', 'mine', '--reason', 'a test');
  expect((await rig.run('reload', 'mine')).stdout).toContain(
    'It may not create orders (a test): sluice resume --strategy mine lifts that.',
  );
  await rig.run('resume', '--strategy', 'mine');
  await until('a position of 1', () => position() === '1.00');
  expect(await stopped()).toEqual([]);
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

test('a strategy that is not configured, a shipped one, and a state without a daemon are refused', async () => {
  rig.configure({
    strategies: [{ id: 'trend', use: 'sma-cross', symbol: 'BTCUSDT', interval: '1min', allocation: '200000' }],
  });
  const daemon = await rig.start();
  expect((await rig.run('reload', 'trnd')).stderr).toMatch(
    /no strategy trnd is configured here \(did you mean "trend"\?\)/,
  );
  expect((await rig.run('reload', 'trend')).stderr).toMatch(/is shipped with Sluice/);
  await daemon.end('SIGINT');
  expect((await rig.run('reload', 'trend')).stderr).toMatch(
    /no daemon runs on .*\. The next one there reads the newest code and configuration/,
  );
});

test('a memory goes on under the new code, and one that does not fit any more is refused', async () => {
  const counting = (memory: string): string =>
    strategy(
      'return { signal: hold({ quantity: 1 }, reason), memory: { ...memory, klines: memory.klines + 1 } };',
    ).replace('decide(_, { kline })', `memory: ${memory},\n  decide(_, { memory })`);
  const remembered = (): { readonly klines?: number; readonly added?: string } =>
    JSON.parse(rig.read((reader) => reader.memories()).get('strategy mine') ?? '{}') as { readonly klines?: number };
  write('mine.ts', counting('{ klines: 0 }'));
  write('words.ts', wording(1, 'counts'));
  rig.configure({
    strategies: [{ id: 'mine', use: './mine.ts', symbol: 'BTCUSDT', interval: '1min', allocation: '200000' }],
  });
  const daemon = await rig.start();
  await until('a memory', () => (remembered().klines ?? 0) >= 1);
  write('mine.ts', counting("{ klines: 'none' }"));
  expect((await rig.run('reload', 'mine')).stderr).toMatch(/memory\.klines is \d+: it must be a string/);
  const { klines = 0 } = remembered();
  write('mine.ts', counting("{ klines: 0, added: 'new' }"));
  expect((await rig.run('reload', 'mine')).code).toBe(0);
  await until('the next memory', () => remembered().added === 'new');
  expect(remembered().klines).toBeGreaterThan(klines);
  // The trial of the new code has counted 20 klines, which left nothing.
  expect(remembered().klines).toBeLessThan(klines + 20);
  expect((await daemon.end('SIGINT')).code).toBe(130);
});
