/** Mutants that write too late, forget at a restart, or do not reckon with what may come. */
import { noUnits, units } from '../../../src/domain/money.ts';
import type { Fill, OrderState } from '../../../src/domain/order.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import type { Loaded } from '../../../src/journal/load.ts';
import { noPast } from '../../../src/journal/past-orders.ts';
import { changed, type Mutant } from './mutant.ts';

const without =
  (state: OrderState) =>
  (loaded: Loaded): Loaded => ({ ...loaded, orders: loaded.orders.filter((order) => order.state !== state) });

/** What tells of fills reaches the disk late, the cursor that has passed them at once. */
const lateFills: Mutant['bent'] = {
  journal: (journal, inside) => {
    const seen = new Set<string>();
    return changed(journal, {
      append(entry) {
        if (entry.kind === 'venueTrade') void inside.sleep(lateMs).then(() => journal.append(entry));
        else journal.append(entry);
      },
      insertFill(fill, make) {
        const key = `${fill.tradeId} ${fill.orderId}`;
        if (seen.has(key)) return false;
        seen.add(key);
        void inside.sleep(lateMs).then(() => journal.insertFill(fill, make));
        return true;
      },
    });
  },
};
const lateMs = 2_000;

/** Each so many-th fill counts for the next strategy on the symbol, as if it had signalled for it. */
const mixedUpEvery = 8;
const mixesUpFills: Mutant['bent'] = {
  assembled: ({ portfolio }) => {
    const apply = portfolio.apply.bind(portfolio);
    let count = 0;
    Object.assign(portfolio, {
      apply(fill: Fill): void {
        const other = portfolio.subAccounts().find((at) => at.symbol === fill.symbol && at.strategy !== fill.strategy);
        const isMixedUp = ++count % mixedUpEvery === 0 && other !== undefined;
        apply(isMixedUp ? { ...fill, strategy: other.strategy } : fill);
      },
    });
  },
};

export const memoryMutants: readonly Mutant[] = [
  {
    name: 'sendsBeforeCommit',
    about: 'nobody waits for the journal before a create leaves (R1)',
    bent: { journal: (journal) => changed(journal, { durable: () => Promise.resolve(true) }) },
  },
  {
    name: 'opensTheGateEarly',
    about: 'the request does not wait at the gate that the journal opens',
    bent: {
      orders: (orders) => ({
        ...orders,
        prepare(intent, at) {
          const prepared = orders.prepare(intent, at);
          return { ...prepared, send: () => prepared.send(Promise.resolve(undefined)) };
        },
      }),
    },
  },
  {
    name: 'journalAfterAnswer',
    about: 'an order is written down only after it was answered (freqtrade)',
    bent: {
      journal: (journal) => changed(journal, { durable: () => Promise.resolve(true) }),
      host: (host, inside) => ({
        ...host,
        write: async (entries) => {
          await inside.sleep(400);
          return host.write(entries);
        },
      }),
    },
  },
  {
    name: 'fullDiskIsIgnored',
    about: 'what could not be written counts as written',
    bent: {
      journal: (journal) =>
        changed(journal, { durable: () => journal.durable().then(() => true), full: false } as Partial<Journal>),
    },
  },
  {
    name: 'anotherBodyLeaves',
    about: 'what leaves is not what was journalled',
    bent: {
      orders: (orders) => ({
        ...orders,
        prepare(intent, at) {
          const prepared = orders.prepare(intent, at);
          const other = orders.prepare({ ...intent, type: intent.type === 'LIMIT' ? 'MARKET' : 'LIMIT' }, at);
          return { ...prepared, send: (gate) => other.send(gate) };
        },
      }),
    },
  },
  {
    name: 'commitsLostAtPowerCut',
    about: 'synchronous=NORMAL: a power cut takes the last commits with it',
    bent: { syncEvery: 8 },
  },
  {
    name: 'forgetsSending',
    about: 'what was being sent is forgotten by a restart',
    bent: { loaded: without('sending') },
  },
  { name: 'forgetsUnknown', about: 'what is unknown is forgotten by a restart', bent: { loaded: without('unknown') } },
  { name: 'forgetsOpen', about: 'what rests is forgotten by a restart', bent: { loaded: without('open') } },
  { name: 'forgetsClosing', about: 'what is closing is forgotten by a restart', bent: { loaded: without('closing') } },
  {
    name: 'killIsForgotten',
    about: 'a kill does not outlive a restart',
    bent: { loaded: (loaded) => ({ ...loaded, kills: [] }) },
  },
  {
    name: 'killIsNotAsked',
    about: 'what was decided before a kill leaves after it, and what a strategy signals goes on',
    bent: {
      assembled: ({ risk }) => void Object.assign(risk.switch, { against: () => undefined, of: () => undefined }),
    },
  },
  {
    name: 'sendingWasNotSent',
    about: 'what was being sent counts as never sent after a restart',
    bent: {
      loaded: (loaded) => ({
        ...loaded,
        orders: loaded.orders.map((order) => (order.state === 'sending' ? { ...order, state: 'intended' } : order)),
      }),
    },
  },
  {
    name: 'forgetsFills',
    about: 'positions begin at nothing after a restart',
    bent: {
      loaded: ({ past: { ownerOf, orderIdOf }, ...loaded }) => ({
        ...loaded,
        past: { ...noPast, ownerOf, orderIdOf },
        venueTrades: [],
      }),
    },
  },
  {
    name: 'startsWithoutRecovery',
    about: 'strategies start before what an earlier run left is looked at',
    bent: { assembled: ({ trader }) => void Object.assign(trader, { recover: () => Promise.resolve() }) },
  },
  {
    name: 'losesFillRows',
    about: 'the cursor is on disk before the fills that it has passed',
    bent: lateFills,
  },
  {
    name: 'ioErrorIsWritten',
    about: 'an I/O error at a commit is logged, and the process goes on',
    bent: { ioErrorIsWritten: ['write', 'fsync'] },
  },
  {
    name: 'fsyncIsIgnored',
    about: 'a commit that could be written and not be synced counts as written, and the process goes on',
    bent: { ioErrorIsWritten: ['fsync'] },
  },
  {
    name: 'mixesUpFills',
    about: 'a fill is a row of the right strategy, and counts for another one until the next restart',
    bent: mixesUpFills,
  },
  {
    name: 'ledgerCountsTwice',
    about: 'now and then a fill moves the account’s ledger twice and its strategy’s once',
    bent: {
      assembled: ({ execution }) => {
        const ledger = execution.books?.ledger;
        if (ledger === undefined) return;
        const own = ledger.own.bind(ledger);
        let count = 0;
        Object.assign(ledger, {
          own(...args: Parameters<typeof own>): void {
            own(...args);
            if (++count % mixedUpEvery === 0) own(...args);
          },
        });
      },
    },
  },
  {
    name: 'legsAloneUnseen',
    about: 'nobody notices that a leg of a pair is open alone',
    bent: { assembled: ({ legsAlone }) => void Object.assign(legsAlone, { see: () => {} }) },
  },
  {
    name: 'spendsTwice',
    about: 'money that is spent already counts as free',
    bent: { assembled: ({ portfolio }) => void Object.assign(portfolio, { freeQuote: () => units('1000000') }) },
  },
  {
    name: 'reservesNothing',
    about: 'orders that are open or unknown do not count against the limit',
    bent: {
      assembled: ({ portfolio }) => void Object.assign(portfolio, { exposure: () => noUnits }),
    },
  },
];
