import { describe, expect, test } from 'vitest';
import {
  decision,
  draft,
  fill,
  instruments,
  kill,
  portfolio,
  startTime,
  target,
  wide,
} from '../../test/kit/builders.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { rate, units, unitsText } from '../domain/money.ts';
import { purposes } from '../domain/order.ts';
import { Portfolio } from '../portfolio/portfolio.ts';
import { type Kill, KillSwitch } from './kill.ts';
import { Risk, type RiskOptions } from './risk.ts';

// Not UTC: a day that began at local midnight would pass unnoticed there.
process.env['TZ'] = 'America/St_Johns';

const dayMs = 86_400_000;

interface Bench {
  readonly risk: Risk;
  readonly clock: SimClock;
  readonly held: ReturnType<typeof portfolio>;
  /** The price goes to this, and the loss limit compares. */
  readonly price: (to: number) => ReturnType<Risk['watchLoss']>;
}

/** A strategy that holds 10,000 BTC bought at 100 with all its money; another is flat with as much: 2,000,000 together. */
function bench(options: Partial<RiskOptions> = {}): Bench {
  const clock = new SimClock(startTime + 3_600_000);
  const held = portfolio();
  held.apply(fill({ quantity: '10000' }));
  const limits = { ...wide, maxDailyLoss: rate('0.1'), maxOrdersPerSecond: 2, duplicateWindowMs: 2_000 };
  const risk = new Risk({ limits, portfolio: held, clock, ...options });
  return {
    risk,
    clock,
    held,
    price(to) {
      held.mark('BTCUSDT', to, clock.now());
      return risk.watchLoss();
    },
  };
}

describe('the daily loss limit', () => {
  test('kills creation once when the loss since the start of the day reaches it', () => {
    const { price, risk } = bench();
    expect(price(100)).toBeUndefined();
    expect(price(80.01)).toBeUndefined();
    const kill = price(80);
    expect(kill).toEqual({
      kind: 'kill',
      everything: false,
      at: startTime + 3_600_000,
      strategy: undefined,
      by: 'dailyLoss',
      reason: 'lost 200000 since midnight UTC, the limit is 200000',
    });
    expect(risk.switch.of('s')).toBe(kill);
    expect(price(70)).toBeUndefined();
    expect(risk.judge(draft({ strategy: 't' }))).toMatchObject({ kind: 'denied', code: 'killed' });
  });

  test('measures from midnight UTC, not from midnight of the machine’s zone', () => {
    expect(new Date(startTime).getTimezoneOffset()).not.toBe(0);
    const { price, clock, risk } = bench();
    price(100);
    expect(risk.dayStart.day).toBe(startTime);
    for (let hour = 2; hour < 24; hour++) {
      clock.skipTo(startTime + hour * 3_600_000);
      price(100 - hour / 2);
      expect(risk.dayStart.day).toBe(startTime);
    }
    clock.skipTo(startTime + dayMs);
    price(88);
    expect(risk.dayStart).toEqual({ day: startTime + dayMs, equity: units('1880000') });
  });

  test('names amounts by the cent', () => {
    const { price } = bench();
    price(100.000001);
    expect(price(79.999)?.reason).toMatch(/^lost \d+(\.\d\d?)? since midnight UTC, the limit is \d+(\.\d\d?)?$/);
  });

  test('counts closed losses and fees', () => {
    const { price, held } = bench();
    price(100);
    held.apply(fill({ side: 'SELL', price: '85', quantity: '10000', fee: '50000' }));
    expect(price(85)?.by).toBe('dailyLoss');
  });

  test('is measured anew with each UTC day, which lifts no kill', () => {
    const { price, clock, risk } = bench();
    price(100);
    price(85);
    clock.skipTo(startTime + dayMs);
    expect(price(85)).toBeUndefined();
    expect(risk.dayStart.day).toBe(startTime + dayMs);
    expect(unitsText(risk.dayStart.equity)).toBe('1850000');
    expect(price(67)).toBeUndefined();
    expect(price(66.5)?.by).toBe('dailyLoss');
    clock.skipTo(startTime + 2 * dayMs);
    price(66);
    expect(risk.switch.of('s')?.by).toBe('dailyLoss');
  });

  test('goes on from the start of the day that a journal knows', () => {
    const dayStart = { day: startTime, equity: units('2100000') };
    const { price } = bench({ dayStart });
    expect(price(89.01)).toBeUndefined();
    expect(price(89)?.by).toBe('dailyLoss');
  });

  test('begins a new day when the journal’s is over', () => {
    const { price, risk } = bench({ dayStart: { day: startTime - dayMs, equity: units('9000000') } });
    expect(price(100)).toBeUndefined();
    expect(risk.dayStart.day).toBe(startTime);
  });

  test('does not kill again after a restart that finds its kill in force', () => {
    const { price, risk } = bench({
      dayStart: { day: startTime, equity: units('2000000') },
      kills: [kill({ at: startTime + 5, by: 'dailyLoss', reason: 'lost' })],
    });
    expect(price(50)).toBeUndefined();
    expect(risk.switch.inForce.length).toBe(1);
  });

  describe('after a restart', () => {
    /** `s` holds nothing on BTCUSDT, `t` bought 10,000 ETH at 100, which stood at 150 all day: 2,500,000 at midnight. */
    function restarted(options: Partial<RiskOptions> = {}) {
      const amount = units('1000000');
      const held = new Portfolio(instruments, [
        { strategy: 's', symbol: 'BTCUSDT', amount },
        { strategy: 't', symbol: 'ETHUSDT', amount },
      ]);
      held.apply(fill({ strategy: 't', symbol: 'ETHUSDT', quantity: '10000' }));
      const clock = new SimClock(startTime + 3_600_000);
      const limits = { ...wide, maxDailyLoss: rate('0.1') };
      const risk = new Risk({ limits, portfolio: held, clock, ...options });
      return (symbol: string, price: number) => {
        held.mark(symbol, price, clock.now());
        const kill = risk.watchLoss();
        return { kill, risk };
      };
    }
    const dayStart = { day: startTime, equity: units('2500000') };

    test('takes no open profit of a symbol without a price for a loss', () => {
      const price = restarted({ dayStart });
      expect(price('BTCUSDT', 100).kill).toBeUndefined();
      expect(price('ETHUSDT', 150).kill).toBeUndefined();
      expect(price('ETHUSDT', 125).kill?.by).toBe('dailyLoss');
    });

    test('begins a day only when every held symbol has a price', () => {
      const price = restarted();
      expect(price('BTCUSDT', 100).risk.dayStart.day).toBeNaN();
      expect(unitsText(price('ETHUSDT', 150).risk.dayStart.equity)).toBe('2500000');
    });

    test('and a resume before that measures from the moment when it does', () => {
      const price = restarted({ dayStart });
      const { risk } = price('BTCUSDT', 100);
      risk.switch.kill(kill());
      risk.resume(undefined);
      expect(price('ETHUSDT', 120).kill).toBeUndefined();
      expect(unitsText(price('ETHUSDT', 120).risk.dayStart.equity)).toBe('2200000');
      expect(price('ETHUSDT', 98).kill?.by).toBe('dailyLoss');
    });

    test('does not wait for the price of dust that nobody can sell', () => {
      const held = portfolio();
      held.apply(fill({ symbol: 'ETHUSDT', quantity: '1' }));
      held.apply(fill({ symbol: 'ETHUSDT', side: 'SELL', quantity: '0.99999', fee: '0.000009', feeAsset: 'ETH' }));
      expect(held.isFlat('s', 'ETHUSDT')).toBe(true);
      expect(held.isPriced()).toBe(true);
    });
  });

  test('is measured from the moment of a resume, and can be reached again', () => {
    const { price, risk } = bench();
    price(100);
    price(80);
    risk.resume(undefined);
    expect(risk.switch.of('s')).toBeUndefined();
    expect(price(79)).toBeUndefined();
    expect(price(62)?.by).toBe('dailyLoss');
  });
});

describe('the gate', () => {
  test('counts the orders that were created, across strategies', async () => {
    const { risk, clock } = bench();
    const one = (strategy: string, quantity: string): string => {
      const made = draft({ strategy, quantity });
      const verdict = risk.judge(made);
      if (verdict.kind === 'denied') return verdict.code;
      risk.created(made);
      return 'approved';
    };
    expect(one('t', '1')).toBe('approved');
    expect(one('t', '1')).toBe('duplicate');
    expect(one('t', '2')).toBe('approved');
    expect(one('t', '3')).toBe('orderRate');
    await clock.advanceTo(clock.now() + 1_000);
    expect(one('t', '3')).toBe('approved');
    expect(one('t', '1')).toBe('duplicate');
    await clock.advanceTo(clock.now() + 1_000);
    expect(one('t', '1')).toBe('approved');
  });
});

describe('a kill switch', () => {
  const of = (strategy: string | undefined, given: Partial<Kill> = {}) => kill({ strategy, ...given });

  test('for one strategy stops that one alone', () => {
    const kills = new KillSwitch();
    kills.kill(of('s'));
    expect(kills.of('s')).toBeDefined();
    expect(kills.of('t')).toBeUndefined();
  });

  test('for all stops every one until it is lifted for all', () => {
    const kills = new KillSwitch([of(undefined)]);
    kills.resume('s');
    expect(kills.of('s')).toBeDefined();
    kills.resume(undefined);
    expect(kills.of('s')).toBeUndefined();
  });

  test('lifts the kills of one strategy and leaves the others', () => {
    const kills = new KillSwitch([of('s'), of('t'), of('s')]);
    kills.resume('s');
    expect(kills.of('s')).toBeUndefined();
    expect(kills.of('t')).toBeDefined();
    expect(kills.inForce.length).toBe(1);
  });

  test('names the one that stops the most, whoever it is by', () => {
    const kills = new KillSwitch([
      of('s', { kind: 'pause' }),
      of(undefined, { by: 'dailyLoss' }),
      of('t', { kind: 'pause' }),
      of('u', { everything: true }),
    ]);
    expect(['s', 't', 'u'].map((id) => kills.of(id)?.by)).toEqual(['dailyLoss', 'dailyLoss', 'operator']);
    expect(kills.ofAll?.by).toBe('dailyLoss');
    expect(kills.of('u')?.everything).toBe(true);
  });

  test('lets through what its strength says', () => {
    const through = (given: Partial<Kill>): readonly string[] => {
      const kills = new KillSwitch([kill(given)]);
      return purposes.filter((purpose) => kills.against({ strategy: 's', purpose }) === undefined);
    };
    expect(through({ kind: 'pause' })).toEqual(['exit', 'stop', 'takeProfit', 'flatten']);
    expect(through({})).toEqual(['stop', 'takeProfit', 'flatten']);
    expect(through({ by: 'dailyLoss' })).toEqual(['stop', 'takeProfit', 'flatten']);
    expect(through({ everything: true })).toEqual(['flatten']);
  });
});

describe('changed signals', () => {
  test('are counted by market: a decision on many changes one in each at once', () => {
    const { risk, clock } = bench({ limits: { ...wide, maxSignalsPerSecond: 1 } });
    const change = (symbol: string): boolean => risk.mayChange(decision(target(1), 's', symbol).legs[0]);
    expect(['A', 'B', 'C'].map(change)).toEqual([true, true, true]);
    expect(change('B')).toBe(false);
    clock.skipTo(clock.now() + 1_000);
    expect(change('B')).toBe(true);
  });
});
