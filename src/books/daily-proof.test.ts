import { expect, test } from 'vitest';
import { startTime } from '../../test/kit/builders.ts';
import { fillRowOf } from '../../test/kit/journal-rows.ts';
import { instrument } from '../domain/instrument.ts';
import { lots, ticks, units } from '../domain/money.ts';
import { afterFill, noPosition } from '../domain/position.ts';
import type { AuditEntry, InstrumentEntry } from '../journal/entries.ts';
import { booksBetween, dailyProofs, proofText, subLedgerDifferences } from './daily-proof.ts';

const minute = 60_000;
const audit = (at: number, differences: AuditEntry['differences'] = {}): AuditEntry => ({
  ...{ kind: 'audit', at: startTime + at, differences, held: {} },
  outcome: Object.keys(differences).length === 0 ? 'even' : 'off',
});
const listed: InstrumentEntry = {
  kind: 'instrument',
  ...{ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 },
};

test('a day tells when account and ledger were equal last, and every difference before or after', () => {
  const proofs = dailyProofs([audit(minute, { BTC: '0.5' }), audit(3 * minute), audit(1_440 * minute, { USDT: '-1' })]);
  expect(proofs.map((proof) => [proof.day, proofText(proof)])).toEqual([
    ['2020-03-12', 'off at 00:01:00: +0.5 BTC; even at 00:03:00'],
    ['2020-03-13', 'off at 00:00:00: -1 USDT'],
  ]);
  expect(proofText(undefined)).toBe('not compared');
});

test('positions add up to the fills, with fees in either asset, and a fill that counts twice is found', () => {
  const fills = [
    fillRowOf({ fee: '0.001', feeAsset: 'BTC' }),
    fillRowOf({ side: 'SELL', quantity: '0.4', price: '110.5', tradeId: '8' }),
    fillRowOf({ fee: '3', feeAsset: 'BNB', tradeId: '9' }),
  ];
  const at = instrument(listed);
  const position = fills.reduce((before, row) => {
    const { evidence: _, ...fill } = row;
    const exact = { price: ticks(fill.price, at), quantity: lots(fill.quantity, at), fee: units(fill.fee) };
    return afterFill(before, { ...fill, ...exact }, at);
  }, noPosition);
  const held = { strategy: 's', symbol: 'BTCUSDT', instrument: listed, position, protection: undefined };
  expect(subLedgerDifferences(fills, [held], [listed])).toEqual({});
  const twice = [...fills, fillRowOf({ tradeId: '10' })];
  expect(subLedgerDifferences(twice, [held], [listed])).toEqual({ BTC: '1', USDT: '-100.1' });
});

test('the books of a period have the profit of its fills by strategy, and the proof of each day', () => {
  const reader = {
    pastFills: () => [fillRowOf(), fillRowOf({ side: 'SELL', price: '130', time: startTime + 1_500 * minute })],
    instruments: () => [listed],
    memories: () => new Map(),
    audits: () => [audit(minute), audit(1_500 * minute), audit(1_501 * minute)],
  };
  expect(booksBetween(reader, startTime + 1_440 * minute, startTime + 1_501 * minute)).toMatchObject({
    profit: { rows: [{ quote: 'USDT', realised: '30', fees: '0.1', net: '29.9' }] },
    proofs: [{ day: '2020-03-13', even: startTime + 1_500 * minute }],
  });
});
