/** Detects signals of timers and promises. Over recorded data only the data moves time, so a signal must come while data is delivered. */
import { Observable } from 'rxjs';

/** Knows whether data is being delivered to a strategy at this moment. */
export class Delivery {
  #depth = 0;

  get isActive(): boolean {
    return this.#depth > 0;
  }

  /** Counts what `work` does as part of a delivery. */
  during<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  /** The same stream, with each value counted as a delivery. */
  of<T>(stream: Observable<T>): Observable<T> {
    return new Observable((out) =>
      stream.subscribe({
        next: (value) => {
          this.#depth++;
          out.next(value);
          this.#depth--;
        },
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      }),
    );
  }
}

const pendingTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Whether `end`, which ends the streams of a strategy, cancels timers that they had set. */
export function endsTimers(end: () => void): boolean {
  const before = pendingTimers();
  end();
  return pendingTimers() < before;
}
