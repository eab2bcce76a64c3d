/** When everybody else at the exchange has his turn: the crowd, the human on our account, and the exchange's own sockets. */
import { btc, eth } from '../kit/builders.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Time } from './life.ts';
import { Crowd, Human } from './participants.ts';
import type { Plan } from './plan.ts';
import type { Trace } from './trace.ts';
import type { Venue } from './venue.ts';

const crowdMs = 1_400;
/** Between two looks at what the exchange's sockets are to be told, virtual ms. */
const publishMs = 500;

/** Between two looks of a human at what is in doubt, virtual ms. */
const closeMs = 12_000;

export interface OthersOptions {
  readonly time: Time;
  readonly venue: Venue;
  readonly trace: Trace;
  readonly plan: Pick<Plan, 'seed' | 'classes'>;
  /** States of the market are pushed. */
  readonly publishes: boolean;
  /** Where the price of BTC goes, in place of where it would walk. */
  readonly priceOf: () => number | undefined;
  /** A human looks up what is in doubt, and closes it where he can; undefined: not before the end. */
  readonly closes: (() => void) | undefined;
  /** Nothing is to happen any more. */
  readonly isOver: () => boolean;
  /** Humans leave the account alone. */
  readonly isHealed: () => boolean;
}

export class Others {
  readonly #options: OthersOptions;
  readonly #crowds: ReadonlyMap<string, Crowd>;
  readonly #human: Human;
  readonly #chance: Chance;

  constructor(options: OthersOptions) {
    const { venue } = options;
    const { seed, classes } = options.plan;
    this.#options = options;
    this.#crowds = new Map([btc, eth].map((at) => [at.symbol, new Crowd(venue, at, chanceOf(seed, at.symbol))]));
    this.#chance = chanceOf(seed, 'human');
    this.#human = new Human(venue, this.#chance, classes.includes('noEcho'));
  }

  /** The middle of a symbol's book. */
  mid(symbol: string): number {
    return this.#crowds.get(symbol)?.mid ?? 100;
  }

  begin(): void {
    const { plan, publishes } = this.#options;
    for (const crowd of this.#crowds.values()) this.#crowdTurn(crowd);
    if (plan.classes.includes('human')) this.#humanTurn();
    if (publishes) this.#publishTurn();
    const { closes } = this.#options;
    if (closes !== undefined) this.#closeTurn(closes);
  }

  #crowdTurn(crowd: Crowd): void {
    const { time, priceOf, isOver } = this.#options;
    if (isOver()) return;
    crowd.turn(crowd === this.#crowds.get(btc.symbol) ? priceOf() : undefined);
    time.after(crowdMs, () => this.#crowdTurn(crowd));
  }

  #closeTurn(closes: () => void): void {
    const { time, isOver } = this.#options;
    time.after(closeMs, () => {
      if (isOver()) return;
      closes();
      this.#closeTurn(closes);
    });
  }

  /** States of the market leave at their pace, also where nothing happens. */
  #publishTurn(): void {
    const { time, venue, isOver } = this.#options;
    if (isOver()) return;
    venue.advance();
    venue.look();
    time.after(publishMs, () => this.#publishTurn());
  }

  #humanTurn(): void {
    const { time, trace, isHealed } = this.#options;
    time.after(this.#chance.between(1_500, 8_000), () => {
      if (isHealed()) return;
      const at = this.#chance.pick([btc, eth]);
      trace.say(`human ${this.#human.turn(at, this.mid(at.symbol))}`);
      this.#humanTurn();
    });
  }
}
