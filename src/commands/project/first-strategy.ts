/** The strategy that a new folder begins with, and tests of strategies. */
import { isDeciding, isStreaming, type Strategy } from '../../strategy/contract.ts';

export const firstStrategy = (
  name: string,
): string => `/** Long while the close stands above its average, flat below it. */
import { decimal, defineStrategy, flat, hold, integer, sma } from 'sluice';

export default defineStrategy({
  name: '${name}',
  about: 'Long while the close stands above its average',
  params: {
    period: integer(20, { min: 2, max: 5000 }, 'klines of the average'),
    margin: decimal(0, { min: 0, max: 0.5 }, 'how far above it enters and how far below it leaves, as a fraction'),
    share: decimal(0.5, { min: 0, max: 1 }, 'share of its equity to hold'),
    stop: decimal(0.03, { min: 0.001, max: 0.5 }, 'trailing stop, as a fraction of the best price since the entry'),
  },
  indicators: ({ period }) => ({ average: sma('close', period) }),
  decide({ average }, { kline, holding, params }) {
    const enter = kline.close > average * (1 + params.margin);
    const stay = holding.quantity > 0 && kline.close > average * (1 - params.margin);
    return enter || stay
      ? hold({ share: params.share }, 'the close is above its average', { trailing: params.stop })
      : flat('the close is not above its average');
  },
});
`;

export const firstTest = (name: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backtest } from 'sluice';
import { decide, klines } from 'sluice/testing';
import strategy from './${name}.ts';

const start = klines({ interval: '1min', from: 100 });

test('is long in a rise, with a trailing stop', () => {
  assert.partialDeepStrictEqual(decide(strategy, start.rise(20)), { size: { share: 0.5 }, trailing: 0.03 });
});

test('is flat in a fall', () => {
  assert.partialDeepStrictEqual(decide(strategy, start.fall(20)), { size: { quantity: 0 } });
});

test('stays between the two lines around the average while it holds', () => {
  const params = { margin: 0.02 };
  const near = start.flat(30);
  assert.partialDeepStrictEqual(decide(strategy, near, { params }), { size: { quantity: 0 } });
  assert.partialDeepStrictEqual(decide(strategy, near, { params, holding: { quantity: 1, entryPrice: 99 } }), {
    size: { share: 0.5 },
  });
});

test('says nothing before its average has a value', () => {
  assert.equal(decide(strategy, start.rise(4), { params: { period: 5 } }), undefined);
});

test('buys a rise and sells the fall after it', async () => {
  const data = start.flat(30).rise(20).fall(30);
  const { fills } = await backtest({ strategy, data, cash: '10000', rules: 'plain' });
  assert.deepEqual(
    fills.map(({ side }) => side),
    ['BUY', 'SELL'],
  );
});
`;

/** A test for a copy of a shipped strategy, which has tests of its own in Sluice. */
export const copiedTest = (name: string, strategy: Strategy): string => {
  if (isDeciding(strategy)) return ofOneMarket(name);
  return isStreaming(strategy) ? ofStreams(name) : ofSeveralMarkets(name);
};

const ofOneMarket = (name: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backtest } from 'sluice';
import { decide, klines } from 'sluice/testing';
import strategy from './${name}.ts';

const start = klines({ interval: '15min', from: 10_000, step: 50 });
/** A month that rises step by step, and falls suddenly sixty times. */
let waves = start.flat(200);
for (let wave = 0; wave < 60; wave++) waves = waves.rise(30).flat(20).fall(3, waves.price + 1_000);

test('decides the same when it is asked again', () => {
  assert.deepEqual(decide(strategy, waves), decide(strategy, waves));
});

test('trades a market that rises and falls', async () => {
  const { fills } = await backtest({ strategy, data: waves, cash: '100000', rules: 'plain' });
  assert.ok(fills.length > 0);
});
`;

const ofSeveralMarkets = (name: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import strategy from './${name}.ts';

const defaults = Object.fromEntries(Object.entries(strategy.params).map(([key, param]) => [key, param.default]));

test('has indicators that need a number of klines', () => {
  const needed = Object.values(strategy.indicators(defaults as never)).map(({ warmup }) => warmup);
  assert.ok(needed.length > 0 && needed.every((count) => Number.isInteger(count) && count > 0));
});
`;

const ofStreams = (name: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backtest } from 'sluice';
import { klines } from 'sluice/testing';
import strategy from './${name}.ts';

test('refuses a parameter that it does not have', async () => {
  const data = klines({ interval: '1min', from: 10_000 }).rise(100);
  await assert.rejects(backtest({ strategy, data, cash: '100000', params: { absent: 1 } as never }), /absent/);
});
`;
