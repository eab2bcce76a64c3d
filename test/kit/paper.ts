/** Builders for the tests of the simulated venues. */
import { instrument } from '../../src/domain/instrument.ts';
import type { Side } from '../../src/domain/market.ts';
import { lots, noLots, noUnits, rate, ticks, units, unitsText } from '../../src/domain/money.ts';
import type { Intent, Outcome, Purpose } from '../../src/domain/order.ts';
import { feesFrom } from '../../src/fill/rules.ts';
import type { Balance, Gate, OrderRef } from '../../src/venue/venue.ts';

export const at = instrument({
  symbol: 'XZ',
  base: 'X',
  quote: 'Z',
  pricePrecision: 2,
  quantityPrecision: 4,
  minQuantity: 10n as typeof noLots,
  minNotional: units('1'),
});
export const instruments = new Map([[at.symbol, at]]);
export const fees = feesFrom({ maker: rate('0.001'), taker: rate('0.002') });
export const purse = (free: Readonly<Record<string, string>>): readonly Balance[] =>
  Object.entries(free).map(([asset, amount]) => ({ asset, free: units(amount), locked: noUnits }));

/** A gate that stands open. */
export const letGo: Gate = Promise.resolve(undefined);

let count = 0;
/** An intent in decimals: a LIMIT when it has a price, a BUY of 1 X unless it says otherwise. */
export function intent(
  text: {
    readonly id?: string;
    readonly symbol?: string;
    readonly side?: Side;
    readonly lots?: string;
    readonly amount?: string;
    readonly price?: string;
    readonly purpose?: Purpose;
  } = {},
): Intent {
  const volume = text.amount === undefined ? { lots: lots(text.lots ?? '1', at) } : { amount: units(text.amount) };
  return {
    clientOrderId: text.id ?? `c${count++}`,
    decision: 1,
    strategy: 's',
    role: 'main',
    account: 'spot',
    symbol: text.symbol ?? at.symbol,
    side: text.side ?? 'BUY',
    type: text.price === undefined ? 'MARKET' : 'LIMIT',
    volume,
    ...(text.price === undefined ? {} : { price: ticks(text.price, at) }),
    expectedLots: noLots,
    expiresAt: Number.POSITIVE_INFINITY,
    purpose: text.purpose ?? 'enter',
    reason: 'test',
    createdAt: 0,
  };
}

export function refOf(outcome: Outcome): OrderRef {
  if (outcome.kind !== 'accepted') throw new Error(`the order was ${outcome.kind}`);
  return { symbol: outcome.report.symbol, orderId: outcome.report.orderId };
}

/** Balances as `asset free+locked`. */
export const balanceTexts = (balances: readonly Balance[]): string[] =>
  balances.map(({ asset, free, locked }) => `${asset} ${unitsText(free)}+${unitsText(locked)}`);
