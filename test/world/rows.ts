/** Rows of one order, asked for often: the statements are kept for as long as the database is. */
import type { Database, Statement } from 'better-sqlite3';
import type { Purpose } from '../../src/domain/order.ts';

export interface OrderFacts {
  readonly state: string;
  readonly strategy: string;
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly type: 'LIMIT' | 'MARKET';
  readonly purpose: Purpose;
  readonly price: string | null;
  readonly bodyHash: string | null;
  /** Base quantity, or null for a MARKET BUY by amount. */
  readonly quantity: string | null;
  readonly amount: string | null;
}

export interface FillFacts {
  readonly price: string;
  readonly quantity: string;
}

/** An intent that left in a batch, by what it is. */
export interface Like {
  readonly symbol: string;
  readonly side: string;
  readonly price: string;
  readonly quantity: string;
}

interface Asked {
  readonly sending: Statement;
  readonly like: Statement;
  readonly order: Statement;
  readonly fills: Statement;
}

const kept = new WeakMap<Database, Asked>();

function asked(db: Database): Asked {
  let statements = kept.get(db);
  if (statements === undefined) {
    statements = {
      order: db.prepare(
        'SELECT state, strategy, symbol, side, type, purpose, price, body_hash AS bodyHash, quantity, amount FROM orders WHERE client_order_id = ?',
      ),
      sending: db
        .prepare("SELECT client_order_id FROM orders WHERE body_hash = ? AND batch IS NOT NULL AND state = 'sending'")
        .pluck(),
      like: db
        .prepare(
          'SELECT client_order_id FROM orders WHERE batch IS NOT NULL AND symbol = ? AND side = ? AND price = ? AND quantity = ? AND state NOT IN (?, ?) ORDER BY created_at DESC',
        )
        .pluck(),
      fills: db.prepare('SELECT price, quantity FROM fills WHERE client_order_id = ?'),
    };
    kept.set(db, statements);
  }
  return statements;
}

/** The intent with this id as it is on disk. */
export const orderRow = (db: Database, clientOrderId: string): OrderFacts | undefined =>
  asked(db).order.get(clientOrderId) as OrderFacts | undefined;

/** Its fills. */
export const fillRows = (db: Database, clientOrderId: string): readonly FillFacts[] =>
  asked(db).fills.all(clientOrderId) as FillFacts[];

/** Intents that are being sent in a request with this body. */
export const sendingWith = (db: Database, bodyHash: string): readonly string[] =>
  asked(db).sending.all(bodyHash) as string[];

/** Intents of batches that look like this and may have reached the exchange, the newest first: older ones of the same look are over. */
export const intentsLike = (db: Database, { symbol, side, price, quantity }: Like): readonly string[] =>
  asked(db).like.all(symbol, side, price, quantity, 'notSent', 'rejected') as string[];
