/** A scenario as it is gone through: counts the points where the process can die, and lets it die at those that the plan names. */
import type { AlonePolicy } from '../../src/domain/order.ts';
import type { HttpRequest } from '../../src/venue/exchange/rest/http.ts';
import { type Exact, type Plan, type PlannedEvent, type WireFault, wireFaults } from './plan.ts';
import { type Scenario, scenarioOf } from './scenarios.ts';
import { signalsOf, type TimedSignal } from './signals.ts';
import { type StrategyId, strategiesIn, strategyIds, symbolsOf } from './strategies.ts';

/** How long a process is down, and how long a fault that is no request's lasts, virtual ms. */
const downMs = 300;
const faultMs = 1_500;

export class Course {
  readonly scenario: Scenario;
  readonly #exact: Exact;
  #struck = false;
  /** Points met before the first crash within the scenario, and in the recovery after it. */
  readonly points = [0, 0];
  #died = 0;

  constructor(exact: Exact) {
    this.#exact = exact;
    this.scenario = scenarioOf(exact.scenario);
  }

  /** What the plan does of itself. */
  get events(): readonly PlannedEvent[] {
    const { fault } = this.#exact;
    const at = this.scenario.fromMs;
    const own = this.scenario.events ?? [];
    if (fault === 'outage') return [...own, { kind: 'outage', at, forMs: faultMs, how: 'silent' }];
    return fault === 'fullDisk' ? [...own, { kind: 'fullDisk', at, forMs: faultMs }] : own;
  }

  get slowDisk(): boolean {
    return this.#exact.fault === 'slowDisk';
  }

  /** The fault of this request, once. */
  strike(request: HttpRequest, elapsedMs: number): WireFault | undefined {
    const { fault } = this.#exact;
    if (this.#struck || !isWireFault(fault) || !this.scenario.strikes(request, elapsedMs)) return undefined;
    this.#struck = true;
    return fault;
  }

  /** A process comes by a point; true: it dies there. `recovering`: it is not ready yet. */
  comesBy(elapsedMs: number, recovering: boolean): boolean {
    const { fromMs, toMs } = this.scenario;
    const counts = this.#died === 0 ? elapsedMs >= fromMs && elapsedMs < toMs : this.#died === 1 && recovering;
    if (!counts) return false;
    const index = this.points[this.#died] ?? 0;
    this.points[this.#died] = index + 1;
    if (this.#exact.crashes[this.#died] !== index) return false;
    this.#died++;
    return true;
  }

  get crash(): Extract<PlannedEvent, { kind: 'crash' }> {
    return { kind: 'crash', at: 0, point: 'now', power: false, downMs };
  }
}

const isWireFault = (fault: Exact['fault']): fault is WireFault => Object.hasOwn(wireFaults, fault);

/** Who trades, and what they signal, by `strategy symbol`: the scenario's, or else the seed's. */
export function tradingIn({ seed, classes }: Pick<Plan, 'seed' | 'classes'>, course: Course | undefined) {
  if (course !== undefined) {
    const { signals, alone = 'unwind' } = course.scenario;
    const strategies = strategyIds.filter((id) => symbolsOf[id].some((symbol) => `${id} ${symbol}` in signals));
    return { strategies, alone, signals: new Map(Object.entries(signals)) };
  }
  const strategies = strategiesIn(classes);
  const alone: AlonePolicy['action'] = seed % 2 === 0 ? 'complete' : 'unwind';
  const own = strategies.flatMap((id) =>
    symbolsOf[id].map((symbol) => [`${id} ${symbol}`, signalsOf(seed, id, symbol)] as const),
  );
  return { strategies, alone, signals: new Map<string, readonly TimedSignal[]>(own) };
}

/** In base at a price of 100: what the least order is worth. A difference below it cannot be ordered away. */
const leastOrder = 0.05;

/** What strategies hold that the scenario ends otherwise; a fee is taken from what is bought, and an amount buys at another price. */
export function endsOtherwise({ exact }: Pick<Plan, 'exact'>, held: (strategy: StrategyId, symbol: string) => number) {
  const ends = exact === undefined ? {} : (scenarioOf(exact.scenario).ends ?? {});
  for (const strategy of strategyIds)
    for (const symbol of symbolsOf[strategy]) {
      const quantity = ends[`${strategy} ${symbol}`];
      const has = held(strategy, symbol);
      if (quantity !== undefined && Math.abs(has - quantity) > leastOrder * Math.max(1, quantity))
        return `${strategy} holds ${has} of ${symbol} in the end, and wants ${quantity}`;
    }
  return undefined;
}
