/** What happens to a world beside its requests: faults that last, what humans do at the commands, and the end of all that. */
import { type Units, units } from '../../src/domain/money.ts';
import type { OrderState } from '../../src/domain/order.ts';
import type { Cable } from './cable.ts';
import type { Disk } from './disk.ts';
import type { Time } from './life.ts';
import type { Operator } from './operator.ts';
import type { CrashPoint, PlannedEvent } from './plan.ts';
import type { Process } from './process.ts';
import type { Trace } from './trace.ts';
import type { Venue } from './venue.ts';
import type { Watch } from './watch.ts';
import type { Wire } from './wire.ts';

export type CrashEvent = Extract<PlannedEvent, { kind: 'crash' }>;
type TransferEvent = Extract<PlannedEvent, { kind: 'transfer' }>;
type LastingEvent = Exclude<
  PlannedEvent,
  { kind: 'crash' | 'resolve' | 'transfer' | 'ioError' | 'wall' | 'step' | 'cancelOne' }
>;

/** The first crash that waits at a point, taken out of those that wait. */
export function takenFrom(armed: CrashEvent[], point: CrashPoint): CrashEvent | undefined {
  if (armed.length === 0) return undefined;
  const index = armed.findIndex((crash) => crash.point === point);
  return index < 0 ? undefined : armed.splice(index, 1)[0];
}

export interface HappeningsParts {
  readonly time: Time;
  readonly trace: Trace;
  readonly watch: Watch;
  readonly disk: Disk;
  readonly venue: Venue;
  readonly wire: Wire;
  readonly cable: Cable | undefined;
  readonly operator: Operator;
  readonly process: () => Process | undefined;
  readonly states: () => readonly OrderState[];
  readonly crash: (event: CrashEvent) => void;
}

export class Happenings {
  readonly #parts: HappeningsParts;
  /** The faults are over. */
  healed = false;
  /** No price is received. */
  quiet = false;
  /** How far the machine's wall clock is off, ms. */
  wallAheadMs = 0;
  /** How long a process stays down that ends because the disk fails, ms. */
  downMs = 1_000;
  /** What a human has paid in or out. */
  readonly transfers: { readonly asset: string; readonly amount: Units }[] = [];

  constructor(parts: HappeningsParts) {
    this.#parts = parts;
  }

  happen(event: PlannedEvent): void {
    const { trace, watch, states, crash, time, operator, venue } = this.#parts;
    if (this.healed) return;
    trace.say(`event ${JSON.stringify(event)}`);
    if (event.kind === 'crash') {
      crash(event);
      return;
    }
    watch.reach.fault(event.kind === 'stop' ? event.how : event.kind, states());
    if (event.kind === 'resolve') operator.resolve('unknown', (id) => this.isGone(id));
    else if (event.kind === 'transfer') this.#transfer(event);
    else if (event.kind === 'wall') this.wallAheadMs += event.byMs;
    else if (event.kind === 'step') venue.aheadMs += event.byMs;
    else if (event.kind === 'ioError') this.#ioError(event);
    else if (event.kind === 'cancelOne') operator.byHand.cancelOne(event.which);
    else {
      this.#turn(event, true);
      time.after(event.forMs, () => this.#turn(event, false));
    }
  }

  /** Nothing goes wrong any more; `resumed`: what was killed goes on. */
  heal(resumed: boolean): void {
    const { trace, operator, disk, wire, cable } = this.#parts;
    trace.say('the faults end');
    this.healed = true;
    this.quiet = false;
    if (resumed) void operator.byHand.resume(undefined);
    if (cable !== undefined) cable.healed = true;
    Object.assign(disk, { full: false, noPages: false, failsNext: undefined });
    Object.assign(wire, { healed: true, outage: undefined, skewMs: 0 });
  }

  #ioError({ how, downMs }: Extract<PlannedEvent, { kind: 'ioError' }>): void {
    this.downMs = downMs;
    this.#parts.disk.failsNext = how;
  }

  /** The exchange does not have it, and nothing that has left may still bring it there. */
  isGone(clientOrderId: string): boolean {
    const { wire, watch } = this.#parts;
    // A batch names nobody.
    const isOnItsWay = [...wire.pending.keys()].some(
      (body) => body.includes(clientOrderId) || body.includes('batchType'),
    );
    return !isOnItsWay && !watch.truth.ours.has(clientOrderId);
  }

  /** Only once our books have begun: what was paid before is part of what the account held at first. */
  #transfer({ asset, amount, forMs }: TransferEvent): void {
    const { process, venue, time, operator } = this.#parts;
    const running = process();
    if (running?.life.alive !== true || running.assembled.execution.books?.ledger.begun !== true) return;
    const moved = units(amount);
    if (!venue.transfer(asset, moved)) return;
    this.transfers.push({ asset, amount: moved });
    time.after(forMs, () => operator.adjust(asset, moved));
  }

  /** Begins or ends a fault that lasts. */
  #turn(event: LastingEvent, on: boolean): void {
    const { wire, disk, operator } = this.#parts;
    if (event.kind === 'outage') wire.outage = on ? event.how : undefined;
    else if (event.kind === 'fullDisk') disk.full = on;
    else if (event.kind === 'noPages') disk.noPages = on;
    else if (event.kind === 'skew') wire.skewMs = on ? event.byMs : 0;
    else if (event.kind === 'quiet') this.quiet = on;
    else if (!on) void operator.byHand.resume(event.strategy);
    else if (event.kind === 'flatten') operator.byHand.flatten(event);
    else operator.byHand.stop(event.how, event.strategy);
  }
}
