/** The one writer: entries in, rows out, one transaction for each batch. Hosted by a worker live, in-process in a backtest. */
import type { Database, Statement } from 'better-sqlite3';
import type {
  AuditEntry,
  DenialEntry,
  Entry,
  FillEntry,
  OrderEntryRow,
  QuarantinedTradeEntry,
  VenueOrderEntry,
  VenueTradeEntry,
} from './entries.ts';
import { chainOf } from './hash-chain.ts';

/** Writes a batch in one transaction: all of it or nothing. */
export type Write = (entries: readonly Entry[]) => void;

type Values = readonly (string | number | null)[];

/** Two million epochs of four billion rows fit a number. */
const rowsPerEpoch = 2 ** 32;

/** Refusals of a strategy and symbol that are told from new ones; a wish of more orders, all refused, makes rows each time it is repeated. */
const denialsRemembered = 100;

const bit = (flag: boolean): number => (flag ? 1 : 0);

const statements = {
  signal: 'INSERT INTO signals VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  denied:
    'INSERT INTO denials (at, strategy, symbol, code, facts, draft, reason, last_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  deniedAgain: 'UPDATE denials SET times = times + 1, last_at = ?, facts = ? WHERE seq = ?',
  order: `INSERT OR REPLACE INTO orders VALUES (${Array(29).fill('?').join(', ')})`,
  event: 'INSERT INTO events (seq, at, client_order_id, event, detail) VALUES (?, ?, ?, ?, ?)',
  // Only the same trade again is passed over: INSERT OR IGNORE would drop a row with a missing value as well.
  fill: `INSERT INTO fills (trade_id, order_id, client_order_id, strategy, account, symbol, side, price, quantity, fee, fee_asset,
    maker, time, purpose, evidence) VALUES (${Array(15).fill('?').join(', ')}) ON CONFLICT (account, trade_id, order_id) DO NOTHING`,
  cursor: 'INSERT OR REPLACE INTO cursors VALUES (?, ?)',
  venueTrade: `INSERT INTO venue_trades VALUES (${Array(11).fill('?').join(', ')}) ON CONFLICT DO NOTHING`,
  quarantinedTrade: `INSERT OR REPLACE INTO quarantined_trades VALUES (${Array(18).fill('?').join(', ')})`,
  venueOrder: `INSERT INTO venue_orders VALUES (${Array(8).fill('?').join(', ')}) ON CONFLICT DO NOTHING`,
  adjustment: 'INSERT INTO adjustments (at, what, asset, amount, by, reason) VALUES (?, ?, ?, ?, ?, ?)',
  horizon: "INSERT OR REPLACE INTO meta VALUES ('horizonMs', ?)",
  foreign: `INSERT INTO foreign_orders (order_id, symbol, at, why) VALUES (?, ?, ?, ?)
    ON CONFLICT (order_id) DO UPDATE SET why = excluded.why`,
  protection: 'INSERT OR REPLACE INTO protections VALUES (?, ?, ?)',
  unprotected: 'DELETE FROM protections WHERE strategy = ? AND symbol = ?',
  kill: 'INSERT INTO kills (kind, at, strategy, by, reason) VALUES (?, ?, ?, ?, ?)',
  limit: 'INSERT INTO limits (at, what, name, value, by, reason) VALUES (?, ?, ?, ?, ?, ?)',
  memory: 'INSERT OR REPLACE INTO memories VALUES (?, ?)',
  day: 'INSERT OR REPLACE INTO days VALUES (?, ?)',
  // A resume measures the day's loss anew: after a restart, too, whether it was a daemon that wrote it or a command without one.
  undated: 'DELETE FROM days',
  // The same of what was counted against strategies, of one or of all.
  forgotten:
    "DELETE FROM memories WHERE name = 'throttle.' || ? OR (? IS NULL AND (name = 'peak' OR name LIKE 'throttle.%'))",
  equity: 'INSERT OR REPLACE INTO equity VALUES (?, ?)',
  audit: 'INSERT OR REPLACE INTO audits VALUES (?, ?, ?, ?, ?)',
  instrument: 'INSERT OR REPLACE INTO instruments VALUES (?, ?, ?, ?, ?)',
  notice: 'INSERT INTO notices (at, level, text) VALUES (?, ?, ?)',
} as const;

/** In the order of the columns of `orders`. */
const orderValues = (row: OrderEntryRow): Values => [
  row.clientOrderId,
  row.orderId,
  row.decision,
  row.strategy,
  row.role,
  row.account,
  row.symbol,
  row.side,
  row.type,
  row.quantity,
  row.amount,
  row.price,
  row.expected,
  row.purpose,
  row.reason,
  row.createdAt,
  row.expiresAt,
  row.state,
  row.filled,
  row.executed,
  row.venueStatus,
  row.signedAt,
  row.recvWindowMs,
  row.bodyHash,
  row.tradeFloor,
  bit(row.cancelRequested),
  row.quarantineReason,
  row.batch,
  row.closedAt,
];

/** `epoch`: which opening of the journal this is; rows are numbered anew in each, above all earlier ones. */
export function writer(db: Database, epoch = 0): Write {
  let seq = epoch * rowsPerEpoch;
  const ready = new Map<keyof typeof statements, Statement>();
  /** Prepared when it is first needed: most runs need few, and the first order is not the first entry. */
  function prepared(name: keyof typeof statements): Statement {
    const statement = ready.get(name) ?? db.prepare(statements[name]);
    ready.set(name, statement);
    return statement;
  }
  // A strategy that repeats a wish which a rule refuses would fill the disk: the same refusal again is counted.
  const lastDenials = new Map<string, Map<string, { code: string; seq: number | bigint }>>();

  function denied(entry: DenialEntry): void {
    const key = `${entry.strategy}\n${entry.symbol}`;
    const known = lastDenials.get(key) ?? new Map<string, { code: string; seq: number | bigint }>();
    lastDenials.set(key, known);
    const last = known.get(entry.draft);
    const facts = JSON.stringify(entry.facts);
    if (last?.code === entry.code) {
      prepared('deniedAgain').run(entry.at, facts, last.seq);
      return;
    }
    const row = prepared('denied').run(
      entry.at,
      entry.strategy,
      entry.symbol,
      entry.code,
      facts,
      entry.draft,
      entry.reason,
      entry.at,
    );
    known.delete(entry.draft);
    known.set(entry.draft, { code: entry.code, seq: row.lastInsertRowid });
    const [oldest] = known.keys();
    if (known.size > denialsRemembered && oldest !== undefined) known.delete(oldest);
  }

  function writeOne(entry: Entry): void {
    if (entry.kind === 'denied') {
      denied(entry);
      return;
    }
    const [name, values] = rowOf(entry, seq++);
    prepared(name).run(values);
    if (entry.kind === 'resume') {
      prepared('undated').run();
      prepared('forgotten').run(entry.strategy, entry.strategy);
    }
  }

  const writeEach = (entries: readonly Entry[]): void => {
    for (const entry of latestVersions(entries)) writeOne(entry);
  };
  const chain = chainOf(db);
  const writeAll =
    chain === undefined
      ? db.transaction(writeEach)
      : (entries: readonly Entry[]) => chain.commit(() => writeEach(entries));
  return (entries) => {
    try {
      writeAll(entries);
    } catch (error) {
      // What was rolled back is written again later: it must not be counted on to rows that are not there.
      lastDenials.clear();
      throw error;
    }
  };
}

/** A batch without what nobody will see of it: of several versions of an order or a cursor a reader finds the last. */
export function latestVersions(entries: readonly Entry[]): readonly Entry[] {
  const last = new Map<string, Entry>();
  for (const entry of entries) {
    if (entry.kind === 'order') last.set(entry.clientOrderId, entry);
    else if (entry.kind === 'cursor') last.set(entry.symbol, entry);
  }
  return entries.filter(
    (entry) =>
      (entry.kind !== 'order' || last.get(entry.clientOrderId) === entry) &&
      (entry.kind !== 'cursor' || last.get(entry.symbol) === entry),
  );
}

/** Which statement an entry runs, and with what. */
function rowOf(entry: Exclude<Entry, DenialEntry>, seq: number): readonly [keyof typeof statements, Values] {
  switch (entry.kind) {
    case 'signal':
      return [
        'signal',
        [
          seq,
          entry.at,
          entry.decision,
          entry.strategy,
          entry.role,
          entry.symbol,
          JSON.stringify(entry.signal),
          entry.quantity,
        ],
      ];
    case 'order':
      return ['order', orderValues(entry)];
    case 'event':
      return ['event', [seq, entry.at, entry.clientOrderId, entry.event, JSON.stringify(entry.detail)]];
    case 'fill':
      return ['fill', fillValues(entry)];
    case 'cursor':
      return ['cursor', [entry.symbol, JSON.stringify(entry.tradeIds)]];
    case 'foreign':
      return ['foreign', [entry.orderId, entry.symbol, entry.at, entry.why]];
    case 'protection':
      return entry.protection === null
        ? ['unprotected', [entry.strategy, entry.symbol]]
        : ['protection', [entry.strategy, entry.symbol, JSON.stringify(entry.protection)]];
    case 'venueTrade':
      return ['venueTrade', venueTradeValues(entry)];
    case 'quarantinedTrade':
      return ['quarantinedTrade', quarantinedTradeValues(entry)];
    case 'venueOrder':
      return ['venueOrder', venueOrderValues(entry)];
    case 'adjustment':
      return ['adjustment', [entry.at, entry.what, entry.asset, entry.amount, entry.by, entry.reason]];
    case 'horizon':
      return ['horizon', [String(entry.ms)]];
    case 'kill':
    case 'halt':
    case 'resume':
      return ['kill', [entry.kind, entry.at, entry.strategy, entry.by, entry.reason]];
    case 'limit':
      return ['limit', [entry.at, entry.what, entry.name, entry.value, entry.by, entry.reason]];
    case 'memory':
      return ['memory', [entry.name, entry.value]];
    case 'day':
      return ['day', [entry.day, entry.equity]];
    case 'equity':
      return ['equity', [entry.at, entry.equity]];
    case 'audit':
      return ['audit', auditValues(entry)];
    case 'instrument':
      return ['instrument', [entry.symbol, entry.base, entry.quote, entry.pricePrecision, entry.quantityPrecision]];
    case 'notice':
      return ['notice', [entry.at, entry.level, entry.text]];
  }
}

const dayMs = 86_400_000;

const auditValues = ({ at, outcome, differences, held }: AuditEntry): Values => [
  at - (at % dayMs),
  outcome,
  JSON.stringify(differences),
  at,
  JSON.stringify(held),
];

const tradeValues = (entry: Omit<VenueTradeEntry, 'kind' | 'seenAt'>): Values => [
  entry.symbol,
  entry.tradeId,
  JSON.stringify(entry.orderIds),
  entry.side,
  entry.price,
  entry.quantity,
  entry.fee,
  entry.feeAsset,
  bit(entry.maker),
  entry.time,
];

const venueTradeValues = (entry: VenueTradeEntry): Values => [...tradeValues(entry), entry.seenAt];

const quarantinedTradeValues = (entry: QuarantinedTradeEntry): Values => [
  ...tradeValues(entry),
  entry.at,
  entry.why,
  entry.raw,
  bit(entry.canBeAccepted),
  entry.decision,
  entry.decidedAt,
  entry.by,
  entry.reason,
];

const venueOrderValues = (entry: VenueOrderEntry): Values => [
  entry.orderId,
  entry.symbol,
  entry.clientOrderId,
  entry.side,
  entry.type,
  entry.status,
  entry.executed,
  entry.seenAt,
];

const fillValues = (entry: FillEntry): Values => [
  entry.tradeId,
  entry.orderId,
  entry.clientOrderId,
  entry.strategy,
  entry.account,
  entry.symbol,
  entry.side,
  entry.price,
  entry.quantity,
  entry.fee,
  entry.feeAsset,
  bit(entry.maker),
  entry.time,
  entry.purpose,
  entry.evidence,
];
