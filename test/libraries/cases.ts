/**
 * Cases on which a library and its ruleset are compared: klines, and what is wanted after which of them. Constructed ones for each
 * edge, and generated ones whose prices lie on a coarse grid, so that touches, gaps and equal prices are frequent.
 */
import type { Kline, Signal } from '../reference/types.ts';

export const libraries = ['backtesting.py', 'backtrader', 'vectorbt'] as const;
export type Library = (typeof libraries)[number];

/** A want that a library has words for. */
export type Wanted = Exclude<Signal, { readonly quotes: unknown }>;

export interface LibraryCase {
  readonly name: string;
  readonly klines: readonly Kline[];
  readonly intervalMs: number;
  /** What is wanted from the close of that row on. */
  readonly wants: readonly (readonly [row: number, want: Wanted])[];
  readonly cash: number;
  /** A fraction of each fill's value. */
  readonly fee: number;
  /** The libraries that fill it otherwise; docs/explanation/compared.md says how. */
  readonly differs?: readonly Library[];
}

const minute = 60_000;

const minutes = (rows: readonly (readonly number[])[]): readonly Kline[] =>
  rows.map(([open = 0, high = 0, low = 0, close = 0, volume = 100], row) => ({
    ...{ time: row * minute, open, high, low, close, volume },
  }));

/** Open, high, low, close. */
type Row = readonly [number, number, number, number] | readonly [number, number, number, number, number];

const flat: Wanted = { quantity: '0' };
const quiet: Row = [100, 100, 100, 100];

/** Two quiet klines, after which something is wanted, and what follows. */
const edge = (name: string, want: Wanted, rows: readonly Row[], changed: Partial<LibraryCase> = {}): LibraryCase => ({
  name,
  klines: minutes([quiet, quiet, ...rows]),
  intervalMs: minute,
  wants: [[1, want]],
  cash: 10_000,
  fee: 0.001,
  ...changed,
});

const held: Row = [101, 102, 100, 101];
const bracket: Wanted = { quantity: '10', stop: '95', takeProfit: '110' };
const limited: Wanted = { ...bracket, limit: '97' };
const short: Wanted = { quantity: '-10', stop: '105', takeProfit: '90' };
const all: Wanted = { share: '1' };

/** Entries at the market, long. */
const atMarket: readonly LibraryCase[] = [
  edge('open beyond the target, low at the stop', bracket, [held, [115, 130, 95, 115]]),
  edge('open beyond the target', bracket, [held, [115, 130, 112, 115]]),
  edge('open beyond the stop, high at the target', bracket, [held, [90, 110, 85, 100]]),
  edge('stop and target in one kline', bracket, [held, [100, 112, 94, 100]]),
  edge('stop at the low', bracket, [held, [100, 101, 95, 100]]),
  edge('stop at the open', bracket, [held, [95, 101, 95, 100]]),
  edge('target at the high', bracket, [held, [100, 110, 99, 100]]),
  edge('target at the open', bracket, [held, [110, 111, 99, 100]]),
  edge('stop in the kline of the entry', bracket, [[101, 102, 94, 101], held]),
  edge('target in the kline of the entry', bracket, [[101, 112, 100, 101], held]),
  edge('stop and target in the kline of the entry', bracket, [[101, 112, 94, 101], held]),
  edge('entry at an open beyond the stop', bracket, [[94, 101, 93, 100], held]),
  edge('entry at an open beyond the target', bracket, [[111, 112, 105, 106], held]),
  edge('entry at an open beyond the target, low at the stop', bracket, [[111, 112, 95, 106], held]),
  edge('wanted after the last kline', { quantity: '10' }, []),
  edge('entry in the last kline, which also reaches the stop', bracket, [[101, 102, 94, 101]]),
  edge('held at the last close', { quantity: '10' }, [held, [101, 108, 101, 107]]),
  edge('klines without volume', bracket, [
    [101, 102, 100, 101, 0],
    [100, 112, 99, 100, 0],
  ]),
  edge('left at the market in the kline that reaches the stop', bracket, [held, [101, 101, 94, 95]], {
    wants: [
      [1, bracket],
      [2, flat],
    ],
  }),
];

/** Entries at a price, long. */
const atPrice: readonly LibraryCase[] = [
  edge('limit at the low', limited, [[100, 101, 97, 100], held]),
  edge('limit passed by the open', limited, [held, [96, 98, 95.5, 97], held]),
  edge('limit above the open', { ...limited, limit: '101' }, [[100, 102, 99, 101], held]),
  edge('limit at the open', { ...limited, limit: '100' }, [[100, 102, 99, 101], held]),
  edge('limit above the open, stop in the same kline', { ...limited, limit: '101' }, [[100, 102, 94, 101], held]),
  edge('limit, then an open beyond the target, low at the stop', limited, [
    [100, 101, 97, 100],
    [115, 116, 95, 100],
  ]),
  edge(
    'exit at a price, then an open beyond it, low at the stop',
    { quantity: '10', stop: '95' },
    [held, held, [106, 107, 95, 100]],
    {
      wants: [
        [1, { quantity: '10', stop: '95' }],
        [3, { quantity: '0', limit: '104' }],
      ],
    },
  ),
  edge('limit and stop in one kline', limited, [held, [100, 101, 94, 100], held]),
  edge('limit and target in one kline', limited, [held, [100, 112, 96, 100], held]),
  edge('limit not reached', limited, [held, [100, 101, 97.5, 100], held]),
  edge('limit given up before it is reached', limited, [held, [100, 101, 96, 100]], {
    wants: [
      [1, limited],
      [2, flat],
    ],
  }),
  edge('exit at a price, touched', { quantity: '10' }, [held, held, [101, 104, 101, 102], held], {
    wants: [
      [1, { quantity: '10' }],
      [2, { quantity: '0', limit: '104' }],
    ],
  }),
  edge('exit at a price that the open has passed', { quantity: '10' }, [held, held, [106, 107, 103, 105]], {
    wants: [
      [1, { quantity: '10' }],
      [2, { quantity: '0', limit: '104' }],
    ],
  }),
];

/** The same, short. */
const shorts: readonly LibraryCase[] = [
  edge('short: open beyond the target, high at the stop', short, [held, [85, 105, 80, 85]]),
  edge('short: open beyond the stop', short, [held, [108, 109, 90, 100]]),
  edge('short: stop and target in one kline', short, [held, [100, 106, 89, 100]]),
  edge('short: stop at the high', short, [held, [100, 105, 99, 100]]),
  edge('short: target at the low', short, [held, [100, 101, 90, 100]]),
  edge('short: stop in the kline of the entry', short, [[101, 106, 100, 101], held]),
  edge('short: target in the kline of the entry', short, [[101, 102, 89, 101], held]),
  edge('short: left at the market', { quantity: '-10' }, [held, held, held], {
    wants: [
      [1, { quantity: '-10' }],
      [3, flat],
    ],
  }),
];

/** Shares of the equity. */
const sized: readonly LibraryCase[] = [
  edge('half of the equity, at an open above the close', { share: '0.5' }, [[110, 111, 109, 110], held]),
  edge('all of the equity with a fee, at the close', all, [[100, 101, 99, 100], held]),
  edge('all of the equity with a fee, at an open above the close', all, [[103, 104, 102, 103], held]),
  edge('all of the equity with a fee, at an open below the close', all, [[97, 98, 96, 97], held], {
    differs: ['backtrader'],
  }),
  edge('all of the equity without a fee, at an open above the close', all, [[103, 104, 102, 103], held], { fee: 0 }),
  edge('all of the equity without a fee, at an open below the close', all, [[97, 98, 96, 97], held], { fee: 0 }),
  edge('a share without a fee that comes out even', { share: '0.2' }, [[100, 101, 99, 100], held], { fee: 0 }),
  edge('half of the equity short', { share: '-0.5' }, [[110, 111, 109, 110], held], { differs: ['backtesting.py'] }),
  edge('more than the cash pays', { quantity: '200' }, [held, held]),
];

const trailing: readonly LibraryCase[] = [
  edge('a trailing stop', { quantity: '10', trailing: '0.05' }, [held, [101, 110, 100, 109], [108, 109, 104, 105]], {
    differs: ['backtrader'],
  }),
];

export const edges: readonly LibraryCase[] = [...atMarket, ...atPrice, ...shorts, ...sized, ...trailing];

/** What of it a library has no words for. */
export const canSay = (library: Library, { wants }: LibraryCase): boolean =>
  wants.every(
    ([, want]) =>
      (library !== 'vectorbt' || want.limit === undefined) &&
      (library !== 'backtesting.py' || want.trailing === undefined),
  );

/** What generated cases want. */
interface Kind {
  readonly limits?: boolean;
  readonly shorts?: boolean;
  readonly shares?: boolean;
  readonly trailing?: boolean;
}

/** By what the page calls them. */
export const kinds = {
  'MARKET entries, long': {},
  'MARKET entries, long and short': { shorts: true },
  'LIMIT entries and exits, long': { limits: true },
  'LIMIT entries and exits, long and short': { limits: true, shorts: true },
  'shares of the equity, long': { shares: true },
  'trailing stops, long': { trailing: true },
} as const satisfies Readonly<Record<string, Kind>>;
export type KindName = keyof typeof kinds;

/** A number from 0 to 1; the same ones for the same seed. */
function draws(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 4_294_967_296;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

type Chance = () => number;

/** Prices on halves around 100; one kline in five opens with a gap, one in ten has no volume. */
function walk(chance: Chance, rows: number): readonly Kline[] {
  const halves = (value: number): number => Math.round(value * 2) / 2;
  const klines: Kline[] = [];
  let price = 100;
  for (let row = 0; row < rows; row++) {
    const gap = chance() < 0.2 ? (chance() - 0.5) * 14 : 0;
    const open = Math.max(20, halves(price + gap));
    const close = Math.max(20, halves(open + (chance() - 0.5) * 6));
    const high = Math.max(open, close) + halves(chance() * 3);
    const low = Math.min(open, close) - halves(chance() * 3);
    klines.push({ time: row * minute, open, high, low, close, volume: chance() < 0.1 ? 0 : 100 });
    price = close;
  }
  return klines;
}

/** Sixty klines, in which a position is wanted and given up again and again. */
export function generated(seed: number, name: KindName): LibraryCase {
  const kind: Kind = kinds[name];
  const chance = draws(seed);
  const klines = walk(chance, 60);
  const wants: [number, Wanted][] = [];
  for (let row = 1 + Math.floor(chance() * 3); row < klines.length; ) {
    const want = entry(chance, (klines[row] as Kline).close, kind);
    wants.push([row, want]);
    row += 1 + Math.floor(chance() * 8);
    if (kind.limits === true && want.takeProfit === undefined && row < klines.length) {
      wants.push([
        row,
        { quantity: '0', limit: String((klines[row] as Kline).close + Math.ceil(chance() * 12) / 2 - 3) },
      ]);
      row += 1 + Math.floor(chance() * 4);
    }
    if (row < klines.length) wants.push([row, flat]);
    row += 1 + Math.floor(chance() * 2);
  }
  return {
    name: `${name}, seed ${seed}`,
    klines,
    intervalMs: minute,
    wants,
    cash: 10_000,
    fee: chance() < 0.3 ? 0 : 0.001,
    ...(kind.trailing === true && { differs: libraries }),
  };
}

function entry(chance: Chance, close: number, { limits, shorts, shares, trailing: trails }: Kind): Wanted {
  const sign = shorts === true && chance() < 0.5 ? -1 : 1;
  const step = (most: number): number => Math.ceil(chance() * most * 2) / 2;
  const limit = limits === true && chance() < 0.5 ? close - sign * (step(4) - 1.5) : undefined;
  const from = limit ?? close;
  const goal =
    shares === true && chance() < 0.5
      ? { share: String((sign * Math.ceil(chance() * 9)) / 10) }
      : { quantity: String(sign * Math.ceil(chance() * 20)) };
  const stop = chance() < 0.7 ? from - sign * step(5) : undefined;
  const takeProfit = chance() < 0.7 ? from + sign * step(5) : undefined;
  return {
    ...goal,
    ...(limit !== undefined && { limit: String(limit) }),
    ...(trails === true
      ? { trailing: String(Math.ceil(chance() * 4) / 100) }
      : stop !== undefined && { stop: String(stop) }),
    ...(takeProfit !== undefined && { takeProfit: String(takeProfit) }),
  };
}
