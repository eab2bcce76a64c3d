/** Orders that were large for their market under rules without impact: those of other libraries, or `fills.impact: none`. */
import { squareRoot } from '../../fill/impact.ts';
import { liquidityOf } from '../../fill/liquidity.ts';
import type { FillTable } from '../../research/fill-table.ts';
import type { UnmovedOrders } from '../../research/verdict.ts';
import type { RunInput } from '../run.ts';

const dayMs = 86_400_000;

/** How many there are, and the largest share of a usual day's volume; null where there are none, or where the rules have impact. */
export function unmovedOrders(
  { rules, series }: Pick<RunInput, 'rules' | 'series'>,
  table: FillTable,
): UnmovedOrders | null {
  if (rules.impact !== undefined) return null;
  const liquidity = new Map(series.map(({ symbol, columns, interval }) => [symbol, liquidityOf(columns, interval)]));
  const takes = table.rules.map((rule) => !rule.startsWith('depth-') && rule !== 'end-of-run');
  let [orders, largest] = [0, 0];
  for (const [position, { symbol }] of table.positions.entries()) {
    const usual = liquidity.get(symbol);
    let [dayEnds, volume, order, quantity, isCounted] = [0, 0, -1, 0, false];

    for (let fill = 0; fill < table.length; fill++) {
      if (table.position[fill] !== position || table.maker[fill] === 1 || !takes[table.rule[fill] as number]) continue;
      const time = table.time[fill] as number;
      if (time >= dayEnds) {
        dayEnds = Math.floor(time / dayMs) * dayMs + dayMs;
        volume = usual?.(time)?.volume ?? 0;
      }
      if (order < 0 || table.orders[fill] !== table.orders[order]) [quantity, isCounted] = [0, false];
      order = fill;
      quantity += Math.abs(table.quantity[fill] as number);
      // Data without volumes have no usual day.
      const share = volume > 0 ? quantity / volume : 0;
      if (share >= squareRoot.from && !isCounted) {
        orders++;
        isCounted = true;
      }
      if (share > largest) largest = share;
    }
  }
  return orders === 0 ? null : { orders, largestShare: largest };
}
