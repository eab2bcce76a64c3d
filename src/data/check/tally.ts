/** Counts of what a check finds, with the first few places, and the findings made of them. */
import type { CheckName, Finding, Place } from './finding.ts';

const maxPlaces = 3;

export class Tally {
  count = 0;
  places: Place[] = [];

  add(line: number, time: number, what?: string): void {
    this.count++;
    if (this.places.length < maxPlaces) this.places.push(placeOf(line, time, what));
  }

  /** A finding for which data are refused; none when nothing was counted. */
  fault(check: CheckName, what: string, effect: string, advice: string): readonly Finding[] {
    const { count, places } = this;
    return count === 0 ? [] : [{ check, count, refused: true, what, effect, advice, places }];
  }

  /** A finding with which data are taken; none when nothing was counted. */
  warning(check: CheckName, what: string, effect: string, advice?: string): readonly Finding[] {
    const { count, places } = this;
    return count === 0
      ? []
      : [{ check, count, refused: false, what, effect, ...(advice !== undefined && { advice }), places }];
  }
}

const placeOf = (line: number, time: number, what?: string): Place => ({
  ...(line > 0 && { line }),
  time,
  ...(what !== undefined && { what }),
});

/** Counts the rows in long runs of rows that are alike; its place is the start of the longest. */
export class Runs extends Tally {
  readonly #min: number;
  #length = 0;
  #start = { line: 0, time: 0 };
  longest = 0;

  constructor(min: number) {
    super();
    this.#min = min;
  }

  get isRunning(): boolean {
    return this.#length > 0;
  }

  step(isAlike: boolean, line: number, time: number): void {
    if (!isAlike) this.end();
    else if (this.#length++ === 0) this.#start = { line, time };
  }

  end(): void {
    if (this.#length >= this.#min) {
      this.count += this.#length;
      if (this.#length > this.longest) {
        this.longest = this.#length;
        this.places = [placeOf(this.#start.line, this.#start.time)];
      }
    }
    this.#length = 0;
  }
}
