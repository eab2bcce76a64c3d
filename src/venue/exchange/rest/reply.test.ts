import { expect, test } from 'vitest';
import type { HttpReply } from './http.ts';
import { replyReader } from './reply.ts';

const answer = (body: string, status = 200): HttpReply => ({ kind: 'reply', status, retryAfter: undefined, body });
const trades = (id: string): string => JSON.stringify({ list: Array(20).fill({ id, price: '1.5' }) });
const saidIn = (reply: ReturnType<ReturnType<typeof replyReader>>): unknown =>
  reply.kind === 'ok' ? reply.value : reply.kind;

test('gives the same object for the same answer to the same question', () => {
  const read = replyReader();
  const first = read('/trades?symbol=BTCUSDT', answer(trades('1')));
  expect(read('/trades?symbol=BTCUSDT', answer(trades('1')))).toBe(first);
  expect(saidIn(first)).toEqual(JSON.parse(trades('1')));
});

test('reads what differs by a digit, a status or a question anew', () => {
  const read = replyReader();
  const first = read('/trades', answer(trades('1')));
  expect(saidIn(read('/trades', answer(trades('2'))))).toEqual(JSON.parse(trades('2')));
  expect(read('/trades', answer(trades('2'), 500)).kind).toBe('unclear');
  expect(read('/others', answer(trades('1')))).not.toBe(first);
  expect(read('/trades', { kind: 'failed', cause: 'cut', written: true })).toEqual({ kind: 'unclear', cause: 'cut' });
});

test('forgets the oldest of many questions', () => {
  const read = replyReader();
  const first = read('/0', answer(trades('1')));
  for (let other = 1; other <= 16; other++) read(`/${other}`, answer(trades('1')));
  expect(read('/0', answer(trades('1')))).not.toBe(first);
  const last = read('/16', answer(trades('1')));
  expect(read('/16', answer(trades('1')))).toBe(last);
});
