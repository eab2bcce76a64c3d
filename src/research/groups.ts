/** Round trips by what they have in common: strategy, symbol, side, reason of the exit, month, hour and weekday (UTC). */
import { type FillTable, purposes } from './fill-table.ts';
import type { Trip } from './trips.ts';

export interface GroupRow {
  readonly name: string;
  readonly roundTrips: number;
  readonly winRate: number;
  /** Money won over money lost; null where none was lost. */
  readonly profitFactor: number | null;
  /** After fees, in quote. */
  readonly profit: number;
  readonly fees: number;
}

export interface Groups {
  readonly strategy: readonly GroupRow[];
  readonly symbol: readonly GroupRow[];
  readonly side: readonly GroupRow[];
  readonly exit: readonly GroupRow[];
  readonly month: readonly GroupRow[];
  readonly hour: readonly GroupRow[];
  readonly weekday: readonly GroupRow[];
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const two = (value: number): string => String(value).padStart(2, '0');
/** 1970-01-01 was a Thursday. */
const weekdayOf = (time: number): number => (Math.floor(time / dayMs) + 3) % 7;

const exitNames: Readonly<Record<string, string>> = {
  enter: 'by the strategy',
  exit: 'by the strategy',
  quote: 'resting order',
  stop: 'stop',
  takeProfit: 'take-profit',
};

interface Part {
  trips: number;
  wins: number;
  won: number;
  lost: number;
  fees: number;
}

/** Rows by name; a name is asked for once for each number that stands for it. */
function by(trips: readonly Trip[], keyOf: (trip: Trip) => number, nameOf: (key: number) => string): GroupRow[] {
  const byKey = new Map<number, Part>();
  const byName = new Map<string, Part>();
  for (const trip of trips) {
    const key = keyOf(trip);
    let part = byKey.get(key);
    if (part === undefined) {
      const name = nameOf(key);
      part = byName.get(name) ?? { trips: 0, wins: 0, won: 0, lost: 0, fees: 0 };
      byName.set(name, part);
      byKey.set(key, part);
    }
    part.trips++;
    part.fees += trip.fees;
    if (trip.profit > 0) {
      part.wins++;
      part.won += trip.profit;
    } else part.lost -= trip.profit;
  }
  return [...byName].map(([name, { trips: roundTrips, wins, won, lost, fees }]) => ({
    name,
    roundTrips,
    winRate: wins / roundTrips,
    profitFactor: lost === 0 ? null : won / lost,
    profit: won - lost,
    fees,
  }));
}

const sorted = (rows: readonly GroupRow[]): GroupRow[] => rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** A trip counts where it closed: in the month, hour and weekday of its last fill, under what that fill was for. */
export function groupsOf(trips: readonly Trip[], table: FillTable): Groups {
  const exitOf = ({ exitFill }: Trip): number => table.purpose[exitFill] as number;
  const weekday = by(
    trips,
    ({ exitTime }) => weekdayOf(exitTime),
    (day) => weekdays[day] ?? '',
  );
  return {
    strategy: sorted(
      by(
        trips,
        ({ place }) => place,
        (place) => table.places[place]?.strategy ?? '',
      ),
    ),
    symbol: sorted(
      by(
        trips,
        ({ place }) => place,
        (place) => table.places[place]?.symbol ?? '',
      ),
    ),
    side: sorted(
      by(
        trips,
        ({ long }) => (long ? 1 : 0),
        (long) => (long === 1 ? 'long' : 'short'),
      ),
    ),
    exit: sorted(by(trips, exitOf, (purpose) => exitNames[purposes[purpose] ?? ''] ?? '')),
    month: sorted(
      by(
        trips,
        ({ exitTime }) => Math.floor(exitTime / dayMs),
        (day) => new Date(day * dayMs).toISOString().slice(0, 7),
      ),
    ),
    hour: sorted(by(trips, ({ exitTime }) => Math.floor(exitTime / hourMs) % 24, two)),
    weekday: weekday.toSorted((a, b) => weekdays.indexOf(a.name) - weekdays.indexOf(b.name)),
  };
}
