/** Builders for the tests of the fill engine, and readable forms of what it returns. */
import { instrument } from '../../src/domain/instrument.ts';
import { lots, priceText, quantityText, rate, ticks, units, unitsText } from '../../src/domain/money.ts';
import { feeOf } from '../../src/fill/fees.ts';
import { type FillKline, KlineFills, type KlineFillsOptions } from '../../src/fill/kline-fills.ts';
import type { SimFill, SimOrder, Step, Stop } from '../../src/fill/orders.ts';
import { feesFrom, rulesets } from '../../src/fill/rules.ts';

/** The instrument of the golden tests: tick 0.01, lot 0.0001. */
export const at = instrument({ symbol: 'XYZ', base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 4 });
export const goldenFees = feesFrom({ maker: rate('0.001'), taker: rate('0.002') });

export interface OrderText {
  readonly id?: string;
  readonly strategy?: string;
  readonly side?: 'BUY' | 'SELL';
  readonly lots?: string;
  readonly amount?: string;
  readonly price?: string;
}

/** An order in decimals: a LIMIT when it has a price; 1 lot-unit of base unless it says otherwise. */
export const order = ({ id = 'a', strategy = 's', side = 'BUY', ...text }: OrderText = {}): SimOrder => ({
  clientOrderId: id,
  strategy,
  side,
  volume: text.amount === undefined ? { lots: lots(text.lots ?? '1', at) } : { amount: units(text.amount) },
  ...(text.price === undefined ? { type: 'MARKET' } : { type: 'LIMIT', price: ticks(text.price, at) }),
});

export const stopAt = (price: string, side: 'BUY' | 'SELL' = 'SELL'): Stop => ({
  strategy: 's',
  side,
  price: ticks(price, at),
});

let minute = 0;
/** A kline of one minute, each later than the one before. */
export const kline = (
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
  openTime = 60_000 * minute++,
): FillKline => ({ openTime, open, high, low, close, volume });

export const engine = (options: Partial<KlineFillsOptions> = {}): KlineFills =>
  new KlineFills({ instrument: at, interval: '1min', rules: rulesets.sluice, ...options });

/** A fill as `quantity @ price`, with its fee in the golden tests' rates. */
export const fillText = (fill: SimFill): string => {
  const { fee, feeAsset } = feeOf(fill, goldenFees, 'received', at);
  const how = fill.maker ? 'maker' : 'taker';
  return `${quantityText(fill.quantity, at)} @ ${priceText(fill.price, at)} ${how}, fee ${unitsText(fee)} ${feeAsset}`;
};
export const fillTexts = (step: Step): string[] => step.fills.map(fillText);
export const endTexts = (step: Step): string[] =>
  step.ends.map(({ order: { clientOrderId }, end }) => `${clientOrderId} ${end}`);

/** One kline as a backtest runs it: open, stops of what is held, rest. Every stop that is hit sells `lots`, and ends every order. */
export function run(fills: KlineFills, row: FillKline, stops: readonly Stop[] = [], held = '1'): SimFill[] {
  const out = [...fills.open(row).fills];
  for (const hit of fills.triggers(row, stops)) {
    const side = stops.find((stop) => stop.strategy === hit.strategy)?.side ?? 'SELL';
    out.push(...fills.fillStop(row, order({ id: 'stop', side, lots: held }), hit).fills);
    fills.cancel('target');
  }
  out.push(...fills.rest(row).fills);
  fills.pause();
  return out;
}
