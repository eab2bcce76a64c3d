/**
 * One backtest again and again in this process, next to the bare loop: `sma-cross` under `plain` over minute klines. Loading
 * is not timed, nor are a journal's rows; indicators are, and nothing is kept from one round for the next.
 *
 *     npx node bench/column.ts KLINES.csv [FAST SLOW [columns|stream [ROUNDS [--json]]]]
 */
import { loadKlines } from '../src/data/klines.ts';
import { unitsText } from '../src/domain/money.ts';
import { runColumns } from '../src/modes/run-columns.ts';
import { runStream } from '../src/modes/stream-run.ts';
import { bareLoop, inputFor } from './market.ts';

export interface Round {
  readonly klines: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly bareMs: number;
  readonly fills: number;
  readonly finalEquity: string;
}

const [path = '', fast = '10', slow = '50', driver = 'columns', rounds = '5', json] = process.argv.slice(2);
const { columns } = loadKlines({ path, symbol: 'XBTUSD', interval: '1min', pricePrecision: 2 });
const klines = columns.close.length;
const input = inputFor(columns, Number(fast), Number(slow));
const all: Round[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const bareAt = performance.now();
  bareLoop(columns.close, Number(fast), Number(slow));
  const bareMs = performance.now() - bareAt;
  const cpuAt = process.cpuUsage();
  const startedAt = performance.now();
  const result = driver === 'stream' ? await runStream(input) : runColumns(input);
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuAt);
  const cpuMs = (user + system) / 1000;
  all.push({ klines, ms, cpuMs, bareMs, fills: result.fills.length, finalEquity: unitsText(result.finalEquity) });
  if (json !== undefined) continue;
  const speed = (taken: number): string => `${(klines / taken / 1000).toFixed(2)} M/s`;
  const name = `${driver} ${round === 0 ? 'cold' : 'warm'}`;
  const times = `${speed(ms)} ${ms.toFixed(0)} ms cpu ${cpuMs.toFixed(0)} ms bare ${speed(bareMs)}`;
  console.log(`${name} ${times} ${result.fills.length} ${unitsText(result.finalEquity)}`);
}
if (json !== undefined) console.log(JSON.stringify(all));
