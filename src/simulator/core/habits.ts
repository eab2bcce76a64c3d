/**
 * What deployments of the interface do differently. `documented` is the specification to the letter where it speaks,
 * `observed` what live venues were seen to do; each habit is a switch of its own, so that one can be tried alone.
 */
import { Refusal } from '../../domain/refusal.ts';

/** Every switch, in both of its positions. */
export interface Habits {
  /** HTTP status of a refused request: 4XX as §7 says, or 200 as every recorded venue does. */
  readonly errorStatus: 'http4xx' | 'http200';
  /** Error codes as integers (§7) or as strings. */
  readonly errorCode: 'number' | 'text';
  /** `status` of a create reply: the word, or the number 0 of §3.1. */
  readonly createStatus: 'NEW' | 0;
  /** A cancel ends the order before it answers, or answers PENDING_CANCEL and ends it later, with fills in between. */
  readonly cancel: 'at once' | 'later';
  /** Order states in a query: the five of §3.1, or the many spellings of live venues. */
  readonly states: 'five' | 'many';
  /** Lists of orders and own trades as bare arrays or as `{list: […]}`. */
  readonly lists: 'bare' | 'wrapped';
  /** Whether the order query needs `orderId` (§4.2), or finds the newest order of a client id too. */
  readonly queryNeedsOrderId: boolean;
  /** Whether `fromId` of myTrades names the first trade of the page or the one before it. */
  readonly fromIdInclusive: boolean;
  /** Side words on the socket. */
  readonly socketSide: 'lower' | 'upper';
  /** Whether history replies echo `cb_id` (§6.3). */
  readonly echoCallbackId: boolean;
  /** Keys of a pushed frame: those of §6.3, or the live envelope with `event_rep`, `data`, `status` and whole seconds in `ts`. */
  readonly envelope: 'plain' | 'full';
  /** Most levels a side in a pushed book; §6.2 says 30. */
  readonly socketLevels: number;
  /** Whether `sub` is answered; current venues stay silent. */
  readonly acknowledge: boolean;
}

export type Profile = 'documented' | 'observed';

const documented: Habits = {
  errorStatus: 'http4xx',
  errorCode: 'number',
  createStatus: 'NEW',
  cancel: 'at once',
  states: 'five',
  lists: 'bare',
  queryNeedsOrderId: true,
  fromIdInclusive: true,
  socketSide: 'lower',
  echoCallbackId: true,
  envelope: 'plain',
  socketLevels: 30,
  acknowledge: false,
};

const observed: Habits = {
  ...documented,
  errorStatus: 'http200',
  errorCode: 'text',
  cancel: 'later',
  states: 'many',
  lists: 'wrapped',
  socketSide: 'upper',
  echoCallbackId: false,
  envelope: 'full',
  socketLevels: 50,
};

const profiles: ReadonlyMap<string, Habits> = new Map([
  ['documented', documented],
  ['observed', observed],
] satisfies [Profile, Habits][]);

/** The habits of a profile, with single switches turned by hand; refuses a name that is none. */
export function habitsOf(profile: string, switches: Partial<Habits> = {}): Habits {
  const habits = profiles.get(profile);
  if (habits === undefined)
    throw new Refusal(`there is no profile ${profile}; there are ${[...profiles.keys()].join(', ')}`);
  return { ...habits, ...switches };
}
