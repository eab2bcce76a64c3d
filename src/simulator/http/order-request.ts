/** An order as the body asks for it, checked the way §4.2 describes: parameters, then precision, then minima. */
import { lots, noLots, noTicks, notional, noUnits, ticks, units } from '../../domain/money.ts';
import type { Account } from '../../domain/order.ts';
import { type Refusal, refusals } from '../core/errors.ts';
import type { OrderRequest } from '../core/exchange.ts';
import { type Listed, takesPrice, takesQuantity } from '../core/instrument-terms.ts';
import { decimal, exact, optional, type Params, Refused, required } from './params.ts';

/** Longer client ids are refused: §4.4 says so for margin, and for spot, where no length is given, because ids are kept. */
const longestClientId = { spot: 64, margin: 32 } as const;
/** In steps. Above it two prices could be one number in the order book. */
const highestPrice = 10n ** 15n;

export function orderRequest(params: Params, at: Listed, account: Account = 'spot'): OrderRequest {
  const side = required(params, 'side').toUpperCase();
  if (side !== 'BUY' && side !== 'SELL') throw new Refused(refusals.side);
  const type = required(params, 'type').toUpperCase();
  if (type !== 'LIMIT' && type !== 'MARKET') throw new Refused(refusals.type);
  const clientOrderId = optional(params, 'newClientOrderId') ?? '';
  if (clientOrderId.length > longestClientId[account])
    throw new Refused(account === 'spot' ? refusals.clientId : refusals.marginClientId);
  const volume = decimal(params, 'volume');
  const common = { symbol: at.symbol, side, type, clientOrderId } as const;

  if (type === 'MARKET' && side === 'BUY') {
    const amount = exact(() => units(volume));
    demand(amount > 0n && amount >= at.minNotional, refusals.belowAmount);
    return { ...common, price: noTicks, quantity: noLots, amount };
  }
  const quantity = exact(() => lots(volume, at));
  demand(takesQuantity(at, quantity), refusals.precision);
  demand(quantity > 0n && quantity >= at.minQuantity, refusals.belowMinimum);
  if (type === 'MARKET') return { ...common, price: noTicks, quantity, amount: noUnits };
  const price = exact(() => ticks(decimal(params, 'price'), at));
  demand(takesPrice(at, price), refusals.precision);
  demand(price > 0n && price <= highestPrice, refusals.price);
  demand(notional(price, quantity, at) >= at.minNotional, refusals.belowAmount);
  return { ...common, price, quantity, amount: noUnits };
}

function demand(holds: boolean, refusal: Refusal): void {
  if (!holds) throw new Refused(refusal);
}
