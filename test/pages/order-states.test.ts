/** The life of an order: the page is made of the table, and the table is the only way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isClosed, type OrderState } from '../../src/domain/order.ts';
import { operatorOutcomes, wordsFor } from '../../src/execution/operator-decisions.ts';
import { orderEvents, transitions } from '../../src/execution/states.ts';
import { orderStatesPage } from '../kit/order-states-page.ts';
import { filesBelow } from '../tidy/source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const states = Object.keys(transitions) as OrderState[];

describe('order-states.md', () => {
  test('is what `npm run docs` makes', () => {
    expect(readFileSync(join(root, 'docs', 'reference', 'order-states.md'), 'utf8')).toBe(orderStatesPage());
  });
});

describe('the life of an order', () => {
  test('has a way to an end from every state that is not one', () => {
    for (const from of states) {
      const seen = new Set<OrderState>([from]);
      for (const state of seen) for (const { to } of Object.values(transitions[state])) seen.add(to);
      expect([from, [...seen].some(isClosed)]).toEqual([from, true]);
    }
  });

  test('is taken up again only by evidence, and only where the exchange never gave an id', () => {
    const again = states.filter(isClosed).flatMap((from) =>
      Object.entries(transitions[from])
        .filter(([, { to }]) => !isClosed(to))
        .map(([event]) => `${from} ${event}`),
    );
    // Filled and cancelled by the word of a human, that is; and what looks like one of a batch is in doubt.
    expect(again.sort()).toEqual([
      'absent doubt',
      'absent find',
      'canceled find',
      'filled find',
      'notSent find',
      'rejected find',
    ]);
  });

  test('never ends an order of open outcome but by proof, by evidence or by a human', () => {
    for (const from of ['unknown', 'quarantined'] as const)
      for (const [event, { to }] of Object.entries(transitions[from]))
        if (isClosed(to)) expect(event).toMatch(/^(absence|human[A-Z].*)$/);
  });

  test('counts as not accepted only by an answer to its create', () => {
    for (const from of states)
      for (const [event, { to }] of Object.entries(transitions[from]))
        if (to === 'rejected' && from !== 'rejected') expect(event).toMatch(/^(reject|sumRejected)$/);
  });

  test('uses every event, and a human may say something only where nothing else can tell', () => {
    const used = new Set(states.flatMap((from) => Object.keys(transitions[from])));
    expect([...used].sort()).toEqual(Object.keys(orderEvents).sort());
    expect(states.filter((state) => wordsFor(state).length > 0)).toEqual(['unknown', 'quarantined', 'closing']);
    expect(Object.keys(operatorOutcomes)).toEqual(['absent', 'quarantined', 'filled', 'canceled']);
  });

  test('has one writer', () => {
    const writers = filesBelow('src/execution')
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .filter((path) => /\border\.state = /.test(readFileSync(join(root, path), 'utf8')));
    expect(writers).toEqual(['src/execution/order-steps.ts']);
  });
});
