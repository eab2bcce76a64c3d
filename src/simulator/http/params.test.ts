import { expect, test } from 'vitest';
import { queryParams } from './params.ts';

test.each([
  '',
  'symbol=BTCUSDT&limit=1000&fromId=1000023',
  'a&b=&=c&a=2&&d=x=y',
  'symbol=BTC%2FUSDT&price=1e%2B5&note=a+b',
  'name=é&other=1',
])('a query says what a URL says: %j', (query) => {
  expect([...queryParams(query)]).toEqual([...new Map(new URLSearchParams(query))]);
});
