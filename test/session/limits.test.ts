/** The standard limits: what stands above them is refused until a human has typed it, and a new version of a strategy begins small. */
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { raiseLimit } from '../../src/commands/control/limits.ts';
import { Refusal } from '../../src/domain/refusal.ts';
import { price, quotes, target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { pass, until } from '../kit/until.ts';

rigForEachTest();

/** The rig's limits but the careful ones, all of them in force. */
const careful = {
  controls: 'all',
  maxOrderValue: '100000',
  maxPosition: '500000',
  priceCollar: '0.03',
  maxDailyLoss: '0.03',
  duplicateWindowMs: 2_000,
};
const { controls: _, ...own } = careful;
/** No less careful than the standard. */
const execution = { pollMs: 3_000, sweepMs: 5_000 };
const bid = (quantity: number) => quotes({ side: 'BUY', price: price * 0.99, quantity });
const orders = (): number => exchange.allOrders(trader.uid).length;
const denied = (): string[] => rig.read((reader) => reader.denials(50)).map(({ code }) => code);

test('above the standard nothing starts, until the step that the refusal names was taken', async () => {
  rig.configure({ execution, risk: { ...careful, maxOrderShare: '0.5', maxOpenOrders: 60 } });
  const refused = rig.launch();
  expect((await refused.exited).code).toBe(3);
  const said = refused.lines.join('\n');
  expect(said).toMatch(/2 limits are looser than the standard/);
  expect(said).toContain('risk.maxOrderShare is 0.5, the standard is 0.02');
  const step = (name: string, value: string) => rig.run('limits', 'raise', name, value, '--reason', 'a test', '--yes');
  expect((await step('maxOrderShare', '0.4')).code).toBe(0);
  expect((await step('maxOpenOrders', '60')).code).toBe(0);
  const still = rig.launch();
  expect((await still.exited).code).toBe(3);
  expect(still.lines.join('\n')).toMatch(/a limit is looser than the standard/);
  expect((await step('maxOrderShare', '0.5')).code).toBe(0);
  await rig.start();
  const listed = JSON.parse((await rig.run('limits', '--json')).stdout) as {
    limits: { name: string; raisedTo: string | null }[];
    changes: { action: string; name: string; reason: string }[];
  };
  expect(listed.limits.find(({ name }) => name === 'maxOrderShare')?.raisedTo).toBe('0.5');
  expect(listed.changes.filter(({ action }) => action === 'raise')).toHaveLength(3);
  // What runs is written down: the configuration, and each strategy's code.
  expect(listed.changes.filter(({ action }) => action === 'config')).toHaveLength(1);
  expect(listed.changes.filter(({ action }) => action === 'version').map(({ name }) => name)).toEqual([
    'taker',
    'maker',
    'other',
  ]);
});

test('lower than the standard is a matter of the configuration alone', async () => {
  rig.configure({ execution, risk: { ...careful, maxOrderShare: '0.001', maxOpenOrders: 1 } });
  rig.emit('maker', bid(0.1));
  await rig.start();
  await until('a denial', () => denied().includes('orderShare'));
  expect(orders()).toBe(0);
});

describe('a version of a strategy that nobody released', () => {
  test('holds a tenth of what it was allotted, until it is released, also while the daemon runs', async () => {
    // 200,000 each of 600,000 in all: 2 % are 12,000, a tenth of the allocation is 20,000.
    // The market is fast: on a busy machine a command takes longer than a hundred denials, which would disable the strategy.
    rig.configure({ execution, risk: { ...careful, maxDenials: 100_000, maxDecideMs: 100_000 } });
    await rig.launch().exited;
    for (const name of ['maxDenials', 'maxDecideMs'])
      await rig.run('limits', 'raise', name, '100000', '--reason', 'a test', '--yes');
    rig.emit(
      'maker',
      quotes(...[1, 2, 3].map((step) => ({ side: 'BUY' as const, price: price * 0.99 - step, quantity: 1 }))),
    );
    await rig.start();
    await until('two orders', () => exchange.openOrders(trader.uid).length === 2);
    await until('a denial', () => denied().includes('newVersion'));
    const why = await rig.run('why', 'maker');
    expect(why.stdout).toContain('sluice limits release maker');
    const released = await rig.run('limits', 'release', 'maker', '--reason', 'it did well', '--yes');
    expect(released.stdout).toMatch(/may use its whole allocation/);
    await until('the third', () => exchange.openOrders(trader.uid).length === 3);
  });
});

test('a target that may be clipped is reduced to a limit, also after a restart, and why says so', async () => {
  rig.configure({ execution, risk: { ...own, maxOrderValue: String(price) } });
  rig.emit('taker', target(3, { clip: true }));
  const daemon = await rig.start();
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  // On a busy machine the first order may expire before it is sent, and the next is planned for what it was reduced to.
  const [first] = rig.read((reader) => reader.orders("strategy = 'taker'"));
  const why = await rig.run('why', first?.clientOrderId ?? '');
  expect(why.stdout).toMatch(/approved.*: Reduced from 3\.? .*by orderValue: The order is worth/);
  expect(denied()).toEqual([]);
  const before = orders();
  await daemon.end('SIGKILL');
  await rig.start();
  await pass(300);
  expect(orders()).toBe(before);
});

test('with all limits in force a MARKET order is sent on a fresh book', async () => {
  rig.configure({ execution, risk: careful });
  rig.emit('taker', target(0.5));
  await rig.start();
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  await pass(200);
  expect(denied().filter((code) => code === 'slippage' || code === 'depthShare')).toEqual([]);
});

describe('a step', () => {
  const options = (typed: string) => ({
    state: rig.state,
    json: false,
    reason: 'a test',
    yes: false,
    out: () => {},
    say: () => {},
    signal: new AbortController().signal,
    input: Readable.from([typed]),
  });

  test('is taken only when its name is typed', async () => {
    await (await rig.start()).end('SIGINT');
    await expect(raiseLimit('maxOpenOrders', '99', options('yes\n'))).rejects.toThrow(/was not typed/);
    expect(rig.read((reader) => reader.limits().filter(({ what }) => what === 'raise'))).toEqual([]);
    await raiseLimit('maxOpenOrders', '99', options('maxOpenOrders\n'));
    expect(rig.read((reader) => reader.limits().filter(({ what }) => what === 'raise'))).toMatchObject([
      { name: 'maxOpenOrders', value: '99', by: 'operator', reason: 'a test' },
    ]);
  });

  test.each([
    ['maxOpenOrder', '99', /did you mean "maxOpenOrders"/],
    ['maxOpenOrders', '50', /is not looser than the standard 50/],
    ['maxOrderShare', 'much', /is not a value of maxOrderShare/],
    ['noSelfMatch', 'true', /is not looser than the standard/],
    ['controls', 'all', /controls can only be raised to stated/],
  ])('%s %s is refused', async (name, value, why) => {
    await expect(raiseLimit(name, value, options(''))).rejects.toThrow(why);
    await expect(raiseLimit(name, value, options(''))).rejects.toBeInstanceOf(Refusal);
  });
});
