/** The strategies of a daemon with their live results, from its journal and its configuration. */
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { configHash } from '../config/hash.ts';
import { readConfig } from '../config/read.ts';
import { type StrategyConfig, tradingSchema } from '../config/schema.ts';
import { type Instrument, instrument } from '../domain/instrument.ts';
import { lots, priceNumber, quantityNumber, units, unitsNumber } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { orRefusal, Refusal } from '../domain/refusal.ts';
import type { FillEntry } from '../journal/entries.ts';
import { restoreFill } from '../journal/fill-entries.ts';
import { finer } from '../journal/load.ts';
import { type JournalReader, openReader } from '../journal/reader.ts';
import { PaidBeyond, type Results } from './figures.ts';

/** Slippage and denials are those of the last days by the exchange's clock: older rows may have been moved to the archive. */
const recentMs = 30 * 86_400_000;
/** The newest orders of which slippage is measured. */
const maxOrders = 2_000;

export interface LiveStrategy {
  readonly config: StrategyConfig;
  /** SHA-256 of the code that ran last; undefined before the first start. */
  readonly code: string | undefined;
  readonly results: Results | undefined;
}

export interface LiveStrategies {
  /** The folder of the configuration: paths of strategies begin there. */
  readonly dir: string;
  readonly strategies: readonly LiveStrategy[];
  readonly notes: readonly string[];
}

/** Reads a state directory beside its daemon, which does not notice. */
export function liveStrategies(stateDir: string): LiveStrategies {
  const reader = openReader(stateDir);
  try {
    return strategiesIn(reader);
  } finally {
    reader.close();
  }
}

function strategiesIn(reader: JournalReader): LiveStrategies {
  const steps = reader.limits();
  const config = steps.findLast(({ what }) => what === 'config');
  const file = config === undefined ? '' : resolve(config.name);
  if (config === undefined || !existsSync(file))
    throw new Refusal(
      `the configuration ${config?.name ?? ''} is not found: start sluice dashboard where the daemon was started`,
    );
  const read = orRefusal(() => readConfig(file, tradingSchema));
  if (read instanceof Refusal) throw read;
  const isSame = configHash(read) === config.value;
  const fills = Map.groupBy(reader.pastFills(), ({ strategy }) => strategy);
  return {
    dir: dirname(file),
    strategies: read.strategies.map((one) => {
      const versions = steps.filter(({ what, name }) => what === 'version' && name === one.id);
      return {
        config: one,
        code: versions.at(-1)?.value,
        results: resultsOf(reader, one, versions[0]?.at, fills.get(one.id) ?? []),
      };
    }),
    notes: isSame
      ? []
      : [
          `${basename(file)} is not exactly the configuration that runs: it has changed, or --set did. Parameters are those of the file.`,
        ],
  };
}

/** `since`: when it ran first. */
function resultsOf(
  reader: JournalReader,
  { id, allocation }: StrategyConfig,
  since: number | undefined,
  entries: readonly FillEntry[],
): Results | undefined {
  const to = reader.equity()?.at;
  if (since === undefined || to === undefined || to <= since) return undefined;
  const instruments = new Map<string, Instrument>(
    reader.instruments().map((entry) => [entry.symbol, instrument(entry)]),
  );
  for (const entry of entries) {
    const known = instruments.get(entry.symbol);
    if (known !== undefined) instruments.set(entry.symbol, finer(entry, known));
  }
  const fills = entries.flatMap((entry): readonly Fill[] => {
    const known = instruments.get(entry.symbol);
    return known === undefined ? [] : [restoreFill(entry, known)];
  });
  return {
    ...{ fills, instruments, from: since, to },
    capital: allocation === undefined ? undefined : unitsNumber(allocation),
    slippage: slippageOf(reader, id, to - recentMs, { fills, instruments }),
    denialShare: denialShareOf(reader, id, to - recentMs),
  };
}

function denialShareOf(reader: JournalReader, id: string, after: number): number | null {
  const denied = reader
    .denials(Number.MAX_SAFE_INTEGER, id)
    .reduce((total, { at, times }) => total + (at > after ? times : 0), 0);
  const row = reader.db
    .prepare('SELECT count(*) AS orders FROM orders WHERE strategy = ? AND created_at > ?')
    .get(id, after) as { readonly orders: number };
  return denied + row.orders === 0 ? null : denied / (denied + row.orders);
}

/** What MARKET orders paid beyond the price by which they were approved: their value then over the quantity that was expected. */
function slippageOf(
  reader: JournalReader,
  id: string,
  after: number,
  { fills, instruments }: Pick<Results, 'fills' | 'instruments'>,
): number | null {
  const orders = reader.orders(
    "strategy = ? AND type = 'MARKET' AND created_at > ? ORDER BY created_at DESC LIMIT ?",
    ...[id, after, maxOrders],
  );
  const fillsOf = Map.groupBy(fills, ({ clientOrderId }) => clientOrderId);
  const paid = new PaidBeyond();
  for (const { clientOrderId, symbol, side, expected } of orders) {
    const at = instruments.get(symbol);
    const approved = reader.events(clientOrderId).find(({ event }) => event === 'approved')?.detail['value'];
    if (at === undefined || typeof approved !== 'string') continue;
    const price = unitsNumber(units(approved)) / quantityNumber(lots(expected, at, 'down'), at);
    if (!Number.isFinite(price)) continue;
    for (const fill of fillsOf.get(clientOrderId) ?? [])
      paid.add({ side, quantity: quantityNumber(fill.quantity, at), price: priceNumber(fill.price, at) }, price);
  }
  return paid.share;
}
