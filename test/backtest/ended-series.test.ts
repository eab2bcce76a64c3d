/** A series that ends before the run: what is held of it counts at a price of long ago, and everything says so. */
import { afterAll, expect, test } from 'vitest';
import { backtestHere, desk } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());

/** Minutes from 2020-02-01 on, rising for the first so many and falling then. */
function klines(name: string, rows: number, rises: number, from = 0): void {
  const lines = Array.from({ length: rows - from }, (_, index) => {
    const row = from + index;
    const price = (of: number): number => 100 + (of < rises ? of : 2 * rises - of) / 100;
    const [open, close] = [price(row), price(row + 1)].map((value) => value.toFixed(2)) as [string, string];
    const [high, low] = Number(close) > Number(open) ? [close, open] : [open, close];
    return `${Date.UTC(2020, 1, 1) + row * 60_000},${open},${high},${low},${close},50000`;
  });
  at.write(name, `time_ms,open,high,low,close,volume\n${lines.join('\n')}\n`);
}

const config = (first: string): string =>
  at.write(
    'two.yaml',
    `data: { ETHUSDT: ./${first}, BTCUSDT: ./long.csv }
cash: "100000"
rules: plain
strategies:
  - { id: gone, use: sma-cross, symbol: ETHUSDT, interval: 1min, params: { fast: 2, slow: 5, quantity: 2 }, allocation: "50000" }
  - { id: stays, use: sma-cross, symbol: BTCUSDT, interval: 1min, params: { fast: 2, slow: 5, quantity: 2 }, allocation: "50000" }
risk: { maxOrderValue: "200000", maxPosition: "200000" }
fees: { maker: "0", taker: "0" }
`,
  );

test('is noted before it runs, and what is held of it after', async () => {
  klines('long.csv', 2_880, 2_880);
  klines('short.csv', 1_440, 1_440);
  const { out, notes } = await backtestHere(config('short.csv'));
  expect(notes).toContain(
    "ETHUSDT: its klines end 2020-02-02 00:00 UTC, 1.0 days before the run's end: it is not traded afterwards, and positions keep the last close; import the rest, or set an earlier to",
  );
  expect(out).toContain(
    "Stale price          gone holds 2 of ETHUSDT at 114.4, its last close, of 2020-02-02 00:00 UTC: 1.0 days before the run's end\n",
  );
  expect(out).toContain(
    "- gone holds 2 of ETHUSDT at 114.4, its last close, of 2020-02-02 00:00 UTC: 1.0 days before the run's end\n",
  );
  const { out: json } = await backtestHere(config('short.csv'), { json: true });
  expect(JSON.parse(json)).toMatchObject({
    stalePositions: [
      { strategy: 'gone', symbol: 'ETHUSDT', quantity: '2', price: '114.4', since: Date.UTC(2020, 1, 2) },
    ],
  });
});

test('says nothing of what was sold before, nor of series that end with the run', async () => {
  klines('sold.csv', 1_440, 700);
  const { out, notes } = await backtestHere(config('sold.csv'));
  expect(notes).toContain('ETHUSDT: its klines end');
  expect(out).not.toContain('Stale price');
  const both = await backtestHere(config('long.csv'));
  expect(both.notes + both.out).not.toMatch(/its klines end|Stale price/);
});

test('that begins after the run is noted before it', async () => {
  klines('late.csv', 2_880, 2_880, 1_440);
  const { notes } = await backtestHere(config('late.csv'));
  expect(notes).toContain(
    "ETHUSDT: its klines begin 2020-02-02 00:00 UTC, 1.0 days after the run's start: it is not traded before; import the rest, or set a later from",
  );
  const both = await backtestHere(config('long.csv'));
  expect(both.notes).not.toContain('its klines begin');
});
