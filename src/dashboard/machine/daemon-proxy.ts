/**
 * The way through to one daemon: its calls, its questions and its stream below `/daemons/NAME/api/`. The browser shows our token, the daemon gets
 * its own, and nothing else of the request but its path, query and body goes on.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocket } from 'ws';
import type { Clock } from '../../clock/clock.ts';
import { causeOf } from '../../domain/refusal.ts';
import { maxBufferedBytes } from '../push.ts';
import { type DaemonAddress, found, type Places, send, startingOn } from './daemons.ts';

/** Real ms for an answer: a daemon reads its journal for 20 s at most, and cancels resting orders before it answers. */
const readMs = 25_000;
const actMs = 60_000;
/** Real ms between two pings, and for the answer to one: a daemon that hangs must not look alive. */
const pingMs = 2_000;
/** A whole view is far smaller, with its equity curve some 100 KB. */
const maxMessageBytes = 16 * 1024 * 1024;

interface Named {
  readonly Params: { readonly name: string; readonly '*': string };
}

/** The daemon of a name; a sentence where there is none. The name is only compared, so it leads nowhere. */
function daemonOf(
  places: Places,
  name: string,
): DaemonAddress | { readonly message: string; readonly code: 404 | 502 } {
  const place = places().find((one) => one.name === name);
  if (place === undefined) return { code: 404, message: 'There is no daemon of this name.' };
  const address = found(place);
  if (address === undefined) {
    const starting = startingOn(place);
    const advice = 'To kill it, run sluice kill there: it is stored';
    return {
      code: 502,
      message: starting === undefined ? `No daemon runs on ${place.dir}.` : `${starting}. ${advice}.`,
    };
  }
  return typeof address === 'string' ? { code: 502, message: address } : address;
}

/** The calls of a daemon: `view`, `kill`, `history/why`. */
const callPattern = /^[a-z-]+(\/[a-z-]+)?$/;

async function passOn(
  { method, url, params, body }: FastifyRequest<Named>,
  reply: FastifyReply,
  places: Places,
  clock: Clock,
): Promise<unknown> {
  const refuse = (code: number, message: string): unknown => reply.code(code).send({ ok: false, message });
  if (!callPattern.test(params['*'])) return refuse(404, 'There is nothing here.');
  const daemon = daemonOf(places, params.name);
  if ('message' in daemon) return refuse(daemon.code, daemon.message);
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const isAct = method === 'POST';
  try {
    const answer = await send(
      daemon,
      {
        ...{ method: isAct ? 'POST' : 'GET', path: `/api/${params['*']}${query}`, withinMs: isAct ? actMs : readMs },
        ...(isAct && { body: JSON.stringify(body ?? {}) }),
      },
      clock,
    );
    // To the page a 403 means that its own token is wrong.
    if (answer.statusCode === 403) {
      answer.resume();
      return refuse(502, 'The daemon refused the token in its state directory: it may just have started again.');
    }
    return reply
      .code(answer.statusCode ?? 502)
      .type('application/json; charset=utf-8')
      .send(answer);
  } catch (error) {
    const doubt = isAct ? ' It may still have done it: see its state before you repeat it.' : '';
    return refuse(502, `The daemon does not answer: ${causeOf(error)}.${doubt}`);
  }
}

/** Joins a page to the stream of a daemon: what the daemon says goes to the page, nothing goes back. */
function join(page: WebSocket, { control, token }: DaemonAddress, clock: Clock): void {
  const daemon = new WebSocket(`${control.replace(/^http/, 'ws')}/api/live`, ['sluice', token], {
    handshakeTimeout: pingMs,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
  });
  let cancel = (): void => {};
  let isAlive = true;
  const end = (): void => {
    cancel();
    daemon.terminate();
    page.close(1013, 'the daemon does not answer');
  };
  const watch = (): void => {
    if (!isAlive) {
      end();
      return;
    }
    isAlive = false;
    daemon.ping();
    cancel = clock.at(clock.now() + clock.machine(pingMs), watch);
  };
  daemon.on('open', watch);
  daemon.on('pong', () => {
    isAlive = true;
  });
  daemon.on('message', (text) => {
    if (page.bufferedAmount <= maxBufferedBytes) page.send(text, { binary: false });
    else page.terminate();
  });
  daemon.on('error', end);
  daemon.on('close', end);
  page.on('close', end);
}

export function serveDaemonProxy(app: FastifyInstance, places: Places, clock: Clock): void {
  app.get<Named>('/daemons/:name/api/live', { websocket: true }, (socket, { params }) => {
    const daemon = daemonOf(places, params.name);
    if ('message' in daemon) socket.close(1013, 'no daemon');
    else join(socket, daemon, clock);
  });
  const path = '/daemons/:name/api/*';
  app.get<Named>(path, (request, reply) => passOn(request, reply, places, clock));
  app.post<Named>(path, (request, reply) => passOn(request, reply, places, clock));
}
