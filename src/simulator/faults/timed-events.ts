/** Carries out timed events, at exchange time, between the market's own. */
import { Refusal } from '../../domain/refusal.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Limits } from '../core/limits.ts';
import type { Armed } from './engine.ts';
import type { FaultEvent } from './events.ts';
import type { GatewayClock, Outage } from './gateway.ts';
import type { People } from './manual-actions.ts';
import type { TimedRule } from './rules.ts';

export interface EventTargets {
  readonly exchange: Exchange;
  readonly limits: Limits;
  readonly people: People;
  readonly outage: Outage;
  readonly gateway: GatewayClock;
  readonly cut: (connections: 'all' | 'sockets') => void;
}

/** More than the ten violations that only draw warnings. */
const violations = 12;

/** Carries an event out at once; throws a `Refusal` when it cannot, for example for lack of funds. */
export function happen(event: FaultEvent, { exchange, limits, people, outage, gateway, cut }: EventTargets): void {
  if ('outage' in event) {
    outage.begin({ scope: event.outage, how: event.how, until: exchange.now + event.forMs });
    // Subscriptions that are still open then see that the exchange is back.
    exchange.at(exchange.now + event.forMs, () => undefined);
  } else if ('place' in event) people.place(event.place);
  else if ('cancel' in event) people.cancel(event.cancel);
  else if ('adjust' in event) people.adjust(event.adjust);
  else if ('bust' in event) people.bust(event.bust);
  else if ('delist' in event) people.delist(event.delist);
  else if ('terms' in event) people.changeTerms(event.terms);
  else if ('stepMs' in event) gateway.step(event.stepMs);
  else if ('driftPpm' in event) gateway.drift(event.driftPpm);
  else if ('spend' in event) limits.admitAddress(event.ip, event.spend, exchange.now);
  else if ('cut' in event) cut(event.cut);
  else {
    for (let one = 0; one < violations; one++) limits.admitAddress(event.ip, Number.MAX_SAFE_INTEGER, exchange.now);
  }
}

/** Fires a timed rule as often as it states, until it is removed. */
export function schedule(
  one: Armed & { readonly rule: TimedRule },
  isRemoved: () => boolean,
  exchange: Exchange,
  run: (event: FaultEvent) => void,
): void {
  const { afterMs, everyMs, probability = 1 } = one.rule.at;
  const times = one.rule.at.times ?? (everyMs === undefined ? 1 : Number.POSITIVE_INFINITY);
  const fire = (): void => {
    if (isRemoved()) return;
    one.matched++;
    if (probability === 1 || one.rng() < probability) {
      one.fired++;
      run(one.rule.do);
    }
    if (everyMs !== undefined && one.fired < times) exchange.at(exchange.now + everyMs, fire);
  };
  exchange.at(exchange.now + afterMs, fire);
}

/** The reason of a `Refusal`; undefined when nothing was refused. */
export function failureOf(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}
