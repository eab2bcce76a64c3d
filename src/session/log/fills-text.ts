/** The fills of one order in one sentence: a MARKET order may have many. */
import type { FillView } from '../../dashboard/view.ts';
import { Decimal } from '../../domain/money.ts';

const decimalsIn = (text: string): number => text.split('.')[1]?.length ?? 0;

/** `fills`: of one order, at least one. The price is their average, with one more decimal where they differ. */
export function fillsText(fills: readonly [FillView, ...FillView[]]): string {
  const [{ strategy, side, symbol, price }] = fills;
  const quantity = Decimal.sum(...fills.map((fill) => fill.quantity));
  const value = Decimal.sum(...fills.map((fill) => new Decimal(fill.price).times(fill.quantity)));
  const decimals = Math.max(...fills.map((fill) => decimalsIn(fill.price))) + 1;
  const isSame = fills.every((fill) => fill.price === price);
  const average = isSame ? price : `${value.div(quantity).toFixed(decimals)} on average`;
  return `${strategy} ${side} ${quantity.toFixed()} ${symbol} at ${average}${fills.length === 1 ? '' : ` (${fills.length} fills)`}`;
}
