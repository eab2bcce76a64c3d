import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { holding } from '../../test/kit/flatten-rig.ts';
import type { Decision } from '../domain/order.ts';

describe('flatten never sells more than is held', () => {
  test.each(['acceptLost', 'dropLost'] as const)('where the answer of an order is lost (%s)', async (fate) => {
    const { rig, book, held, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    rig.venue.creates = [fate, fate, 'accept'];
    const work = begin();
    for (let second = 0; second < 400; second += 10) {
      book(99.9);
      await rig.seconds(10);
    }
    await textsIn(1, work);
    const sold = rig.venue.trades.filter(({ side }) => side === 'SELL');
    expect(sold.length).toBeLessThanOrEqual(1);
    expect(held()).toBe(fate === 'acceptLost' ? '0' : '1');
  });

  test.each(['sending', 'accepted', 'cancelSent', 'closed'])(
    'where the program ends at "%s", each time, and goes on after a restart',
    async (event) => {
      for (let nth = 1; nth <= 3; nth++) {
        const { rig, book, begin, pause } = await holding();
        book(99.9);
        pause();
        let seen = 0;
        let crashed = false;
        rig.onCommit = (committed) => {
          if (committed !== event || ++seen !== nth || crashed) return;
          crashed = true;
          rig.crash();
          rig.start(new Subject<Decision>());
        };
        void begin();
        for (let second = 0; second < 240; second += 4) {
          book(99.9);
          await rig.seconds(4);
        }
        const { portfolio, risk, flattening } = rig.assembled;
        const sold = rig.venue.trades
          .filter(({ side }) => side === 'SELL')
          .reduce((sum, { quantity }) => sum + quantity, 0n);
        expect(crashed || nth > 1).toBe(true);
        expect([event, nth, sold]).toEqual([event, nth, 100_000n]);
        expect(portfolio.position('s', 'BTCUSDT').base).toBe(0n);
        expect([risk.switch.of('s')?.kind, flattening.active]).toEqual(['pause', []]);
      }
    },
  );
});
