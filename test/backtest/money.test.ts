/** Several intervals, cash flows and currencies as a user writes them down, through the command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';

const data = join(import.meta.dirname, '..', '..', 'backtests', 'data');
const at = desk();
afterAll(() => at.remove());

at.write(
  'instruments.yaml',
  `BTCUSDT: { base: BTC, quote: USDT, pricePrecision: 2, quantityPrecision: 5, minNotional: "5" }
ETHBTC: { base: ETH, quote: BTC, pricePrecision: 2, quantityPrecision: 4 }
`,
);

/** A configuration over ten days, with what differs; the ETH prices stand for those of a pair against BTC. */
const write = (more: string): void => {
  at.write(
    'b.yaml',
    `instruments: instruments.yaml
data:
  BTCUSDT: ${data}/BTCUSDT-15m-2025-10_2026-03.csv.gz
  ETHBTC: ${data}/ETHUSDT-15m-2025-10_2026-03.csv.gz
dataIntervals: { BTCUSDT: 15min }
from: 2025-10-05
to: 2025-10-15
cash: "10000"
risk: { maxOrderValue: "20000", maxPosition: "20000", maxDailyLoss: "0.5" }
fees: { maker: "0.001", taker: "0.002" }
${more}`,
  );
};

const sma = (id: string, symbol: string, interval: string): string =>
  `  - { id: ${id}, use: sma-cross, symbol: ${symbol}, interval: ${interval}, params: { fast: 5, slow: 20, share: 0.5 } }`;
const hours = `strategies:\n${sma('hours', 'BTCUSDT', '60min')}`;
const margin = `margin: { maxLeverage: "5", maintenanceRatio: "0.1", liquidationFee: "0.01", interest: { BTC: "0.00001", USDT: "0.00001" }, interestEveryHours: 1 }`;
const run = (...more: readonly string[]) => at.sluice(['backtest', '--config', 'b.yaml', '--no-save', ...more]);

describe('sluice backtest', () => {
  test('borrows on margin, by rules of the user, and says what that cost', async () => {
    // A third of a bitcoin of 120,000 against 10,000: most of it is borrowed.
    const long = hours.replace('share: 0.5', 'quantity: 0.33').replace('fast: 5, slow: 20', 'fast: 20, slow: 120');
    write(`${long.replace('BTCUSDT, interval: 60min', 'BTCUSDT, interval: 15min')}\naccount: margin\n${margin}`);
    at.write('b.yaml', readFileSync(join(at.dir, 'b.yaml'), 'utf8').replaceAll('"20000"', '"90000"'));
    const { code, out, err } = await run('--report', 'm.html', '--set', 'risk.maxDailyLoss=1');
    expect([code, err]).toEqual([0, expect.any(String)]);
    expect(out).toMatch(/^Interest +[1-9][\d.,]* USDT$/m);
    expect(out).toMatch(/^Liquidations +\d+, [\d.,]+ USDT of fees$/m);
    expect(readFileSync(join(at.dir, 'm.html'), 'utf8')).toMatch(
      /Interest<.*on what was borrowed.*Fees of liquidations/s,
    );
    const json = JSON.parse((await run('--json', '--set', 'risk.maxDailyLoss=1')).out) as {
      margin: { interest: string; charges: readonly [number, string][] };
    };
    expect(json.margin.charges.length).toBeGreaterThan(10);
  });

  test('trades two intervals of a symbol, pays money in and refuses what is not there', async () => {
    write(`${hours}
${sma('quarters', 'BTCUSDT', '15min')}
cashFlows:
  - { time: 2025-10-07T12:01, currency: USDT, amount: "5000", kind: deposit, reason: savings }
  - { time: 2025-10-09, currency: USDT, amount: "50000", kind: withdrawal, reason: a house }
`);
    const { code, out, err } = await run('--report', 'r.html');
    expect([code, err]).toEqual([0, expect.any(String)]);
    expect(out).toMatch(/^Cash flows +1 carried out, 5,000 USDT in total; returns exclude them \(time-weighted\)$/m);
    expect(out).toMatch(/^Refused +2025-10-09 00:00 UTC, a house: 25000 USDT is more than hours has free, [\d.]+$/m);
    expect(readFileSync(join(at.dir, 'r.html'), 'utf8')).toMatch(/Money paid in and out.*refused: 25000 USDT/s);
    const json = JSON.parse((await run('--json')).out) as { cashFlows: unknown; fills: { strategy: string }[] };
    expect(json.cashFlows).toMatchObject([
      { at: Date.UTC(2025, 9, 7, 12, 15), amount: '5000', value: '5000', refused: null },
      { at: Date.UTC(2025, 9, 9), amount: '-50000' },
    ]);
    expect(new Set(json.fills.map(({ strategy }) => strategy))).toEqual(new Set(['hours', 'quarters']));
  });

  test('has its report where all was paid out before the first fill', async () => {
    write(`${hours}
cashFlows:
  - { time: 2025-10-05T00:30, currency: USDT, amount: "10000", kind: withdrawal, reason: out }
`);
    const { code, err } = await run('--report', 'r.html');
    expect([code, err]).toEqual([0, expect.not.stringContaining('bug')]);
    const json = JSON.parse((await run('--json')).out) as { cashFlows: unknown };
    expect(json.cashFlows).toMatchObject([{ amount: '-10000', refused: null }]);
    expect(json).not.toHaveProperty('soldEquity');
  });

  test('counts two currencies together', async () => {
    write(`${hours}
${sma('eth', 'ETHBTC', '15min')}
currency: USDT
currencies: { BTC: { cash: "30000", pair: BTCUSDT, maxOrderValue: "30000", maxPosition: "30000" } }
`);
    const { code, out } = await run('--report', 'r.html');
    expect(code).toBe(0);
    expect(out).toMatch(/^In USDT +10000 to [\d.]+; the currency of the equity$/m);
    expect(out).toMatch(/^In BTC +30000 to [\d.]+; at the last close of BTCUSDT: 122391 at the start, /m);
    expect(out).toMatch(/^Cash at the start +3,671,740,000 USDT$/m);
    expect(readFileSync(join(at.dir, 'r.html'), 'utf8')).toContain('Counted together in USDT');
  });

  test.for([
    [
      'a currency that nobody is paid in',
      `${hours}\ncashFlows: [{ time: 2025-10-06, currency: EUR, amount: "1", kind: deposit, reason: r }]`,
      'b.yaml: cashFlows.0.currency: the currencies of the account are USDT; EUR cannot be deposited or withdrawn',
    ],
    [
      'a flow beside the run',
      `${hours}\ncashFlows: [{ time: 2025-11-06, currency: USDT, amount: "1", kind: deposit, reason: r }]`,
      'b.yaml: cashFlows: 2025-11-06T00:00:00.000Z lies outside the run, 2025-10-05T00:00:00.000Z to 2025-10-15T00:00:00.000Z',
    ],
    [
      'two currencies and no word of which counts',
      `${hours}\n${sma('eth', 'ETHBTC', '15min')}`,
      'b.yaml: currency: is missing: set it to the currency of the equity, USDT or BTC',
    ],
    [
      'rates that begin after the run',
      `${hours}\n${sma('eth', 'ETHBTC', '15min')}\ncurrency: USDT\ncurrencies: { BTC: { cash: "1", pair: BTCUSDT, maxOrderValue: "1", maxPosition: "1" } }\n`,
      'BTC: there is no rate at 2025-10-01T00:00Z, the start of the run: the first kline of BTCUSDT closes at 2025-10-01T00:15Z; set from',
    ],
    [
      'recorded klines that are larger than those of a strategy',
      `strategies:\n${sma('minutes', 'BTCUSDT', '5min')}`,
      'b.yaml: dataIntervals.BTCUSDT: 15min: a strategy uses 5min, and klines of that cannot be made from klines of 15min',
    ],
    [
      'a margin account without rules of it',
      `${hours}\naccount: margin`,
      'b.yaml: account: margin cannot be simulated without your rules (margin: maxLeverage, maintenanceRatio, liquidationFee, interest, interestEveryHours)',
    ],
    [
      'margin rules of a spot account',
      `${hours}\n${margin}`,
      'b.yaml: margin: these rules are for account: margin, but the account is spot',
    ],
    [
      'an asset that nobody knows the interest of',
      `${hours}\naccount: margin\n${margin.replace('BTC: "0.00001", ', '')}`,
      'b.yaml: margin.interest: the rate of BTC, which BTCUSDT borrows, is missing: use BTC: "0" if it costs nothing',
    ],
    [
      'leverage beyond what maintenance allows',
      `${hours}\naccount: margin\n${margin.replace('"5"', '"10"')}`,
      'maintenanceRatio must be below one over maxLeverage',
    ],
    [
      'cash flows of a margin account',
      `${hours}\naccount: margin\n${margin}\ncashFlows: [{ time: 2025-10-06, currency: USDT, amount: "1", kind: deposit, reason: r }]`,
      'b.yaml: cashFlows: a margin account has no deposits or withdrawals',
    ],
  ] as const)('refuses %s', async ([, more, said]) => {
    write(more);
    const early = said.startsWith('BTC:') ? ['--set', 'from=2025-10-01'] : [];
    const { code, err } = await run(...early);
    expect(code).toBe(2);
    expect(err).toContain(said);
  });
});
