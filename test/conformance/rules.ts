/**
 * Rules about the shape of replies. Checks read leniently (`lenient.ts`) and go on; what differs from the specification is noted here
 * under the one rule that it breaks, and each rule is a check of its own (`sections/shapes.ts`).
 */
import type { Need } from './needs.ts';

export interface Rule {
  /** Of the specification. */
  readonly section: string;
  /** What the checks need whose replies show it. */
  readonly needs?: readonly Need[];
  /** Completes "the exchange …". */
  readonly says: string;
}

const write = ['key', 'write'] as const;
const margin = ['key', 'margin'] as const;
const key = ['key'] as const;
const feed = ['feed'] as const;

export const rules = {
  bare: { section: '4', says: 'answers without an envelope, except under /open and for withdrawals' },
  refusalStatus: { section: '7', says: 'refuses with HTTP 4XX, or with 200 as live exchanges do' },
  refusal: { section: '7', says: 'refuses with `code`, an integer, and `msg`, a text' },
  outcome: { section: '7', needs: write, says: 'answers a request to create orders, and leaves no outcome unknown' },
  list: { section: '4.2', needs: key, says: 'lists orders and own trades as an array' },
  emptyList: { section: '4.2', needs: key, says: 'answers [] where there is nothing to list' },
  publicTrades: { section: '4.1', says: 'lists public trades under `list`' },
  klineOrder: { section: '1', says: 'lists klines by descending `idx`' },
  klineIndex: { section: '2.5', says: 'gives `idx` of a kline as a number of ms' },
  createdStatus: { section: '4.2', needs: write, says: 'calls the status of a created order NEW' },
  status: { section: '3.1', needs: write, says: 'calls the status of an order one of the five words' },
  cancelStatus: { section: '3.1', needs: write, says: 'answers a cancel with CANCELED' },
  orderId: {
    section: '2.2',
    needs: write,
    says: 'shows `orderId` of a spot order as a number when it creates and lists it',
  },
  orderIdString: { section: '4.2', needs: write, says: 'shows `orderIdString` when it creates and lists a spot order' },
  marginId: { section: '4.4', needs: margin, says: 'shows `orderId` of a margin order as a string' },
  batchIds: { section: '4.2', needs: write, says: 'names the orders of a batch in `ids` and `idsString`' },
  created: { section: '4.2', needs: write, says: 'answers a create with the order as it was sent' },
  queried: { section: '4.2', needs: write, says: 'answers a query with the fields of an order' },
  listed: { section: '4.2', needs: write, says: 'lists open orders with their fields' },
  canceled: { section: '4.2', needs: write, says: 'answers a cancel with the id and the symbol' },
  frame: { section: '6.3', needs: feed, says: 'pushes frames with the fields that §6.3 shows' },
  bids: { section: '6.3', needs: feed, says: 'pushes the bids of a depth under `buys`' },
  side: { section: '6.3', needs: feed, says: 'calls the side of a pushed trade buy or sell' },
  history: { section: '6.3', needs: feed, says: 'answers a history with the fields that §6.3 shows' },
  callbackId: { section: '6.3', needs: feed, says: 'echoes `cb_id` in a history' },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleName = keyof typeof rules;

export interface Rules {
  /** Runs what fails where the rule is broken; that is noted, and nothing is thrown. */
  hold(rule: RuleName, check: () => void): void;
  /** Whether any reply could show it. */
  applied(rule: RuleName): boolean;
  /** How the first reply broke it; undefined where none did. */
  broken(rule: RuleName): string | undefined;
}

export function openRules(): Rules {
  const applied = new Set<RuleName>();
  const broken = new Map<RuleName, string>();
  return {
    hold(rule, check) {
      applied.add(rule);
      try {
        check();
      } catch (error) {
        if (!broken.has(rule)) broken.set(rule, error instanceof Error ? error.message : String(error));
      }
    },
    applied: (rule) => applied.has(rule),
    broken: (rule) => broken.get(rule),
  };
}
