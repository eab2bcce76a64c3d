import { expect, test } from 'vitest';
import { figureText, moneyFigure, shareText } from './figures.ts';

test('a figure that rounds to nothing has no sign', () => {
  expect([shareText(-0.00001), shareText(-0), shareText(-0.0001), shareText(-12.5)]).toEqual([
    '0.00 %',
    '0.00 %',
    '-0.01 %',
    '-1,250.00 %',
  ]);
  expect([moneyFigure(-0.00001), figureText(-0.001, 'ratio'), figureText(-0.2, 'ratio')]).toEqual([
    '0.0000',
    '0.00',
    '-0.20',
  ]);
});
