/** Opens an exchange from its options and, after a restart, from its saved state. */
import { type Instrument, instrument } from '../domain/instrument.ts';
import { lots, rate, units } from '../domain/money.ts';
import { Refusal } from '../domain/refusal.ts';
import { type Asset, plainAsset } from './core/assets.ts';
import { Exchange } from './core/exchange.ts';
import { type Credentials, isKeyFormat } from './core/keys.ts';
import { holderOf } from './core/order.ts';
import type { Quirks } from './core/quirks.ts';
import type { LogEntry } from './log.ts';
import { openMarkets } from './market/open-markets.ts';
import { crowdUids } from './market/participants.ts';
import type {
  AssetOptions,
  CheckedOptions,
  InstrumentOptions,
  SimulatorKey,
  SimulatorOptions,
  SimulatorUser,
} from './options.ts';
import type { Store } from './persist/store.ts';

/** How long a cancel takes where it does not happen at once, ms of exchange time. */
const cancelDelayMs = 500;
/** The usual fee of live venues, and the documented default. */
const usualFees = { maker: '0.002', taker: '0.002' };

/** A new exchange opens at `start`, a saved one goes on at `now` (exchange time). */
export function openExchange(
  options: CheckedOptions,
  store: Store | undefined,
  start: number,
  now: number,
  { cancel }: Quirks,
  log: (entry: LogEntry) => void,
): Exchange {
  const { instruments, fees = usualFees } = options;
  if (options.clock !== undefined && options.clock.now() < now)
    throw new Refusal(`the clock says ${start}, but the saved exchange has reached ${now}: start the clock there`);
  const exchange = new Exchange({
    instruments,
    markets: openMarkets(options, store?.anchor ?? start, now, (symbol) => store?.past(symbol)),
    fees: { maker: rate(fees.maker), taker: rate(fees.taker) },
    startAt: now,
    keptOrders: options.keptOrders,
    onForgotten: store?.forget,
    cancelDelayMs: cancel === 'later' ? cancelDelayMs : undefined,
    assets: Object.entries(options.assets ?? {}).map(([code, given]) => assetOf(code, given)),
    onLooped(symbol, times) {
      log({ at: exchange.now, kind: 'looped', symbol, times });
      options.onLooped?.(symbol, times);
    },
  });
  for (const uid of crowdUids) exchange.orders.passing.add(uid);
  store?.restore(exchange);
  addKeys(exchange, options.users);
  for (const { uid, balances, margin = {} } of options.users) {
    for (const [holder, amounts] of [[uid, balances] as const, [holderOf(uid, 'margin'), margin] as const]) {
      if (exchange.accounts.has(holder)) continue;
      for (const [asset, amount] of Object.entries(amounts)) exchange.accounts.deposit(holder, asset, units(amount));
    }
  }
  return exchange;
}

/** Refuses users that contradict each other, and hands their keys to the exchange. */
function addKeys(exchange: Exchange, users: readonly SimulatorUser[]): void {
  const seen = new Set<string>();
  for (const { uid, key, secret, permissions, addresses, keys = [] } of users) {
    if (!/^\d{1,18}$/.test(uid)) throw new Error(`the uid ${JSON.stringify(uid)} is not a whole number`);
    const first: SimulatorKey = { key, secret, ...(permissions && { permissions }), ...(addresses && { addresses }) };
    for (const one of [first, ...keys]) {
      if (seen.has(one.key)) throw new Error(`two users have the key ${one.key}`);
      seen.add(one.key);
      exchange.keys.configure(one.key, credentialsOf(uid, one));
    }
  }
}

/** The options with validated instruments; throws one clear error. */
export function checkedOptions(options: SimulatorOptions): CheckedOptions {
  const symbols = new Set<string>();
  for (const { symbol } of options.instruments) {
    if (symbols.has(symbol)) throw new Refusal(`there are two instruments ${symbol}`);
    symbols.add(symbol);
  }
  return { ...options, instruments: options.instruments.map(instrumentOf) };
}

function instrumentOf(given: Instrument | InstrumentOptions): Instrument {
  const { minQuantity = '0', minNotional = '0', ...shape } = given;
  return instrument({
    ...shape,
    minQuantity: typeof minQuantity === 'string' ? lots(minQuantity, shape) : minQuantity,
    minNotional: typeof minNotional === 'string' ? units(minNotional) : minNotional,
  });
}

/** A key's default permissions: withdrawing must be granted explicitly. */
const usualPermissions = ['read', 'trade'] as const;

/** Throws when the key could not be sent in a header as it is. */
export function credentialsOf(uid: string, { key, secret, permissions, addresses }: SimulatorKey): Credentials {
  if (!isKeyFormat(key)) throw new Error(`the key ${JSON.stringify(key)} must be 1 to 128 letters, digits, _ . or -`);
  return { uid, secret, permissions: permissions ?? usualPermissions, ...(addresses && { addresses }) };
}

function assetOf(code: string, { fee = '0', minWithdraw = '0', maxWithdraw, ...given }: AssetOptions): Asset {
  const most = maxWithdraw === undefined ? undefined : units(maxWithdraw);
  return { ...plainAsset(code), ...given, fee: units(fee), minWithdraw: units(minWithdraw), maxWithdraw: most };
}
