import { expect, test } from 'vitest';
import { cleared, giveBack } from './database.ts';

const kept = (db: ReturnType<typeof cleared>): unknown => db.prepare('SELECT count(*) FROM kills').pluck().get();
const write = (db: ReturnType<typeof cleared>): unknown =>
  db.prepare("INSERT INTO kills (kind, everything, at, by, reason) VALUES ('kill', 0, 1, 'me', 'test')").run()
    .lastInsertRowid;

test('a database that a world gave back is empty for the next one, and counts from the beginning', () => {
  const first = cleared();
  expect(write(first)).toBe(1);
  expect(write(first)).toBe(2);
  giveBack(first);
  const second = cleared();
  expect(second).toBe(first);
  expect(kept(second)).toBe(0);
  expect(write(second)).toBe(1);
  giveBack(second);
});

test('two worlds at a time have a database each', () => {
  const [one, other] = [cleared(), cleared()];
  write(one);
  expect(kept(other)).toBe(0);
  giveBack(one);
});

test('one that was left in a transaction, or closed, is not used again', () => {
  const broken = cleared();
  broken.exec('BEGIN');
  giveBack(broken);
  const next = cleared();
  expect(next).not.toBe(broken);
  next.close();
  giveBack(next);
  expect(cleared()).not.toBe(next);
});
