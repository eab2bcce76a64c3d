/** Rows of one order, asked for often: the statements are kept for as long as the database is. */
import type { Database, Statement } from 'better-sqlite3';

export interface OrderFacts {
  readonly state: string;
  readonly bodyHash: string | null;
  /** Base quantity, or null for a MARKET BUY by amount. */
  readonly quantity: string | null;
  readonly amount: string | null;
}

export interface FillFacts {
  readonly price: string;
  readonly quantity: string;
}

interface Asked {
  readonly order: Statement;
  readonly fills: Statement;
}

const kept = new WeakMap<Database, Asked>();

function asked(db: Database): Asked {
  let statements = kept.get(db);
  if (statements === undefined) {
    statements = {
      order: db.prepare('SELECT state, body_hash AS bodyHash, quantity, amount FROM orders WHERE client_order_id = ?'),
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
