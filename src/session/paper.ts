/** Paper trading: the exchange's market, fills by the fill engine. */
import type { Instrument } from '../domain/instrument.ts';
import { lotsIn, max, noRate, noUnits, plus, type Units, units } from '../domain/money.ts';
import { movementOf } from '../domain/position.ts';
import { Refusal } from '../domain/refusal.ts';
import { restoreOrder } from '../execution/records.ts';
import { feesFrom, rulesets } from '../fill/rules.ts';
import { restoreFill } from '../journal/fill-entries.ts';
import { finer, type Loaded } from '../journal/load.ts';
import type { RestoredOrder } from '../venue/paper/account.ts';
import { paperOnFeed } from '../venue/paper/paper.ts';
import type { Balance } from '../venue/venue.ts';
import type { StartOptions, Venue, VenueParts } from './options.ts';
import { startOpening } from './preflight/open-state.ts';
import { type Session, startSession } from './session.ts';

export async function startPaper(options: StartOptions): Promise<Session> {
  const named = { ...options, venueName: `paper on ${new URL(options.config.exchange.restUrl).hostname}` };
  return startSession({
    ...named,
    opening: startOpening(named),
    secrets: undefined,
    makeVenue: (parts) => paperVenue(options, parts),
  });
}

function paperVenue(
  { config, say, stateDir }: StartOptions,
  { exchange, instruments, traded, clock, loaded: kept }: VenueParts,
): Venue {
  const loaded = withoutLostFills(kept);
  const rules = rulesets.sluice;
  const { maker, taker } = config.fees;
  const fees = feesFrom({ maker, taker });
  if (fees.assumed) say('fees are not configured: 0.20 % is assumed for maker and taker');
  const cash =
    config.cash ?? config.strategies.reduce((sum, { allocation }) => plus(sum, allocation ?? noUnits), noUnits);
  const venue = paperOnFeed({
    clock,
    feed: exchange.feed,
    // What strategies left that are not configured any more still rests, and their stops can still be hit.
    symbols: new Set([...traded, ...loaded.orders, ...loaded.protections].map(({ symbol }) => symbol)),
    instruments,
    rules,
    fees,
    balances: balancesAfter(traded, loaded, instruments, cash, stateDir),
    restored: ordersOf(loaded, instruments),
    firstId: firstIdAfter(loaded),
  });
  const feeInBase = rules.feeIn === 'received' ? max(fees.maker, fees.taker) : noRate;
  return { orders: venue.orders, feeInBase, loaded, close: () => venue.close() };
}

/** What the account holds: the cash it began with and what its fills moved, all in one currency: sums of several would be none. */
export function balancesAfter(
  traded: readonly { readonly symbol: string }[],
  { past }: Pick<Loaded, 'past'>,
  instruments: ReadonlyMap<string, Instrument>,
  cash: Units,
  stateDir: string,
): readonly Balance[] {
  const symbol = traded[0]?.symbol ?? '';
  const quote = instruments.get(symbol)?.quote ?? '';
  const held = new Map<string, Units>([[quote, cash]]);
  const add = (asset: string, amount: Units): void => {
    held.set(asset, plus(held.get(asset) ?? noUnits, amount));
  };
  for (const row of past.fills()) {
    const at = finer(row, instruments.get(row.symbol) as Instrument);
    if (at.quote !== quote)
      throw new Refusal(
        `${stateDir} traded ${row.symbol}, quoted in ${at.quote}, and ${symbol} is quoted in ${quote}: a paper account has one currency; use another directory with --state DIR`,
      );
    const moved = movementOf(restoreFill(row, at), at);
    add(at.base, moved.base);
    add(at.quote, moved.quote);
  }
  return [...held].map(([asset, free]) => ({ asset, free, locked: noUnits }));
}

/** What the rows say was filled of each order that is not closed. */
function executedIn({ orders, past }: Loaded): ReadonlyMap<string, Units> {
  const sums = new Map(orders.map(({ clientOrderId }) => [clientOrderId, noUnits]));
  if (orders.length === 0) return sums;
  for (const { clientOrderId, quantity } of past.fills()) {
    const sum = sums.get(clientOrderId);
    if (sum !== undefined) sums.set(clientOrderId, plus(sum, units(quantity)));
  }
  return sums;
}

/**
 * The journal without what this venue forgot: a fill that was reported but is no row yet has not happened, so its order works
 * again. Otherwise it would wait for that fill for good.
 */
export function withoutLostFills(loaded: Loaded): Loaded {
  const executed = executedIn(loaded);
  return {
    ...loaded,
    orders: loaded.orders.map((row) =>
      row.state === 'closing' && units(row.executed ?? '0') !== executed.get(row.clientOrderId)
        ? { ...row, state: 'open', executed: null, venueStatus: null }
        : row,
    ),
  };
}

/**
 * Orders that were at the exchange when the last run ended; those of unknown outcome get an id and are found by the first
 * sweep. One that is closing is over: its rows add up.
 */
export function ordersOf(loaded: Loaded, instruments: ReadonlyMap<string, Instrument>): readonly RestoredOrder[] {
  const sums = executedIn(loaded);
  return loaded.orders
    .filter(({ state }) => state !== 'intended' && state !== 'closing')
    .map((row) => {
      const at = instruments.get(row.symbol) as Instrument;
      const { intent } = restoreOrder(row, at);
      const executed = lotsIn(sums.get(row.clientOrderId) ?? noUnits, at);
      return row.orderId === null ? { intent, executed } : { orderId: row.orderId, intent, executed };
    });
}

/** Above every id that this journal knows: market time may lie before that of an earlier run, and ids count on from it. */
export function firstIdAfter({ past, cursors }: Pick<Loaded, 'past' | 'cursors'>): number {
  return [...cursors.values()].flat().reduce((highest, id) => Math.max(highest, Number(id)), past.highestId()) + 1;
}
