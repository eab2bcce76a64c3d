import { describe, expect, test } from 'vitest';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { type TradingConfig, tradingSchema } from '../../config/schema.ts';
import { rate, rateText } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { LimitEntry } from '../../journal/entries.ts';
import { standards } from '../../risk/control-list.ts';
import { isStrict, limitSteps, limitsOf, refuseUnraised, versionRows } from './limits.ts';

const config = (risk: object = {}, host = 'exchange.example', more: object = {}): TradingConfig =>
  tradingSchema.parse({
    exchange:
      host === '127.0.0.1'
        ? { restUrl: `http://${host}:1`, wsUrl: `ws://${host}:1` }
        : { restUrl: `https://${host}`, wsUrl: `wss://${host}` },
    strategies: [{ id: 'a', use: 'grid', symbol: 'BTCUSDT', interval: '1min', allocation: '1000' }],
    risk: { maxOrderValue: '100', maxPosition: '200', ...risk },
    ...more,
  });
const raise = (name: string, value: string): LimitEntry => ({
  ...{ kind: 'limit', at: 0, what: 'raise', name, value },
  ...{ by: 'operator', reason: 'a test' },
});
const refused = (given: TradingConfig, steps: readonly LimitEntry[] = []): string => {
  try {
    refuseUnraised(given, steps, 'var/live');
    return '';
  } catch (error) {
    if (error instanceof Refusal && error.exitCode === 3) return error.message;
    throw error;
  }
};

describe('limits that are left out', () => {
  test('hold by their standard where the exchange is not on this machine, and only there', () => {
    expect([isStrict(config()), isStrict(config({}, '127.0.0.1'))]).toEqual([true, false]);
    expect([isStrict(config({ controls: 'stated' })), isStrict(config({ controls: 'all' }, '127.0.0.1'))]).toEqual([
      false,
      true,
    ]);
    const { risk, strategies } = config();
    const strict: object = limitsOf(risk, strategies, true);
    for (const { key, value } of standards) {
      const held: unknown = Object.entries(strict).find(([name]) => name === key)?.[1];
      expect([key, typeof held === 'bigint' ? rateText(held as ReturnType<typeof rate>) : held]).toEqual([key, value]);
    }
    expect(limitsOf(risk, strategies, false).maxOrderShare).toBeUndefined();
  });

  test('are those of the configuration where it states them', () => {
    const { risk, strategies } = config({ maxOrderShare: '0.01' });
    expect(limitsOf(risk, strategies, true).maxOrderShare).toBe(rate('0.01'));
  });
});

describe('a configuration above the standard', () => {
  test('is refused on a real exchange, each limit with what to type', () => {
    const text = refused(config({ maxDailyLoss: '0.25', maxEntries: 21, duplicateWindowMs: 0, noSelfMatch: false }));
    for (const line of ['maxDailyLoss 0.25', 'maxEntries 21', 'duplicateWindowMs 0', 'noSelfMatch false'])
      expect(text).toContain(`sluice limits raise ${line} --state var/live --reason`);
    expect(refused(config({ maxDailyLoss: '0.25' }, '127.0.0.1'))).toBe('');
  });

  test('starts once it was raised as high, and not higher', () => {
    const given = config({ maxEntries: 30 });
    expect(refused(given, [raise('maxEntries', '30')])).toBe('');
    expect(refused(given, [raise('maxEntries', '29')])).not.toBe('');
    expect(refused(given, [raise('maxEntries', '40'), raise('maxEntries', '29')])).not.toBe('');
    expect(refused(given, [raise('maxOpenOrders', '99')])).not.toBe('');
  });

  test('is also one that sweeps seldom, gives orders up early, or whose watchdog waits long', () => {
    const hasty = config({}, 'exchange.example', {
      execution: { sweepMs: 8_000, absentAfterMs: 10_000 },
      watchdog: { afterMs: 60_000 },
    });
    const raised = ['execution.sweepMs 8000', 'execution.absentAfterMs 10000', 'watchdog.afterMs 60000'];
    for (const line of raised)
      expect(refused(hasty)).toContain(`sluice limits raise ${line} --state var/live --reason`);
    expect(refused(hasty)).toContain('  execution.absentAfterMs is 10000, the standard is 60000\n');
    const steps = raised.map((line) => raise(line.split(' ')[0] ?? '', line.split(' ')[1] ?? ''));
    expect(refused(hasty, steps)).toBe('');
    expect(refused(hasty, steps.slice(1))).toContain('execution.sweepMs 8000');
    const careful = { execution: { sweepMs: 2_000, absentAfterMs: 90_000 }, watchdog: { afterMs: 10_000 } };
    expect(refused(config({}, 'exchange.example', careful))).toBe('');
  });

  test('is also one that leaves the standard out', () => {
    expect(refused(config({ controls: 'stated' }))).toContain('limits raise controls stated');
    expect(refused(config({ controls: 'stated' }), [raise('controls', 'stated')])).toBe('');
  });
});

test('the standard itself and what is more careful need no step', () => {
  expect(refused(config())).toBe('');
  expect(refused(config({ maxOrderShare: '0.001', duplicateWindowMs: 9_000, maxDrawdown: '0.08' }))).toBe('');
});

describe('a start', () => {
  test('writes down a configuration and a version only when they changed', () => {
    const first = versionRows(config(), [], [], 5);
    expect(first.rows.map(({ what }) => what)).toEqual(['config', 'version']);
    expect([...first.unreleased.keys()]).toEqual(['a']);
    const second = versionRows(config(), [], first.rows, 6);
    expect(second.rows).toEqual([]);
    const changed = versionRows(config({ maxOrderShare: '0.01' }), [], first.rows, 7);
    expect(changed.rows.map(({ what }) => what)).toEqual(['config']);
    const released: LimitEntry = { ...(first.rows[1] as LimitEntry), what: 'release' };
    expect(versionRows(config(), [], [...first.rows, released], 8).unreleased.size).toBe(0);
  });
});

describe('a daemon that is told of a step, by whomever', () => {
  const said = { by: 'dashboard', reason: 'x' };
  test.each([
    ['maxOrderShar', '0.5', 'unknown limit maxOrderShar (did you mean "maxOrderShare"?)'],
    ['maxOrderShare', 'lots', 'lots is not a value of maxOrderShare: its standard is 0.02'],
    ['maxOrderShare', '0.01', 'maxOrderShare 0.01 is not looser than the standard 0.02'],
    ['execution.absentAfterMs', '90000', 'execution.absentAfterMs 90000 is not looser than the standard 60000'],
  ])('refuses to raise %s to %s in the words of the command', async (name, value, why) => {
    const { assembled, clock, db } = new TestRig();
    await expect(limitSteps(assembled, clock, 'nowhere')({ what: 'raise', name, value, ...said })).rejects.toThrow(why);
    expect(db.prepare('SELECT * FROM limits').all()).toEqual([]);
  });
});
