import { expect, it } from 'vitest';
import { signer } from './sign.ts';

it('gives the published signature', () => {
  const body = '{"symbol":"BTCUSDT","price":"9300","volume":"1","side":"BUY","type":"LIMIT"}';
  const headers = signer('k', '902ae3cb34ecee2779aa4d3e1d226686').headers(
    'POST',
    '/sapi/v1/order/test',
    body,
    1_588_591_856_950,
  );
  expect(headers).toEqual({
    'x-ch-apikey': 'k',
    'x-ch-ts': '1588591856950',
    'x-ch-sign': 'c50d0a74bb9427a9a03933d0eded03af9bf50115dc5b706882a4fcf07a26b761',
  });
});

it('changes with every byte of what is sent, a blank included', () => {
  const sign = (body: string) => signer('k', 's').headers('POST', '/p', body, 1)['x-ch-sign'];
  expect(sign('{"a":1}')).not.toBe(sign('{"a": 1}'));
});

it('leaves out the part of the path that a gateway strips, and only at its start', () => {
  const path = (target: string, strip?: string) => signer('k', 's', strip).headers('GET', target, '', 1)['x-ch-sign'];
  expect(path('/spot/open/sapi/v1/order?a=/spot/open', '/spot/open')).toBe(path('/sapi/v1/order?a=/spot/open'));
  expect(path('/sapi/v1/order', '/spot/open')).toBe(path('/sapi/v1/order'));
});
