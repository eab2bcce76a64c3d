/** Keeps the memory of a strategy while it runs: each value that it returns is checked against the initial one, copied and frozen. */
import { inspect } from 'node:util';
import { type Memory, type MemoryValue, maxMemoryBytes } from '../domain/memory.ts';
import { hasList, hasRoles, isStreaming, type Strategy } from './contract.ts';
import { SignalError, withStrategy } from './fault.ts';

/** What stands beside the memory in what a strategy returns. */
type Beside = 'signal' | 'legs' | 'weights';

export class StrategyMemory {
  #value: Memory;
  readonly #initial: Memory;
  readonly #beside: Beside;

  /**
   * `kept`: what a journal has of it. A key that is new in the declaration takes its initial value, and one that is gone is dropped. Throws a
   * `SignalError` for a value of another type.
   */
  constructor(initial: Memory, beside: Beside, kept?: Memory) {
    this.#initial = checkedMemory(initial, initial, {});
    this.#beside = beside;
    this.#value = kept === undefined ? this.#initial : fitted(this.#initial, kept);
  }

  /** Frozen; the same object until something in it changes. */
  get value(): Memory {
    return this.#value;
  }

  /** Keeps the memory of what a strategy returned, and gives what stands beside it. Throws a `SignalError` for one of another shape. */
  take(returned: unknown): unknown {
    if (typeof returned !== 'object' || returned === null || !('memory' in returned)) return returned;
    const other = Object.keys(returned).find((key) => key !== 'memory' && key !== this.#beside);
    if (other !== undefined) throw new SignalError(`it returned { memory, ${other} }: say { memory, ${this.#beside} }`);
    this.#value = checkedMemory(this.#initial, returned.memory, this.#value);
    return (returned as { readonly [key in Beside]?: unknown })[this.#beside];
  }

  /** `take`, with the strategy and the kline in the error. */
  takeAt(returned: unknown, { id, use }: Named, { openTime }: { readonly openTime: number }): unknown {
    try {
      return this.take(returned);
    } catch (error) {
      throw withStrategy(error, { id, use, openTime });
    }
  }
}

interface Named {
  readonly id: string;
  readonly use: string;
}

/** Throws a `SignalError` for a memory that a strategy returned without having declared it. */
export function refuseUndeclared(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null || !('memory' in returned) || 'kind' in returned) return;
  throw new SignalError(
    'it returned a memory that it does not declare: add its initial value to the strategy, such as memory: { rungs: 0 }',
  );
}

/** The memory of a strategy that declares one; `kept` as in `StrategyMemory`. */
export function memoryOf(strategy: Strategy, kept?: Memory): StrategyMemory | undefined {
  const initial = declaredBy(strategy);
  const beside = hasList(strategy) ? 'weights' : hasRoles(strategy) ? 'legs' : 'signal';
  return initial === undefined ? undefined : new StrategyMemory(initial, beside, kept);
}

const declaredBy = (strategy: Strategy): Memory | undefined =>
  isStreaming(strategy) ? undefined : (strategy.memory as Memory | undefined);

/** What is wrong with the memory that a strategy declares, or undefined. Strategy files are not type-checked. */
export function memoryFault(strategy: Strategy): string | undefined {
  if (isStreaming(strategy))
    return 'memory' in strategy
      ? 'a strategy of streams keeps what it needs in its streams: it has no memory'
      : undefined;
  const initial: unknown = strategy.memory;
  if (initial === undefined) return undefined;
  if (!isPlain(initial)) return `memory is ${inspect(initial)}: it must be an object, such as { rungs: 0 }`;
  if (hasRoles(strategy) && 'memory' in strategy.markets)
    return 'one of its markets is called memory: give it another name, since decide returns its memory under that one';
  try {
    checkedMemory(initial as Memory, initial, {});
    return undefined;
  } catch (error) {
    if (error instanceof SignalError) return error.message;
    throw error;
  }
}

/** A kept memory in the shape of the declared one. */
function fitted(initial: Memory, kept: Memory): Memory {
  const known = Object.entries(kept).filter(([key]) => Object.hasOwn(initial, key));
  try {
    return checkedMemory(initial, { ...initial, ...Object.fromEntries(known) }, initial);
  } catch (error) {
    throw error instanceof SignalError
      ? new SignalError(`${error.message}. The journal has it from an earlier version: give the key another name`)
      : error;
  }
}

function checkedMemory(shape: Memory, given: unknown, current: Memory): Memory {
  const room = { bytes: maxMemoryBytes };
  return Object.freeze(copied(shape, given, current, 'memory', room)) as Memory;
}

/** How much may still come. */
interface Room {
  bytes: number;
}

/** A frozen copy in the shape of the initial value; `current` where nothing in it is other. A shape that is undefined or empty lets anything in. */
function copied(
  shape: MemoryValue | undefined,
  given: unknown,
  current: MemoryValue | undefined,
  path: string,
  room: Room,
): MemoryValue {
  if (typeof given === 'number' || typeof given === 'string' || typeof given === 'boolean') {
    if (shape !== undefined && typeof shape !== typeof given) throw ofOtherType(shape, given, path);
    if (typeof given === 'number' && !Number.isFinite(given))
      throw new SignalError(`${path} is ${given}: it must be a finite number`);
    take(room, typeof given === 'string' ? Buffer.byteLength(JSON.stringify(given)) : String(given).length, path);
    return given;
  }
  if (Array.isArray(given)) return copiedList(shape, given, current, path, room);
  if (isPlain(given)) return copiedObject(shape, given, current, path, room);
  // What is declared is its own shape.
  throw shape === undefined || shape === given
    ? new SignalError(`${path} is ${shown(given)}: a memory is of numbers, strings, booleans, lists and plain objects`)
    : ofOtherType(shape, given, path);
}

function copiedList(
  shape: MemoryValue | undefined,
  given: readonly unknown[],
  current: MemoryValue | undefined,
  path: string,
  room: Room,
): readonly MemoryValue[] {
  if (shape !== undefined && !Array.isArray(shape)) throw ofOtherType(shape, given, path);
  const known: readonly MemoryValue[] = Array.isArray(current) ? current : [];
  const [one] = (shape ?? []) as readonly MemoryValue[];
  take(room, given.length + 1, path);
  let isSame = Array.isArray(current) && known.length === given.length;
  const copy = Array.from(given, (each, index) => {
    const value = copied(one, each, known[index], `${path}[${index}]`, room);
    if (value !== known[index]) isSame = false;
    return value;
  });
  return isSame ? known : Object.freeze(copy);
}

function copiedObject(
  shape: MemoryValue | undefined,
  given: Readonly<Record<string, unknown>>,
  current: MemoryValue | undefined,
  path: string,
  room: Room,
): MemoryValue {
  if (shape !== undefined && !isPlain(shape)) throw ofOtherType(shape, given, path);
  const wanted = (shape ?? {}) as Memory;
  const known = (isPlain(current) ? current : {}) as Memory;
  const names = Object.keys(wanted);
  const keys = Object.keys(given);
  const missing = names.find((name) => !Object.hasOwn(given, name));
  if (missing !== undefined) throw new SignalError(`${path}.${missing} is missing: its initial value has it`);
  const unknown = names.length === 0 ? undefined : keys.find((key) => !Object.hasOwn(wanted, key));
  if (unknown !== undefined) throw new SignalError(`${path}.${unknown} is not in its initial value: declare it there`);
  let isSame = isPlain(current) && Object.keys(known).length === keys.length;
  const copy: Record<string, MemoryValue> = {};
  take(room, 1, path);
  for (const key of keys) {
    take(room, Buffer.byteLength(JSON.stringify(key)) + 2, `${path}.${key}`);
    const before = Object.hasOwn(known, key) ? known[key] : undefined;
    const value = copied(wanted[key], given[key], before, `${path}.${key}`, room);
    if (value !== before) isSame = false;
    copy[key] = value;
  }
  return isSame ? known : Object.freeze(copy);
}

function take(room: Room, bytes: number, path: string): void {
  room.bytes -= bytes;
  if (room.bytes < 0)
    throw new SignalError(`the memory is larger than ${maxMemoryBytes.toLocaleString('en')} bytes as JSON, at ${path}`);
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const ofOtherType = (shape: MemoryValue, given: unknown, path: string): SignalError =>
  new SignalError(`${path} is ${shown(given)}: it must be ${kindOf(shape)}, as its initial value is`);

const kindOf = (value: MemoryValue): string =>
  Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;

const shown = (value: unknown): string =>
  inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 50 });
