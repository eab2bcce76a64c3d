import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { hmacSha256 } from './hmac.ts';

test('is the HMAC of Node for keys and texts of every length', () => {
  for (const length of [0, 1, 31, 32, 63, 64, 65, 200]) {
    const key = Buffer.alloc(length, 0xf1);
    const mac = hmacSha256(key);
    for (const text of ['', 'GET/sapi/v1/time', '余额不足', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(5_000)])
      expect(mac(text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
  }
});

test('gives one text the same result again', () => {
  const mac = hmacSha256(Buffer.from('secret'));
  expect(mac('one')).not.toBe(mac('two'));
  expect(mac('one')).toBe(mac('one'));
});
