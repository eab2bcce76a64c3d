/** Runs a scenario of `backtests/` as `sluice backtest --json` does. */
import { fileURLToPath } from 'node:url';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import type { Summary } from '../../src/research/summary.ts';

export interface ScenarioFill {
  readonly time: number;
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly quantity: string;
  readonly fee: string;
  readonly feeAsset: string;
}

export type ScenarioResult = Pick<Summary, 'metrics'> & {
  readonly finalEquity: string;
  readonly ambiguousKlines: number;
  readonly fills: readonly ScenarioFill[];
};

/** Its result; `set` changes keys of the configuration, as `--set` does. */
export async function runScenario(name: string, set: readonly string[] = []): Promise<ScenarioResult> {
  const lines: string[] = [];
  const config = fileURLToPath(new URL(`../../backtests/${name}.yaml`, import.meta.url));
  await backtest({ config, set: [...set], json: true, out: (line) => void lines.push(line), say: () => {} });
  return JSON.parse(lines.join('')) as ScenarioResult;
}

/** The positions after each time at which something filled, in base by symbol. What fees leave of a sold position is rounded away. */
export function positionsOf(
  fills: readonly ScenarioFill[],
): readonly (readonly [time: number, held: Map<string, number>])[] {
  const held = new Map<string, number>();
  const after = new Map<number, Map<string, number>>();
  for (const { time, symbol, side, quantity, fee, feeAsset } of fills) {
    const received = Number(quantity) - (symbol.startsWith(feeAsset) ? Number(fee) : 0);
    held.set(symbol, (held.get(symbol) ?? 0) + (side === 'BUY' ? received : -Number(quantity)));
    after.set(time, new Map([...held].filter(([, base]) => base > Number(quantity) / 1_000)));
  }
  return [...after];
}
