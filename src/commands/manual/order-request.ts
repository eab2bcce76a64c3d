/** From what a user typed to an order, exactly, and to the sentence that asks whether it is meant. */
import type { Rng } from '../../clock/clock.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import { lots, MoneyError, noLots, noTicks, notional, noUnits, ticks, units, unitsText } from '../../domain/money.ts';
import { type Account, type Intent, mainRole } from '../../domain/order.ts';
import { Refusal } from '../../domain/refusal.ts';
import { draftText } from '../../trading/format.ts';
import { newId } from './new-id.ts';

export interface Typed {
  readonly side: string;
  /** A quantity of the base asset; of a MARKET BUY the amount of the quote asset (specification §4.2). */
  readonly volume: string;
  /** Left out: a MARKET order. */
  readonly price?: string;
  readonly clientId?: string;
}

/** Refuses, with the reason, what the exchange would refuse for its form. */
export function wantedOf(typed: Typed, at: Instrument, account: Account, now: number, rng: Rng): Intent {
  const side = sideOf(typed.side);
  const { clientId = newId('m', rng) } = typed;
  if (!/^[\w-]{1,32}$/.test(clientId))
    throw new Refusal('a client order id has 1 to 32 letters, digits, underscores and dashes');
  const { price } = typed;
  const volume =
    price === undefined && side === 'BUY'
      ? { amount: read('the amount', typed.volume, (text) => units(text)) }
      : { lots: read('the volume', typed.volume, (text) => lots(text, at)) };
  const limit = price === undefined ? {} : { price: read('the price', price, (text) => ticks(text, at)) };
  if (limit.price !== undefined && limit.price <= noTicks) throw new Refusal('the price must be above 0');
  if ('lots' in volume ? volume.lots <= noLots : volume.amount <= noUnits)
    throw new Refusal('the volume must be above 0');
  return {
    clientOrderId: clientId,
    decision: 0,
    strategy: 'by hand',
    role: mainRole,
    account,
    symbol: at.symbol,
    side,
    type: price === undefined ? 'MARKET' : 'LIMIT',
    volume,
    ...limit,
    expectedLots: 'lots' in volume ? volume.lots : noLots,
    expiresAt: Number.MAX_SAFE_INTEGER,
    purpose: side === 'BUY' ? 'enter' : 'exit',
    reason: 'by hand',
    createdAt: now,
  };
}

/** `BUY:0.001@50000`, or `SELL:0.5` for a MARKET order. */
export function typedOf(text: string): Typed {
  const [, side = '', volume = '', price] = /^([A-Za-z]+):([^@]+)(?:@(.+))?$/.exec(text) ?? [];
  if (side === '')
    throw new Refusal(`${text}: an order of a batch looks like BUY:0.001@50000, a MARKET order like SELL:0.5`);
  return price === undefined ? { side, volume } : { side, volume, price };
}

/** `BUY 0.001 BTC at 50000 (LIMIT, worth 50 USDT)`. */
export function wantedText(wanted: Intent, at: Instrument): string {
  const { price, volume } = wanted;
  const worth =
    price !== undefined && 'lots' in volume ? `, worth ${unitsText(notional(price, volume.lots, at))} ${at.quote}` : '';
  return `${draftText(wanted, at)} (${wanted.type}${worth})`;
}

function sideOf(text: string): Side {
  const side = text.toUpperCase();
  if (side === 'BUY' || side === 'SELL') return side;
  throw new Refusal(`the side is BUY or SELL, not ${text}`);
}

function read<T>(what: string, text: string, make: (text: string) => T): T {
  if (!/^\d{1,30}(\.\d{1,30})?$/.test(text))
    throw new Refusal(`${what} must be a decimal number such as 0.5, not ${text}`);
  try {
    return make(text);
  } catch (error) {
    if (error instanceof MoneyError)
      throw new Refusal(`${what}: ${error.message}; sluice market symbols shows the precision`);
    throw error;
  }
}
