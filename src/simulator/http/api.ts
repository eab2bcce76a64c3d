/** Requests in, replies out: admission by weight, signature and time window, then the endpoint. No sockets here. */
import type { Clock } from '../../clock/clock.ts';
import { type Refusal, refusals } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import { type Credentials, isKeyFormat, type Keys } from '../core/keys.ts';
import type { Admission, Limits } from '../core/limits.ts';
import type { Quirks } from '../core/quirks.ts';
import { batchEndpoints } from './batch-endpoints.ts';
import type { Endpoint, Family } from './endpoint.ts';
import { type Json, json } from './json.ts';
import { openEndpoints } from './open-endpoints.ts';
import { orderEndpoints } from './order-endpoints.ts';
import { bodyParams, given, type Params, queryParams, Refused } from './params.ts';
import { publicEndpoints } from './public-endpoints.ts';
import { isSignature, signatureOf, timingFault } from './signature.ts';
import { withdrawEndpoints } from './withdraw-endpoints.ts';

/** A request as it came over the wire: the raw target and body, because the signature is over those. */
export interface ApiRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
  readonly ip: string;
  readonly key: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** How far the clock of the gateway that judges this request is off, ms: a fault. */
  readonly skewMs?: number;
}

export interface ApiReply {
  readonly status: number;
  readonly body: string;
  /** Who asked, what it cost and which code it drew: for the truth log. */
  readonly uid: string | undefined;
  readonly weight: number;
  readonly code: number | undefined;
}

export interface ApiSetup {
  readonly exchange: Exchange;
  readonly limits: Limits;
  readonly quirks: Quirks;
  readonly clock: Clock;
  readonly keys: Pick<Keys, 'get'>;
}

/** An endpoint with its method and path in one text, which is made once and not for each request. */
interface Named extends Endpoint {
  readonly name: string;
}

const endpoints: ReadonlyMap<string, Named> = new Map(
  [...publicEndpoints, ...orderEndpoints, ...batchEndpoints, ...withdrawEndpoints, ...openEndpoints].map((endpoint) => {
    const name = `${endpoint.method} ${endpoint.path}`;
    return [name, { ...endpoint, name }];
  }),
);
/** What a request to nowhere costs, so that a ban holds for it too. */
const unknownWeight = 1;

/** The path of a target, without its query. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

export type Api = (request: ApiRequest) => ApiReply;

export function createApi(setup: ApiSetup): Api {
  const { exchange, quirks, limits } = setup;
  let created = 0;

  function answer(request: ApiRequest, endpoint: Named, seen: { uid?: string }): Json {
    const user = endpoint.permission === undefined ? undefined : signer(request, setup);
    if (user !== undefined) seen.uid = user.uid;
    const params =
      request.method === 'GET'
        ? queryParams(request.target.slice(pathOf(request.target).length + 1))
        : bodyParams(request.body);
    if (user !== undefined) {
      inTime(request, params, setup);
      const { perTwoSeconds: max } = endpoint;
      const weight = weightOf(endpoint, quirks);
      const call = { ip: request.ip, uid: user.uid, weight, path: endpoint.name, max, now: exchange.now };
      admitted(limits.admitUser(call));
      demandPermission(user, endpoint);
    }
    return endpoint.run({ params, exchange, quirks, uid: user?.uid ?? '', skewMs: request.skewMs ?? 0 });
  }

  /** True for an accepted create whose answer gets lost on its way back. */
  const isLost = (endpoint: Endpoint): boolean =>
    endpoint.creates === true && quirks.lostCreateEvery > 0 && ++created % quirks.lostCreateEvery === 0;

  return (request) => {
    const endpoint = endpoints.get(`${request.method} ${pathOf(request.target)}`);
    const weight = endpoint === undefined ? unknownWeight : weightOf(endpoint, quirks);
    const seen: { uid?: string } = {};
    try {
      admitted(limits.admitAddress(request.ip, weight, exchange.now));
      if (endpoint === undefined) throw new Refused(refusals.unknownPath);
      const reply = answer(request, endpoint, seen);
      const sent = isLost(endpoint) ? lostReply : { status: 200, body: json(wrapped(reply, endpoint, quirks)) };
      return { ...sent, uid: seen.uid, weight, code: undefined };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const reply = refusalReply(error.refusal, quirks, endpoint?.family);
      return { ...reply, uid: seen.uid, weight, code: error.refusal.code };
    }
  };
}

/** The gateway's own words for a core that did not reply (§7). */
const lostReply = { status: 504, body: '<html><body><h1>504 Gateway Time-out</h1></body></html>' };

/** The weight of an endpoint for which the specification states two is a quirk. */
const weightOf = ({ weight }: Endpoint, quirks: Quirks): number =>
  typeof weight === 'number' ? weight : weight(quirks);

/** A list that is null, which only a quirk makes of one, has an envelope unless that quirk is the one without. */
const wrapped = (reply: Json, { family }: Endpoint, { replies, emptyLists }: Quirks): Json =>
  (replies === 'bare' && (reply !== null || emptyLists === 'bare null')) || family !== undefined
    ? reply
    : { code: '0', msg: 'Success', data: reply };

/** The reply to a refused request; limits answer with their own status under every quirk. */
export function refusalReply(refusal: Refusal, quirks: Quirks, family?: Family): { status: number; body: string } {
  const byLimit = refusal.status === 429 || refusal.status === 418 || refusal.status === 410;
  const live = quirks.errorStatus === 'http200';
  const number = quirks.errorCodes === 'engine' ? (refusal.engine ?? refusal.code) : refusal.code;
  const code = quirks.errorCode === 'text' || family !== undefined ? String(number) : number;
  const msg = quirks.messages === 'chinese' ? '请求失败' : number === 1 ? 'fail' : refusal.msg;
  const body = json({
    code,
    msg,
    message: family === 'open' ? null : undefined,
    ...((live || family) && { data: null }),
    ...(quirks.refusalExtras === 'succ' && { succ: false, msgData: null }),
  });
  return { status: live && !byLimit ? 200 : refusal.status, body };
}

function admitted(admission: Admission): void {
  if (admission === 200) return;
  if (admission === 418) throw new Refused(refusals.banned);
  throw new Refused({ ...refusals.tooMany, status: admission });
}

/** What a gateway takes away before the signature is verified, where it does. */
const strippedPrefix = '/sapi';

function signer(request: ApiRequest, { keys, quirks }: ApiSetup): Credentials {
  const { key, timestamp, signature, method, body } = request;
  const target = quirks.signedPath === 'whole' ? request.target : request.target.slice(strippedPrefix.length);
  if (key === undefined || key === '') throw new Refused(refusals.noKey);
  if (timestamp === undefined || timestamp === '') throw new Refused(refusals.noTimestamp);
  if (signature === undefined || signature === '') throw new Refused(refusals.noSignature);
  if (!isKeyFormat(key)) throw new Refused(refusals.keyFormat);
  const user = keys.get(key);
  if (user === undefined) throw new Refused(refusals.wrongKey);
  if (!isSignature(signature, signatureOf(user.secret, timestamp, method, target, method === 'GET' ? '' : body)))
    throw new Refused(refusals.wrongSignature);
  if (user.addresses !== undefined && !user.addresses.includes(request.ip)) throw new Refused(refusals.wrongKey);
  return user;
}

function demandPermission({ permissions }: Credentials, { permission }: Endpoint): void {
  if (permission !== undefined && !permissions.includes(permission)) throw new Refused(refusals.wrongKey);
}

/** The spellings of §5.3. */
const windowNames = ['recvWindow', 'recvwindow', 'recwwindow'] as const;

function windowOf(params: Params, { windowName }: Quirks): string | undefined {
  if (windowName === 'any') return windowNames.map((name) => given(params, name)).find(Boolean);
  if (windowName === 'recvwindow or refused' && windowNames.some((name) => name !== 'recvwindow' && params.has(name)))
    throw new Refused(refusals.unknownParameter);
  return given(params, 'recvwindow');
}

/** The window is judged now, when the request is processed: one that waited too long in a queue is refused. */
function inTime(request: ApiRequest, params: Params, { exchange, quirks, clock }: ApiSetup): void {
  const timestamp = /^\d{1,15}$/.test(request.timestamp ?? '') ? Number(request.timestamp) : Number.NaN;
  const window = windowOf(params, quirks);
  if (window !== undefined && !/^\d{1,15}$/.test(window)) throw new Refused(refusals.wrongNumber);
  const recvWindow = window === undefined ? undefined : Number(window);
  const serverTime = exchange.now + (request.skewMs ?? 0);
  const fault = timingFault({ timestamp, recvWindow, serverTime, aheadMs: quirks.aheadMs }, clock);
  if (fault !== undefined) throw new Refused(fault);
}
