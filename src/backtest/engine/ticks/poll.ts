/** Polls for fills while an order works, in runs with a polling delay. */
import type { SimClock } from '../../../clock/sim-clock.ts';
import type { Rules } from '../../../fill/rules.ts';
import type { Assembled } from '../../../trading/assemble.ts';
import type { PaperOnTape } from '../../../venue/paper/on-tape.ts';

/** A look asks for open orders and for trades. */
const queriesOfLook = 2;

export class Poller {
  readonly #clock: SimClock;
  readonly #venue: PaperOnTape;
  readonly #assembled: Assembled;
  readonly #rules: Rules;
  readonly #polled = new Set<string>();

  constructor(clock: SimClock, venue: PaperOnTape, assembled: Assembled, rules: Rules) {
    this.#clock = clock;
    this.#venue = venue;
    this.#assembled = assembled;
    this.#rules = rules;
  }

  /**
   * The next look at a symbol leaves at a multiple of `pollMs`. One that would find nothing when it arrives is only counted: its
   * answer changes nothing.
   */
  later(symbol: string): void {
    if (this.#polled.has(symbol)) return;
    this.#polled.add(symbol);
    const every = Math.max(1, this.#rules.pollMs);
    const next = (Math.floor(this.#clock.now() / every) + 1) * every;
    this.#clock.at(next + this.#rules.entryLatencyMs, () => this.#arrive(symbol));
  }

  #arrive(symbol: string): void {
    this.#polled.delete(symbol);
    if (this.#venue.market(symbol).takeNews()) {
      this.#venue.arrived(symbol);
      void this.#clock.track(this.#assembled.sweeps.sweep(symbol));
    } else this.#venue.requests.queries += queriesOfLook;
    for (const { intent, state } of this.#assembled.portfolio.orders()) {
      if (intent.symbol !== symbol || state === 'quarantined') continue;
      this.later(symbol);
      return;
    }
  }
}
