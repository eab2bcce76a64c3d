/** The built-in exchange as a process of its own: started by `apart.ts`, and gone when that is. */
import { type Instrument, instrument } from '../../src/domain/instrument.ts';
import { lots, units } from '../../src/domain/money.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { type Ask, assets, busy, type Opened, price, quiet, users } from './apart-world.ts';

const instruments: readonly Instrument[] = [busy, quiet].map((symbol) => {
  const shape = { symbol, base: symbol.slice(0, 3), quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 };
  return instrument({ ...shape, minQuantity: lots('0.0001', shape), minNotional: units('5') });
});

process.once('message', (ask: Ask) => {
  void startSimulator({
    users,
    instruments,
    assets,
    // Days of history, or the longer intervals had one kline each.
    markets: [
      { kind: 'synthetic', symbol: busy, price, takersPerSecond: 5, historyMinutes: 3_000 },
      { kind: 'empty', symbol: quiet },
    ],
    control: { port: 0 },
    ...ask,
  }).then(({ restUrl, wsUrl, controlUrl = '' }) => process.send?.({ restUrl, wsUrl, controlUrl } satisfies Opened));
});
process.on('disconnect', () => process.exit());
