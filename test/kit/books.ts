/** The exchange's own list and the journal's, row by row. */

import { z } from 'zod';
import { surplus } from '../../src/commands/demo/compare-ledgers.ts';
import type { FillEntry, OrderEntryRow } from '../../src/journal/entries.ts';
import type { FillRow, Simulator } from '../../src/simulator/simulator.ts';
import { type Rig, trader } from './rig.ts';
import { until } from './until.ts';

type Truth = Pick<Simulator, 'allTrades' | 'allOrders' | 'openOrders' | 'checkLedger'>;

/** A fill as `sluice fills --json` prints it. */
const printedFill = z.strictObject({
  tradeId: z.string(),
  orderId: z.string(),
  clientOrderId: z.string(),
  strategy: z.string(),
  symbol: z.string(),
  side: z.enum(['BUY', 'SELL']),
  price: z.string(),
  quantity: z.string(),
  fee: z.string(),
  feeAsset: z.string(),
  time: z.number(),
});
export type PrintedFill = z.output<typeof printedFill>;

const printedOrder = z.looseObject({ clientOrderId: z.string(), orderId: z.string().nullable(), state: z.string() });

async function printed<T>(rig: Rig, command: string, row: z.ZodType<T>): Promise<readonly T[]> {
  const { code, stdout, stderr } = await rig.run(command, '--json');
  if (code !== 0) throw new Error(`sluice ${command} ended with ${code}: ${stderr}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => row.parse(JSON.parse(line)));
}

export const printedFills = (rig: Rig): Promise<readonly PrintedFill[]> => printed(rig, 'fills', printedFill);

/** One fill in one line, all that both sides know of it. */
const lineOf = (fill: Omit<PrintedFill, 'strategy'> | FillRow): string =>
  [
    fill.tradeId,
    fill.orderId,
    fill.clientOrderId,
    fill.symbol,
    fill.side,
    fill.price,
    'qty' in fill ? fill.qty : fill.quantity,
    fill.fee,
    fill.feeAsset,
    fill.time,
  ].join(' ');

/** Every difference between what the program prints of a state and what the exchange knows, in words; none when all is well. */
async function differences(rig: Rig, truth: Truth): Promise<readonly string[]> {
  truth.checkLedger();
  const ours = (await printedFills(rig)).map(lineOf);
  const theirs = truth.allTrades(trader.uid).map(lineOf);
  const openHere = (await printed(rig, 'orders', printedOrder))
    .filter(({ state }) => ['intended', 'sending', 'unknown', 'open', 'closing'].includes(state))
    .map(({ orderId, clientOrderId, state }) => `${orderId ?? 'without an id'} ${clientOrderId} ${state}`);
  const openThere = truth.openOrders(trader.uid).map((order) => `${order.orderId} ${order.clientOrderId} open`);
  const sent = truth.allOrders(trader.uid).map(({ clientOrderId }) => clientOrderId);
  return [
    ...surplus(theirs, ours).map((line) => `missing fill: ${line}`),
    ...surplus(ours, theirs).map((line) => `fill too many: ${line}`),
    ...surplus(openThere, openHere).map((line) => `open at the exchange alone: ${line}`),
    ...surplus(openHere, openThere).map((line) => `open in the journal alone: ${line}`),
    ...surplus(sent, [...new Set(sent)]).map((id) => `sent twice: ${id}`),
  ];
}

/** What a strategy holds by its fills; fees in base not counted. */
function heldBy(strategy: string, fills: readonly FillEntry[]): number {
  const own = fills.filter((fill) => fill.strategy === strategy);
  return own.reduce((sum, { side, quantity }) => sum + (side === 'BUY' ? 1 : -1) * Number(quantity), 0);
}

/** How far a position may be from its target: fees are taken in base, and nothing is done about that. */
const tolerance = 0.01;

/** True when the world is as every puppet wants it. */
function isAsWished(rig: Rig, orders: readonly OrderEntryRow[], fills: readonly FillEntry[]): boolean {
  return [...rig.signalled].every(([puppet, signal]) => {
    if (signal.kind === 'target')
      return 'quantity' in signal.size && Math.abs(heldBy(puppet, fills) - signal.size.quantity) < tolerance;
    const resting = orders.filter(({ strategy }) => strategy === puppet).map((order) => Number(order.price));
    return signal.quotes.length === resting.length && signal.quotes.every((quote) => resting.includes(quote.price));
  });
}

/** True when nothing is on its way: every order of the journal is closed or rests, and the exchange rests the same ones. */
function isQuiet(rig: Rig, truth: Truth): boolean {
  const [orders, fills] = rig.read((reader) => [reader.orders('closed_at IS NULL'), reader.fills()]);
  return (
    orders.every(({ state, type }) => state === 'open' && type === 'LIMIT') &&
    orders.length === truth.openOrders(trader.uid).length &&
    fills.length === truth.allTrades(trader.uid).length &&
    isAsWished(rig, orders, fills)
  );
}

/** Looks in a row that must find everything quiet, far enough apart for a strategy to have spoken in between. */
const quietLooks = 10;

/** Waits until every signal is fulfilled and nothing is on its way any more. */
export async function quiet(rig: Rig, truth: Truth, withinMs?: number): Promise<void> {
  let looks = 0;
  await until(
    'everything is quiet',
    () => {
      looks = isQuiet(rig, truth) ? looks + 1 : 0;
      return looks >= quietLooks;
    },
    withinMs,
  );
}

/** Comparisons that are begun anew because the world moved meanwhile; past it something never comes to rest. */
const maxComparisons = 8;

/** Waits until everything is quiet and says what differs then; `[]` when the books agree. */
export async function differencesAtRest(rig: Rig, truth: Truth): Promise<readonly string[]> {
  const state = (): string =>
    JSON.stringify([truth.allTrades(trader.uid).length, truth.allOrders(trader.uid).map(({ status }) => status)]);
  for (let tries = 1; ; tries++) {
    await quiet(rig, truth);
    const before = state();
    const found = await differences(rig, truth);
    if (state() === before || tries === maxComparisons) return found;
  }
}
