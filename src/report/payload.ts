/** The data of the chart of klines and fills. */
import { intervalMs } from '../domain/interval.ts';
import { purposes } from '../domain/order.ts';
import type { RoundTrip } from '../research/round-trips.ts';
import type { Payload } from './chart-data.ts';
import { maxValues } from './indicator-data.ts';
import type { ReportInput, ReportSeries } from './input.ts';
import { levelsOf, maxRows, pack, unitMs } from './levels.ts';
import { stopSteps } from './stop-levels.ts';

/** Fills in one report. Later ones are not drawn, and the page says so. */
export const maxFills = 100_000;
/** Fills whose details are kept. */
const maxDetails = 5_000;
/** Fees are written in these parts of the quote asset. */
const feeSteps = 1e8;

/** The fills of a symbol: time and price (in ticks) since the fill before, and the other columns as they are. */
function packFills(input: ReportInput, series: ReportSeries, budget: number) {
  const { table } = input;
  const strategies = strategiesOf(input);
  const strategyOf = table.positions.map(({ strategy, symbol }) =>
    symbol === series.symbol ? strategies.indexOf(strategy) : -1,
  );
  const columns: number[][] = Array.from({ length: 8 }, () => []);
  const details: Record<number, string> = {};
  let [time, price, count] = [0, 0, 0];
  let detailsLeft = table.isPlain === true ? 0 : maxDetails;
  for (let fill = 0; fill < table.length && count < budget; fill++) {
    const strategy = strategyOf[table.position[fill] as number] ?? -1;
    if (strategy < 0) continue;
    const at = Math.round(table.time[fill] as number);
    const ticks = Math.round((table.price[fill] as number) * 10 ** series.pricePrecision);
    const row = [
      at - time,
      strategy,
      ticks - price,
      Math.round((table.quantity[fill] as number) * 10 ** series.quantityPrecision),
      Math.round((table.fee[fill] as number) * feeSteps),
      table.purpose[fill] as number,
      table.rule[fill] as number,
      (table.maker[fill] as number) + 2 * (table.ambiguous[fill] as number),
    ];
    for (const [index, value] of row.entries()) columns[index]?.push(value);
    [time, price] = [at, ticks];
    const detail = detailsLeft > 0 ? input.detail(fill) : '';
    if (detail !== '') {
      details[count] = detail;
      detailsLeft--;
    }
    count++;
  }
  return { fillData: pack(columns), details };
}

/** Round trips in the list of one report, the last ones. */
export const maxTrips = 20_000;

/** Entry time since the one before, duration (ms), strategy, side, quantity, prices, profit, and gain, MAE and MFE as fractions. */
function packTrips(input: ReportInput, trips: readonly RoundTrip[]): string {
  const strategies = strategiesOf(input);
  const columns: number[][] = Array.from({ length: 11 }, () => []);
  const short = (value: number, digits: number): number => Number(value.toPrecision(digits));
  let time = 0;
  for (const trip of trips) {
    const row = [
      trip.entryTime - time,
      trip.exitTime - trip.entryTime,
      strategies.indexOf(input.table.positions[trip.position]?.strategy ?? ''),
      Number(trip.long),
      ...[short(trip.quantity, 10), short(trip.entryPrice, 10), short(trip.exitPrice, 10), short(trip.profit, 10)],
      ...[short(trip.profit / trip.cost, 5), short(trip.worst, 5), short(trip.best, 5)],
    ];
    for (const [index, value] of row.entries()) columns[index]?.push(value);
    time = trip.entryTime;
  }
  return pack(columns);
}

const strategiesOf = ({ table }: ReportInput): readonly string[] => [
  ...new Set(table.positions.map(({ strategy }) => strategy)),
];

export function payloadOf(input: ReportInput): Payload {
  const share = Math.max(1, input.series.length);
  const listed = input.trips.slice(-maxTrips);
  return {
    asset: input.asset,
    unitMs,
    strategies: strategiesOf(input),
    rules: input.table.rules,
    purposes,
    series: input.series.map((series) => {
      const { symbol, interval, columns, first, pricePrecision, quantityPrecision, base } = series;
      const isHere = ({ position }: RoundTrip): boolean => input.table.positions[position]?.symbol === symbol;
      const trips = input.trips.filter(isHere);
      return {
        ...{ symbol, interval, pricePrecision, quantityPrecision, base },
        ms: intervalMs(interval, columns.openTime[first] as number),
        ...levelsOf(series, trips, Math.floor(maxRows / share), Math.floor(maxValues / share)),
        ...packFills(input, series, Math.floor(maxFills / share)),
        tripData: packTrips(input, listed.filter(isHere)),
        stops: stopSteps(input, series),
      };
    }),
  };
}
