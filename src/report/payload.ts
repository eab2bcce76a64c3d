/** The data that the page's script draws the chart of klines and fills from. */
import { intervalMs } from '../domain/interval.ts';
import { purposes } from '../research/fill-table.ts';
import type { Payload } from './chart-data.ts';
import type { ReportInput, ReportSeries } from './input.ts';
import { levelsOf, mostRows, unitMs } from './levels.ts';
import { Packer } from './pack.ts';
import { stopSteps } from './stop-levels.ts';

/** Fills in one report; those of a run with more end there, and the page says so. */
export const mostFills = 100_000;
/** Fills whose details are kept. */
const mostDetails = 5_000;
/** Fees are counted in these of the quote asset. */
const feeSteps = 1e8;

/** Time, strategy, price, signed quantity, fee and marks of each fill of a symbol; `page/unpack.ts` reads them. */
function packFills(input: ReportInput, series: ReportSeries, budget: number) {
  const { table } = input;
  const strategies = strategiesOf(input);
  const placeOf = table.places.map(({ strategy, symbol }) =>
    symbol === series.symbol ? strategies.indexOf(strategy) : -1,
  );
  const packer = new Packer();
  const details: Record<number, string> = {};
  let [count, time, price] = [0, 0, 0];
  let asks = table.isPlain === true ? 0 : mostDetails;
  for (let fill = 0; fill < table.length && count < budget; fill++) {
    const strategy = placeOf[table.place[fill] as number] ?? -1;
    if (strategy < 0) continue;
    const at = Math.round(table.time[fill] as number);
    const ticks = Math.round((table.price[fill] as number) * 10 ** series.pricePrecision);
    packer.put(at - time);
    packer.put(strategy);
    packer.put(ticks - price);
    packer.put(Math.round((table.quantity[fill] as number) * 10 ** series.quantityPrecision));
    packer.put(Math.round((table.fee[fill] as number) * feeSteps));
    packer.put(table.purpose[fill] as number);
    packer.put(table.rule[fill] as number);
    packer.put((table.maker[fill] as number) + 2 * (table.ambiguous[fill] as number));
    time = at;
    price = ticks;
    const detail = asks > 0 ? input.detail(fill) : '';
    if (detail !== '') {
      details[count] = detail;
      asks--;
    }
    count++;
  }
  return { fills: count, fillData: packer.packed(), details };
}

const strategiesOf = ({ table }: ReportInput): readonly string[] => [
  ...new Set(table.places.map(({ strategy }) => strategy)),
];

export function payloadOf(input: ReportInput): Payload {
  const share = Math.max(1, input.series.length);
  return {
    asset: input.asset,
    unitMs,
    strategies: strategiesOf(input),
    rules: input.table.rules,
    purposes,
    series: input.series.map((series) => {
      const { symbol, interval, columns, first, pricePrecision, quantityPrecision, base } = series;
      const trips = input.trips.filter(({ place }) => input.table.places[place]?.symbol === symbol);
      return {
        ...{ symbol, interval, pricePrecision, quantityPrecision, base },
        ms: intervalMs(interval, columns.openTime[first] as number),
        levels: levelsOf(series, trips, Math.floor(mostRows / share)),
        ...packFills(input, series, Math.floor(mostFills / share)),
        stops: stopSteps(input, series),
      };
    }),
  };
}
