/** What a benchmark measured beside its goal: rows of a table in docs/benchmarks.md. */
export interface Measured {
  readonly name: string;
  readonly result: string;
  /** Empty where there is none. */
  readonly goal: string;
}

/** Prints them as JSON for `bench/main.ts`, or a line each. */
export function print(rows: readonly Measured[], asJson = false): void {
  if (asJson) console.log(JSON.stringify(rows));
  else
    for (const { name, result, goal } of rows)
      console.log(`${name}: ${result}${goal === '' ? '' : `; the goal is ${goal}`}`);
}
