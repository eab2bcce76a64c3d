/** The fills of a case by the ruleset of a library, in the words of the libraries: kline, signed quantity, price. */
import { byColumns, byReference, byStream, type Case, columnsOf, type Rows, scripted } from '../backtest/agreement.ts';
import type { Signal } from '../reference/types.ts';
import type { Library, LibraryCase } from './cases.ts';

export interface LibraryFill {
  readonly row: number;
  /** Below zero where it sells. */
  readonly quantity: number;
  readonly price: number;
}

export interface LibraryRun {
  readonly fills: readonly LibraryFill[];
  /** Cash and what is held at the last close. */
  readonly equity: number;
}

/** The want that stands after each kline: nothing before the first. */
const standing = ({ klines, wants }: LibraryCase): readonly Signal[] => {
  const said = new Map<number, Signal>(wants);
  let last: Signal = { quantity: '0' };
  return klines.map((_, row) => {
    last = said.get(row) ?? last;
    return last;
  });
};

/** Whole units, one cent a tick; where something is short, an account on which nothing is charged for that. */
export function questionOf(
  library: Library,
  given: LibraryCase,
): { readonly asked: Case; readonly said: readonly Signal[] } {
  const said = standing(given);
  const fee = String(given.fee);
  const isShort = said.some((want) =>
    ('quantity' in want ? want.quantity : 'share' in want ? want.share : '').startsWith('-'),
  );
  const asked: Case = {
    symbol: 'XZ',
    interval: given.intervalMs === 60_000 ? '1min' : given.intervalMs === 900_000 ? '15min' : '60min',
    instrument: {
      base: 'X',
      quote: 'Z',
      pricePrecision: 2,
      quantityPrecision: 0,
      minQuantity: '1',
      minNotional: '0.01',
    },
    columns: columnsOf(given.klines),
    rules: library,
    fees: { maker: fee, taker: fee },
    cash: String(given.cash),
    strategy: scripted(said, given.intervalMs),
    params: {},
    ...(isShort && {
      margin: {
        maxLeverage: '5',
        maintenanceRatio: '0.000001',
        liquidationFee: '0',
        interest: { base: '0', quote: '0' },
        interestEveryMs: 1e15,
      },
    }),
  };
  return { asked, said };
}

/** By the column loop, which knows no margin, or by the live graph. */
export async function sluiceRun(library: Library, given: LibraryCase): Promise<LibraryRun> {
  const { asked } = questionOf(library, given);
  return runOf(library, given, asked.margin === undefined ? byColumns(asked) : await byStream(asked));
}

/** By the live graph, and by the slow reference. */
export async function otherRuns(library: Library, given: LibraryCase): Promise<readonly LibraryRun[]> {
  const { asked, said } = questionOf(library, given);
  const rows = [await byStream(asked), byReference(asked, { kind: 'script', signal: (row) => said[row] })];
  return rows.map((one) => runOf(library, given, one));
}

type Filled = Rows['fills'][number] &
  Readonly<Record<'side' | 'price' | 'quantity', string>> & { readonly time: number };

function runOf(library: Library, { intervalMs }: LibraryCase, { orders, fills, equity }: Rows): LibraryRun {
  const purposes = new Map(orders.map(({ number, purpose }) => [number, purpose]));
  return {
    fills: (fills as readonly Filled[]).map(({ order, time, side, price, quantity }) => {
      const purpose = purposes.get(order);
      // What fills at a close fills when the next kline opens.
      const isAtClose = library === 'vectorbt' && (purpose === 'enter' || purpose === 'exit');
      return {
        row: Math.floor((time - (isAtClose ? 1 : 0)) / intervalMs),
        quantity: Number(quantity) * (side === 'BUY' ? 1 : -1),
        price: Number(price),
      };
    }),
    equity: Number(equity),
  };
}

/** Fills and final equity as a line of text. */
export const lineOf = ({ fills, equity }: LibraryRun): string =>
  [
    ...fills.map(({ row, quantity, price }) => `${quantity > 0 ? '+' : ''}${quantity} @ ${cents(price)} in ${row}`),
    `equity ${cents(equity)}`,
  ].join(', ');

const cents = (value: number): string => String(Math.round(value * 100) / 100);

/** The same fills in the same klines; prices and equity but for the rounding of floating point and of fees. */
export const isSame = (a: LibraryRun, b: LibraryRun): boolean =>
  a.fills.length === b.fills.length &&
  a.fills.every(({ row, quantity, price }, index) => {
    const other = b.fills[index];
    return row === other?.row && quantity === other.quantity && isNear(price, other.price);
  }) &&
  isNear(a.equity, b.equity);

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.abs(a);
