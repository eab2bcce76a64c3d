/** Mutants that ask too much, too often, or for what is not theirs. */
import type { OrderEntry } from '../../../src/venue/venue.ts';
import type { Inside } from '../mutation-points.ts';
import type { Mutant } from './mutant.ts';

/** A cancel whose answer was lost is not asked for again. */
const cancelsOnce = (orders: OrderEntry): OrderEntry => {
  const asked = new Set<string>();
  return {
    ...orders,
    async cancel(ref, lane) {
      if (asked.has(ref.orderId)) return { kind: 'requested' };
      asked.add(ref.orderId);
      return orders.cancel(ref, lane);
    },
  };
};

/** Whatever the open orders show is cancelled when nothing of ours is known by that id. */
const cancelsEverybody = (orders: OrderEntry, inside: Inside): OrderEntry => ({
  ...orders,
  async openOrders(symbol) {
    const answer = await orders.openOrders(symbol);
    if (answer.kind !== 'ok') return answer;
    const known = new Set([...inside.portfolio().orders()].map(({ orderId }) => orderId));
    for (const { orderId } of answer.value.rows) if (!known.has(orderId)) await orders.cancel({ symbol, orderId });
    return answer;
  },
});

/** The weight of a create is asked for while the disk writes, and what is answered is not waited for. */
const sendsUnweighed = (orders: OrderEntry): OrderEntry => ({
  ...orders,
  isRoom: () => true,
  admit(until) {
    void orders.admit(until);
    return Promise.resolve(true);
  },
});

export const requestMutants: readonly Mutant[] = [
  {
    name: 'spendsWithoutLimit',
    about: 'requests leave without asking the budget',
    bent: { spend: () => () => Promise.resolve(true) },
  },
  { name: 'forgetsLimits', about: 'spent weight and bans are forgotten by a restart', bent: { forgetsLimits: true } },
  {
    name: 'sendsUnweighed',
    about: 'a create takes its weight while the disk writes, and leaves although it was refused',
    bent: { orders: sendsUnweighed },
  },
  {
    name: 'lanesAreOne',
    about: 'every request goes in the most urgent lane: creates take what is kept for cancels and questions',
    bent: { spend: (spend) => (_lane, cost, until) => spend('kill', cost, until) },
  },
  {
    name: 'weighsOne',
    about: 'every request is counted with a weight of one',
    bent: { spend: (spend) => (lane, cost, until) => spend(lane, { ...cost, weight: 1 }, until) },
  },
  { name: 'ignoresBans', about: '410, 429 and 418 are not heeded', bent: { notice: () => () => {} } },
  {
    name: 'goesByTheWall',
    about: 'time is the machine’s wall clock, whatever the exchange says',
    bent: { goesByTheWall: true },
  },
  {
    name: 'bansByTheWall',
    about: 'until when nothing may be sent is read by whatever the clock says at a start',
    bent: { bansByTheWall: true },
  },
  { name: 'cancelsOnce', about: 'a cancel is asked for once, whatever came of it', bent: { orders: cancelsOnce } },
  {
    name: 'cancelsEverybody',
    about: 'orders on the account that are not known are cancelled, a human’s too',
    bent: { orders: cancelsEverybody },
  },
];
