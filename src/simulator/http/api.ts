/** Requests in, replies out: admission by weight, signature and time window, then the endpoint. No sockets here. */
import type { Clock } from '../../clock/clock.ts';
import { type Refusal, refusals } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Habits } from '../core/habits.ts';
import type { Admission, Limits } from '../core/limits.ts';
import type { Endpoint } from './endpoint.ts';
import { type Json, json } from './json.ts';
import { bodyParams, optional, type Params, queryParams, Refused } from './params.ts';
import { publicEndpoints } from './public-endpoints.ts';
import { isSignature, signatureOf, timingFault } from './signature.ts';
import { tradeEndpoints } from './trade-endpoints.ts';

/** A request as it came over the wire: the raw target and body, because the signature is over those. */
export interface ApiRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
  readonly ip: string;
  readonly key: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

export interface ApiReply {
  readonly status: number;
  readonly body: string;
  /** Who asked, what it cost and which code it drew: for the truth log. */
  readonly uid: string | undefined;
  readonly weight: number;
  readonly code: number | undefined;
}

/** A user's key, as the header carries it, and what belongs to it. */
export interface Credentials {
  readonly uid: string;
  readonly secret: string;
}

export interface ApiSetup {
  readonly exchange: Exchange;
  readonly limits: Limits;
  readonly habits: Habits;
  readonly clock: Clock;
  readonly keys: ReadonlyMap<string, Credentials>;
}

const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  [...publicEndpoints, ...tradeEndpoints].map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]),
);

/** The path of a target, without its query. */
export const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

export function createApi(setup: ApiSetup): (request: ApiRequest) => ApiReply {
  const { exchange, habits } = setup;

  function answer(request: ApiRequest, endpoint: Endpoint, seen: { uid?: string }): Json {
    admitted(setup.limits.admitAddress(request.ip, endpoint.weight, exchange.now));
    const path = pathOf(request.target);
    const user = endpoint.signed ? signer(request, setup) : undefined;
    if (user !== undefined) seen.uid = user.uid;
    const params =
      request.method === 'GET' ? queryParams(request.target.slice(path.length + 1)) : bodyParams(request.body);
    if (user !== undefined) {
      inTime(request, params, setup);
      const { weight, perTwoSeconds: max } = endpoint;
      admitted(setup.limits.admitUser({ ip: request.ip, uid: user.uid, weight, path, max, now: exchange.now }));
    }
    return endpoint.run({ params, exchange, habits, uid: user?.uid ?? '' });
  }

  return (request) => {
    const endpoint = endpoints.get(`${request.method} ${pathOf(request.target)}`);
    const seen: { uid?: string } = {};
    try {
      if (endpoint === undefined) throw new Refused(refusals.unknownPath);
      const body = json(answer(request, endpoint, seen));
      return { status: 200, body, uid: seen.uid, weight: endpoint.weight, code: undefined };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const reply = refusalReply(error.refusal, habits);
      return { ...reply, uid: seen.uid, weight: endpoint?.weight ?? 0, code: error.refusal.code };
    }
  };
}

/** The reply to a refused request; limits answer with their own status under every habit. */
export function refusalReply(refusal: Refusal, habits: Habits): { status: number; body: string } {
  const byLimit = refusal.status === 429 || refusal.status === 418 || refusal.status === 410;
  const code = habits.errorCode === 'text' ? String(refusal.code) : refusal.code;
  const live = habits.errorStatus === 'http200';
  const body = json({ code, msg: refusal.msg, ...(live && { data: null }) });
  return { status: live && !byLimit ? 200 : refusal.status, body };
}

function admitted(admission: Admission): void {
  if (admission === 200) return;
  if (admission === 418) throw new Refused(refusals.banned);
  throw new Refused({ ...refusals.tooMany, status: admission });
}

function signer(request: ApiRequest, { keys }: ApiSetup): Credentials {
  const { key, timestamp, signature, method, target, body } = request;
  if (key === undefined || key === '') throw new Refused(refusals.noKey);
  if (timestamp === undefined || timestamp === '') throw new Refused(refusals.noTimestamp);
  if (signature === undefined || signature === '') throw new Refused(refusals.noSignature);
  const user = keys.get(key);
  if (user === undefined) throw new Refused(refusals.wrongKey);
  if (!isSignature(signature, signatureOf(user.secret, timestamp, method, target, method === 'GET' ? '' : body)))
    throw new Refused(refusals.wrongSignature);
  return user;
}

/** The window is judged now, when the request is processed: one that waited too long in a queue is refused. */
function inTime(request: ApiRequest, params: Params, { exchange, clock }: ApiSetup): void {
  const timestamp = /^\d{1,15}$/.test(request.timestamp ?? '') ? Number(request.timestamp) : Number.NaN;
  const given = ['recvWindow', 'recvwindow', 'recwwindow'].map((name) => optional(params, name)).find(Boolean);
  if (given !== undefined && !/^\d{1,15}$/.test(given)) throw new Refused(refusals.wrongNumber);
  const fault = timingFault(timestamp, given === undefined ? undefined : Number(given), exchange.now, clock);
  if (fault !== undefined) throw new Refused(fault);
}
