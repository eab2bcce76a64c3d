/** What the suite leaves on an exchange that it was allowed to write on: nothing, or a list of what it could not cancel. */
import { describe, expect, test } from 'vitest';
import { openSession } from '../conformance/session.ts';
import { type Apart, openApart } from '../kit/apart.ts';
import { type Ask, busy, everyKey } from '../kit/apart-world.ts';
import { beginSuite, type Ended, restingOn, suite, unpassed, withOptions } from '../kit/conformance.ts';
import { until } from '../kit/until.ts';

const on = (path: string, action: object, more: object = {}) => ({
  match: { method: 'POST', path: `/sapi/v1/${path}`, ...more },
  do: action,
});
const post = async ({ controlUrl }: Apart, path: string, body: object = {}): Promise<void> => {
  const reply = await fetch(`${controlUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
  expect(reply.status, await reply.text()).toBe(200);
};

async function withExchange(ask: Ask, work: (exchange: Apart) => Promise<void>): Promise<void> {
  const exchange = await openApart(ask);
  try {
    await work(exchange);
  } finally {
    await exchange.close();
  }
}

/** Runs the suite until a batch of ten rests and its cancel is held, lets `strike` happen then, and waits for the end. */
const interrupted = (
  exchange: Apart,
  strike: (kill: (signal: NodeJS.Signals) => void, stopReading: () => void) => Promise<void> | void,
): Promise<Ended> =>
  withOptions(exchange, async (options) => {
    const { child, ended } = beginSuite([...options, '--section', '4.2']);
    await until('ten orders rest', async () => (await restingOn(exchange)).length >= 10);
    await strike(
      (signal) => child.kill(signal),
      () => child.stdout?.destroy(),
    );
    return ended;
  });

const held = on('batchCancel', { hold: 'cancel', when: 'before' });

describe('nothing is left open', () => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('after %s while ten orders rest', ([signal, code]) =>
    withExchange({ faults: [held] }, async (exchange) => {
      const ended = await interrupted(exchange, (kill) => kill(signal));
      expect(ended.err).toBe(`stopped by ${signal}; the checks that follow did not run\n`);
      expect(ended.code).toBe(code);
      expect(await restingOn(exchange)).toEqual([]);
    }),
  );

  test('where the reader of the output goes away', () =>
    withExchange({ faults: [held] }, async (exchange) => {
      const ended = await interrupted(exchange, async (_, stopReading) => {
        stopReading();
        await post(exchange, '/release/cancel');
      });
      expect(ended.code).toBe(1);
      expect(await restingOn(exchange)).toEqual([]);
    }));

  test('after SIGINT while the answer to a batch is on its way', () =>
    withExchange({ faults: [on('batchOrders', { hold: 'batch' })] }, async (exchange) => {
      const ended = await interrupted(exchange, async (kill) => {
        kill('SIGINT');
        await post(exchange, '/release/batch');
      });
      expect(ended.code).toBe(130);
      expect(await restingOn(exchange)).toEqual([]);
    }));
});

describe('what cannot be cancelled is listed', () => {
  test('where the exchange refuses every cancel: one order, and no further one is placed', () =>
    withExchange(
      { faults: ['cancel', 'batchCancel', 'margin/cancel'].map((path) => on(path, { code: -1000 })) },
      async (exchange) => {
        const ended = await withOptions(exchange, (options) => suite(options));
        const [order, ...others] = await restingOn(exchange);
        expect(others).toEqual([]);
        expect(ended.err).toContain('Orders that may still be open (1). Cancel them manually:\n');
        expect(ended.err).toContain(`, order ${order?.orderId}: the cancel failed: HTTP 400: '{"code":-1000`);
        expect(ended.code).toBe(3);
        expect(unpassed(ended)).toEqual(['places a LIMIT order, which rests as NEW in query and open orders']);
      },
    ));

  test('where the address is banned while ten orders rest', () =>
    withExchange({ faults: [held] }, async (exchange) => {
      const ended = await interrupted(exchange, async () => {
        await post(exchange, '/events', { ban: true });
        await post(exchange, '/release/cancel');
      });
      const left = await restingOn(exchange);
      expect(left.length).toBe(10);
      for (const { orderId } of left)
        expect(ended.err).toMatch(new RegExp(`^ {2}BTCUSDT BUY [0-9.]+ at [0-9.]+, order ${orderId}: .*HTTP 418`, 'm'));
      expect(ended.code).toBe(3);
      expect(ended.out).toContain('the exchange has banned this address (HTTP 418)');
    }));
});

test("an order of somebody else's is never cancelled, even where its terms are those of the suite's", () =>
  withExchange({ faults: [on('order', { lie: { remove: ['orderId', 'orderIdString'] } })] }, async (exchange) => {
    const terms = { symbol: busy, side: 'BUY', type: 'LIMIT', volume: '0.01' };
    const byHand = (price: string) => post(exchange, '/human/place', { user: '10001', ...terms, price });
    await byHand('8000');
    const at = await openSession({ url: exchange.restUrl, profile: 'documented', symbol: busy, keys: everyKey });
    const create = (price: string) => at.tell('/sapi/v1/order', { ...terms, price });
    // One like the order that was there before, and one of its own price: both are the suite's beyond doubt.
    await create('8000');
    await create('8001');
    expect(await at.own.sweep()).toEqual([]);
    expect((await restingOn(exchange)).length).toBe(1);
    // Two rest where the suite placed one: neither is provably its own.
    await create('8002');
    await byHand('8002');
    const left = await at.own.sweep({ isLast: true });
    expect(left.map(({ price, why }) => [price, why])).toEqual([
      ['8002', 'it may be of this run'],
      ['8002', 'it may be of this run'],
    ]);
    expect((await restingOn(exchange)).length).toBe(3);
  }));
