import { describe, expect, it } from 'vitest';
import { tradingSchema } from '../../config/schema.ts';
import { defineStrategy } from '../../strategy/contract.ts';
import type { Configured } from '../../trading/strategies.ts';
import { planLines, refuseUnfit, weightPlanOf } from './weight-plan.ts';

const strategy = defineStrategy({
  name: 'quiet',
  about: '',
  params: {},
  indicators: () => ({}),
  decide: () => undefined,
});

/** A configuration with a strategy for each symbol. */
function configuration(symbols: readonly string[], change: object = {}, expects: object = {}) {
  const config = tradingSchema.parse({
    exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1' },
    risk: { maxOrderValue: '1', maxPosition: '1' },
    strategies: symbols.map((symbol, index) => ({
      ...{ id: `s${index}`, use: 'quiet', symbol, interval: '1min', allocation: '1', expects },
    })),
    ...change,
  });
  const configured = config.strategies.map(
    (one): Configured => ({ config: one, configFile: 'x.yaml', symbolPlaces: [''], strategy, params: {} }),
  );
  return { config, configured };
}
const symbolsNamed = (count: number): string[] => Array.from({ length: count }, (_, index) => `S${index}USDT`);
const planOf = (...given: Parameters<typeof configuration>) => {
  const { config, configured } = configuration(...given);
  return weightPlanOf(config, configured);
};
const refusing = (...given: Parameters<typeof configuration>) => {
  const { config, configured } = configuration(...given);
  return () => refuseUnfit(config, configured, 'x.yaml');
};

describe('a weight plan', () => {
  it('looks at a symbol once for all strategies on it, and names them', () => {
    const { rows } = planOf(['BTCUSDT', 'BTCUSDT']);
    expect(rows.filter(({ purpose }) => purpose === 'open orders of BTCUSDT')).toMatchObject([
      { who: 's0, s1', callsPerMinute: 60, weightPerMinute: 60, lane: 'reconcile' },
    ]);
  });

  it('takes an order for each kline unless it is told how many, and rare looks where none rests', () => {
    const slow = planOf(['BTCUSDT'], {}, { ordersPerMinute: 0.5, resting: false });
    expect(planOf(['BTCUSDT']).rows.find(({ lane }) => lane === 'create')?.callsPerMinute).toBe(1);
    expect(slow.rows.find(({ lane }) => lane === 'create')?.callsPerMinute).toBe(0.5);
    expect(slow.rows.some(({ lane }) => lane === 'cancel')).toBe(false);
    expect(slow.rows[0]).toMatchObject({ callsPerMinute: 12 });
  });

  it('counts every market of a strategy: orders where it trades, klines alone where it reads', () => {
    const { config, configured } = configuration(['BTCUSDT']);
    const [one] = configured as [Configured];
    const market = (symbol: string, use: 'traded' | 'data') =>
      ({ role: symbol, symbol, interval: '1min', use }) as const;
    const markets = [market('BTCUSDT', 'traded'), market('ETHUSDT', 'traded'), market('SOLUSDT', 'data')];
    const plan = weightPlanOf(config, [{ ...one, markets }]);
    const creates = plan.rows.filter(({ lane }) => lane === 'create');
    expect(creates.map(({ purpose, callsPerMinute }) => [purpose, callsPerMinute])).toEqual([
      ['creates on BTCUSDT', 1],
      ['creates on ETHUSDT', 1],
    ]);
    expect(plan.rows.some(({ purpose }) => purpose.includes('SOLUSDT'))).toBe(false);
    // A page of klines and one to confirm it.
    const without = weightPlanOf(config, [{ ...one, markets: markets.slice(0, 2) }]);
    expect(plan.weightAtStart - without.weightAtStart).toBe(2);
  });

  it('costs margin its own prices', () => {
    const perMinute = planOf(['BTCUSDT'], { account: 'margin', execution: { pollMs: 10_000 } }).weightPerMinute;
    expect(perMinute).toBeCloseTo(6 * (5 + 1) + 5 + 5 + 5 + 1.5 * (5 + 1) + 1);
  });

  it('is told with the dearest purposes first and the sum last', () => {
    const lines = planLines(planOf(symbolsNamed(4)));
    expect(lines).toHaveLength(9);
    expect(lines[0]).toMatch(/^ +60 a minute {2}s\d: (own trades|open orders) of S\dUSDT \(60 × 1\)$/);
    expect(lines.at(-2)).toMatch(/a minute {2}\d+ more$/);
    expect(lines.at(-1)).toMatch(/^ +537 a minute {2}together$/);
  });
});

describe('a configuration', () => {
  it('that fits is let through', () => {
    expect(refusing(symbolsNamed(60))).not.toThrow();
  });

  it('that cannot fit is refused with the sum shown, exit 2', () => {
    const refused = refusing(symbolsNamed(80));
    expect(refused).toThrow(
      /^x\.yaml needs more request weight than the exchange allows:\n {2}it needs 10\d\d\d of request weight a minute, and there is room for 9600:/,
    );
    expect(refused).toThrow(/together$/);
    expect(refused).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(refusing(symbolsNamed(80), { execution: { pollMs: 2_000 } })).not.toThrow();
  });

  it('that asks one operation too often is refused although its weight would fit', () => {
    expect(refusing(symbolsNamed(11), { account: 'margin', requestWeight: { ipWeightPerMinute: 60_000 } })).toThrow(
      /"margin open orders" 2\d times in 2 s, the exchange takes it 20 times/,
    );
  });
});
