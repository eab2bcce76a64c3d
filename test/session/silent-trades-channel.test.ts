/** The trades channel alone is deaf while all others go on, and the price falls: what guards a position may not hang on it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MinuteColumns, Simulator } from '../../src/simulator/simulator.ts';
import { profiles } from '../kit/quirk-run.ts';
import { makeRig, marketStart, openExchange, price, type Rig, symbols, target, trader } from '../kit/rig.ts';

let exchange: Simulator;
let rig: Rig;

const historyMinutes = 200;
/** The daemon has bought by then; a minute is a real second. */
const steadyMinutes = 10;

/** Minutes that stand still, and then fall by 0.2 % each. */
function falling(): MinuteColumns {
  const at = (index: number): number => price - 20 * Math.max(0, index - historyMinutes - steadyMinutes);
  const column = (value: (index: number) => number): Float64Array =>
    Float64Array.from({ length: historyMinutes + 200 }, (_, index) => value(index));
  return {
    openTime: column((index) => marketStart + (index - historyMinutes) * 60_000),
    open: column((index) => at(index - 1)),
    high: column((index) => at(index - 1) + 5),
    low: column((index) => at(index) - 5),
    close: column(at),
    volume: column(() => 200),
  };
}

describe.each(profiles)('on the %s profile', (profile) => {
  beforeEach(async () => {
    const klines = falling();
    const markets = symbols.map((symbol) => ({ kind: 'klines', symbol, klines, startIndex: historyMinutes }) as const);
    exchange = await openExchange({ profile, markets });
    rig = makeRig(exchange);
  });
  afterEach(async () => {
    rig.remove();
    await exchange.close();
  });

  test('a stop and a trailing stop leave by the book', async () => {
    rig.emit('taker', target(0.1, { stop: price - 30 }));
    rig.emit('other', target(0.1, { trailing: 0.004 }));
    const daemon = await rig.start();
    await daemon.line(/fill .* taker BUY/);
    await daemon.line(/fill .* other BUY/);
    for (const symbol of symbols) {
      const path = `market_${symbol.toLowerCase()}_trade_ticker`;
      exchange.addFault({ match: { method: 'WS', path }, do: { socket: 'skip' } });
    }
    await daemon.line(/fill .* taker SELL/);
    await daemon.line(/fill .* other SELL/);
    expect(exchange.allTrades(trader.uid).filter(({ side }) => side === 'SELL').length).toBeGreaterThanOrEqual(2);
    const reasons = rig.read((reader) => reader.orders("purpose = 'stop'")).map(({ reason }) => reason);
    expect(reasons.length).toBeGreaterThanOrEqual(2);
    for (const reason of reasons) expect(reason).toMatch(/^stop \d+(\.\d+)? hit: best bid \d/);
  });
});
