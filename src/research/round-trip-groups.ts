/** Groups of round trips: by strategy, symbol, side, reason of the exit, month, hour and weekday (UTC). */
import { purposes } from '../domain/order.ts';
import type { FillTable } from './fill-table.ts';
import type { RoundTripTable } from './round-trip-table.ts';

export interface GroupRow {
  readonly name: string;
  readonly roundTrips: number;
  readonly winRate: number;
  /** Null without a loss. */
  readonly profitFactor: number | null;
  /** After fees, in quote. */
  readonly profit: number;
  readonly fees: number;
}

const titles = {
  strategy: 'By strategy',
  symbol: 'By symbol',
  side: 'By side',
  exit: 'By exit',
  month: 'By month of the exit',
  hour: 'By hour of the exit (UTC)',
  weekday: 'By weekday of the exit (UTC)',
};
export type Groups = Readonly<Record<keyof typeof titles, readonly GroupRow[]>>;
export const groupTitles = Object.entries(titles) as readonly (readonly [key: keyof Groups, title: string])[];

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const dayMs = 86_400_000;
const hourMs = 3_600_000;

const exitNames: Readonly<Record<string, string>> = {
  enter: 'by the strategy',
  exit: 'by the strategy',
  quote: 'resting order',
  stop: 'stop',
  takeProfit: 'take-profit',
  flatten: 'by hand',
};

interface Sums {
  trips: number;
  wins: number;
  won: number;
  lost: number;
  fees: number;
}

/** Rows by name; `keys` are small numbers, each named once. */
function rowsBy(
  { length, profit, fees }: RoundTripTable,
  keys: ArrayLike<number>,
  nameOf: (key: number) => string,
): GroupRow[] {
  const byKey: (Sums | undefined)[] = [];
  const byName = new Map<string, Sums>();
  for (let trip = 0; trip < length; trip++) {
    const key = keys[trip] as number;
    let sums = byKey[key];
    if (sums === undefined) {
      const name = nameOf(key);
      sums = byName.get(name) ?? { trips: 0, wins: 0, won: 0, lost: 0, fees: 0 };
      byName.set(name, sums);
      byKey[key] = sums;
    }
    const gain = profit[trip] as number;
    sums.trips++;
    sums.fees += fees[trip] as number;
    if (gain > 0) {
      sums.wins++;
      sums.won += gain;
    } else sums.lost -= gain;
  }
  return [...byName].map(([name, { trips: roundTrips, wins, won, lost, fees: paid }]) => ({
    name,
    roundTrips,
    winRate: wins / roundTrips,
    profitFactor: lost === 0 ? null : won / lost,
    profit: won - lost,
    fees: paid,
  }));
}

const sorted = (rows: readonly GroupRow[]): GroupRow[] => rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** A round trip counts at its exit: the month, hour, weekday and purpose of its last fill. */
export function groupsOf(trips: RoundTripTable, table: FillTable): Groups {
  const { length, position, long, exitFill, exitTime } = trips;
  const purpose = new Uint8Array(length);
  const [day, weekday, hour] = [new Uint32Array(length), new Uint8Array(length), new Uint8Array(length)];
  const firstDay = Math.floor((table.time[0] ?? 0) / dayMs);
  for (let trip = 0; trip < length; trip++) {
    const time = exitTime[trip] as number;
    const whole = Math.floor(time / dayMs);
    purpose[trip] = table.purpose[exitFill[trip] as number] as number;
    day[trip] = whole - firstDay;
    // 1970-01-01 was a Thursday.
    weekday[trip] = (whole + 3) % 7;
    hour[trip] = Math.floor((time - whole * dayMs) / hourMs);
  }
  const month = (days: number): string => new Date((days + firstDay) * dayMs).toISOString().slice(0, 7);
  return {
    strategy: sorted(rowsBy(trips, position, (index) => table.positions[index]?.strategy ?? '')),
    symbol: sorted(rowsBy(trips, position, (index) => table.positions[index]?.symbol ?? '')),
    side: sorted(rowsBy(trips, long, (isLong) => (isLong === 1 ? 'long' : 'short'))),
    exit: sorted(rowsBy(trips, purpose, (index) => exitNames[purposes[index] ?? ''] ?? '')),
    month: sorted(rowsBy(trips, day, month)),
    hour: sorted(rowsBy(trips, hour, (value) => String(value).padStart(2, '0'))),
    weekday: rowsBy(trips, weekday, (index) => weekdays[index] ?? '').toSorted(
      (a, b) => weekdays.indexOf(a.name) - weekdays.indexOf(b.name),
    ),
  };
}
