/** The bytes of requests that create orders. Volume and price are JSON numbers (§4.2), written from their digits and never through a double. */
import type { Instrument } from '../../../domain/instrument.ts';
import { priceText, quantityText, unitsText } from '../../../domain/money.ts';
import type { Intent } from '../../../domain/order.ts';

/** The part of an intent that is sent to the exchange. */
export type OrderRequest = Pick<Intent, 'symbol' | 'side' | 'type' | 'volume' | 'price' | 'clientOrderId'>;

/** For a MARKET BUY the volume is the amount of the quote asset. */
const volumeText = ({ volume }: OrderRequest, at: Instrument): string =>
  'lots' in volume ? quantityText(volume.lots, at) : unitsText(volume.amount);

const pricePart = ({ price }: OrderRequest, at: Instrument): string =>
  price === undefined ? '' : `,"price":${priceText(price, at)}`;

/**
 * A create or its test: `{"symbol":"BTCUSDT","volume":0.001,"side":"BUY","type":"LIMIT","price":86650.65,"newClientOrderId":"s…",
 * "recvWindow":2000}`, where `window` is its last field (recv-window.ts).
 */
export function createBody(order: OrderRequest, at: Instrument, window: string): string {
  const names = `"side":"${order.side}","type":"${order.type}"`;
  const id = `"newClientOrderId":${JSON.stringify(order.clientOrderId)}`;
  const volume = volumeText(order, at);
  return `{"symbol":${JSON.stringify(order.symbol)},"volume":${volume},${names}${pricePart(order, at)},${id}${window}}`;
}

/** A batch: `{"symbol":"BTCUSDT","orders":[{"volume":0.001,"side":"BUY","batchType":"LIMIT","price":86650.65}]}`. It carries no client ids. */
export function batchBody(symbol: string, orders: readonly OrderRequest[], at: Instrument): string {
  const rows = orders.map(
    (one) => `{"volume":${volumeText(one, at)},"side":"${one.side}","batchType":"${one.type}"${pricePart(one, at)}}`,
  );
  return `{"symbol":${JSON.stringify(symbol)},"orders":[${rows.join(',')}]}`;
}

/** Ids are longs beyond 2^53: written as the digits that they are. */
export const batchCancelBody = (symbol: string, orderIds: readonly string[]): string =>
  `{"symbol":${JSON.stringify(symbol)},"orderIds":[${orderIds.join(',')}]}`;
