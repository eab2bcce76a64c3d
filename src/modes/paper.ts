/** Paper trading: the exchange's market, fills by the fill engine. */
import type { Instrument } from '../domain/instrument.ts';
import { greatest, lots, noRate, noUnits, plus, type Units } from '../domain/money.ts';
import { movementOf } from '../domain/position.ts';
import { restoreFill, restoreOrder } from '../execution/records.ts';
import { feesFrom, rulesets } from '../fill/rules.ts';
import type { Loaded } from '../journal/load.ts';
import type { RestoredOrder } from '../venue/paper/account.ts';
import { paperOnFeed } from '../venue/paper/paper.ts';
import type { Balance } from '../venue/venue.ts';
import { type Session, type SessionOptions, startSession, type Venue, type VenueParts } from './session.ts';

export type PaperOptions = Omit<SessionOptions, 'makeVenue' | 'venueName' | 'secrets'>;

export const startPaper = (options: PaperOptions): Promise<Session> =>
  startSession({
    ...options,
    secrets: undefined,
    venueName: `paper on ${new URL(options.config.exchange.restUrl).hostname}`,
    makeVenue: (parts) => paperVenue(options, parts),
  });

function paperVenue({ config, say }: PaperOptions, { exchange, instruments, clock, loaded }: VenueParts): Venue {
  const rules = rulesets.sluice;
  const { maker, taker } = config.fees;
  const fees = feesFrom({ ...(maker === undefined ? {} : { maker }), ...(taker === undefined ? {} : { taker }) });
  if (fees.assumed) say('fees are not configured: 0.20 % is assumed for maker and taker');
  const cash =
    config.cash ?? config.strategies.reduce((sum, { allocation }) => plus(sum, allocation ?? noUnits), noUnits);
  const venue = paperOnFeed({
    clock,
    feed: exchange.feed,
    symbols: new Set(config.strategies.map(({ symbol }) => symbol)),
    instruments,
    rules,
    fees,
    balances: balancesAfter(loaded, instruments, cash),
    restored: ordersOf(loaded, instruments),
  });
  const feeInBase = rules.feeIn === 'received' ? greatest(fees.maker, fees.taker) : noRate;
  return { orders: venue.orders, feeInBase, close: () => venue.close() };
}

/** What the account holds: the cash it began with and what its fills moved. */
function balancesAfter(loaded: Loaded, instruments: ReadonlyMap<string, Instrument>, cash: Units): readonly Balance[] {
  const [first] = instruments.values();
  const held = new Map<string, Units>(first === undefined ? [] : [[first.quote, cash]]);
  const add = (asset: string, amount: Units): void => {
    held.set(asset, plus(held.get(asset) ?? noUnits, amount));
  };
  for (const row of loaded.fills) {
    const at = instruments.get(row.symbol) as Instrument;
    const moved = movementOf(restoreFill(row, at), at);
    add(at.base, moved.base);
    add(at.quote, moved.quote);
  }
  return [...held].map(([asset, free]) => ({ asset, free, locked: noUnits }));
}

/** Orders that were open when the last run ended; those of unknown outcome get an id and are found by the first sweep. */
function ordersOf(loaded: Loaded, instruments: ReadonlyMap<string, Instrument>): readonly RestoredOrder[] {
  return loaded.orders
    .filter(({ state }) => state !== 'intended')
    .map((row) => {
      const at = instruments.get(row.symbol) as Instrument;
      const { intent } = restoreOrder(row, at);
      const fills = loaded.fills.filter(({ clientOrderId }) => clientOrderId === row.clientOrderId);
      const executed = fills.reduce((sum, fill) => plus(sum, lots(fill.quantity, at)), lots('0', at));
      return row.orderId === null ? { intent, executed } : { orderId: row.orderId, intent, executed };
    });
}
