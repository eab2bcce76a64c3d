import { expect, test } from 'vitest';
import { strategyView, view } from '../../../test/kit/view.ts';
import { type Answering, answer } from './answers.ts';
import type { Command } from './commands.ts';

/** The answer to a command, and what was done. */
async function answered(command: Command): Promise<readonly [string, object]> {
  let done: object = {};
  const act = async (asked: object): Promise<string> => {
    done = asked;
    return 'Done.';
  };
  const answering: Answering = {
    view: () => view({ strategies: [strategyView({ id: 'trend' }), strategyView({ id: 'Grid' })] }),
    history: { ask: () => Promise.reject(new Error('nobody asks')) },
    actions: { kill: act, pause: act, resume: act, flatten: act, cancel: act, acknowledge: act },
    atStart: () => ({}),
  };
  return [await answer(answering, 'telegram Ann', command), done];
}
const by = 'telegram Ann';

test.each([
  ['trend', { strategy: 'trend' }],
  ['Trend', { strategy: 'trend' }],
  ['grid', { strategy: 'Grid' }],
  [undefined, { strategy: undefined }],
])('a kill of %s acts on that', async (strategy, whom) => {
  const [text, done] = await answered({ name: 'kill', strategy, reason: 'looks wrong' });
  expect([text, done]).toEqual(['Done.', { by, ...whom, reason: 'looks wrong' }]);
});

test.each(['kill', 'pause'] as const)(
  'a %s with a word that names no strategy acts on all, and says so',
  async (name) => {
    const note = 'No strategy is called looks, so this counts as the reason, for all strategies. Done.';
    expect(await answered({ name, strategy: 'looks', reason: 'wrong' })).toEqual([
      note,
      { by, strategy: undefined, reason: 'looks wrong' },
    ]);
    expect(await answered({ name, strategy: 'looks', reason: `/${name}` })).toEqual([
      note,
      { by, strategy: undefined, reason: 'looks' },
    ]);
  },
);

test('a cancel finds an open order by the end of its id, and refuses what none or several have', async () => {
  const [order, other] = view().openOrders;
  const id = order?.clientOrderId ?? '';
  expect(await answered({ name: 'cancel', order: `…${id.slice(-8)}`, reason: 'odd' })).toEqual([
    'Done.',
    { by, order: id, reason: 'odd' },
  ]);
  expect(await answered({ name: 'cancel', order: 'zzzzzz', reason: 'odd' })).toEqual([
    'Not done: no open order has an id that begins or ends with zzzzzz',
    {},
  ]);
  expect(other).toBeDefined();
});

test('what loosens or trades is passed on as it is: a wrong name is refused there', async () => {
  const [, done] = await answered({ name: 'resume', strategy: 'looks', reason: 'wrong', seen: 'x' });
  expect(done).toEqual({ by, strategy: 'looks', reason: 'wrong', seen: 'x' });
});
