/**
 * One backtest again and again in this process, next to the bare loop: `sma-cross` under `plain` over minute klines. Loading
 * is not timed, nor are a journal's rows; indicators are, and so is, apart, all that a summary says. Nothing is kept from one round
 * for the next.
 *
 *     npx node bench/column.ts KLINES.csv [FAST SLOW [ROUNDS [--json]]]
 */

import { runBacktest } from '../src/backtest/engines.ts';
import { summarise } from '../src/backtest/result/summary.ts';
import { loadKlines } from '../src/data/klines.ts';
import { unitsText } from '../src/domain/money.ts';
import { bareLoop, configFor, inputFor } from './market.ts';

export interface Round {
  readonly klines: number;
  readonly ms: number;
  readonly cpuMs: number;
  /** The run and everything that its summary says. */
  readonly saidMs: number;
  readonly saidCpuMs: number;
  readonly bareMs: number;
  readonly fills: number;
  readonly finalEquity: string;
}

const [path = '', fast = '10', slow = '50', rounds = '5', json] = process.argv.slice(2);
const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
const klines = columns.close.length;
const input = inputFor(columns, Number(fast), Number(slow));
const config = configFor();
const all: Round[] = [];

function cpuSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

for (let round = 0; round < Number(rounds); round++) {
  const bareAt = performance.now();
  bareLoop(columns.close, Number(fast), Number(slow));
  const bareMs = performance.now() - bareAt;
  const cpuAt = process.cpuUsage();
  const startedAt = performance.now();
  const result = await runBacktest(input);
  const ms = performance.now() - startedAt;
  const cpuMs = cpuSince(cpuAt);
  const { fillCount, metrics } = summarise({ input, warnings: [], dataHashes: {} }, result, config).summary;
  const saidMs = performance.now() - startedAt;
  const saidCpuMs = cpuSince(cpuAt);
  const finalEquity = unitsText(result.finalEquity);
  all.push({ klines, ms, cpuMs, saidMs, saidCpuMs, bareMs, fills: fillCount, finalEquity });
  if (json !== undefined) continue;
  const speed = (taken: number): string => `${(klines / taken / 1000).toFixed(2)} M/s`;
  const name = round === 0 ? 'cold' : 'warm';
  const said = `with metrics ${speed(saidMs)} cpu ${saidCpuMs.toFixed(0)} ms`;
  const times = `${speed(ms)} ${ms.toFixed(0)} ms cpu ${cpuMs.toFixed(0)} ms, ${said}, bare ${speed(bareMs)}`;
  console.log(`${name} ${times} ${fillCount} fills ${metrics.roundTrips} round trips ${finalEquity}`);
}
if (json !== undefined) console.log(JSON.stringify(all));
