/** An exchange and a rig for each test of a file or block, made before it and removed after it. */
import { afterEach, beforeEach } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator.ts';
import { makeRig, openExchange, type Rig } from './rig.ts';

/** Of the running test. */
export let exchange: Simulator;
export let rig: Rig;

/** Gives each test of this file or block an exchange and a rig of its own. */
export function rigForEachTest(options: Partial<SimulatorOptions> = {}): void {
  beforeEach(async () => {
    exchange = await openExchange(options);
    rig = makeRig(exchange);
  });
  afterEach(async () => {
    rig.remove();
    await exchange.close();
  });
}
