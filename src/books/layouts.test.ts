import { expect, test } from 'vitest';
import { startTime } from '../../test/kit/builders.ts';
import { fillRowOf } from '../../test/kit/journal-rows.ts';
import type { FillEntry, InstrumentEntry } from '../journal/entries.ts';
import { layouts, rowsOf } from './layouts.ts';
import type { LayoutName } from './names.ts';

const listed: InstrumentEntry = {
  kind: 'instrument',
  ...{ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
};
const exported = (name: LayoutName, fills: readonly FillEntry[], within = {}): object[] => {
  const { columns } = layouts[name];
  return Array.from(rowsOf(layouts[name], fills, [listed], within), (row) =>
    Object.fromEntries(columns.map((column, index) => [column.name, row[index]])),
  );
};
const fill = fillRowOf({ quantity: '0.00002', price: '12345.67', fee: '0.00000001', feeAsset: 'BTC' });

test('a purchase receives base and sends quote, a sale the other way round, with the fee apart', () => {
  expect(exported('koinly', [fill])).toEqual([
    {
      ...{ Date: '2020-03-12 00:00:00 UTC', 'Sent Amount': '0.2469134', 'Sent Currency': 'USDT' },
      ...{ 'Received Amount': '0.00002', 'Received Currency': 'BTC' },
      ...{ 'Fee Amount': '0.00000001', 'Fee Currency': 'BTC', 'Net Worth Amount': '', 'Net Worth Currency': '' },
      ...{ Label: '', Description: 's BUY BTCUSDT, order 1001', TxHash: '7' },
    },
  ]);
  expect(exported('cointracker', [{ ...fill, side: 'SELL', fee: '0' }])).toEqual([
    {
      ...{ Date: '03/12/2020 00:00:00', 'Received Quantity': '0.2469134', 'Received Currency': 'USDT' },
      ...{ 'Sent Quantity': '0.00002', 'Sent Currency': 'BTC', 'Fee Amount': '', 'Fee Currency': '', Tag: '' },
    },
  ]);
});

test('fills are sorted by time and cut to the time that was asked for', () => {
  const at = (time: number): FillEntry => ({ ...fill, time: startTime + time, tradeId: `${time}` });
  const rows = exported('fills', [at(30), at(10), at(20), at(40)], { from: startTime + 20, to: startTime + 40 });
  expect(rows).toMatchObject([
    { trade_id: '20', amount: '0.2469134', liquidity: 'taker' },
    { trade_id: '30', time: '2020-03-12T00:00:00.030Z' },
  ]);
});

test('a negative fee is refused where the layout cannot say it', () => {
  const rebate = { ...fill, fee: '-0.1' };
  expect(() => exported('koinly', [rebate])).toThrow(/trade 7 has a negative fee \(-0\.1 BTC\)/);
  expect(exported('fills', [rebate])).toMatchObject([{ fee: '-0.1' }]);
});
