/** Orders that were large for their market under rules by which that moves no price: those of other libraries, or `fills.impact: none`. */
import { squareRoot } from '../../fill/impact.ts';
import { liquidityOf } from '../../fill/liquidity.ts';
import type { FillTable } from '../../research/fill-table.ts';
import type { UnmovedOrders } from '../../research/verdict.ts';
import type { RunInput } from '../run.ts';

const dayMs = 86_400_000;

/** Where a strategy trades: its last order that took, and what usually trades in the day of it. */
interface At {
  readonly usual: ReturnType<typeof liquidityOf> | undefined;
  dayEnds: number;
  volume: number;
  order: string | number | undefined;
  quantity: number;
  share: number;
}

/** How many, and the most of a day's volume that one of them had; null where none was, or rules move the price of such. */
export function unmovedOrders(
  { rules, series }: Pick<RunInput, 'rules' | 'series'>,
  table: FillTable,
): UnmovedOrders | null {
  if (rules.impact !== undefined) return null;
  const usual = new Map(series.map(({ symbol, columns, interval }) => [symbol, liquidityOf(columns, interval)]));
  const places = table.places.map(
    ({ symbol }): At => ({ usual: usual.get(symbol), dayEnds: 0, volume: 0, order: undefined, quantity: 0, share: 0 }),
  );
  const takes = table.rules.map((rule) => !rule.startsWith('depth-') && rule !== 'end-of-run');
  let [orders, largest] = [0, 0];
  for (let fill = 0; fill < table.length; fill++) {
    const at = places[table.place[fill] as number];
    if (at === undefined || table.maker[fill] === 1 || takes[table.rule[fill] as number] !== true) continue;
    const time = table.time[fill] as number;
    if (time >= at.dayEnds) {
      at.dayEnds = Math.floor(time / dayMs) * dayMs + dayMs;
      at.volume = at.usual?.(time)?.volume ?? 0;
    }
    const order = table.orders[fill];
    if (order !== at.order) [at.order, at.quantity, at.share] = [order, 0, 0];
    at.quantity += Math.abs(table.quantity[fill] as number);
    // Of data without volumes nothing can be said.
    const share = at.volume > 0 ? at.quantity / at.volume : 0;
    if (share >= squareRoot.from && at.share < squareRoot.from) orders++;
    at.share = share;
    largest = Math.max(largest, share);
  }
  return orders === 0 ? null : { orders, largestShare: largest };
}
