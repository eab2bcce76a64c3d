import { expect, test } from 'vitest';
import { stateReports } from './observe.ts';

test('the end of a block that was reported is reported, and one that was not is not', () => {
  const said: string[] = [];
  let stateText = 'Trading.';
  const report = stateReports(
    { state: (_level, _state, _hasData, text) => said.push(text) },
    { shownState: 'ready', reason: undefined, view: () => ({ stateText, strategies: [] }) },
  );
  const look = (isBlocked: boolean): void => {
    stateText = isBlocked ? 'No order is created.' : 'Trading.';
    report(true, isBlocked);
  };
  look(true);
  look(true);
  look(false);
  look(false);
  look(true);
  look(false);
  expect(said).toEqual(['No order is created.', 'Trading.']);
});
