import { expect, test } from 'vitest';
import { intent } from '../../../test/kit/builders.ts';
import { ScriptedVenue } from '../../../test/kit/scripted-venue.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import { type Instrument, instrument, orderLots, orderPrice } from '../../domain/instrument.ts';
import { lots, priceText, quantityText, ticks, units } from '../../domain/money.ts';
import type { Outcome } from '../../domain/order.ts';
import { type Answer, failed, ok } from '../../venue/venue.ts';
import { watchTerms } from './instrument-updates.ts';

const listing = (pricePrecision: number, quantityPrecision: number, more: Partial<Instrument> = {}): Instrument =>
  instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision, quantityPrecision, ...more });

function watching(first = listing(2, 4)) {
  const clock = new SimClock(0);
  const instruments = new Map([['BTCUSDT', first]]);
  const said: string[] = [];
  const state: { answer: Answer<readonly Instrument[]>; looks: number } = { answer: ok([first]), looks: 0 };
  const terms = watchTerms({
    listed: () => {
      state.looks++;
      return Promise.resolve(state.answer);
    },
    instruments,
    symbols: ['BTCUSDT'],
    clock,
    notice: ({ level, text }) => void said.push(`${level}: ${text}`),
  });
  const at = (): Instrument => instruments.get('BTCUSDT') ?? first;
  return { clock, terms, said, state, at };
}

test('fewer decimals: amounts go on in the steps of before, orders are rounded to the new ones, and it is said once', async () => {
  const { terms, said, state, at } = watching();
  const shape = { pricePrecision: 1, quantityPrecision: 2 };
  state.answer = ok([listing(1, 2, { minQuantity: lots('0.02', shape), minNotional: units('10') })]);
  await terms.update();
  await terms.update();
  expect(said).toEqual([
    'warn: BTCUSDT: the exchange accepts 1 decimal of price, 2 of quantity, at least 0.02 BTC and 10 USDT now; orders follow that',
  ]);
  expect(at()).toMatchObject({ pricePrecision: 2, quantityPrecision: 4, minQuantity: 200n });
  const price = ticks('5000.11', at());
  expect(priceText(orderPrice('BUY', price, at()), at())).toBe('5000.2');
  expect(priceText(orderPrice('SELL', price, at()), at())).toBe('5000.1');
  expect(quantityText(orderLots(lots('0.1299', at()), at()), at())).toBe('0.12');
  expect(quantityText(orderLots(lots('-0.1299', at()), at()), at())).toBe('-0.12');
  expect(terms.against('BTCUSDT')).toBeUndefined();
  state.answer = ok([listing(2, 4)]);
  await terms.update();
  expect(at()).toEqual(listing(2, 4));
  expect(said).toHaveLength(2);
});

test.each<[string, readonly Instrument[], string]>([
  ['is delisted', [], 'no longer lists it'],
  ['has finer steps', [listing(3, 4)], 'restart the daemon'],
  ['has other assets', [listing(2, 4, { quote: 'USDC' })], 'calls its assets BTC and USDC now'],
])('a symbol that %s takes no order until it is as before', async (_, listed, reason) => {
  const { terms, said, state, at } = watching();
  state.answer = ok(listed);
  await terms.update();
  await terms.update();
  expect(terms.against('BTCUSDT')).toContain(reason);
  expect(terms.against('ETHUSDT')).toBeUndefined();
  expect(said).toEqual([expect.stringMatching(new RegExp(`^error: no order is created in BTCUSDT: .*${reason}`))]);
  expect(at()).toEqual(listing(2, 4));
  state.answer = ok([listing(2, 4)]);
  await terms.update();
  expect(terms.against('BTCUSDT')).toBeUndefined();
  expect(said.at(-1)).toBe('info: BTCUSDT is traded again');
});

test('an answer that does not come changes nothing', async () => {
  const { terms, state, said } = watching();
  state.answer = failed('no answer');
  await terms.update();
  expect([terms.against('BTCUSDT'), said]).toEqual([undefined, []]);
});

test('it looks after a refusal that speaks of terms, not after another one, and by itself every five minutes until it is ended', async () => {
  const { clock, terms, state, at } = watching();
  const send = async (outcome: Outcome): Promise<void> => {
    const port = new ScriptedVenue(clock).port();
    const prepared = { signedAt: 0, recvWindowMs: 0, bodyHash: '', send: () => Promise.resolve(outcome) };
    const orders = terms.watched({ ...port, prepare: () => prepared });
    expect(await orders.prepare(intent(), at()).send(Promise.resolve(undefined))).toBe(outcome);
  };
  const rejected = (code: string): Outcome => ({ kind: 'rejected', code, message: '' });
  await send(rejected('-2017'));
  await send({ kind: 'unknown', cause: 'code -1111', signedAt: 0 });
  expect(state.looks).toBe(0);
  await send(rejected('-1111'));
  await send(rejected('10062'));
  expect(state.looks).toBe(1);
  await clock.advanceTo(3_000);
  await send(rejected('-1136'));
  expect(state.looks).toBe(2);
  const end = terms.begin();
  await clock.advanceTo(3_000 + 300_000);
  await clock.advanceTo(3_000 + 601_000);
  expect(state.looks).toBe(4);
  end();
  await clock.advanceTo(3_000 + 3_601_000);
  expect(state.looks).toBe(4);
});
