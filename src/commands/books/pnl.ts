/** `sluice pnl`: profit and fees from the fills of a journal, and whether its ledger agreed with the account. */

import { type DayProof, dailyProofs, pricesIn, proofText, subLedgerDifferences } from '../../books/daily-proof.ts';
import type { Group, Method } from '../../books/names.ts';
import { type Profit, type ProfitRow, profitOf } from '../../books/profit.ts';
import { Decimal } from '../../domain/money.ts';
import { Refusal } from '../../domain/refusal.ts';
import { moment, roundedMoney } from '../../domain/words.ts';
import type { JournalReader } from '../../journal/reader.ts';
import { textTable } from '../../terminal/table.ts';
import { type ShowOptions, withState } from '../show/read-state.ts';

export interface PnlOptions extends ShowOptions {
  /** Default: strategy and symbol. */
  readonly by?: readonly Group[];
  readonly method: Method;
  /** UTC ms. */
  readonly from?: number;
  readonly to?: number;
}

const byDefault: readonly Group[] = ['strategy', 'symbol'];

/** What moved the account beside the fills: it is in no profit. */
function notCounted(reader: JournalReader, { from, to }: PnlOptions) {
  const isWithin = (at: number): boolean => at >= (from ?? 0) && at < (to ?? Number.POSITIVE_INFINITY);
  const sums = new Map<string, Decimal>();
  for (const { what, asset, amount, at } of reader.adjustments())
    if (what === 'adjust' && isWithin(at)) sums.set(asset, (sums.get(asset) ?? new Decimal(0)).plus(amount));
  return {
    adjustments: Object.fromEntries([...sums].map(([asset, sum]) => [asset, sum.toFixed()])),
    otherTrades: reader.otherTrades().filter(({ time }) => isWithin(time)).length,
  };
}

/** The output of `pnl --json` (docs/reference/json.md). */
function pnlOf(reader: JournalReader, dir: string, options: PnlOptions) {
  const { by = byDefault, method, from, to } = options;
  const fills = reader.fills();
  const within = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const profit = profitOf(fills, reader.instruments(), pricesIn(reader.memories()), { by, method, ...within });
  return {
    version: 2,
    state: dir,
    ...{ mode: reader.meta.get('mode') ?? 'unknown', account: reader.meta.get('account') ?? 'unknown' },
    ...{ method, from: from ?? null, to: to ?? null },
    ...profit,
    ...notCounted(reader, options),
    days: dailyProofs(reader.audits()),
    subLedgers: subLedgerDifferences(fills, reader.positions(), reader.instruments()),
  };
}
type Pnl = ReturnType<typeof pnlOf>;

export function showPnl(options: PnlOptions): void {
  const { by = byDefault, from, to, json, out } = options;
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal('--from is not before --to: swap them, or leave one out');
  const twice = by.find((name, index) => by.indexOf(name) !== index);
  if (twice !== undefined) throw new Refusal(`--by ${twice} is given twice: leave one out`);
  withState(options, (reader, { dir }) => {
    const pnl = pnlOf(reader, dir, options);
    if (json) out(JSON.stringify(pnl));
    else for (const line of linesOf(pnl, by)) out(line);
  });
}

const amount = (text: string | null): string => (text === null ? '' : roundedMoney(text));

const cellsOf = (row: ProfitRow): readonly string[] => [
  ...[`${row.fills}`, amount(row.realised), amount(row.fees), amount(row.unrealised), amount(row.net), row.quote],
];

function* linesOf(pnl: Pnl, by: readonly Group[]): Iterable<string> {
  const { totals, rows } = pnl;
  if (totals.length === 0) {
    yield 'no fills in this time';
    yield* accountLines(pnl);
    return;
  }
  const proofs = new Map(pnl.days.map((one) => [one.day, one]));
  const isDaily = by.includes('day');
  const account = (day: string | undefined): readonly string[] =>
    isDaily ? [day === undefined ? '' : proofText(proofs.get(day))] : [];
  const head = [...by, 'fills', 'realised', 'fees', 'unrealised', 'net', 'quote', ...(isDaily ? ['account'] : [])];
  const body = by.length === 0 ? [] : rows;
  yield textTable(head, [
    ...body.map((row) => [...by.map((name) => row.group[name] ?? ''), ...cellsOf(row), ...account(row.group.day)]),
    ...totals.map((row) => [
      ...by.map((_, index) => (index === 0 ? 'total' : '')),
      ...cellsOf(row),
      ...account(undefined),
    ]),
  ]);
  yield `cost by ${pnl.method === 'fifo' ? 'FIFO: the oldest purchase is sold first' : 'average price'}; net is realised and unrealised less fees`;
  yield* positionLines(pnl);
  yield* beyondLines(pnl);
  yield* accountLines(pnl);
}

function* positionLines({ positions, to }: Pnl): Iterable<string> {
  for (const { strategy, symbol, base, quote, quantity, cost, price, priceTime, unrealised } of positions)
    yield `open       ${strategy} ${symbol}: ${quantity} ${base} for ${amount(cost)} ${quote}, now ${amount(unrealised)} at the last known price, ${price} of ${moment(priceTime)} UTC`;
  if (to !== null) yield 'open       not valued: the prices of that time are not in the journal';
}

function* beyondLines({ otherFees, adjustments, otherTrades, totals }: Pnl & Profit): Iterable<string> {
  if (totals.length > 1) yield 'quote      each asset has its own sums; nothing is converted';
  const listed = (amounts: Readonly<Record<string, string>>): string =>
    Object.entries(amounts)
      .map(([asset, text]) => `${text} ${asset}`)
      .join(', ');
  if (Object.keys(otherFees).length > 0)
    yield `not in it  fees in another asset: ${listed(otherFees)}; they are not converted`;
  if (Object.keys(adjustments).length > 0)
    yield `not in it  deposits, withdrawals and corrections by sluice adjust: ${listed(adjustments)}`;
  if (otherTrades > 0)
    yield `not in it  ${otherTrades} ${otherTrades === 1 ? 'trade' : 'trades'} on the account that Sluice did not make`;
}

/** The last day, and any day on which the comparison was off at last. */
function* accountLines({ days, subLedgers }: Pnl): Iterable<string> {
  const newest = days.at(-1);
  if (newest === undefined) yield 'account    never compared with the ledger (a daemon compares each minute)';
  for (const one of days) if (one === newest || isOff(one)) yield `account    ${one.day} ${proofText(one)}`;
  const off = Object.entries(subLedgers);
  yield off.length === 0
    ? 'strategies their positions add up to the fills'
    : `strategies OFF: the fills moved ${off.map(([asset, text]) => `${text} ${asset}`).join(', ')} more than the positions; report this bug`;
}

/** Whether the last comparison of a day found a difference. */
const isOff = ({ even, off }: DayProof): boolean => (off.at(-1)?.at ?? 0) > (even ?? 0);
