/** Answers requests, with what goes wrong on the way to the exchange and back. */
import type { Clock, Rng } from '../../clock/clock.ts';
import type { Habits } from '../core/habits.ts';
import { type ApiReply, type ApiRequest, pathOf, refusalReply } from '../http/api.ts';
import type { Wire } from '../http/server.ts';
import type { FaultAction } from './actions.ts';
import type { Faults, Hit } from './engine.ts';
import type { OutageHow } from './events.ts';
import type { GatewayClock } from './gateway-clock.ts';
import { lied } from './lies.ts';
import type { Outage } from './outage.ts';

export interface AnswerSetup {
  readonly faults: Faults;
  readonly outage: Outage;
  readonly gateway: GatewayClock;
  readonly clock: Clock;
  readonly habits: Habits;
  /** Brings the exchange up to now, so that what happens by itself has happened. */
  readonly advance: () => void;
  /** Carries out a request and saves what it changed. */
  readonly process: (request: ApiRequest) => ApiReply;
  /** The same of one that was carried out before. */
  readonly processAgain: (request: ApiRequest) => ApiReply;
  /** The same of a query, as a replica so far behind would. */
  readonly processBehind: (request: ApiRequest, lagMs: number) => ApiReply;
  /** Ends an order as the exchange itself might; nothing when it has ended. */
  readonly endOrder: (orderId: string) => void;
  /** Pushes what changed to the sockets, after the answer has left. */
  readonly publish: () => void;
  readonly uidOf: (key: string | undefined) => string | undefined;
  readonly onFault: (hit: Hit, method: string, path: string) => void;
  /** Told of a request that the exchange never sees, and of what it was answered instead; status 0 for nothing. */
  readonly onUnseen: (request: ApiRequest, hit: Hit, answer: Pick<ApiReply, 'status' | 'code'>) => void;
  /** Told of a request that met an outage. */
  readonly onAway: (method: string, path: string, how: OutageHow) => void;
}

export interface Answering {
  answer(request: ApiRequest, wire: Wire): void;
  /** After it no request that waits goes on. */
  close(): void;
}

export function openAnswering(setup: AnswerSetup): Answering {
  const { faults, outage, gateway, uidOf, publish, onFault } = setup;
  const pending = openPending(setup.clock);
  return {
    answer(given, wire) {
      setup.advance();
      const { method } = given;
      const path = pathOf(given.target);
      const away = outage.onRequest();
      if (away !== undefined) {
        setup.onAway(method, path, away);
        if (away === 'reset') wire.destroy();
        else if (away === 'status') wire.send(503, page(503), html);
        return;
      }
      const skewMs = gateway.skew();
      const request = skewMs === 0 ? given : { ...given, skewMs };
      const hit = faults.pick({ method, path, uid: uidOf(request.key) });
      if (hit === undefined) {
        const reply = setup.process(request);
        wire.send(reply.status, reply.body);
        publish();
        return;
      }
      onFault(hit, method, path);
      void carryOut(hit, { ...setup, request, wire, pending });
    },
    close: () => pending.close(),
  };
}

interface Spoiling extends AnswerSetup {
  readonly request: ApiRequest;
  readonly wire: Wire;
  readonly pending: Pending;
}

const html = 'text/html';
const page = (status: number): string =>
  `<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`;

/** Carries a request out once, as if nothing were wrong with it yet. */
function carried({ process, publish }: Spoiling, request: ApiRequest): ApiReply {
  const reply = process(request);
  publish();
  return reply;
}

async function carryOut(hit: Hit, at: Spoiling): Promise<void> {
  const { action, rng } = hit;
  const { request, wire, pending, habits } = at;
  /** Lets the request take effect first, where that is so; otherwise this answer is all that becomes of it. */
  const before = (when: 'before' | 'after', status: number, code?: number): void => {
    if (when === 'after') carried(at, request);
    else at.onUnseen(request, hit, { status, code });
  };
  if ('drop' in action) {
    before(action.drop, 0);
    wire.destroy();
  } else if ('status' in action && !('body' in action) && !('code' in action)) {
    if (action.when !== 'later') before(action.when, action.status);
    wire.send(action.status, page(action.status), html);
    if (action.when !== 'later') return;
    await pending.wait(action.afterMs);
    if (!pending.closed) carried(at, request);
  } else if ('body' in action) {
    before(action.when, action.status);
    wire.send(action.status, action.body, action.type);
  } else if ('code' in action) {
    const { code, msg } = action;
    const reply = refusalReply({ code, msg, status: 400 }, habits);
    const answered = action.status ?? reply.status;
    before(action.when, answered, code);
    wire.send(answered, reply.body);
  } else if ('hold' in action || 'delayMs' in action) await late(action, rng, at);
  else if ('deliver' in action) await deliveredOften(action, at);
  else if ('endAfterMs' in action) {
    const { status, body } = carried(at, request);
    wire.send(status, body);
    const [, orderId] = /"orderId":\D{0,2}(\d+)/.exec(body) ?? [];
    await pending.wait(action.endAfterMs);
    if (!pending.closed && orderId !== undefined) at.endOrder(orderId);
  } else answerOddly(action, rng, at);
}

/** What still answers at once: half of it, something else, somebody else. */
function answerOddly(action: FaultAction, rng: Rng, at: Spoiling): void {
  const { request, wire } = at;
  if ('lagMs' in action) {
    const reply = at.processBehind(request, action.lagMs);
    wire.send(reply.status, reply.body);
    return;
  }
  const skewMs = (request.skewMs ?? 0) + ('skewMs' in action ? action.skewMs : 0);
  const reply = carried(at, skewMs === 0 ? request : { ...request, skewMs });
  if ('truncate' in action) wire.sendHalf(reply.status, reply.body);
  else wire.send(reply.status, 'lie' in action ? lied(reply.body, action.lie, rng) : reply.body);
}

async function late(
  action: Extract<FaultAction, { hold: string } | { delayMs: unknown }>,
  rng: Rng,
  at: Spoiling,
): Promise<void> {
  const { request, wire, pending, faults } = at;
  const pass = async (): Promise<void> => {
    if ('hold' in action) return faults.hold(action.hold);
    const [least, most] = typeof action.delayMs === 'number' ? [action.delayMs, action.delayMs] : action.delayMs;
    return pending.wait(least + rng() * (most - least));
  };
  const early = action.when === 'after' ? carried(at, request) : undefined;
  await pass();
  if (pending.closed) return;
  const reply = early ?? carried(at, request);
  wire.send(reply.status, reply.body);
}

async function deliveredOften(action: Extract<FaultAction, { deliver: number }>, at: Spoiling): Promise<void> {
  const { request, wire, pending } = at;
  const { status, body } = carried(at, request);
  wire.send(status, body);
  for (let one = 1; one < action.deliver; one++) {
    if (action.gapMs > 0) await pending.wait(action.gapMs);
    if (pending.closed) return;
    at.processAgain(request);
    at.publish();
  }
}

/** Delays under way at once; one more does not wait, so that a forgotten rule cannot fill the memory. */
const delayLimit = 10_000;

/** Delays that have not passed; once closed none ends, so that no request of a stopped exchange goes on. */
interface Pending {
  readonly closed: boolean;
  /** Real ms. */
  wait(ms: number): Promise<void>;
  close(): void;
}

function openPending(clock: Clock): Pending {
  const cancels = new Set<() => void>();
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    wait: (ms) =>
      new Promise((resolve) => {
        if (cancels.size >= delayLimit) {
          resolve();
          return;
        }
        const cancel = clock.at(clock.now() + clock.machine(ms), () => {
          cancels.delete(cancel);
          resolve();
        });
        cancels.add(cancel);
      }),
    close() {
      closed = true;
      for (const cancel of cancels) cancel();
    },
  };
}
