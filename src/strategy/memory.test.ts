import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Memory } from '../domain/memory.ts';
import { defineStrategy, type Strategy } from './contract.ts';
import { SignalError } from './fault.ts';
import { memoryFault, StrategyMemory } from './memory.ts';
import { flat, hold } from './signals.ts';

const initial = { rungs: 0, name: 'none', isOpen: false, prices: [0], seen: {}, last: { price: 1 } };
const kept = (returned: unknown, from: Memory = initial): Memory => {
  const memory = new StrategyMemory(from, 'signal');
  memory.take({ memory: returned });
  return memory.value;
};

test('a value of the same shape takes the place of the one before, frozen and copied', () => {
  const given = { ...initial, rungs: 2, prices: [3, 4], seen: { BTCUSDT: [1] } };
  const value = kept(given);
  given.prices.push(5);
  expect(value).toEqual({ ...initial, rungs: 2, prices: [3, 4], seen: { BTCUSDT: [1] } });
  expect([value, value['prices'], value['last']].every(Object.isFrozen)).toBe(true);
});

test('the same content leaves the same object, so that nothing is journalled', () => {
  const memory = new StrategyMemory(initial, 'signal');
  const before = memory.value;
  memory.take({ memory: structuredClone(initial) });
  expect(memory.value).toBe(before);
  memory.take({ memory: { ...initial, rungs: 1 } });
  expect(memory.value).not.toBe(before);
  expect(memory.value['last']).toBe(before['last']);
});

test('what stands beside it is the signal; a bare signal and nothing leave it as it is', () => {
  const memory = new StrategyMemory({ count: 0 }, 'signal');
  const signal = hold({ amount: 100 }, 'why');
  expect(memory.take({ memory: { count: 1 }, signal })).toBe(signal);
  expect(memory.take(signal)).toBe(signal);
  expect(memory.take(undefined)).toBeUndefined();
  expect(memory.take({ memory: { count: 2 } })).toBeUndefined();
  expect(memory.value).toEqual({ count: 2 });
  expect(() => memory.take({ memory: { count: 3 }, target: signal })).toThrow(
    '{ memory, target }: say { memory, signal }',
  );
});

describe('a value of another shape is refused, by the name of its key', () => {
  test.for<[string, unknown, string]>([
    ['a missing key', { ...initial, rungs: undefined }, 'memory.rungs is undefined: it must be a number'],
    ['no such key', { name: '', isOpen: true }, 'memory.rungs is missing'],
    ['another key', { ...initial, rung: 1 }, 'memory.rung is not in its initial value'],
    ['another type', { ...initial, rungs: '1' }, "memory.rungs is '1': it must be a number"],
    ['NaN', { ...initial, rungs: Number.NaN }, 'memory.rungs is NaN: it must be a finite number'],
    ['Infinity in a list', { ...initial, prices: [1, 1 / 0] }, 'memory.prices[1] is Infinity'],
    ['a list of other things', { ...initial, prices: ['a'] }, "memory.prices[0] is 'a': it must be a number"],
    ['a value in place of a list', { ...initial, prices: 1 }, 'memory.prices is 1: it must be a list'],
    ['a date', { ...initial, last: new Date(0) }, 'memory.last is 1970-01-01T00:00:00.000Z: it must be an object'],
    ['a function where anything may be', { ...initial, seen: { a: () => 1 } }, 'memory.seen.a is [Function: a]'],
    ['null', null, 'memory is null: it must be an object'],
    ['too much of it', { ...initial, name: 'x'.repeat(17_000) }, 'larger than 16,384 bytes as JSON, at memory.name'],
  ])('%s', ([, returned, message]) => {
    expect(() => kept(returned)).toThrow(SignalError);
    expect(() => kept(returned)).toThrow(message);
  });

  test('and the one before stays', () => {
    const memory = new StrategyMemory({ count: 1 }, 'signal');
    expect(() => memory.take({ memory: { count: 'x' } })).toThrow();
    expect(memory.value).toEqual({ count: 1 });
  });
});

test('as JSON it has at most 16,384 bytes, to the byte', () => {
  const room = 16_384 - JSON.stringify({ text: '' }).length;
  expect(JSON.stringify(kept({ text: 'ä'.repeat(room / 2) }, { text: '' })).length).toBeLessThan(16_384);
  expect(() => kept({ text: `${'ä'.repeat(room / 2)}aa` }, { text: '' })).toThrow('larger');
  const list = { prices: Array.from({ length: 1_000 }, (_, index) => index / 3) };
  expect(kept(list, { prices: [0] })).toEqual(list);
});

test('after a change of the code a new key begins with its initial value, and an old one is dropped', () => {
  expect(new StrategyMemory({ rungs: 0, price: 5 }, 'signal', { rungs: 3, old: 'x' }).value).toEqual({
    rungs: 3,
    price: 5,
  });
  expect(() => new StrategyMemory({ rungs: '' }, 'signal', { rungs: 3 })).toThrow(
    'memory.rungs is 3: it must be a string, as its initial value is. The journal has it from an earlier version',
  );
});

describe('a declaration', () => {
  const declaring = (memory: unknown): Strategy =>
    defineStrategy({
      ...{ name: 'one', about: '', params: {}, indicators: () => ({}), decide: () => flat('') },
      memory: memory as { readonly a: number },
    });

  test('must be a plain object of values that can be kept', () => {
    expect(memoryFault(declaring({ a: 1 }))).toBeUndefined();
    expect(memoryFault(declaring(5))).toBe('memory is 5: it must be an object, such as { rungs: 0 }');
    expect(memoryFault(declaring({ a: new Map() }))).toBe(
      'memory.a is Map(0) {}: a memory is of numbers, strings, booleans, lists and plain objects',
    );
    expect(memoryFault(declaring({ a: Number.NaN }))).toContain('memory.a is NaN');
  });

  test('has the type of its initial value, in decide and in what it returns', () => {
    const common = { name: 'typed', about: '', params: {}, indicators: () => ({}) };
    const strategy = defineStrategy({
      ...common,
      memory: { rungs: 0, side: 'none' },
      decide(_, { memory }) {
        const next: number = memory.rungs + 1;
        return next > 5 ? { memory: { ...memory, rungs: 0 } } : { signal: flat(memory.side), memory };
      },
    });
    type Asked = Parameters<typeof strategy.decide>[1];
    expectTypeOf<Asked['memory']>().toEqualTypeOf<Readonly<{ rungs: number; side: string }>>();
    type Returned = ReturnType<typeof strategy.decide>;
    expectTypeOf<{ memory: { rungs: number; side: string } }>().toExtend<Returned>();
    expectTypeOf<{ memory: { rungs: string; side: string } }>().not.toExtend<Returned>();
    const without = defineStrategy({ ...common, decide: () => flat('') });
    expectTypeOf<Parameters<typeof without.decide>[1]>().not.toHaveProperty('memory');
    expectTypeOf<{ memory: { rungs: number } }>().not.toExtend<ReturnType<typeof without.decide>>();
    expect(memoryFault(strategy)).toBeUndefined();
  });
});
