/** `sluice doctor` against the built-in exchange. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Check } from '../../src/commands/doctor/check.ts';

import type { Profile, Simulator } from '../../src/simulator/simulator.ts';
import { sluice } from '../kit/program.ts';
import { makeRig, openExchange, price, quotes, type Rig, trader } from '../kit/rig.ts';
import { until } from '../kit/until.ts';

let exchange: Simulator;
let rig: Rig;
const begin = async (profile: Profile): Promise<void> => {
  exchange = await openExchange({ profile });
  rig = makeRig(exchange);
};
afterEach(async () => {
  rig.remove();
  await exchange.close();
});

const checksOf = (stdout: string): readonly Check[] => (JSON.parse(stdout) as { checks: readonly Check[] }).checks;
const levels = (checks: readonly Check[]): Readonly<Record<string, string>> =>
  Object.fromEntries(checks.map(({ name, level }) => [name, level]));

const remembered = (): Readonly<Record<string, string>> =>
  (JSON.parse(readFileSync(join(rig.state, 'capabilities.json'), 'utf8')) as { rest: Record<string, string> }).rest;

/** What the built-in exchange of each profile must be found to do. */
const profiles = [
  [
    'observed',
    'under HTTP 200 with codes as text',
    { lists: 'wrapped', cancel: 'asynchronous' },
    'a cancel is accepted and ends the order later',
  ],
  [
    'documented',
    'under HTTP 4XX with codes as number',
    { lists: 'bare', cancel: 'at once' },
    'a cancel ends an order at once',
  ],
] as const;

test.each(profiles)('finds all well on %s, beside a running daemon, and remembers what it can do', async (...given) => {
  const [profile, errors, rest, cancels] = given;
  await begin(profile);
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
  await rig.start();
  await until('a resting order', () => exchange.openOrders(trader.uid).length === 1);
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2 + 100, quantity: 0.1 }));
  await until('the cancel of it', () => existsSync(join(rig.state, 'capabilities.json')));
  await until('another one alone', () => {
    const { length } = exchange.openOrders(trader.uid);
    return length === 1 && exchange.allOrders(trader.uid).length === 2;
  });
  const before = exchange.allOrders(trader.uid).length;
  const { code, stdout } = await rig.run('doctor', '--config', rig.configure(), '--json');
  const checks = checksOf(stdout);
  expect(checks.filter(({ level }) => level === 'fail')).toEqual([]);
  expect(code).toBe(0);
  expect(levels(checks)).toMatchObject({ trading: 'ok', key: 'ok', time: 'ok', socket: 'ok', withdrawals: 'ok' });
  expect(checks.find(({ name }) => name === 'state')?.text).toContain('a daemon trades on it');
  expect(checks.find(({ name }) => name === 'quirks')?.text).toContain(`errors ${errors}`);
  expect(checks.find(({ name }) => name === 'quirks')?.text).toContain(cancels);
  expect(checks.find(({ name }) => name === 'quirks')?.text).toContain(
    'the exchange reads the time window as recvWindow',
  );
  expect(exchange.allOrders(trader.uid)).toHaveLength(before);
  const file = readFileSync(join(rig.state, 'capabilities.json'), 'utf8');
  expect(JSON.parse(file)).toMatchObject({ rest: { clientIdEchoed: 'yes', queryByClientId: 'no', ...rest } });
});

test.each([
  ['0.001', 'fail', /^of the last 3\.\d hours: (\d+) of \1 entries denied \(orderShare \1\), such as BUY /],
  ['1', 'ok', /^no entry of the last 3\.\d hours would have been denied$/],
])('replays the last klines through a maxOrderShare of %s', async (maxOrderShare, level, text) => {
  await begin('observed');
  const trend = { id: 'trend', use: 'sma-cross', symbol: 'BTCUSDT', interval: '1min', allocation: '10000' };
  const file = rig.configure({
    strategies: [{ ...trend, params: { fast: 2, slow: 3, share: 0.5 } }],
    risk: { maxOrderValue: '100000', maxPosition: '500000', priceCollar: '0.9', maxDailyLoss: '1', maxOrderShare },
  });
  const { stdout } = await rig.run('doctor', '--config', file, '--json');
  const found = checksOf(stdout).find(({ name }) => name === 'denials');
  expect(found).toMatchObject({ level, text: expect.stringMatching(text) });
});

test('a daemon finds out by itself at its first start, remembers it, and does not ask again once it knows', async () => {
  await begin('observed');
  const asked = (): number => logged.filter((line) => line.includes('SLUICENOSUCH')).length;
  const logged: string[] = [];
  await exchange.close();
  exchange = await openExchange({
    profile: 'observed',
    quirks: { windowName: 'recvwindow or refused' },
    log: (entry) => void logged.push(JSON.stringify(entry)),
  });
  rig.remove();
  rig = makeRig(exchange);
  const found = (): number =>
    readFileSync(join(rig.state, 'sluice.log'), 'utf8').split('probed the exchange: ').length - 1;
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
  const first = await rig.start();
  expect(remembered()).toMatchObject({ lists: 'wrapped', recvWindow: 'recvwindow', clientIdEchoed: 'unknown' });
  await until('a resting order', () => exchange.openOrders(trader.uid).length === 1);
  await first.end('SIGKILL');
  expect([found(), asked()]).toEqual([1, 1]);
  // There is an order to look at now.
  const second = await rig.start();
  expect(remembered()).toMatchObject({ clientIdEchoed: 'yes', queryByClientId: 'no', recvWindow: 'recvwindow' });
  await second.end('SIGINT');
  await (await rig.start()).end('SIGINT');
  expect([found(), asked()]).toEqual([2, 2]);
});

test('an order that a human placed without a client id does not show that ids are not given back; one of the daemon does', async () => {
  await begin('observed');
  exchange.people.place({ user: trader.uid, symbol: 'BTCUSDT', side: 'BUY', volume: '0.1', price: '5000' });
  const doctor = async (): Promise<Check | undefined> => {
    const { stdout } = await rig.run('doctor', '--config', rig.configure(), '--json');
    return checksOf(stdout).find(({ name }) => name === 'client ids');
  };
  expect((await doctor())?.level).toBe('ok');
  expect(remembered()).toMatchObject({ clientIdEchoed: 'unknown' });
  rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
  const daemon = await rig.start();
  await until('a resting order of ours', () => rig.read((reader) => reader.orders("state = 'open'")).length === 1);
  expect(remembered()).toMatchObject({ clientIdEchoed: 'unknown' });
  await daemon.end('SIGKILL');
  const lie = exchange.addFault({
    match: { method: 'GET', path: '/sapi/v1/order' },
    do: { lie: { set: { clientOrderId: null } } },
  });
  expect((await doctor())?.level).toBe('fail');
  expect(remembered()).toMatchObject({ clientIdEchoed: 'no' });
  lie();
  const again = await rig.start();
  expect(remembered()).toMatchObject({ clientIdEchoed: 'yes' });
  await again.end('SIGINT');
});

test('a daemon starts although nothing can be found out', async () => {
  await begin('documented');
  for (const path of ['/sapi/v1/order/test', '/sapi/v1/ticker', '/sapi/v1/trades', '/sapi/v1/depth'])
    exchange.addFault({ match: { path }, do: { drop: 'before' } });
  exchange.addFault({ match: { path: '/sapi/v1/openOrders', times: 1 }, do: { body: '<html>' } });
  const daemon = await rig.start();
  const { rest } = JSON.parse(readFileSync(join(rig.state, 'capabilities.json'), 'utf8')) as { rest: object };
  expect(rest).toMatchObject({ errorStatus: 'unknown', orderTest: 'unknown', recvWindow: 'unknown' });
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

test('says what stands in the way and what to do about it, and exits with 1', async () => {
  await begin('observed');
  const strategies = [{ id: 'x', use: 'grid', symbol: 'BTCUSTD', interval: '1min', allocation: '1' }];
  const risk = { maxOrderValue: '100', maxDailyLoss: '0.25', controls: 'all' };
  const poor = await rig.run(
    'doctor',
    '--config',
    rig.configure({ strategies: [{ ...strategies[0], symbol: 'BTCUSDT', allocation: '1000000000000' }] }),
  );
  expect(poor.stdout).toMatch(/fail {2}funds .* 1000000000000 allotted\n +→ lower `allocation`/);
  const config = rig.configure({ strategies, risk });
  const other = { ...rig, env: { ...rig.env, SLUICE_API_SECRET: 'wrong' } };
  const { code, stdout } = await sluice(['doctor', '--config', config, '--state', rig.state], other);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /fail {2}symbol +BTCUSTD is not listed \(did you mean "BTCUSDT"\?\)\n +→ sluice market symbols/,
  );
  expect(stdout).toMatch(/fail {2}key .*-1022/);
  expect(stdout).toMatch(/fail {2}risk +4 limits are looser than the standard and not confirmed: risk\.priceCollar/);
  const unwrapped = stdout.replaceAll(/\s+/g, ' ');
  expect(unwrapped).toContain(
    ' kill: maxDailyLoss 0.25, maxEntries 20, maxConsecutiveLosses 5, maxDenials 100, maxDecideMs 1000, maxDrawdown 0.08 deny: maxOrderValue 100, maxPosition 500000, priceCollar 0.9, ',
  );
  expect(stdout).not.toContain('not set:');
  expect(poor.stdout).toMatch(/^ +kill: maxDailyLoss 1$/m);
  expect(poor.stdout).toMatch(/^ +not set: maxOrderShare, /m);
  expect(stdout).toMatch(/→ lower it, or confirm it once: sluice limits raise priceCollar 0\.9 --state/);
  expect(stdout).toContain('→ check SLUICE_API_SECRET');
  expect(stdout.trimEnd()).toMatch(/problems prevent trading$/);
});

test('says that the exchange cannot be reached, and goes on with what it can tell', async () => {
  await begin('observed');
  const config = rig.configure({ exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1/' } });
  const { code, stdout } = await rig.run('doctor', '--config', config, '--json');
  expect(code).toBe(1);
  expect(levels(checksOf(stdout))).toMatchObject({ Node: 'ok', weight: 'ok', limits: 'ok', REST: 'fail' });
});
