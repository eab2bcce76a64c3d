import { describe, expect, test } from 'vitest';
import type { Kill } from '../risk/kill.ts';
import { fill } from '../testing/builders.ts';
import { TestDesk } from '../testing/desk.ts';

const kill = (by: 'dailyLoss' | 'operator'): Kill => ({ at: 0, strategy: undefined, by, reason: 'enough' });
const stopExit = { side: 'SELL', purpose: 'stop' } as const;

/** A desk that holds 1, at an exchange where MARKET orders wait. */
function holding(): TestDesk {
  const desk = new TestDesk().listen();
  desk.venue.market = undefined;
  desk.assembled.portfolio.apply(fill());
  return desk;
}

describe('an order that has just been placed', () => {
  test('is not cancelled because the disk filled up while it was on its way', async () => {
    const desk = new TestDesk().listen();
    desk.venue.latencyMs = 200;
    desk.venue.onCreate = () => {
      desk.diskFull = true;
      desk.journal.append({ kind: 'notice', at: desk.clock.now(), level: 'info', text: 'does not fit' });
    };
    const { order, carried } = desk.begin({ price: '100' });
    await desk.pass(100);
    expect(desk.journal.full).toBe(true);
    expect(await desk.finish(carried)).toBe('placed');
    await desk.pass(1_000);
    expect(desk.asked('cancel')).toBe(0);
    expect(order.state).toBe('open');
  });

  test.each([
    ['operator', 'an entry', {}, 1],
    ['operator', 'a stop’s exit', stopExit, 1],
    ['dailyLoss', 'an entry', {}, 1],
    ['dailyLoss', 'a stop’s exit', stopExit, 0],
  ] as const)('under a kill by %s that came meanwhile: %s', async (by, _, text, cancels) => {
    const desk = holding();
    desk.venue.onCreate = () => desk.assembled.risk.switch.kill(kill(by));
    await desk.placed(text);
    expect(desk.asked('cancel')).toBe(cancels);
  });
});

describe('a kill by the daily loss limit', () => {
  test('cancels what rests but the exit of a stop, at once and when it is asked again', async () => {
    const desk = holding();
    const exit = await desk.placed(stopExit);
    const entry = await desk.placed({ price: '99' });
    await desk.finish(desk.assembled.kill(kill('dailyLoss')));
    expect([exit.state, entry.state]).toEqual(['open', 'canceled']);
    desk.assembled.insist();
    await desk.pass(1_000);
    expect(exit.state).toBe('open');
  });

  test('leaves the exit alone after a restart as well', async () => {
    const desk = holding();
    const exit = await desk.placed(stopExit);
    await desk.finish(desk.assembled.kill(kill('dailyLoss')));
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.desk.recover());
    expect(desk.asked('cancel')).toBe(0);
    expect(await desk.stateOf(exit)).toBe('open');
  });
});

test('a kill by a person cancels the exit of a stop too', async () => {
  const desk = holding();
  const exit = await desk.placed(stopExit);
  await desk.finish(desk.assembled.kill(kill('operator')));
  expect(exit.state).toBe('canceled');
});
