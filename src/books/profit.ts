/** Profit, loss and fees from a journal's fills, grouped. Every sum is exact, in its own quote asset: nothing is converted. */
import { getOrMake } from '../domain/get-or-make.ts';
import type { Instrument } from '../domain/instrument.ts';
import { minus, noUnits, plus, priceText, ticks, type Units, units, unitsText } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { openProfit, type Position } from '../domain/position.ts';
import { Refusal } from '../domain/refusal.ts';
import { bookedFills } from '../journal/booked-fills.ts';
import type { FillEntry, InstrumentEntry } from '../journal/entries.ts';
import { finer } from '../journal/load.ts';
import { costBasis } from './cost-basis.ts';
import type { Group, Method } from './names.ts';

/** The last known price of a symbol: decimal text, and UTC ms. */
export interface Price {
  readonly price: string;
  readonly at: number;
}

export interface ProfitQuery {
  readonly by: readonly Group[];
  readonly method: Method;
  /** UTC ms: fills of this moment and later. Earlier ones count only for the cost of what is held. */
  readonly from?: number;
  /** UTC ms: fills before this moment. Positions are then not valued, as their price of that time is not known. */
  readonly to?: number;
}

/** Amounts are decimal text in `quote`. */
export interface ProfitRow {
  /** The value of each group: a strategy, a symbol, or a UTC day or month. */
  readonly group: Readonly<Partial<Record<Group, string>>>;
  readonly quote: string;
  readonly fills: number;
  /** Closed profit, without fees. */
  readonly realised: string;
  /** Fees in the quote asset, and those in the base asset at the price of their fill. */
  readonly fees: string;
  /** Open profit; null where it belongs to no group, as to a day. */
  readonly unrealised: string | null;
  /** Realised and unrealised profit less fees. */
  readonly net: string;
}

export interface OpenPosition {
  readonly strategy: string;
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly quantity: string;
  /** Without fees; negative for a short position. */
  readonly cost: string;
  readonly price: string;
  /** UTC ms at which the price was seen. */
  readonly priceTime: number;
  readonly unrealised: string;
}

export interface Profit {
  readonly rows: readonly ProfitRow[];
  /** One for each quote asset. */
  readonly totals: readonly ProfitRow[];
  readonly positions: readonly OpenPosition[];
  /** Fees in neither asset of their symbol, by asset. They are in no sum. */
  readonly otherFees: Readonly<Record<string, string>>;
}

interface Sum {
  readonly group: ProfitRow['group'];
  readonly quote: string;
  fills: number;
  realised: Units;
  fees: Units;
  unrealised: Units;
}

interface OpenAmount {
  readonly strategy: string;
  readonly symbol: string;
  readonly position: Position;
  readonly instrument: Instrument;
}

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const groupOf = (
  by: readonly Group[],
  { strategy, symbol, time }: Pick<Fill, 'strategy' | 'symbol' | 'time'>,
): ProfitRow['group'] => {
  const values = { strategy, symbol, day: () => dayOf(time), month: () => dayOf(time).slice(0, 7) };
  return Object.fromEntries(
    by.map((name) => {
      const value = values[name];
      return [name, typeof value === 'string' ? value : value()];
    }),
  );
};

/** `fills`: all of the journal, in the order in which they were booked. `prices`: by symbol; a later fill's price replaces them. */
export function profitOf(
  fills: Iterable<FillEntry>,
  instruments: readonly InstrumentEntry[],
  prices: ReadonlyMap<string, Price>,
  query: ProfitQuery,
): Profit {
  const { by, method, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = query;
  const held = new Map<string, OpenAmount>();
  const last = new Map(prices);
  const sums = new Map<string, Sum>();
  const otherFees = new Map<string, Units>();
  const sumOf = (group: ProfitRow['group'], quote: string): Sum =>
    getOrMake(sums, `${JSON.stringify(group)}${quote}`, () => ({
      ...{ group, quote, fills: 0 },
      ...{ realised: noUnits, fees: noUnits, unrealised: noUnits },
    }));
  for (const { fill, at, before, after } of bookedFills(listed(fills, instruments, to), instruments, () =>
    costBasis(method),
  )) {
    const { strategy, symbol, time } = fill;
    held.set(`${strategy}\n${symbol}`, { strategy, symbol, position: after, instrument: at });
    if ((last.get(symbol)?.at ?? Number.NEGATIVE_INFINITY) <= time)
      last.set(symbol, { price: priceText(fill.price, at), at: time });
    if (time < from) continue;
    const sum = sumOf(groupOf(by, fill), at.quote);
    sum.fills++;
    sum.realised = plus(sum.realised, minus(after.realised, before.realised));
    sum.fees = plus(sum.fees, minus(after.fees, before.fees));
    if (fill.feeAsset !== at.base && fill.feeAsset !== at.quote)
      otherFees.set(fill.feeAsset, plus(otherFees.get(fill.feeAsset) ?? noUnits, fill.fee));
  }
  const isOpen = to === Number.POSITIVE_INFINITY;
  const positions = isOpen ? valued(held.values(), last) : [];
  const isDated = by.includes('day') || by.includes('month');
  if (!isDated)
    for (const { strategy, symbol, quote, unrealised } of positions) {
      const names = { strategy, symbol };
      const group = Object.fromEntries(by.map((name) => [name, names[name as keyof typeof names]]));
      const sum = sumOf(group, quote);
      sum.unrealised = plus(sum.unrealised, units(unrealised));
    }
  const rows = [...sums.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return {
    rows: rows.map((sum) => rowOf(sum, isOpen && !isDated)),
    totals: totalsOf(rows, positions).map((sum) => rowOf(sum, isOpen)),
    positions,
    otherFees: Object.fromEntries([...otherFees].map(([asset, amount]) => [asset, unitsText(amount)])),
  };
}

const keyOf = ({ group, quote }: Sum): string => [...Object.values(group), quote].join('\n');

/** Fills before UTC ms `to`. A symbol without its instrument is refused: its profit would be missing in every sum. */
function* listed(
  fills: Iterable<FillEntry>,
  instruments: readonly InstrumentEntry[],
  to: number,
): Generator<FillEntry> {
  const symbols = new Set(instruments.map(({ symbol }) => symbol));
  for (const fill of fills) {
    if (fill.time >= to) continue;
    if (!symbols.has(fill.symbol))
      throw new Refusal(
        `the journal has fills of ${fill.symbol}, but its table instruments has no row for this symbol`,
        3,
      );
    yield fill;
  }
}

/** Each position at the last price. Every symbol with a position has one: that of a fill. */
function valued(held: Iterable<OpenAmount>, last: ReadonlyMap<string, Price>): readonly OpenPosition[] {
  const open: OpenPosition[] = [];
  for (const { strategy, symbol, position, instrument: listed } of held) {
    const price = last.get(symbol);
    if (position.base === 0n || price === undefined) continue;
    const at = finer({ price: price.price, quantity: '0' }, listed);
    open.push({
      ...{ strategy, symbol, base: listed.base, quote: listed.quote },
      ...{ quantity: unitsText(position.base), cost: unitsText(position.cost) },
      ...{ price: price.price, priceTime: price.at },
      unrealised: unitsText(openProfit(position, ticks(price.price, at), at)),
    });
  }
  return open;
}

function totalsOf(rows: readonly Sum[], positions: readonly OpenPosition[]): readonly Sum[] {
  const totals = new Map<string, Sum>();
  const totalOf = (quote: string): Sum =>
    getOrMake(totals, quote, () => ({
      ...{ group: {}, quote, fills: 0 },
      ...{ realised: noUnits, fees: noUnits, unrealised: noUnits },
    }));
  for (const { quote, fills, realised, fees } of rows) {
    const total = totalOf(quote);
    total.fills += fills;
    total.realised = plus(total.realised, realised);
    total.fees = plus(total.fees, fees);
  }
  for (const { quote, unrealised } of positions) {
    const total = totalOf(quote);
    total.unrealised = plus(total.unrealised, units(unrealised));
  }
  return [...totals.values()].sort((a, b) => (a.quote < b.quote ? -1 : 1));
}

const rowOf = ({ group, quote, fills, realised, fees, unrealised }: Sum, isOpen: boolean): ProfitRow => ({
  ...{ group, quote, fills, realised: unitsText(realised), fees: unitsText(fees) },
  unrealised: isOpen ? unitsText(unrealised) : null,
  net: unitsText(plus(minus(realised, fees), isOpen ? unrealised : noUnits)),
});
