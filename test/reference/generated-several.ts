/** Generated cases of strategies of several markets. The same seed gives the same. */
import type { AlonePolicy } from './alone.ts';
import { type Chance, draws, nextKline } from './generated.ts';
import { type Options as ExitOptions, targetOf } from './generated-exits.ts';
import type { ListStrategy, MarketSeen } from './several.ts';
import type { Instrument, Kline, Margin, Signal, Target } from './types.ts';

const minute = 60_000;

/** What cases of one kind have. */
export interface Kind {
  readonly form: 'roles' | 'list';
  /** The length of each market's klines, in minutes; a market of 0 is read in minutes alone. */
  readonly markets: readonly number[];
  /** Which of them are only read. */
  readonly data?: readonly number[];
  /** Chance that a kline is missing. */
  readonly holes?: number;
  /** Markets appear late and disappear early. */
  readonly ends?: boolean;
  readonly allowMissing?: boolean;
  readonly exits?: readonly (keyof Target)[];
  readonly schedule?: Schedule;
  readonly thresholds?: readonly number[];
  readonly flows?: boolean;
  readonly margin?: boolean;
  /** Minimum orders that differ, some of them larger than what is wanted. */
  readonly minima?: boolean;
  /** What is done about a leg that is open alone, and after how many ms. */
  readonly alone?: AlonePolicy;
  readonly maxPosition?: string;
  /** How much money there is, where not as much as most cases need. */
  readonly cash?: string;
}

export type Schedule = '5min' | '3-59/7 * * * *';

export interface GeneratedMarket {
  readonly role: string;
  readonly use: 'traded' | 'data';
  readonly minutes: number;
  readonly klines: readonly Kline[];
  readonly instrument: Instrument;
}

/** What a strategy of a case sees of a market: its last kline, and the highest close of its warm-up. */
export interface Glimpse {
  readonly role: string;
  readonly kline: Kline;
  readonly top: number;
  readonly held: number;
}

export interface GeneratedCase {
  readonly seed: number;
  readonly kind: Kind;
  readonly markets: readonly GeneratedMarket[];
  readonly warmup: number;
  readonly cash: string;
  readonly flows: readonly { readonly time: number; readonly amount: string }[];
  readonly threshold: number;
}

const roles = ['a', 'b', 'c', 'd'];
export const symbolOf = (role: string): string => `${role.toUpperCase().repeat(3)}USD`;

export function generatedCase(kind: Kind, seed: number, rows = 120): GeneratedCase {
  const chance = draws(seed);
  const markets = kind.markets.map((minutes, index): GeneratedMarket => {
    const role = roles[index] as string;
    const use = kind.data?.includes(index) === true ? 'data' : 'traded';
    return { role, use, minutes, klines: series(chance, kind, rows, minutes), instrument: shape(chance, kind, role) };
  });
  const flow = () => ({
    time: Math.floor(chance() * rows) * minute,
    amount: String(Math.round((chance() - 0.4) * 4_000)),
  });
  const flows = kind.flows === true ? [flow(), flow(), flow(), flow()].sort((a, b) => a.time - b.time) : [];
  const thresholds = kind.thresholds ?? [0];
  return {
    ...{ seed, kind, markets, flows, warmup: 1 + Math.floor(chance() * 4), cash: kind.cash ?? '4000' },
    threshold: thresholds[Math.floor(chance() * thresholds.length)] as number,
  };
}

function series(chance: Chance, { holes = 0, ends = false }: Kind, rows: number, minutes: number): readonly Kline[] {
  const count = Math.floor(rows / minutes);
  const from = ends && chance() < 0.5 ? Math.floor((chance() * count) / 2) : 0;
  const to = ends && chance() < 0.5 ? Math.ceil((count * (1 + chance())) / 2) : count;
  const klines: Kline[] = [];
  let price = 50 + Math.floor(chance() * 100);
  let isOut = 0;
  for (let row = 0; row < count; row++) {
    const kline = { ...nextKline(chance, row, price), time: row * minutes * minute };
    price = kline.close;
    // Some are missing alone, some in a row.
    if (isOut === 0 && chance() < holes) isOut = chance() < 0.7 ? 1 : 1 + Math.floor(chance() * 9);
    else isOut = Math.max(0, isOut - 1);
    if (row >= from && row < to && isOut === 0) klines.push(kline);
  }
  return klines;
}

function shape(chance: Chance, { minima = false }: Kind, role: string): Instrument {
  const choices = minima ? ['0.001', '0.5', '4'] : ['0.001'];
  const notional = minima ? ['0', '5', '700'] : ['1'];
  const any = (of: readonly string[]): string => of[Math.floor(chance() * of.length)] as string;
  return {
    ...{ base: role.toUpperCase().repeat(3), quote: 'USD', pricePrecision: 2, quantityPrecision: 4 },
    ...{ minQuantity: any(choices), minNotional: any(notional) },
  };
}

export const marginRules: Margin = {
  ...{ maxLeverage: '4', maintenanceRatio: '0.24', liquidationFee: '0.01', interestEveryMs: 10 * minute },
  interest: { base: '0.0001', quote: '0.0002' },
};

/** What the strategy of a case with roles says at a moment, of the markets that it trades. */
export function signalsAt(
  { seed, kind, markets }: GeneratedCase,
  time: number,
  glimpses: readonly Glimpse[],
  equity: number,
): Readonly<Record<string, Signal>> {
  const read = glimpses.find(({ role }) => markets.find((one) => one.role === role)?.use === 'data');
  const isDown = read !== undefined && read.kline.close < read.top * 0.985;
  return Object.fromEntries(
    glimpses.flatMap((glimpse) => {
      const index = markets.findIndex(({ role }) => role === glimpse.role);
      const market = markets[index] as GeneratedMarket;
      if (market.use === 'data') return [];
      const chance = draws((seed % 1_000_003) + (time / minute) * 16 + index);
      chance();
      if (chance() > 0.3) return [];
      const signal = isDown ? { quantity: '0' } : signalOf(chance, glimpse, equity, market, kind);
      return [[glimpse.role, signal] as const];
    }),
  );
}

function signalOf(
  chance: Chance,
  { kline, top, held }: Glimpse,
  equity: number,
  { minutes }: GeneratedMarket,
  { exits = [], margin = false }: Kind,
): Signal {
  const price = (by: number): string => (kline.close + by).toFixed(2);
  const kinds = chance();
  if (kinds < 0.2) return { quantity: '0' };
  if (exits.length > 0 && kinds < 0.27)
    return {
      quotes: [
        { side: 'BUY', price: price(-1), quantity: '5' },
        { side: 'SELL', price: price(1), quantity: '3' },
      ],
    };
  const isShort = margin && chance() < 0.4;
  const size = (1 + Math.floor(chance() * 20)) * (isShort ? -1 : 1);
  const options: ExitOptions = { isShort: margin, changes: 1, intervalMs: minutes * minute, only: exits };
  const target = targetOf(chance, size, kline, options);
  const { quantity: _, share: __, amount: ___, ...rest } = target as Target & Record<string, unknown>;
  const way = chance();
  const sized =
    way < 0.15
      ? { amount: (equity * chance()).toFixed(2) }
      : way < 0.3 && held > 0
        ? { quantity: String(Math.floor(held) + 1) }
        : way < 0.4 && kline.close === top
          ? { share: (0.1 + Math.floor(chance() * 8) / 10).toFixed(2) }
          : 'share' in target
            ? { share: target.share }
            : { quantity: String(size) };
  return { ...rest, ...sized } as Signal;
}

/** The weights of a case with a list: the nearest to their highest close. */
export function weightsAt({ seed, kind, threshold }: GeneratedCase, time: number, glimpses: readonly Glimpse[]) {
  const chance = draws((seed % 1_000_003) + Math.floor(time / (7 * minute)));
  chance();
  const count = 1 + Math.floor(chance() * 2);
  const weight = [0.45, 0.3, 0.1][Math.floor(chance() * 3)] as number;
  const best = [...glimpses].sort((a, b) => b.kline.close / b.top - a.kline.close / a.top).slice(0, count);
  const exits = kind.exits && Object.fromEntries(best.map((one) => [one.role, exitsOf(chance, one, kind.exits)]));
  return { weights: Object.fromEntries(best.map(({ role }) => [role, weight])), threshold, ...(exits && { exits }) };
}

function exitsOf(chance: Chance, { kline }: Glimpse, only: Kind['exits']): Partial<Target> {
  const options: ExitOptions = { isShort: false, changes: 1, intervalMs: minute, ...(only && { only }) };
  const target = targetOf(chance, 1, kline, options);
  const { quantity: _, share: __, amount: ___, takeProfit, ...exits } = target as Target & Record<string, unknown>;
  const isOne = takeProfit !== undefined && !Array.isArray(takeProfit);
  return { ...exits, ...(isOne && { takeProfit }) } as Partial<Target>;
}

/** The same of all klines that have closed. */
export const glimpseOf = ({ role, klines, held }: MarketSeen, warmup: number): Glimpse => {
  const kline = klines.at(-1) as Kline;
  return { role, kline, held, top: Math.max(...klines.slice(-warmup).map(({ close }) => close)) };
};

/** Whether a time of a schedule lies after the moment before and not after this one. */
export function isDue(schedule: Schedule | undefined): ListStrategy['isDue'] {
  if (schedule === undefined) return () => true;
  const isTime = (at: number): boolean => {
    const minutes = Math.floor(at / minute) % 60;
    return schedule === '5min' ? minutes % 5 === 0 : minutes >= 3 && (minutes - 3) % 7 === 0;
  };
  return (before, time) => {
    for (let at = time; at > (before ?? time - 1); at -= minute) if (isTime(at)) return true;
    return false;
  };
}

const absolute = ['limit', 'stop', 'takeProfit'] as const;
const everyExit = [
  ...absolute,
  ...['trailing', 'breakEven', 'exitAfterMs', 'exitAfterKlines', 'exitAt', 'reenterAfterMs', 'reenterAfterKlines'],
  ...['expiresAfterMs', 'expiresAfterKlines', 'postOnly'],
] as (keyof Target)[];

/** But for how an entry is made. */
const exitsAlone = everyExit.filter((name) => !['limit', 'postOnly'].includes(name) && !name.startsWith('expires'));

/** By what is special about it. */
export const kinds = {
  'two markets': { form: 'roles', markets: [1, 1] },
  'three markets with little money': { form: 'roles', markets: [1, 1, 1], cash: '1500' },
  'a market that is only read': { form: 'roles', markets: [1, 1, 1], data: [2] },
  'a larger market that is only read': { form: 'roles', markets: [1, 1, 5], data: [2] },
  'exits of each leg': { form: 'roles', markets: [1, 1], exits: absolute },
  'every exit of each leg': { form: 'roles', markets: [1, 1], exits: everyExit },
  'every exit of a leg of a larger interval': { form: 'roles', markets: [1, 5], exits: everyExit },
  'a leg alone is left': {
    ...{ form: 'roles', markets: [1, 1], exits: everyExit },
    alone: { afterMs: 3 * minute, action: 'unwind' },
  },
  'a leg alone is completed': {
    ...{ form: 'roles', markets: [1, 1, 1], exits: everyExit },
    alone: { afterMs: 2 * minute, action: 'complete' },
  },
  'a list': { form: 'list', markets: [1, 1, 1] },
  'a list with a schedule': { form: 'list', markets: [1, 1, 1], schedule: '5min', thresholds: [0, 0.05] },
  'a list by a cron expression': { form: 'list', markets: [1, 1, 1], schedule: '3-59/7 * * * *', thresholds: [0, 0.2] },
  'a list with exits': { form: 'list', markets: [1, 1, 1], exits: exitsAlone, thresholds: [0, 0.05] },
  'a list with a schedule and exits': {
    ...{ form: 'list', markets: [1, 1, 1], exits: exitsAlone },
    ...{ schedule: '5min', thresholds: [0, 0.05] },
  },
  'missing klines': { form: 'roles', markets: [1, 1, 1], holes: 0.05 },
  'missing klines, partial': { form: 'roles', markets: [1, 1, 1], holes: 0.05, allowMissing: true },
  'a list with missing klines': { form: 'list', markets: [1, 1, 1], holes: 0.05, thresholds: [0, 0.1] },
  'a list of which some appear or end': { form: 'list', markets: [1, 1, 1, 1], ends: true, thresholds: [0, 0.1] },
  'traded legs of larger intervals': { form: 'roles', markets: [1, 5] },
  'minimum orders': { form: 'roles', markets: [1, 1, 1], minima: true, cash: '3000' },
  'on margin': { form: 'roles', markets: [1, 1], margin: true, cash: '900' },
  'on margin, three markets': { form: 'roles', markets: [1, 1, 1], margin: true, cash: '1500' },
  'on margin with exits of each leg': { form: 'roles', markets: [1, 1], exits: absolute, margin: true, cash: '900' },
  'on margin with every exit of each leg': {
    ...{ form: 'roles', markets: [1, 1], exits: everyExit, margin: true, cash: '900' },
  },
  'on margin with a larger interval': { form: 'roles', markets: [1, 5], margin: true, cash: '900' },
  'on margin with missing klines': { form: 'roles', markets: [1, 1], holes: 0.05, margin: true, cash: '900' },
  'on margin with missing klines, partial': {
    ...{ form: 'roles', markets: [1, 1], holes: 0.05, allowMissing: true, margin: true, cash: '900' },
  },
  'on margin with minimum orders': { form: 'roles', markets: [1, 1, 1], minima: true, margin: true, cash: '2500' },
  'a list on margin': {
    form: 'list',
    markets: [1, 1, 1],
    holes: 0.02,
    margin: true,
    cash: '900',
    thresholds: [0, 0.1],
  },
  'a list on margin with exits': {
    ...{ form: 'list', markets: [1, 1, 1], exits: exitsAlone, holes: 0.02, margin: true, cash: '900' },
    thresholds: [0, 0.1],
  },
  'a leg alone is left on margin': {
    ...{ form: 'roles', markets: [1, 1], exits: everyExit, margin: true, cash: '900' },
    alone: { afterMs: 3 * minute, action: 'unwind' },
  },
  'a leg alone is completed on margin': {
    ...{ form: 'roles', markets: [1, 1, 1], exits: everyExit, margin: true, cash: '1500' },
    alone: { afterMs: 2 * minute, action: 'complete' },
  },
  'deposits and withdrawals': { form: 'roles', markets: [1, 1], flows: true },
} as const satisfies Readonly<Record<string, Kind>>;

const entries = ['limit', 'expiresAfterMs', 'expiresAfterKlines'] as (keyof Target)[];

/** Of two strategies on the same markets; the limit of a position is that of both together. */
export const kindsOfTwo = {
  'two markets': { form: 'roles', markets: [1, 1] },
  'every exit of each leg': { form: 'roles', markets: [1, 1], exits: everyExit },
  'every exit, and the limit of a position': {
    ...{ form: 'roles', markets: [1, 1], exits: everyExit, maxPosition: '900' },
  },
  'every exit of a leg of a larger interval': {
    ...{ form: 'roles', markets: [1, 5], exits: everyExit, maxPosition: '900' },
  },
  'entries that expire while the first is not asked': {
    ...{ form: 'roles', markets: [1, 1], holes: 0.1, exits: entries, maxPosition: '900' },
  },
  'a leg alone is left': { ...kinds['a leg alone is left'], maxPosition: '900' },
  'a leg alone is completed': { ...kinds['a leg alone is completed'], maxPosition: '900' },
  'a list with exits': { ...kinds['a list with exits'], maxPosition: '900' },
  'on margin': kinds['on margin with every exit of each leg'],
} as const satisfies Readonly<Record<string, Kind>>;
