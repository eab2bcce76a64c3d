/** The memory of a strategy: a small value that it declares, returns anew with its decisions, and finds again after a restart. */
export type MemoryValue = number | string | boolean | readonly MemoryValue[] | { readonly [key: string]: MemoryValue };

/** By name. */
export interface Memory {
  readonly [key: string]: MemoryValue;
}

/** What a journal keeps of a strategy with its decisions. */
export interface KeptState {
  /** What it remembers, where it declares a memory. */
  readonly memory?: Memory;
  /** When a strategy with a schedule was asked last, UTC ms. */
  readonly askedAt?: number;
}

/** Most bytes of a memory as JSON. */
export const maxMemoryBytes = 16_384;
