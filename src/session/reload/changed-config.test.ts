import { describe, expect, test } from 'vitest';
import { type TradingConfig, tradingSchema } from '../../config/schema.ts';
import { standards } from '../../risk/control-list.ts';
import { changedConfig, isLooser } from './changed-config.ts';

const one = { id: 'one', use: 'sma-cross', symbol: 'BTCUSDT', interval: '1min', allocation: '1000' };
const given = (change: object = {}, risk: object = {}, strategy: object = {}): TradingConfig =>
  tradingSchema.parse({
    exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' },
    strategies: [{ ...one, ...strategy }],
    risk: { maxOrderValue: '500', maxPosition: '800', ...risk },
    ...change,
  });

describe('a configuration that was changed', () => {
  test.each([
    ['a lower value', {}, { maxOrderValue: '400' }, 'risk.maxOrderValue 500 → 400', false],
    ['a higher one', {}, { maxOrderValue: '500.5' }, 'risk.maxOrderValue 500 → 500.5', true],
    ['a limit that is new', {}, { maxDrawdown: '0.1' }, 'risk.maxDrawdown none → 0.1', false],
    ['one that is left out', { maxDrawdown: '0.1' }, {}, 'risk.maxDrawdown 0.1 → none', true],
    [
      'a longer time between equal orders',
      {},
      { duplicateWindowMs: 5_000 },
      'risk.duplicateWindowMs 2000 → 5000',
      false,
    ],
    ['a shorter one', {}, { duplicateWindowMs: 100 }, 'risk.duplicateWindowMs 2000 → 100', true],
    ['no match with itself', { noSelfMatch: false }, { noSelfMatch: true }, 'risk.noSelfMatch false → true', false],
    ['a match', { noSelfMatch: true }, { noSelfMatch: false }, 'risk.noSelfMatch true → false', true],
    ['fewer symbols', { symbols: ['AB', 'BC'] }, { symbols: ['BC'] }, 'risk.symbols AB, BC → BC', false],
    ['others', { symbols: ['AB', 'BC'] }, { symbols: ['BC', 'CD'] }, 'risk.symbols AB, BC → BC, CD', true],
  ])('%s is named with both values, and whether it is looser', (_, before, after, text, isLooser) => {
    const { limits, fixed } = changedConfig(given({}, before), given({}, after));
    expect(fixed).toEqual([]);
    expect(limits.map((change) => [`${change.path} ${change.text}`, change.isLooser])).toEqual([[text, isLooser]]);
  });

  test('has the limits of its strategies, too', () => {
    const { limits } = changedConfig(
      given({}, {}, { limits: { maxGross: '100' } }),
      given({}, {}, { limits: { maxGross: '90', maxOpenOrders: 3 } }),
    );
    expect(limits).toEqual([
      { path: 'strategies.one.limits.maxGross', text: '100 → 90', isLooser: false },
      { path: 'strategies.one.limits.maxOpenOrders', text: 'none → 3', isLooser: false },
    ]);
  });

  test('no longer has the standard limits where controls are only stated', () => {
    const { limits } = changedConfig(given({}, { controls: 'all' }), given({}, { controls: 'stated' }));
    expect(limits.length).toBeGreaterThan(10);
    expect(limits.every(({ isLooser }) => isLooser)).toBe(true);
    expect(
      changedConfig(given({}, { controls: 'stated' }), given({}, { controls: 'all' })).limits.some(
        ({ isLooser }) => isLooser,
      ),
    ).toBe(false);
  });

  test('names each place that only a restart changes', () => {
    const exchange = { restUrl: 'http://127.0.0.1:2', wsUrl: 'ws://127.0.0.1:1' };
    const changed = given(
      { exchange, account: 'margin', onShutdown: 'keep' },
      { moveWindowMs: 5 },
      { interval: '5min', params: { fast: 3 }, allocation: '2000' },
    );
    expect(changedConfig(given(), changed).fixed.toSorted()).toEqual([
      'account',
      'exchange.restUrl',
      'onShutdown',
      'risk.moveWindowMs',
      'strategies.one.allocation',
      'strategies.one.interval',
      'strategies.one.params.fast',
    ]);
    const other = given({ strategies: [one, { ...one, id: 'two' }] });
    expect(changedConfig(given(), other).fixed).toEqual(['strategies.two']);
    expect(changedConfig(other, given()).fixed).toEqual(['strategies.two']);
  });

  test('by nothing has no difference', () => {
    expect(changedConfig(given(), given())).toEqual({ limits: [], others: [], fixed: [] });
  });

  test('has alerts and the log among what changes while it runs, but not who gives commands', () => {
    const phone = { type: 'telegram', chat: '1' };
    const alerts = { channels: { phone }, routes: [{ minLevel: 'warn', to: ['phone'] }] };
    const quiet = { ...alerts, quietHours: { from: '22:00', to: '07:00' }, maxPerHour: 5 };
    const before = given({ alerts });
    expect(changedConfig(before, given({ alerts: quiet, log: { level: 'debug', maxMb: 5 } }))).toEqual({
      limits: [],
      others: ['alerts.maxPerHour', 'alerts.quietHours', 'log.level', 'log.maxMb'],
      fixed: [],
    });
    const obeying = { ...alerts, channels: { phone: { ...phone, commandsFrom: ['1'] } } };
    for (const [one, other] of [
      [obeying, alerts],
      [alerts, obeying],
    ])
      expect(changedConfig(given({ alerts: one }), given({ alerts: other }))).toMatchObject({
        others: [],
        fixed: ['alerts.channels.phone.commandsFrom'],
      });
    expect(changedConfig(given(), given({ alerts, log: { format: 'pretty' }, metrics: {} }))).toMatchObject({
      others: [],
      fixed: ['log.format', 'alerts', 'metrics'],
    });
  });
});

test('the direction of each standard limit is known', () => {
  for (const { key, careful, value } of standards) {
    const [less, more] = careful === 'only' ? [value, !value] : careful === 'higher' ? [2, 1] : [1, 2];
    expect([isLooser(key, less, more), isLooser(key, more, less)]).toEqual([true, false]);
  }
});
