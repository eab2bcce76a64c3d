/** Answers requests, and carries out the faults that hit them on the way to the exchange and back. */
import type { Clock, Rng } from '../../clock/clock.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Quirks } from '../core/quirks.ts';
import type { Driver } from '../driver.ts';
import { type Api, type ApiReply, type ApiRequest, pathOf, refusalReply } from '../http/api.ts';
import type { Wire } from '../http/wire.ts';
import type { LogEntry } from '../log.ts';
import type { FaultAction } from './actions.ts';
import type { Faults, Hit } from './engine.ts';
import type { GatewayClock, Outage } from './gateway.ts';
import { lied } from './lies.ts';
import type { Replicas } from './replica.ts';

export interface AnsweringParts {
  readonly exchange: Exchange;
  readonly driver: Driver;
  readonly api: Api;
  readonly replicas: Replicas<Api>;
  readonly faults: Faults;
  readonly outage: Outage;
  readonly gateway: GatewayClock;
  readonly clock: Clock;
  readonly quirks: Quirks;
  readonly log: (entry: LogEntry) => void;
}

const html = 'text/html';
const page = (status: number): string =>
  `<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`;

/** Delays in progress at once; one more does not wait, so that a forgotten rule cannot fill the memory. */
const delayLimit = 10_000;

export class Answering {
  readonly #parts: AnsweringParts;
  /** Cancels the timers of delays that have not passed. */
  readonly #delays = new Set<() => void>();
  #closed = false;

  constructor(parts: AnsweringParts) {
    this.#parts = parts;
  }

  answer(given: ApiRequest, wire: Wire): void {
    const { exchange, driver, faults, outage, gateway, log } = this.#parts;
    driver.advance();
    const { method } = given;
    const path = pathOf(given.target);
    const how = outage.onRequest();
    if (how !== undefined) {
      log({ at: exchange.now, kind: 'away', method, path, how });
      if (how === 'reset') wire.destroy();
      else if (how === 'status') wire.send(503, page(503), html);
      return;
    }
    const skewMs = gateway.skew();
    const request = skewMs === 0 ? given : { ...given, skewMs };
    const hit = faults.pick({ method, path, uid: this.#uidOf(request) });
    if (hit === undefined) {
      const reply = this.#process(request);
      wire.send(reply.status, reply.body);
      driver.publish();
      return;
    }
    log({ at: exchange.now, kind: 'fault', rule: hit.rule, method, path, action: hit.action });
    void this.#answer(hit, request, wire);
  }

  /** Afterwards no waiting request goes on. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#delays) cancel();
  }

  #uidOf({ key }: ApiRequest): string | undefined {
    return key === undefined ? undefined : this.#parts.exchange.keys.get(key)?.uid;
  }

  /** Carries a request out, saves its changes and logs it. */
  #process(request: ApiRequest, api: Api = this.#parts.api, isAgain = false): ApiReply {
    const { exchange, driver, log } = this.#parts;
    driver.advance();
    const reply = api(request);
    driver.save();
    const entry = requestEntry(request, reply, exchange.now);
    log(isAgain ? { ...entry, again: true } : entry);
    return reply;
  }

  /** Carries a request out once, as if nothing were wrong with it yet. */
  #carried(request: ApiRequest): ApiReply {
    const reply = this.#process(request);
    this.#parts.driver.publish();
    return reply;
  }

  async #answer(hit: Hit, request: ApiRequest, wire: Wire): Promise<void> {
    const { action, rng } = hit;
    /** Lets the request take effect first if the rule says so; otherwise the exchange never sees it. */
    const before = (when: 'before' | 'after', status: number, code?: number): void => {
      if (when === 'after') this.#carried(request);
      else this.#logUnseen(request, hit, status, code);
    };
    if ('drop' in action) {
      before(action.drop, 0);
      wire.destroy();
    } else if ('status' in action && !('body' in action) && !('code' in action)) {
      if (action.when !== 'later') before(action.when, action.status);
      wire.send(action.status, page(action.status), html);
      if (action.when !== 'later') return;
      await this.#wait(action.afterMs);
      if (!this.#closed) this.#carried(request);
    } else if ('body' in action) {
      before(action.when, action.status);
      wire.send(action.status, action.body, action.type);
    } else if ('code' in action) {
      const { code, msg } = action;
      const reply = refusalReply({ code, msg, status: 400 }, this.#parts.quirks);
      const status = action.status ?? reply.status;
      before(action.when, status, code);
      wire.send(status, reply.body);
    } else if ('hold' in action || 'delayMs' in action) await this.#delayed(action, rng, request, wire);
    else if ('deliver' in action) await this.#deliveredOften(action, request, wire);
    else if ('endAfterMs' in action) await this.#endedAfter(action.endAfterMs, request, wire);
    else this.#answeredWrongly(action, rng, request, wire);
  }

  /** Faults that answer at once: half an answer, changed fields, another clock, a replica. */
  #answeredWrongly(action: FaultAction, rng: Rng, request: ApiRequest, wire: Wire): void {
    if ('lagMs' in action) {
      // Replicas know orders, own trades and balances. Everything else comes from the exchange itself.
      const isPublic = request.key === undefined || request.method !== 'GET';
      const reply = this.#process(request, isPublic ? undefined : this.#parts.replicas.ask(action.lagMs));
      wire.send(reply.status, reply.body);
      return;
    }
    const skewMs = (request.skewMs ?? 0) + ('skewMs' in action ? action.skewMs : 0);
    const reply = this.#carried(skewMs === 0 ? request : { ...request, skewMs });
    if ('truncate' in action) wire.sendHalf(reply.status, reply.body);
    else wire.send(reply.status, 'lie' in action ? lied(reply.body, action.lie, rng) : reply.body);
  }

  async #delayed(
    action: Extract<FaultAction, { hold: string } | { delayMs: unknown }>,
    rng: Rng,
    request: ApiRequest,
    wire: Wire,
  ): Promise<void> {
    const early = action.when === 'after' ? this.#carried(request) : undefined;
    if ('hold' in action) await this.#parts.faults.hold(action.hold);
    else {
      const [min, max] = typeof action.delayMs === 'number' ? [action.delayMs, action.delayMs] : action.delayMs;
      await this.#wait(min + rng() * (max - min));
    }
    if (this.#closed) return;
    const reply = early ?? this.#carried(request);
    wire.send(reply.status, reply.body);
  }

  async #deliveredOften(
    { deliver, gapMs }: Extract<FaultAction, { deliver: number }>,
    request: ApiRequest,
    wire: Wire,
  ): Promise<void> {
    const { exchange, api, driver } = this.#parts;
    const { status, body } = this.#carried(request);
    wire.send(status, body);
    for (let one = 1; one < deliver; one++) {
      if (gapMs > 0) await this.#wait(gapMs);
      if (this.#closed) return;
      this.#process(request, (again) => exchange.madeBy('fault', () => api(again)), true);
      driver.publish();
    }
  }

  async #endedAfter(afterMs: number, request: ApiRequest, wire: Wire): Promise<void> {
    const { exchange, driver } = this.#parts;
    const { status, body } = this.#carried(request);
    wire.send(status, body);
    const [, orderId] = /"orderId":\D{0,2}(\d+)/.exec(body) ?? [];
    await this.#wait(afterMs);
    if (this.#closed || orderId === undefined) return;
    driver.act(() => {
      const order = exchange.orders.byId(orderId);
      if (order !== undefined) exchange.cancel(order);
    });
  }

  /** Logs a request that the exchange never sees, with the answer it got instead; status 0 for none. */
  #logUnseen(request: ApiRequest, { rule: fault }: Hit, status: number, code: number | undefined): void {
    const seen = { status, code, uid: this.#uidOf(request), weight: 0 };
    this.#parts.log({ ...requestEntry(request, seen, this.#parts.exchange.now), fault });
  }

  /** Waits real ms; never resolves once this is closed. */
  #wait(ms: number): Promise<void> {
    const { clock } = this.#parts;
    return new Promise((resolve) => {
      if (this.#delays.size >= delayLimit) {
        resolve();
        return;
      }
      const cancel = clock.at(clock.now() + clock.machine(ms), () => {
        this.#delays.delete(cancel);
        resolve();
      });
      this.#delays.add(cancel);
    });
  }
}

/** Characters of a body in the log. */
const bodyLimit = 2_048;

function requestEntry(
  { ip, method, target, body, timestamp }: ApiRequest,
  { status, uid, weight, code }: Omit<ApiReply, 'body'>,
  at: number,
): Extract<LogEntry, { kind: 'request' }> {
  const sent = timestamp !== undefined && /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : undefined;
  const ageMs = sent === undefined ? undefined : at - sent;
  return { at, kind: 'request', ip, method, target, body: body.slice(0, bodyLimit), ageMs, status, uid, weight, code };
}
