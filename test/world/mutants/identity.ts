/** Mutants that confuse ids: of orders, of trades, of whose an order is. */

import { noUnits } from '../../../src/domain/money.ts';
import type { OrderReport, VenueTrade } from '../../../src/domain/order.ts';
import type { Answer, OrderEntry, Page } from '../../../src/venue/venue.ts';
import type { Mutant } from './mutant.ts';

/** A 19-digit id that went through a double. */
const doubled = (id: string): string => BigInt(Number(id)).toString();

const mapped = <T>(answer: Answer<Page<T>>, change: (row: T) => T): Answer<Page<T>> =>
  answer.kind === 'ok' ? { ...answer, value: { ...answer.value, rows: answer.value.rows.map(change) } } : answer;

const ofReport = (report: OrderReport): OrderReport => ({ ...report, orderId: doubled(report.orderId) });

const numberIds = (orders: OrderEntry): OrderEntry => ({
  ...orders,
  prepare(intent, at) {
    const prepared = orders.prepare(intent, at);
    return {
      ...prepared,
      async send(gate) {
        const outcome = await prepared.send(gate);
        return outcome.kind === 'accepted' ? { ...outcome, report: ofReport(outcome.report) } : outcome;
      },
    };
  },
  async query(ref) {
    const answer = await orders.query(ref);
    return answer.kind === 'ok' ? { ...answer, value: ofReport(answer.value) } : answer;
  },
  openOrders: async (symbol) => mapped(await orders.openOrders(symbol), ofReport),
  tradesSince: async (symbol, from) =>
    mapped(await orders.tradesSince(symbol, from), (trade) => ({ ...trade, orderIds: trade.orderIds.map(doubled) })),
});

/** Changes own trades as they are read. */
const tradesRead = (change: (trade: VenueTrade) => VenueTrade): Mutant['bent'] => ({
  orders: (orders) => ({
    ...orders,
    tradesSince: async (symbol, from) => mapped(await orders.tradesSince(symbol, from), change),
  }),
});

/** The same names, each with the number of another. */
function turned(strategies: ReadonlyMap<string, number>, by: number): ReadonlyMap<string, number> {
  const numbers = [...strategies.values()];
  return new Map([...strategies.keys()].map((id, index) => [id, numbers[(index + by) % numbers.length] ?? 0] as const));
}

export const identityMutants: readonly Mutant[] = [
  { name: 'numberIds', about: 'order ids go through a double', bent: { orders: numberIds } },
  {
    name: 'idsAreCut',
    about: 'client ids are cut to 24 characters on their way',
    bent: {
      orders: (orders) => ({
        ...orders,
        prepare: (intent, at) => orders.prepare({ ...intent, clientOrderId: intent.clientOrderId.slice(0, 24) }, at),
      }),
    },
  },
  {
    name: 'epochStands',
    about: 'a restart does not raise the epoch, so that ids come again',
    bent: { identity: (identity) => ({ ...identity, epoch: 1 }) },
  },
  {
    name: 'adoptsEverybody',
    about: 'an order is ours without its mac being looked at',
    bent: {
      assembled: ({ execution }) => void Object.assign(execution, { readId: () => ({ strategy: 'steps' }) }),
    },
  },
  {
    name: 'sharedAsDedicated',
    about: 'orders without a client id are told by what they are although somebody else trades on the account',
    bent: { assembled: ({ execution }) => void Object.assign(execution, { dedicated: true }) },
  },
  {
    name: 'sidesSwapped',
    about: 'the id of the other side of a trade is taken for ours',
    bent: {
      http: (http) => ({
        ...http,
        async send(request, gate) {
          const reply = await http.send(request, gate);
          if (reply.kind !== 'reply') return reply;
          const body = reply.body
            .replaceAll('"bidId"', '"x"')
            .replaceAll('"askId"', '"bidId"')
            .replaceAll('"x"', '"askId"');
          return { ...reply, body };
        },
      }),
    },
  },
  {
    name: 'keyIsForgotten',
    about: 'a restart makes a new key, so that orders of before are nobody’s',
    bent: {
      identity: (identity) =>
        identity.epoch === 1 ? identity : { ...identity, idKey: Buffer.alloc(32, identity.epoch) },
    },
  },
  {
    name: 'strategiesMixedUp',
    about: 'a restart numbers the strategies anew, so that orders of before are another’s',
    bent: {
      identity: (identity) => ({ ...identity, strategies: turned(identity.strategies, identity.epoch - 1) }),
    },
  },
  {
    name: 'feesInQuote',
    about: 'every fee is booked in the quote asset',
    bent: tradesRead((trade) => ({ ...trade, feeAsset: 'USDT' })),
  },
  {
    name: 'lastTradeIsMissed',
    about: 'the last trade of a page is left out',
    bent: {
      orders: (orders) => ({
        ...orders,
        async tradesSince(symbol, from) {
          const answer = await orders.tradesSince(symbol, from);
          if (answer.kind !== 'ok') return answer;
          return { ...answer, value: { ...answer.value, rows: answer.value.rows.slice(0, -1) } };
        },
      }),
    },
  },
  { name: 'feesIgnored', about: 'fees are not booked', bent: tradesRead((trade) => ({ ...trade, fee: noUnits })) },
  {
    name: 'fillKeyIsTradeId',
    about: 'a fill is known by its trade id alone: of a trade with ourselves one side is lost',
    bent: {
      journal: (journal) => {
        const seen = new Set<string>();
        return {
          ...journal,
          get full() {
            return journal.full;
          },
          insertFill(fill, make) {
            if (seen.has(fill.tradeId)) return false;
            seen.add(fill.tradeId);
            return journal.insertFill(fill, make);
          },
        };
      },
    },
  },
  {
    name: 'noFillDedupe',
    about: 'a fill that is read again is booked again',
    bent: {
      journal: (journal) => ({
        ...journal,
        get full() {
          return journal.full;
        },
        insertFill(fill, make) {
          journal.insertFill(fill, make);
          return true;
        },
      }),
    },
  },
];
