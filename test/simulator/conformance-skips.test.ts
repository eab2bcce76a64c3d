/** Where the account or the target lacks something, a check of the suite is skipped and says what it needs. */
import { describe, expect, test } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { type Check, Skip } from '../conformance/check.ts';
import { limitChecks } from '../conformance/sections/limits.ts';
import { marginChecks } from '../conformance/sections/margin.ts';
import { withdrawalChecks } from '../conformance/sections/withdrawals.ts';
import { openSession, type Session, type Target } from '../conformance/session.ts';
import { busy, everyKey, price, users } from '../kit/apart-world.ts';

const [main] = users;
const named = (checks: readonly Check[], says: string): Check => {
  const found = checks.find((check) => check.says === says);
  if (found === undefined) throw new Error(`no check says ${says}`);
  return found;
};
const marginTrade = named(marginChecks, 'records own margin trades, without the users');

interface World {
  readonly user?: Parameters<typeof startSimulator>[0]['users'][number];
  /** Decimal places of a quantity. */
  readonly quantityPrecision?: number;
  readonly faults?: unknown;
}

/** A run against an exchange in this process. */
async function withSession(
  { user = main, quantityPrecision = 5, faults }: World,
  target: Partial<Target>,
  work: (at: Session) => Promise<void>,
): Promise<void> {
  if (user === undefined) throw new Error('there is no user');
  const exchange = await startSimulator({
    users: [user],
    instruments: [{ symbol: busy, base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision, minNotional: '5' }],
    markets: [{ kind: 'synthetic', symbol: busy, price }],
    ...(faults !== undefined && { faults }),
  });
  try {
    const keys = { main: everyKey.main };
    await work(await openSession({ url: exchange.restUrl, profile: 'documented', symbol: busy, keys, ...target }));
    expect(exchange.openOrders(user.uid)).toEqual([]);
  } finally {
    await exchange.close();
  }
}

const skips = (check: Check, at: Session, why: RegExp): Promise<void> =>
  expect(check.run(at)).rejects.toSatisfy((error) => error instanceof Skip && why.test(error.message));

describe('a margin trade', () => {
  test('is worth what the minima and the steps of the quantity ask for', () =>
    withSession({ quantityPrecision: 2 }, {}, (at) => marginTrade.run(at)));

  test('is skipped where --spend is below them', () =>
    withSession({ quantityPrecision: 2 }, { spend: 20 }, (at) =>
      skips(marginTrade, at, /^--spend 20 is too small: an order of btcusdt is worth \d+(\.\d+)? at least$/),
    ));

  test('is skipped where the exchange has a minimum that it does not show', () =>
    withSession(
      { faults: [{ match: { method: 'POST', path: '/sapi/v1/margin/order' }, do: { code: -1136, msg: 'low' } }] },
      {},
      (at) => skips(marginTrade, at, /^give a larger --spend: the exchange answers .*-1136/),
    ));

  test('is skipped where the margin account has no balance', () =>
    withSession({ user: { uid: '1', ...everyKey.main, balances: { USDT: '1000' } } }, {}, (at) =>
      skips(marginTrade, at, /^pay in more, or give a smaller --spend: the exchange answers .*-2017/),
    ));
});

test('withdrawals are skipped where the key may not withdraw', () =>
  withSession({ user: { uid: '1', ...everyKey.main, balances: {} } }, {}, (at) =>
    skips(
      named(withdrawalChecks, 'lists withdrawals, all filters being optional'),
      at,
      /^give a key that may do this: the exchange answers .*-2015/,
    ),
  ));

test('a limit is skipped where there are too few addresses', () =>
  withSession({}, { addresses: [] }, async (at) => {
    for (const check of limitChecks) await skips(check, at, /^it needs more addresses than --addresses has: 0$/);
  }));

describe.runIf(process.platform === 'linux')('the 101st request within 2 s', () => {
  const check = named(limitChecks, 'cancels 100 margin orders within 2 s, and no more');
  const addresses = ['127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14', '127.0.0.15', '127.0.0.16'];
  test.for([429, 410])('may draw HTTP %s', (status) =>
    withSession(
      {
        faults: [
          { match: { method: 'POST', path: '/sapi/v1/margin/cancel', every: 101 }, do: { status, when: 'before' } },
        ],
      },
      { addresses },
      (at) => check.run(at),
    ),
  );
});
