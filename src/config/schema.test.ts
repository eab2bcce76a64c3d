import { expect, test } from 'vitest';
import { rate } from '../domain/money.ts';
import { type BacktestConfig, backtestSchema, tradingSchema } from './schema.ts';

const fromOf = (from: string): BacktestConfig['from'] =>
  backtestSchema.parse({
    from,
    data: {},
    cash: '1',
    strategies: [{ id: 's', use: 'x', symbol: 'XBTUSD', interval: '1min' }],
    risk: { maxOrderValue: '1', maxPosition: '1' },
  }).from;

test.each([
  ['2020-03-12', '2020-03-12T00:00:00.000Z'],
  ['2020-03-12T08:00', '2020-03-12T08:00:00.000Z'],
  ['2020-03-12 08:00:30', '2020-03-12T08:00:30.000Z'],
  ['2020-03-12T08:00:00Z', '2020-03-12T08:00:00.000Z'],
  ['2020-03-12T08:00:00.250+05:30', '2020-03-12T02:30:00.250Z'],
  ['2024-02-29T23:59:59.5-0100', '2024-03-01T00:59:59.500Z'],
])('the moment %s is %s wherever the machine stands', (text, moment) => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'Asia/Tokyo';
  try {
    expect(new Date(fromOf(text) ?? Number.NaN).toISOString()).toBe(moment);
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

test.each([
  ...['yesterday', '2020-13-01', '12 March 2020', '2020-03-12T8:00'],
  ...['2024-02-30', '2023-02-29', '2024-01-32', '2024-04-31T08:00Z', '2024-01-01T24:00', '0024-02-01', '1989-12-31'],
])('%s is no moment', (text) => {
  expect(() => fromOf(text)).toThrow('must be a date such as 2020-03-12');
});

const exchangeOf = (stripPrefix: string, restUrl = 'https://exchange.example/spot/open/') =>
  tradingSchema.parse({
    exchange: { restUrl, wsUrl: 'wss://exchange.example/ws', stripPrefix },
    strategies: [{ id: 's', use: 'x', symbol: 'XBTUSD', interval: '1min', allocation: '1' }],
    risk: { maxOrderValue: '1', maxPosition: '1' },
  }).exchange;

test.each(['/spot', '/spot/open', '/spot/open/sapi'])('%s may be stripped by a gateway', (prefix) => {
  expect(exchangeOf(prefix).stripPrefix).toBe(prefix);
});

test.each(['', '/', 'spot', '/spot/', '/spo', '/other', '/spot/open/sapi/v1'])('%j is stripped by none', (prefix) => {
  expect(() => exchangeOf(prefix)).toThrow('must be what the paths of requests begin with (here /spot/open/sapi/');
});

const takerOf = (taker: string): bigint | undefined =>
  backtestSchema.parse({
    data: {},
    cash: '1',
    fees: { taker },
    strategies: [{ id: 's', use: 'x', symbol: 'XBTUSD', interval: '1min' }],
    risk: { maxOrderValue: '1', maxPosition: '1' },
  }).fees.taker;

test('a fee in percent is told from a fraction', () => {
  expect(takerOf('0.02')).toBe(rate('0.02'));
  expect(() => takerOf('0.1')).toThrow('is 10 % of each trade, where at most 2 % are taken: 0.1 % is \\"0.001\\"');
  expect(() => takerOf('1')).toThrow('is 100 % of each trade');
});
