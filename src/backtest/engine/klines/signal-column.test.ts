import { expect, test } from 'vitest';
import { decision, target } from '../../../../test/kit/builders.ts';
import type { Target } from '../../../domain/order.ts';
import { SignalColumn } from './signal-column.ts';

test('gives signals back as they were, whatever differs between two of them', () => {
  const column = new SignalColumn();
  const signals: readonly Partial<Target>[] = [
    { stop: 90, trailing: 0.02 },
    { stop: 91, trailing: { distance: 3 } },
    { stop: { fromEntry: 0.05 } },
    { stop: { fromEntry: 0.06 }, exitAt: '16:00' },
    { exitAfterKlines: 9, exitAfterMs: 540_000 },
    { exitAfterKlines: 8, exitAfterMs: 480_000 },
    { exitAfterMs: 480_000 },
    { exitAfterMs: 60_000, reenterAfterKlines: 2, reenterAfterMs: 120_000 },
    { breakEven: { after: { distance: 2 } } },
    { breakEven: { after: { distance: 2, moving: true }, plus: 0.001 } },
    { takeProfit: [{ at: { distance: 2 }, share: 0.5 }] },
    { takeProfit: { distance: 2 } },
  ];
  const legs = signals.map((exits) => decision(target(1, exits)).legs[0]);
  for (const [index, leg] of legs.entries()) column.push(leg, undefined, index + 1);
  expect([...column.all()]).toEqual(legs);
});
