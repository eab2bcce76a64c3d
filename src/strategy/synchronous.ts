/** Over recorded data time passes with the data alone: what a strategy says comes of what it is told, at once. */
import { Observable } from 'rxjs';

/** Says whether a strategy is being told something at this moment. */
export class Telling {
  #depth = 0;

  get isOn(): boolean {
    return this.#depth > 0;
  }

  /** What is done here belongs to what it is told. */
  during<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

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

/** How many timers of this program have not gone off. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Whether `end`, which ends the streams of a strategy, takes timers with it that these had set. */
export function endsTimers(end: () => void): boolean {
  const before = timers();
  end();
  return timers() < before;
}
