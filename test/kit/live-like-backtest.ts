/** A state directory whose strategy traded as a saved backtest did for some days, a little more expensively. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRun, readRunFile, runIds } from '../../src/backtest/runs/store.ts';
import { configHash } from '../../src/config/hash.ts';
import { readConfig } from '../../src/config/read.ts';
import { tradingSchema } from '../../src/config/schema.ts';
import type { Entry } from '../../src/journal/entries.ts';
import { journalFile, openState } from '../../src/journal/open.ts';
import { openForWriting } from '../../src/journal/open-for-writing.ts';
import { writer } from '../../src/journal/writer.ts';
import { csvRows } from '../../src/report/csv.ts';
import { codeHash } from '../../src/strategy/code-version.ts';
import { denialOf, eventOf, fillRowOf, orderRowOf } from './journal-rows.ts';

/** The days on which it ran, of the January of `winterConfig`. */
export const liveFrom = Date.UTC(2026, 0, 10);
export const liveTo = Date.UTC(2026, 0, 20);
/** What it paid beyond each price of the backtest. */
export const dearer = 1.001;

/** How often one of its orders was denied. */
export const deniedTimes = 7;

const yaml = (params: string): string => `exchange: { restUrl: "http://127.0.0.1:1", wsUrl: "ws://127.0.0.1:1" }
account: spot
strategies:
  - id: trend
    use: sma-cross
    symbol: ETHUSDT
    interval: 15min
    params: ${params}
    allocation: "20000"
risk: { maxOrderValue: "50000", maxPosition: "50000" }
`;

interface Given {
  readonly params?: string;
  readonly days?: readonly [from: number, to: number];
}

export function liveLikeBacktest(
  dir: string,
  runs: string,
  { params = '{ fast: 12, slow: 48, quantity: 4 }', days: [from, to] = [liveFrom, liveTo] }: Given = {},
): void {
  const file = `${dir}.yaml`;
  writeFileSync(file, yaml(params));
  const { lock, identity } = openState(dir, { mode: 'paper', account: 'spot', venue: 'v' }, ['trend']);
  const [oldest = ''] = runIds(runs).toReversed();
  const [eth] = readRun(join(runs, oldest)).instruments;
  if (eth === undefined) throw new Error('the run has no instrument');
  const step = { at: from, by: 'sluice', reason: 'a start' };
  const entries: Entry[] = [
    { kind: 'limit', what: 'config', name: file, value: configHash(readConfig(file, tradingSchema)), ...step },
    { kind: 'limit', what: 'version', name: 'trend', value: codeHash('sma-cross', dir), ...step },
    { kind: 'instrument', ...eth },
    { kind: 'equity', at: from, equity: '20000' },
    { kind: 'equity', at: to, equity: '20000' },
  ];
  entries.push(
    denialOf({
      ...{ strategy: 'trend', symbol: 'ETHUSDT', at: to - 1 },
      repeated: { times: deniedTimes - 1, at: to - 1, facts: {} },
    }),
  );
  const rows = csvRows(readRunFile(join(runs, oldest), 'fills.csv') ?? '');
  for (const [index, row] of rows.entries()) {
    const time = Number(row['time']);
    if (time < liveFrom || time >= liveTo) continue;
    const side = row['side'] === 'BUY' ? 'BUY' : 'SELL';
    const [clientOrderId, quantity, price] = [`c${index}`, String(row['quantity']), Number(row['price'])];
    const paid = (side === 'BUY' ? price * dearer : price / dearer).toFixed(2);
    const common = { clientOrderId, strategy: 'trend', symbol: 'ETHUSDT', side } as const;
    const order = {
      type: 'MARKET',
      quantity,
      price: null,
      expected: quantity,
      createdAt: time,
      state: 'filled',
    } as const;
    entries.push(
      orderRowOf({ ...common, ...order, orderId: String(index), filled: quantity, closedAt: time }),
      eventOf('approved', { at: time, clientOrderId, detail: { value: (price * Number(quantity)).toFixed(8) } }),
      fillRowOf({
        ...{
          ...common,
          orderId: String(index),
          tradeId: String(index),
          quantity,
          price: paid,
          time: time - liveFrom + from,
        },
        ...{ fee: String(row['fee']), feeAsset: String(row['feeAsset']) },
      }),
    );
  }
  const db = openForWriting(join(dir, journalFile));
  writer(db, identity.epoch)(entries);
  db.close();
  lock.release();
}
