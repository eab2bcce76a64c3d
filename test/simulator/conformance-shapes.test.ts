/** The suite against exchanges that differ: each deviation fails the check about it, and the suite goes on and leaves nothing open. */
import { expect, test } from 'vitest';
import { rules as shape } from '../conformance/rules.ts';
import { openApart } from '../kit/apart.ts';
import type { Ask } from '../kit/apart-world.ts';
import { restingOn, suite, unpassed, withOptions } from '../kit/conformance.ts';

const depth = 'shows the depth, the best level first, as pairs of price and quantity in strings, with its time';
const lost = { lie: { remove: ['idsString', 'ids'] } };

const deviations: readonly (readonly [what: string, ask: Ask, fails: readonly string[], section?: string])[] = [
  ['an id without its text', { quirks: { orderIdString: false } }, [shape.orderIdString.says]],
  ['an id as a list', { quirks: { orderId: 'list' } }, [shape.orderId.says]],
  ['an envelope around replies', { quirks: { replies: 'enveloped' } }, [shape.bare.says]],
  ['another name of the time', { quirks: { timeField: 'server_time' } }, ['tells its time, in ms, and it goes on']],
  ['null for an empty list', { quirks: { emptyLists: 'null' } }, [shape.emptyList.says]],
  ['a cancel that takes effect later', { quirks: { cancel: 'later' } }, [shape.cancelStatus.says]],
  ['batches that name no ids', { faults: [batches(lost)] }, [shape.batchIds.says]],
  ['creates whose answers are lost', { quirks: { lostCreateEvery: 3 } }, [shape.outcome.says]],
  [
    'creates that name no id',
    {
      faults: [
        { match: { method: 'POST', path: '/sapi/v1/order' }, do: { lie: { remove: ['orderIdString', 'orderId'] } } },
      ],
    },
    [shape.orderIdString.says],
    '4.2',
  ],
  [
    'client ids that are not echoed',
    { quirks: { clientId: 'null' } },
    [
      'keeps the client id of an order',
      'answers a cancel with the client id, and with a placeholder where there is none',
    ],
  ],
  [
    'refusals under HTTP 200 with codes as text, wrapped lists, old states, depth without time',
    {
      quirks: {
        ...{ errorStatus: 'http200', errorCode: 'text', refusalExtras: 'succ', lists: 'wrapped', states: 'numbers' },
        ...{ depthTime: 'null', createStatus: 0, batchCancelIds: 'text', batchFailure: 'stop', accountUid: true },
      },
    },
    [
      ...[shape.refusalStatus.says, shape.refusal.says, shape.list.says, shape.status.says, shape.createdStatus.says],
      depth,
    ],
  ],
  [
    'numbers with exponents, other codes, klines and trades in other shapes',
    {
      quirks: {
        ...{ amounts: 'scientific', errorCodes: 'engine', klineOrder: 'oldest first', klineIndex: 'seconds' },
        ...{ publicTrades: 'bare', rose: 'percent', states: 'many', minima: 'absent', orderId: 'text' },
      },
    },
    [
      ...[shape.klineOrder.says, shape.klineIndex.says, shape.publicTrades.says, shape.status.says, shape.orderId.says],
      ...[depth, 'gives `rose` as a ratio of last to open'],
    ],
  ],
];

function batches(action: object) {
  return { match: { method: 'POST', path: '/sapi/v1/batchOrders' }, do: action };
}

test.for(deviations)('%s', { timeout: 120_000 }, async ([, ask, fails, section = '']) => {
  const exchange = await openApart(ask);
  try {
    const ended = await withOptions(exchange, (options) =>
      suite(section === '' ? options : [...options, '--section', section]),
    );
    expect([...unpassed(ended)].sort(), ended.err).toEqual([...fails].sort());
    expect(await restingOn(exchange)).toEqual([]);
    expect(ended).toMatchObject({ code: 1, err: '' });
  } finally {
    await exchange.close();
  }
});

test('the feed in other shapes', async () => {
  const exchange = await openApart({
    quirks: { socketSide: 'upper', bidsKey: 'bids', echoCallbackId: false, acknowledge: true, envelope: 'full' },
  });
  try {
    const ended = await withOptions(exchange, (options) =>
      suite([...options, '--ws', exchange.wsUrl, '--section', '6.3']),
    );
    expect([...unpassed(ended)].sort()).toEqual(
      [
        ...[shape.side.says, shape.bids.says, shape.callbackId.says, shape.frame.says, shape.history.says],
        'neither greets nor acknowledges: the first frame is data',
      ].sort(),
    );
  } finally {
    await exchange.close();
  }
});

test('a key that the exchange does not know fails one check', async () => {
  const exchange = await openApart();
  try {
    const unknown = ['--key', 'nobody', '--secret', 'nothing', '--write', '--margin', '--json'];
    const ended = await suite(['--url', exchange.restUrl, ...unknown]);
    expect(unpassed(ended)).toEqual(['accepts a right signature']);
    expect(ended.code).toBe(1);
  } finally {
    await exchange.close();
  }
});
