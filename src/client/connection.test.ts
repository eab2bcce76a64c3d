import { expect, test } from 'vitest';
import { refuseBan } from './connection.ts';

test('a ban is refused with the time that is left on this machine, whatever the clock of the exchange and its speed are', () => {
  const refused = (leftMs: number, speed: number) => () => {
    const bucket = { used: 0, max: 1 };
    const meter = () => ({
      ...{ ip: bucket, uid: bucket, waiting: 0, others: 0, refused: 0 },
      ...{ stoppedUntil: 5_000 + leftMs * speed, slowedUntil: undefined },
    });
    refuseBan({ meter }, { now: () => 5_000, machine: (ms) => ms * speed }, 'localhost:1');
  };
  expect(refused(90_000, 600)).toThrow(
    'the exchange at localhost:1 forbids requests from this address for another 90 s: wait until then',
  );
  expect(refused(600_000, 1)).toThrow('for another 10 min: wait until then');
  expect(refused(10_000, 600)).not.toThrow();
});
