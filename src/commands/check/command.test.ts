import { expect, test } from 'vitest';
import type { Checked } from '../../backtest/check/check.ts';
import { linesOf } from './command.ts';

const checked: Checked = {
  ...{ strategy: 'slow', symbol: 'ETHUSDT', interval: '15min', klines: 2_500, from: 0, to: 1, params: {} },
  ...{ leaks: [], mistakes: [], emitted: 'something', notCalled: undefined, warmup: undefined, span: 150 },
  history: { declared: 495, available: 17_000, live: 495 },
};
const warmupLine = (decisions: number | undefined): string | undefined =>
  linesOf({ ...checked, warmup: { declared: 495, decisions, indicators: {}, tried: 1_175 } }, false).find((line) =>
    line.startsWith('warm-up'),
  );

test('the warm-up to declare is named where a live start has too little', () => {
  expect(warmupLine(1_000)).toMatch(/\. Declare warmup: \(\) => 1000, so that a live start loads as many$/);
  expect(warmupLine(undefined)).toMatch(
    /do not agree within 1175; .*\. Declare warmup: \(\) => 2350 and check again; if they never agree, they depend on where/,
  );
  expect(warmupLine(495)).toMatch(/a live start has 495: enough$/);
});
