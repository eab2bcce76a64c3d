/** Killed with -9 at the worst moments, the daemon ends up with exactly the exchange's list: `npm run torture` is the long form. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Simulator } from '../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from './kit/books.ts';
import { moments, moveMaker, turnTaker } from './kit/moments.ts';
import type { Program } from './kit/program.ts';
import { makeRig, openExchange, type Rig, trader } from './kit/rig.ts';
import { until } from './kit/until.ts';

describe('killed with -9', () => {
  let exchange: Simulator;
  let rig: Rig;
  let daemon: Program;

  beforeAll(async () => {
    exchange = await openExchange();
    rig = makeRig(exchange);
    turnTaker({ rig });
    moveMaker({ rig });
    daemon = await rig.start();
    await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  });
  afterAll(async () => {
    rig.remove();
    await exchange.close();
  });

  for (const moment of moments) {
    test(`${moment.name}, the journal has every fill once and every open order`, async () => {
      await quiet(rig, exchange);
      const fills = exchange.allTrades(trader.uid).length;
      const orders = exchange.allOrders(trader.uid).length;
      await moment.kill({ rig, exchange, daemon });
      daemon = await rig.start();
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
      expect(exchange.allOrders(trader.uid).length + exchange.allTrades(trader.uid).length).toBeGreaterThan(
        fills + orders,
      );
    });
  }
});
