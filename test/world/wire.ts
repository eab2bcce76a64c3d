/** The way between the process and the exchange: an `Http` port whose wire is simulated, with everything that goes wrong on it. */
import type { ApiReply } from '../../src/simulator/http/api.ts';
import type { Http, HttpReply, HttpRequest } from '../../src/venue/exchange/rest/http.ts';
import type { Gate } from '../../src/venue/venue.ts';
import type { Chance } from './chance.ts';
import { type Life, never, type Time } from './life.ts';
import { type Plan, type WireFault, wireFaults } from './plan.ts';
import type { Trace } from './trace.ts';
import type { Venue } from './venue.ts';

/** How long the client waits for an answer, ms; shorter than the real one's, so that more happens in the time of a seed. */
const patienceMs = 4_000;
/** How much more or less often than the plan says a request is harmed: without the time nothing begins at all. */
const harmOf = ({ method, url }: HttpRequest): number =>
  url.pathname.endsWith('/time') ? 0.1 : method === 'GET' ? 0.5 : 1;

export interface WireOptions {
  readonly time: Time;
  readonly venue: Venue;
  readonly plan: Plan;
  readonly chance: Chance;
  readonly trace: Trace;
  /** Told of a request at the moment its first byte leaves. */
  readonly leaves: (request: HttpRequest, life: Life) => void;
  /** Told when an answer about limits reaches a process: until when nothing may be sent. */
  readonly forbidden: (untilMs: number) => void;
  /** Told of each fault that was applied. */
  readonly harmed: (fault: string, request: HttpRequest) => void;
  /** Whether a scenario lays down what is harmed, and how; undefined: chance decides. */
  readonly strike: ((request: HttpRequest) => WireFault | undefined) | undefined;
}

export class Wire {
  readonly #options: WireOptions;
  /** No more faults. */
  healed = false;
  outage: 'silent' | '503' | 'refused' | undefined;
  /** How far the gateway's clock is off, ms. */
  skewMs = 0;
  /** Requests and answers that are on their way. */
  inFlight = 0;
  /** Bodies of requests that have left and may still be carried out. */
  readonly pending = new Map<string, number>();

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** The port of one process. */
  port(life: Life): Http {
    return { send: (request, gate) => this.#send(request, gate, life), close: () => {} };
  }

  async #send(request: HttpRequest, gate: Gate | undefined, life: Life): Promise<HttpReply> {
    if (!life.alive) return never();
    const against = await gate;
    if (against !== undefined) return { kind: 'failed', cause: against, written: false };
    if (life.diesAt('beforeSend')) return never();
    const { time, chance, trace } = this.#options;
    const fault = this.#draw(request);
    if (fault !== undefined) this.#options.harmed(fault, request);
    const refused = fault === 'refused' || this.outage === 'refused';
    const name = nameOf(request);
    trace.say(`${life.number} ${name}${fault === undefined ? '' : ` [${fault}]`}`);
    return new Promise((resolve) => {
      let stopWaiting = (): void => {};
      const answers = once((reply: HttpReply) => {
        stopWaiting();
        if (life.diesAt('beforeAnswer')) return;
        trace.say(`${life.number} ${name} -> ${replyText(reply)}`);
        resolve(reply);
        // Who dies at this moment has not looked at it any more.
        if (!life.diesAt('afterAnswer')) this.#heed(reply);
      });
      if (refused) {
        time.after(chance.between(1, 40), () =>
          answers({ kind: 'failed', cause: 'connect ECONNREFUSED', written: false }),
        );
        return;
      }
      this.#options.leaves(request, life);
      this.#travel(request, fault, answers);
      stopWaiting = time.after(patienceMs, () =>
        answers({ kind: 'failed', cause: 'ETIMEDOUT: no answer', written: true }),
      );
      life.diesAt('afterSend');
    });
  }

  #draw(request: HttpRequest): WireFault | undefined {
    const { chance, plan, strike } = this.#options;
    if (strike !== undefined) return strike(request);
    if (this.healed || !chance.is(plan.harm * harmOf(request))) return undefined;
    // Each class owns its share of the draw whether it is on or not: taking one away leaves the others where they were.
    let left = chance.next() * totalShare;
    for (const [name, share] of shares) {
      left -= share;
      if (left < 0) return plan.classes.includes(name) ? name : undefined;
    }
    return undefined;
  }

  #after(ms: number, fn: () => void): void {
    this.inFlight++;
    this.#options.time.after(ms, () => {
      this.inFlight--;
      fn();
    });
  }

  #travel(request: HttpRequest, fault: WireFault | undefined, answers: (reply: HttpReply) => void): void {
    const { chance } = this.#options;
    if (fault === 'dropRequest') return;
    const usual = chance.between(1, 60);
    const ms = fault === 'late' ? usual + chance.between(200, 6_000) : usual;
    if (fault === 'reset')
      this.#after(chance.between(1, 80), () => answers({ kind: 'failed', cause: 'ECONNRESET', written: true }));
    this.#pend(request, 1);
    this.#after(ms, () => {
      this.#arrives(request, fault, answers);
      this.#pend(request, -1);
    });
  }

  #arrives(request: HttpRequest, fault: WireFault | undefined, answers: (reply: HttpReply) => void): void {
    const { chance, plan } = this.#options;
    if (this.outage === 'silent') return;
    if (this.outage === '503') {
      this.#back(answers, plain(503, 'Service Unavailable'));
      return;
    }
    const early = earlyAnswer(fault, chance);
    if (early !== undefined) {
      this.#back(answers, early);
      // A limit that was received too late, or a gateway that gave up: the order is carried out all the same.
      const goesOn = fault === 'gatewayTimeout' || (fault !== 'errorBefore' && chance.is(0.3));
      if (!goesOn) return;
    }
    const queuedMs = fault === 'gatewayTimeout' ? chance.between(50, plan.lateQueue ? 40_000 : 4_000) : 0;
    const judgedLateMs = plan.lateQueue ? queuedMs : 0;
    const run = (): void => {
      const reply = this.#process(request, judgedLateMs);
      if (early === undefined) this.#answer(reply, fault, answers);
    };
    if (queuedMs === 0) {
      run();
      return;
    }
    this.#pend(request, 1);
    this.#after(queuedMs, () => {
      run();
      this.#pend(request, -1);
    });
  }

  #pend({ body }: HttpRequest, by: 1 | -1): void {
    if (body === undefined) return;
    const left = (this.pending.get(body) ?? 0) + by;
    if (left === 0) this.pending.delete(body);
    else this.pending.set(body, left);
  }

  #process(request: HttpRequest, judgedLateMs: number): ApiReply {
    const { venue, plan, chance, trace } = this.#options;
    const { headers, url, method } = request;
    const behind = chance.is(0.4) && method === 'GET' && plan.classes.includes('lag') && !this.healed;
    const skewMs = this.skewMs - judgedLateMs;
    const reply = venue.process(
      {
        method,
        target: url.pathname + url.search,
        body: request.body ?? '',
        key: headers['x-ch-apikey'],
        timestamp: headers['x-ch-ts'],
        signature: headers['x-ch-sign'],
        ...(skewMs !== 0 && { skewMs }),
      },
      behind,
    );
    trace.say(`x ${nameOf(request)}${behind ? ' (behind)' : ''} = ${reply.status}`);
    return reply;
  }

  #answer({ status, body }: ApiReply, fault: WireFault | undefined, answers: (reply: HttpReply) => void): void {
    const { chance } = this.#options;
    if (fault === 'dropResponse' || fault === 'reset') return;
    if (fault === 'errorAfter') this.#back(answers, plain(chance.pick([500, 502, 503, 504]), 'Bad Gateway'));
    else if (fault === 'truncate') {
      const cut = body.slice(0, Math.floor(chance.next() * body.length));
      this.#back(
        answers,
        chance.is(0.5)
          ? { kind: 'failed', cause: 'the answer was cut off', written: true }
          : { kind: 'reply', status, retryAfter: undefined, body: cut },
      );
    } else this.#back(answers, { kind: 'reply', status, retryAfter: undefined, body });
  }

  #back(answers: (reply: HttpReply) => void, reply: HttpReply): void {
    this.#after(this.#options.chance.between(1, 60), () => answers(reply));
  }

  /** A process has received that nothing may be sent for a while. */
  #heed(reply: HttpReply): void {
    if (reply.kind !== 'reply' || (reply.status !== 429 && reply.status !== 418)) return;
    const { time, forbidden } = this.#options;
    forbidden(time.now() + Number(reply.retryAfter ?? '0') * 1_000);
  }
}

const shares = Object.entries(wireFaults) as readonly (readonly [WireFault, number])[];
const totalShare = shares.reduce((sum, [, share]) => sum + share, 0);

const plain = (status: number, body: string): HttpReply => ({ kind: 'reply', status, retryAfter: undefined, body });

/** What answers before the core has seen the request. */
function earlyAnswer(fault: WireFault | undefined, chance: Chance): HttpReply | undefined {
  if (fault === 'errorBefore') return plain(chance.pick([500, 502, 503, 504, 408]), '<html>Bad Gateway</html>');
  if (fault === 'gatewayTimeout') return plain(504, '<html>504 Gateway Time-out</html>');
  if (fault === 'ambiguous') {
    const code = chance.pick([-1000, -1001, -1006, -1007, -1016]);
    return plain(chance.pick([200, 400]), `{"code":${code},"msg":"the inside did not answer"}`);
  }
  if (fault !== 'limits') return undefined;
  const status = chance.is(0.02) ? 418 : chance.pick([429, 410]);
  const retryAfter = String(chance.whole(1, 4));
  return { kind: 'reply', status, retryAfter, body: '{"code":-1003,"msg":"Requests exceed the limit."}' };
}

function once<T>(fn: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    fn(value);
  };
}

const nameOf = ({ method, url, body }: HttpRequest): string =>
  `${method} ${url.pathname.slice(9)}${url.search}${body === undefined ? '' : ` ${body}`}`;

const replyText = (reply: HttpReply): string =>
  reply.kind === 'failed' ? reply.cause : `${reply.status} ${reply.body.slice(0, 200)}`;
