import { expect, test } from 'vitest';
import { fillView, unknownView, view } from '../../../test/kit/view.ts';
import { type News, newsJson, newsText, reportChanges } from './terminal.ts';

const quiet = { fills: [], unknowns: [], notices: [] };

/** What is told of each view after the first, which is there at the start. */
function told(...views: readonly Parameters<typeof view>[0][]): News[] {
  const news: News[] = [];
  const look = reportChanges(view({ ...quiet, state: 'ready', stateText: 'trading' }), (one) => news.push(one));
  for (const one of views) look(view({ ...quiet, state: 'ready', stateText: 'trading', ...one }));
  return news.slice(1);
}
const older = fillView({ tradeId: '1' });
const newer = fillView({ tradeId: '2' });
const notice = { at: 1, level: 'error', text: 'killed', advice: 'sluice resume' } as const;

test('what is new is told once, oldest first', () => {
  const fills = [newer, older];
  const notices = [notice];
  expect(told({ fills: [older] }, { fills, notices }, { fills, notices })).toEqual([
    { kind: 'fill', time: older.time, fill: older },
    { kind: 'fill', time: newer.time, fill: newer },
    { kind: 'notice', time: 1, level: 'error', text: 'killed', advice: 'sluice resume' },
  ]);
});

test('an unknown outcome is told of with its end, also when both came between two looks', () => {
  const unknowns = [unknownView({ clientOrderId: 'c1' })];
  expect(told({ unknowns }, { unknowns }).map(({ kind }) => kind)).toEqual(['unknown', 'resolved']);
});

test('a line is text for people and one object for programs', () => {
  const fill: News = { kind: 'fill', time: newer.time, fill: newer };
  expect(newsText(fill)).toMatch(/^2020-03-12T\S+Z fill {7}\S+ BUY 0.25 XBTUSD at /);
  expect(JSON.parse(newsJson(fill))).toEqual({
    version: 2,
    kind: 'fill',
    tradeId: '2',
    orderId: newer.orderId,
    clientOrderId: newer.clientOrderId,
    strategy: newer.strategy,
    symbol: 'XBTUSD',
    side: 'BUY',
    price: newer.price,
    quantity: '0.25',
    fee: '0.0005',
    feeAsset: 'XBT',
    time: newer.time,
  });
  expect(newsJson({ kind: 'state', time: 5, state: 'live', text: 'trading' })).toBe(
    '{"version":2,"kind":"state","time":5,"state":"live","text":"trading"}',
  );
  expect(newsText({ kind: 'notice', time: 5, level: 'info', text: 'so', advice: undefined })).toBe(
    '1970-01-01T00:00:00.005Z info       so',
  );
});

test('to be ready without market data is not to trade, and is told, with its end', () => {
  const stateText = 'No market data: ws://x: refused. Retrying; no new positions until it resumes.';
  const news = told(
    {},
    { noMarketData: 'ws://x: refused', stateText },
    { noMarketData: 'ws://x: gone', stateText },
    {},
  );
  expect(news.map((one) => newsText(one).replace(/^\S+Z /, ''))).toEqual([
    'ready, but no market data: ws://x: refused. Retrying; no new positions until it resumes.',
    'ready: trading',
  ]);
});
