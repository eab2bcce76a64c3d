/** Time exits and the measure of protection on a live desk: through partial fills, refusals and a crash. */
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { btc, decision, target } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { Decision } from '../domain/order.ts';

const minute = 60_000;

/** A desk on which `s` has bought one BTC under a target that leaves after five minutes. */
async function holding(options: Parameters<typeof target>[1] = { exitAfterMs: 5 * minute }) {
  const desk = new TestRig();
  const signals = new Subject<Decision>();
  desk.start(signals);
  await desk.pass(10_000);
  signals.next(decision(target(1, options)));
  await desk.pass(10_000);
  const held = (): number => desk.assembled.portfolio.holding('s', btc.symbol).quantity;
  expect(held()).toBe(1);
  /** Lets time pass as a session does: a look each second. */
  const look = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      desk.price(100);
      desk.assembled.retryPending();
      await desk.pass(1_000);
    }
  };
  return { desk, signals, held, look };
}
const bare = (desk: TestRig) => desk.assembled.unprotected.of('s', btc.symbol);

test('a position is left once its time is over, and not bought again for the same signal', async () => {
  const { held, look, signals } = await holding();
  await look(4 * minute);
  expect(held()).toBe(1);
  await look(1.5 * minute);
  expect(held()).toBe(0);
  signals.next(decision(target(1, { exitAfterMs: 5 * minute })));
  await look(20_000);
  expect(held()).toBe(0);
});

test('the time goes on over a crash, and is in force before anything is created', async () => {
  const { desk, look } = await holding();
  await look(3 * minute);
  desk.crash();
  await desk.pass(3 * minute);
  desk.start(new Subject<Decision>());
  await desk.pass(10_000);
  await look(30_000);
  expect(desk.assembled.portfolio.holding('s', btc.symbol).quantity).toBe(0);
});

test('a HALT that holds the exit up is measured as time without protection, until it is lifted', async () => {
  const { desk, held, look } = await holding();
  await look(10_000);
  expect(bare(desk)).toEqual({ longestMs: 0, since: undefined });
  desk.assembled.execution.halts.halt('ledger', 'a test');
  await look(6 * minute);
  expect(held()).toBe(1);
  expect(bare(desk).since).toBeDefined();
  await desk.finish(desk.assembled.resume(undefined, 'operator', 'a test'));
  await look(20_000);
  expect(held()).toBe(0);
  expect(bare(desk).since).toBeUndefined();
  expect(bare(desk).longestMs).toBeGreaterThanOrEqual(6 * minute - 1_000);
  expect(bare(desk).longestMs).toBeLessThan(6 * minute + 10_000);
});
