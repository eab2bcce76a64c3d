/** Checks that the klines suit the run: faults are refused, and what only makes the run shorter is a warning. */

import type { BacktestConfig } from '../../config/schema.ts';
import type { StoredSpan } from '../../data/catalogue/run-data.ts';
import { aggregator } from '../../domain/aggregator.ts';
import { closeTime, type Interval, intervalMs } from '../../domain/interval.ts';
import { rowAt } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import { hasList } from '../../strategy/contract.ts';
import { ownWarmup } from '../../strategy/larger-klines.ts';
import { type Need, needsOf } from '../../strategy/warmup.ts';
import { marketsOf } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';

/** A symbol's klines, and where they come from. */
export interface KlineInput {
  readonly symbol: string;
  readonly interval: Interval;
  readonly openTime: Float64Array;
  readonly source: string;
  /** All that is stored of them, where only a part was loaded. */
  readonly stored?: StoredSpan;
}

export const momentOf = (time: number | undefined): string =>
  time === undefined ? '?' : `${new Date(time).toISOString().slice(0, 16)}Z`;

/** Klines in a row that are equally far apart, and not by their interval, are of another interval: gaps differ in length. */
const fewInARow = 20;

/** Refuses klines of another interval among those of this one. */
export function refuseOtherIntervals({ symbol, interval, openTime, source }: KlineInput): void {
  let row = 1;
  while (row < openTime.length) {
    const at = openTime[row - 1] as number;
    const step = (openTime[row] as number) - at;
    let next = row + 1;
    while (next < openTime.length && (openTime[next] as number) - (openTime[next - 1] as number) === step) next++;
    // Months differ in length, so that theirs never repeat for long.
    if (next - row >= fewInARow && step !== intervalMs(interval, at))
      throw new Refusal(
        `${symbol}: ${next - row + 1} of the ${openTime.length} klines of ${source}, from ${momentOf(at)} on, are ${step / 60_000} minutes apart, but the interval is ${interval}: set interval to that of the data, or use one file for each interval`,
      );
    row = next;
  }
}

/** The rows from `from` up to, not including, `to`; a `Refusal` where there are none. */
export function rowsOf(
  { from, to }: Pick<BacktestConfig, 'from' | 'to'>,
  input: KlineInput,
): { first: number; end: number } {
  const { symbol, interval, openTime, source } = input;
  const first = from === undefined ? 0 : rowAt(openTime, from);
  const end = to === undefined ? openTime.length : rowAt(openTime, to);
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal(`from (${momentOf(from)}) is not before to (${momentOf(to)}): swap them, or leave one out`);
  if (first >= end) {
    const stored = input.stored ?? { of: interval, from: openTime[0], to: openTime.at(-1) };
    const holds = `${source} holds ${stored.of === interval ? '' : `${stored.of} from `}${momentOf(stored.from)} to ${momentOf(stored.to)}`;
    const isWithin = (to ?? Infinity) > (stored.from ?? 0) && (from ?? 0) <= (stored.to ?? 0);
    throw new Refusal(
      stored.of !== interval && isWithin
        ? `${symbol}: no complete ${interval} kline between from and to (${momentOf(from)}, ${momentOf(to)}): ${holds}: use a smaller interval, or import more`
        : `${symbol}: no klines between from and to (${momentOf(from)}, ${momentOf(to)}): ${holds}: choose dates within, or import more`,
    );
  }
  return { first, end };
}

/** A strategy on a symbol, and the klines it needs before it decides. */
export interface Warming {
  readonly id: string;
  readonly of: Interval;
  readonly needs: readonly Need[];
  /** It goes on without a symbol of too few klines. */
  readonly mayLack?: boolean;
}

/** The strategies on a symbol; a strategy of several markets once for each role that is bound to it. */
export const warmingOn = (hosted: readonly NamedHosted[], symbol: string): readonly Warming[] =>
  hosted.flatMap((one) =>
    marketsOf(one)
      .filter((market) => market.symbol === symbol)
      .map(({ role, interval }) => ({
        ...{ id: one.id, of: interval, needs: needsOf(one.strategy, one.params, role) },
        mayLack: hasList(one.strategy),
      })),
  );

/** The row with which a strategy can first decide; larger klines are made as the run makes them. */
function decidingRow({ interval, openTime }: KlineInput, { of, needs }: Warming): number {
  const closed = new Map<Interval, number>();
  const count = (one: Interval): void => void closed.set(one, (closed.get(one) ?? 0) + 1);
  const above = new Set(needs.map((need) => need.of ?? of));
  above.delete(of);
  const larger = [...above].map((one) => aggregator(of, one, () => count(one)));
  const take = aggregator(interval, of, (kline) => {
    count(of);
    for (const grow of larger) grow(kline);
  });
  const known = (one: Interval = of): number => closed.get(one) ?? 0;
  for (let row = 0; row < openTime.length; row++) {
    take({ openTime: openTime[row] as number, open: 0, high: 0, low: 0, close: 0, volume: 0 });
    if (known() > 0 && needs.every((need) => known(need.of) >= need.warmup)) return row;
  }
  return openTime.length;
}

/** Without `from` there is a note when this share of the klines warms up: less changes no result by much. */
const muchWarming = 0.1;

/** When the strategy that decides last can first decide. */
function warmupNote(
  { from }: Pick<BacktestConfig, 'from'>,
  input: KlineInput,
  { first, end }: { readonly first: number; readonly end: number },
  strategies: readonly Warming[],
): string | undefined {
  const { symbol, interval, openTime } = input;
  const rows = strategies.map((one) => ({ id: one.id, row: decidingRow(input, one) }));
  const { id, row } = rows.reduce((last, one) => (one.row > last.row ? one : last));
  const opens = openTime[row];
  if (row <= first || opens === undefined) return undefined;
  const needed = row + 1;
  const decidesAt = momentOf(closeTime(interval, opens));
  if (from === undefined && needed < muchWarming * end) return undefined;
  const many =
    from === undefined
      ? `${needed} of its ${end} klines warm up`
      : `${needed} klines warm up and ${first} lie before from`;
  const whose = strategies.length > 1 ? ` of ${id}` : '';
  if (strategies.every(({ mayLack }) => mayLack === true))
    return `${symbol}: ${many}: it is left out of the list until ${decidesAt}, when the last of them closes`;
  return `${symbol}: ${many}: the first decision${whose} comes at ${decidesAt}, when the last of them closes; import earlier klines for an earlier start`;
}

/** Notes where klines do not cover `from` and `to`, and on a late first decision. */
export function spanNotes(
  { from, to }: Pick<BacktestConfig, 'from' | 'to'>,
  input: KlineInput,
  { first, end }: { readonly first: number; readonly end: number },
  strategies: readonly Warming[],
): readonly string[] {
  const { symbol, interval, openTime } = input;
  const [opens, last] = [openTime[first] as number, openTime[end - 1] as number];
  const notes: string[] = [];
  if (from !== undefined && opens - from >= intervalMs(interval, from))
    notes.push(
      `${symbol}: from is ${momentOf(from)}, its first kline after that opens ${momentOf(opens)}: ${strategies.every(({ mayLack }) => mayLack === true) ? 'it is left out until then' : 'the run begins there'}`,
    );
  const closes = last + intervalMs(interval, last);
  if (to !== undefined && to - closes >= intervalMs(interval, last))
    notes.push(
      `${symbol}: to is ${momentOf(to)}, its last kline before that opens ${momentOf(last)}: the run ends there`,
    );
  const warming = warmupNote({ from }, input, { first, end }, strategies);
  if (warming !== undefined) notes.push(warming);
  return notes;
}

/** Why a run of `end` rows ends before a strategy decides; undefined when all decide. */
export function shortFault(input: KlineInput, end: number, strategies: readonly Warming[]): string | undefined {
  const { symbol, interval, openTime, source } = input;
  for (const one of strategies) {
    const row = one.mayLack === true ? 0 : decidingRow(input, one);
    if (row + 1 < end) continue;
    // Where the klines end before, the number that is enough wherever they begin.
    const enough = Math.max(
      ...one.needs.map((need) => ownWarmup({ of: one.of, warmup: ownWarmup(need, one.of) }, interval)),
    );
    const needed = row < openTime.length ? row + 1 : Math.max(enough, end);
    const whose = strategies.length > 1 ? `strategy ${one.id}` : 'the strategy';
    return `${symbol}: ${end === 1 ? '1 kline is' : `${end} klines are`} too few: ${whose} needs ${needed} of ${interval} before its first decision and one after it, but ${source} has ${end} up to the end of the run: import more, set a later to, or use shorter averages`;
  }
  return undefined;
}
