/** Time exits and the measure of protection on a live rig: through partial fills, refusals and a crash. */
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { btc, decision, kill, target } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { Decision } from '../domain/order.ts';

const minute = 60_000;

/** A rig on which `s` has bought one BTC under a target that leaves after five minutes. */
async function holding(options: Parameters<typeof target>[1] = { exitAfterMs: 5 * minute }) {
  const rig = new TestRig();
  const signals = new Subject<Decision>();
  rig.start(signals);
  await rig.pass(10_000);
  signals.next(decision(target(1, options)));
  await rig.pass(10_000);
  const held = (): number => rig.assembled.portfolio.holding('s', btc.symbol).quantity;
  expect(held()).toBe(1);
  /** Lets time pass as a session does: a check each second. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      rig.price(100);
      rig.assembled.retryPending();
      await rig.pass(1_000);
    }
  };
  return { rig, signals, held, pass };
}
const bare = (rig: TestRig) => rig.assembled.unprotected.of('s', btc.symbol);

test('a position is left once its time is over, and not bought again for the same target', async () => {
  const { held, pass, signals } = await holding();
  await pass(4 * minute);
  expect(held()).toBe(1);
  await pass(1.5 * minute);
  expect(held()).toBe(0);
  signals.next(decision(target(1, { exitAfterMs: 5 * minute })));
  await pass(20_000);
  expect(held()).toBe(0);
});

test('a close at which the time after an exit is over enters again, though nothing was checked since', async () => {
  const { rig, held, pass, signals } = await holding({ exitAfterMs: minute, reenterAfterMs: 2 * minute });
  const again = decision(target(1, { exitAfterMs: minute, reenterAfterMs: 2 * minute }));
  await pass(1.2 * minute);
  expect(held()).toBe(0);
  signals.next(again);
  await rig.pass(5_000);
  expect(held()).toBe(0);
  await rig.pass(2 * minute);
  rig.price(100);
  signals.next(again);
  await rig.pass(5_000);
  expect(held()).toBe(1);
});

test('the time goes on over a crash, and is in force before anything is created', async () => {
  const { rig, pass } = await holding();
  await pass(3 * minute);
  rig.crash();
  await rig.pass(3 * minute);
  rig.start(new Subject<Decision>());
  await rig.pass(10_000);
  await pass(30_000);
  expect(rig.assembled.portfolio.holding('s', btc.symbol).quantity).toBe(0);
});

test('a HALT that holds the exit up is measured as time without protection, until it is lifted', async () => {
  const { rig, held, pass } = await holding();
  await pass(10_000);
  expect(bare(rig)).toEqual({ longestMs: 0, since: undefined });
  rig.assembled.execution.halts.halt('ledger', 'a test');
  await pass(6 * minute);
  expect(held()).toBe(1);
  expect(bare(rig).since).toBeDefined();
  await rig.finish(rig.assembled.resume(undefined, 'operator', 'a test'));
  await pass(20_000);
  expect(held()).toBe(0);
  expect(bare(rig).since).toBeUndefined();
  expect(bare(rig).longestMs).toBeGreaterThanOrEqual(6 * minute - 1_000);
  expect(bare(rig).longestMs).toBeLessThan(6 * minute + 10_000);
});

/** The notices of exits that cannot be sent. */
const unsold = (rig: TestRig): readonly string[] =>
  rig.notices.flatMap(({ level, topic, text }) => (topic === 'stopReached' ? [`${level} ${text}`] : []));

test('an exit that a ban holds up is an error once, whatever is repeated, and the next exit is one again', async () => {
  const { rig, held, pass, signals } = await holding();
  rig.blocked = 'the exchange forbids requests';
  await pass(6 * minute);
  expect(held()).toBe(1);
  expect(unsold(rig)).toEqual([
    expect.stringMatching(
      /^error the position of s on BTCUSDT must be closed \(.+\), and cannot be closed now: the exchange forbids requests\. It is closed as soon as/,
    ),
  ]);
  rig.blocked = undefined;
  await pass(20_000);
  expect(held()).toBe(0);
  signals.next(decision(target(2, { exitAfterMs: minute })));
  await pass(30_000);
  rig.blocked = 'the exchange forbids requests';
  await pass(minute);
  expect(unsold(rig)).toHaveLength(2);
});

describe('an exit that cannot be sent is an error with its cause', () => {
  const causes: Readonly<
    Record<string, readonly [cause: string, hold: (rig: TestRig, signals: Subject<Decision>) => void]>
  > = {
    'a full disk': [
      'the disk is full',
      (rig) => {
        rig.diskFull = true;
        // It is full for the journal once a commit has failed.
        rig.assembled.execution.journal.append({ kind: 'memory', name: 'a test', value: '' });
      },
    ],
    'a HALT': ['halted: a test', (rig) => rig.assembled.execution.halts.halt('ledger', 'a test')],
    'a kill of everything': [
      'killed by operator: a test',
      (rig) => void rig.assembled.kill(kill({ everything: true, reason: 'a test' })),
    ],
    'an unknown outcome': [
      'the outcome of an order is not known',
      (rig, signals) => {
        rig.venue.creates = ['dropLost', 'accept'];
        rig.venue.failing.add('openOrders');
        signals.next(decision(target(2, { exitAfterMs: 5 * minute })));
      },
    ],
  };
  test.each(Object.entries(causes))('%s', async (_, [cause, hold]) => {
    const { rig, held, pass, signals } = await holding();
    await pass(4 * minute);
    hold(rig, signals);
    await pass(2 * minute);
    expect(held()).toBe(1);
    expect(unsold(rig)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^error the position of s on BTCUSDT must be closed \\(.+\\), and cannot be closed now: ${cause}\\. It is`,
        ),
      ),
    ]);
  });
});

test('an exit that nothing holds up is no error', async () => {
  const { rig, held, pass } = await holding();
  await pass(6 * minute);
  expect(held()).toBe(0);
  expect(unsold(rig)).toEqual([]);
});

test('a ban is measured as time without protection, before the exit is due', async () => {
  const { rig, pass } = await holding();
  await pass(2_000);
  expect(bare(rig).since).toBeUndefined();
  rig.blocked = 'the exchange forbids requests';
  await pass(2_000);
  expect(bare(rig).since).toBeDefined();
  rig.blocked = undefined;
  await pass(2_000);
  expect(bare(rig).since).toBeUndefined();
});

test('a position that was due and could not be sold is unprotected still when its strategy wants to be flat', async () => {
  const { rig, held, pass, signals } = await holding();
  rig.blocked = 'the exchange forbids requests';
  await pass(6 * minute);
  const { since } = bare(rig);
  signals.next(decision(target(0)));
  await pass(5_000);
  expect(held()).toBe(1);
  expect(bare(rig).since).toBe(since);
  rig.blocked = undefined;
  signals.next(decision(target(0)));
  await pass(20_000);
  expect([held(), bare(rig).since]).toEqual([0, undefined]);
});
