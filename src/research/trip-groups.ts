/** Round trips by what they have in common: strategy, symbol, side, reason of the exit, month, hour and weekday (UTC). */
import { type FillTable, purposes } from './fill-table.ts';
import type { TripTable } from './trip-table.ts';

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
const weekdayOf = (day: number): number => (day + 3) % 7;

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

/** Rows by name; `keys` are small numbers, of each of which a name is asked for once. */
function by({ length, profit, fees }: TripTable, keys: ArrayLike<number>, nameOf: (key: number) => string): GroupRow[] {
  const byKey: (Part | undefined)[] = [];
  const byName = new Map<string, Part>();
  for (let trip = 0; trip < length; trip++) {
    const key = keys[trip] as number;
    let part = byKey[key];
    if (part === undefined) {
      const name = nameOf(key);
      part = byName.get(name) ?? { trips: 0, wins: 0, won: 0, lost: 0, fees: 0 };
      byName.set(name, part);
      byKey[key] = part;
    }
    const gain = profit[trip] as number;
    part.trips++;
    part.fees += fees[trip] as number;
    if (gain > 0) {
      part.wins++;
      part.won += gain;
    } else part.lost -= gain;
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

/** A trip counts where it closed: in the month, hour and weekday of its last fill, under what that fill was for. */
export function groupsOf(trips: TripTable, table: FillTable): Groups {
  const { length, place, long, exitFill, exitTime } = trips;
  const purpose = new Uint8Array(length);
  const [day, weekday, hour] = [new Uint32Array(length), new Uint8Array(length), new Uint8Array(length)];
  const firstDay = Math.floor((table.time[0] ?? 0) / dayMs);
  for (let trip = 0; trip < length; trip++) {
    const time = exitTime[trip] as number;
    const whole = Math.floor(time / dayMs);
    purpose[trip] = table.purpose[exitFill[trip] as number] as number;
    day[trip] = whole - firstDay;
    weekday[trip] = weekdayOf(whole);
    hour[trip] = Math.floor((time - whole * dayMs) / hourMs);
  }
  const month = (days: number): string => new Date((days + firstDay) * dayMs).toISOString().slice(0, 7);
  return {
    strategy: sorted(by(trips, place, (index) => table.places[index]?.strategy ?? '')),
    symbol: sorted(by(trips, place, (index) => table.places[index]?.symbol ?? '')),
    side: sorted(by(trips, long, (isLong) => (isLong === 1 ? 'long' : 'short'))),
    exit: sorted(by(trips, purpose, (index) => exitNames[purposes[index] ?? ''] ?? '')),
    month: sorted(by(trips, day, month)),
    hour: sorted(by(trips, hour, two)),
    weekday: by(trips, weekday, (index) => weekdays[index] ?? '').toSorted(
      (a, b) => weekdays.indexOf(a.name) - weekdays.indexOf(b.name),
    ),
  };
}
