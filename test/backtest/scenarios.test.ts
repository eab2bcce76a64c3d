/**
 * The scenarios of sma-cross in `backtests/` come to what lies beside them. These expected files are the slow reference's answers, read
 * from the same configuration and data by code of its own. `npx vitest run test/backtest/scenarios.test.ts --update` writes them anew.
 * `expectations.test.ts` runs all scenarios.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { reference } from '../reference/reference.ts';
import { type Instrument, type Kline, plain, sluice } from '../reference/types.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'backtests');
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml') && readFileSync(join(folder, file), 'utf8').includes('use: sma-cross'))
  .map((file) => file.slice(0, -'.yaml'.length));

/** A configuration as these scenarios use it: one strategy, sma-cross, a fixed quantity. */
interface Scenario {
  readonly data: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
  readonly cash: string;
  readonly rules: 'plain' | 'sluice';
  readonly fees: { readonly maker: string; readonly taker: string };
  readonly strategies: readonly [
    {
      readonly symbol: string;
      readonly interval: '1min' | '15min';
      readonly params: { readonly fast: number; readonly slow: number; readonly quantity: number };
    },
  ];
}

const yamlOf = <T>(file: string): T => parse(readFileSync(file, 'utf8')) as T;
const intervalMs = { '1min': 60_000, '15min': 900_000 };

function klinesIn(file: string): readonly Kline[] {
  const [, ...lines] = gunzipSync(readFileSync(file)).toString().trim().split('\n');
  return lines.map((line) => {
    const [time = 0, open = 0, high = 0, low = 0, close = 0, volume = 0] = line.split(',').map(Number);
    return { time, open, high, low, close, volume };
  });
}

/** The reference's answer. Klines before `from` warm the averages up and are not traded on. */
function expected(file: string): object {
  const { data, from, to, cash, rules, fees, strategies } = yamlOf<Scenario>(file);
  const [{ symbol, interval, params }] = strategies;
  const all = klinesIn(join(dirname(file), data[symbol] ?? ''));
  const first = all.findIndex(({ time }) => time >= Date.parse(from));
  const klines = all.slice(first - params.slow + 1).filter(({ time }) => time < Date.parse(to));
  const answer = reference({
    klines,
    intervalMs: intervalMs[interval],
    strategy: { kind: 'sma-cross', ...params, size: { quantity: String(params.quantity) } },
    rules: rules === 'plain' ? plain : sluice,
    instrument: yamlOf<Readonly<Record<string, Instrument>>>(join(root, 'config', 'instruments.yaml'))[
      symbol
    ] as Instrument,
    fees,
    cash,
  });
  return {
    finalEquity: answer.equity,
    ambiguousKlines: answer.ambiguousKlines,
    fills: answer.fills.map(({ time, side, price, quantity, fee, feeAsset }) => ({
      time,
      side,
      price,
      quantity,
      fee,
      feeAsset,
    })),
  };
}

/** What `sluice backtest --json` prints. */
async function printed(config: string): Promise<object> {
  const lines: string[] = [];
  await backtest({ config, set: [], json: true, out: (line) => lines.push(line), say: () => {} });
  const { finalEquity, ambiguousKlines, fills } = JSON.parse(lines.join('')) as {
    finalEquity: string;
    ambiguousKlines: number;
    fills: readonly Readonly<Record<string, unknown>>[];
  };
  const kept = ['time', 'side', 'price', 'quantity', 'fee', 'feeAsset'];
  return {
    finalEquity,
    ambiguousKlines,
    fills: fills.map((fill) => Object.fromEntries(kept.map((key) => [key, fill[key]]))),
  };
}

test('two scenarios are of sma-cross', () => expect(names).toHaveLength(2));

describe.for(names)('%s', (name) => {
  const file = join(folder, `${name}.yaml`);
  const beside = join(folder, `${name}.expected.json`);

  test('is expected to come to what the reference says', async () => {
    await expect(`${JSON.stringify(expected(file), null, 2)}\n`).toMatchFileSnapshot(beside);
  });

  test('comes to that', async () => {
    expect(await printed(file)).toEqual(JSON.parse(readFileSync(beside, 'utf8')));
  });
});
