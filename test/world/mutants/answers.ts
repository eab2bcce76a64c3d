/** Mutants that read the answers of the exchange wrongly, or send more than once. */
import type { Instrument } from '../../../src/domain/instrument.ts';
import { type Intent, isFinal, type OrderReport, type Outcome } from '../../../src/domain/order.ts';
import { type Gate, type OrderEntry, ok, type PreparedOrder } from '../../../src/venue/venue.ts';
import type { Inside } from '../mutation-points.ts';
import type { Mutant } from './mutant.ts';

type BentSend = (
  outcome: Outcome,
  intent: Intent,
  again: () => Promise<Outcome>,
  parts: { readonly orders: OrderEntry; readonly inside: Inside },
) => Outcome | Promise<Outcome>;

/** Does something with what came of each create. */
const afterSending =
  (bend: BentSend) =>
  (orders: OrderEntry, inside: Inside): OrderEntry => ({
    ...orders,
    prepare(intent: Intent, at: Instrument): PreparedOrder {
      const prepared = orders.prepare(intent, at);
      const again = (): Promise<Outcome> => orders.prepare(intent, at).send(Promise.resolve(undefined));
      return {
        ...prepared,
        send: async (gate: Gate) => bend(await prepared.send(gate), intent, again, { orders, inside }),
      };
    },
  });

const refused: Outcome = { kind: 'rejected', code: 'mutant', message: 'taken for refused' };
const notSent: Outcome = { kind: 'notSent', cause: 'taken for not sent' };

/** Takes unknown outcomes of some causes for something definite. */
const takesFor = (definite: Outcome, causes: RegExp): Mutant['bent'] => ({
  orders: afterSending((outcome) => (outcome.kind === 'unknown' && causes.test(outcome.cause) ? definite : outcome)),
});

const fivePolls: BentSend = async (outcome, intent, _again, { orders, inside }) => {
  if (outcome.kind !== 'unknown') return outcome;
  for (let polls = 0; polls < 5; polls++) {
    const open = await orders.openOrders(intent.symbol);
    const found = open.kind === 'ok' && open.value.rows.find((row) => row.clientOrderId === intent.clientOrderId);
    if (found) return { kind: 'accepted', report: found };
    await inside.sleep(400);
  }
  return refused;
};

const missIsAbsence: BentSend = async (outcome, { symbol, clientOrderId }, _again, { orders, inside }) => {
  if (outcome.kind !== 'unknown' || inside.account !== 'margin') return outcome;
  const found = await orders.queryByClientId?.(symbol, clientOrderId);
  return found?.kind === 'failed' && found.code !== undefined ? refused : outcome;
};

/** Does something with every report of an order that is asked for. */
const afterQuery = (bend: (report: OrderReport, inside: Inside) => OrderReport): Mutant['bent'] => ({
  orders: (orders, inside) => ({
    ...orders,
    async query(ref) {
      const answer = await orders.query(ref);
      return answer.kind === 'ok' ? { ...answer, value: bend(answer.value, inside) } : answer;
    },
  }),
});

/** What we have booked of an order. */
const bookedOf = (inside: Inside, { orderId, executed }: OrderReport): OrderReport['executed'] =>
  [...inside.portfolio().orders()].find((order) => order.orderId === orderId)?.filled ?? executed;

const trustsCancels = (orders: OrderEntry, inside: Inside): OrderEntry => {
  const cancelled = new Set<string>();
  return {
    ...orders,
    async cancel(ref, lane) {
      const outcome = await orders.cancel(ref, lane);
      if (outcome.kind === 'requested') cancelled.add(ref.orderId);
      return outcome;
    },
    async query(ref) {
      const answer = await orders.query(ref);
      if (answer.kind !== 'ok' || !cancelled.has(ref.orderId)) return answer;
      return { ...answer, value: { ...answer.value, status: 'CANCELED', executed: bookedOf(inside, answer.value) } };
    },
  };
};

const closesWhatIsNotListed = (orders: OrderEntry, inside: Inside): OrderEntry => {
  const listed = new Set<string>();
  return {
    ...orders,
    async openOrders(symbol) {
      const answer = await orders.openOrders(symbol);
      if (answer.kind === 'ok') {
        listed.clear();
        for (const { orderId } of answer.value.rows) listed.add(orderId);
      }
      return answer;
    },
    async query(ref) {
      const answer = await orders.query(ref);
      if (answer.kind !== 'ok' || listed.has(ref.orderId)) return answer;
      return { ...answer, value: { ...answer.value, status: 'CANCELED', executed: bookedOf(inside, answer.value) } };
    },
  };
};

export const answerMutants: readonly Mutant[] = [
  {
    name: 'exceptionMeansFailed',
    about: 'every outcome that is not known counts as failed (hummingbot, LEAN, barter)',
    bent: takesFor(refused, /./),
  },
  {
    name: 'fivePollsThenRejected',
    about: 'five looks at the open orders, failed ones too, and an order counts as rejected (#4152, #8457)',
    bent: { orders: afterSending(fivePolls) },
  },
  {
    name: 'resendsSameId',
    about: 'an unknown create is sent again with the same id',
    bent: { orders: afterSending((outcome, _intent, again) => (outcome.kind === 'unknown' ? again() : outcome)) },
  },
  { name: 'gatewayErrorIsRejected', about: '5XX counts as refused', bent: takesFor(refused, /HTTP 5/) },
  {
    name: 'ambiguousCodeIsRejected',
    about: '−1000, −1001, −1006, −1007, −1016 count as refused',
    bent: takesFor(refused, /code -10/),
  },
  { name: 'limitIsRejected', about: '410, 429 and 418 count as refused', bent: takesFor(refused, /HTTP 4/) },
  {
    name: 'cutAnswerIsRejected',
    about: 'an answer that is cut off counts as refused',
    bent: takesFor(refused, /cut off|JSON/),
  },
  { name: 'timeoutIsNotSent', about: 'no answer in time counts as not sent', bent: takesFor(notSent, /ETIMEDOUT/) },
  {
    name: 'resetIsNotSent',
    about: 'a connection that broke counts as not sent',
    bent: takesFor(notSent, /ECONNRESET/),
  },
  {
    name: 'transportRetries',
    about: 'the transport repeats a request that failed (a stale keep-alive socket, RFC 7230 §6.3.1)',
    bent: {
      http: (http) => ({
        ...http,
        async send(request, gate) {
          const reply = await http.send(request, gate);
          return reply.kind === 'failed' && reply.written ? http.send(request) : reply;
        },
      }),
    },
  },
  { name: 'trustsCancels', about: 'the answer to a cancel counts as the truth', bent: { orders: trustsCancels } },
  {
    name: 'closesWhatIsNotListed',
    about: 'an order that the open orders do not list counts as ended',
    bent: { orders: closesWhatIsNotListed },
  },
  {
    name: 'skipsSums',
    about: 'an order closes when the exchange calls it final, whatever fills are missing (R5)',
    bent: afterQuery((report, inside) =>
      isFinal(report.status) ? { ...report, executed: bookedOf(inside, report) } : report,
    ),
  },
  {
    name: 'partialIsFilled',
    about: 'an order that was filled in part counts as filled',
    bent: afterQuery((report) => (report.status === 'PARTIALLY_FILLED' ? { ...report, status: 'FILLED' } : report)),
  },
  {
    name: 'cancelingIsCanceled',
    about: 'an order that is being cancelled counts as cancelled',
    bent: afterQuery((report) => (report.status === 'CANCELING' ? { ...report, status: 'CANCELED' } : report)),
  },
  {
    name: 'noHorizon',
    about: 'an order counts as absent without waiting until it can no more appear',
    bent: { timing: { absentAfterMs: -60_000 } },
  },
  {
    name: 'oneSweep',
    about: 'two looks at the same moment count as two, however far replicas are behind',
    bent: { timing: { absentAfterMs: -60_000, sweepGapMs: 0 } },
  },
  {
    name: 'missIsAbsence',
    about: 'on margin an unknown order that the exchange does not know by its client id counts as refused (§3.4, 0)',
    bent: { orders: afterSending(missIsAbsence) },
  },
  {
    name: 'absentTooEarly',
    about: 'the exchange’s time is taken for 20 s later than it is, so that the horizon passes too early',
    bent: { serverTime: (time) => (time.kind === 'ok' ? ok(time.value + 20_000) : time) },
  },
];
