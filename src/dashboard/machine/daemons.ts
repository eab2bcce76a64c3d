/** Asks each daemon of a machine, with its own token, and keeps the last that each said. */
import { type IncomingMessage, request } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../clock/clock.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { viewVersion } from '../view.ts';
import type { DaemonRow, DaemonSummary, Overview } from './overview.ts';

/** How a daemon is reached. The token never leaves this process for anywhere else. */
export interface DaemonAddress {
  /** `http://127.0.0.1:PORT`. */
  readonly control: string;
  readonly token: string;
}

/** A state directory whose daemon is shown. */
export interface DaemonPlace {
  readonly name: string;
  readonly dir: string;
  /** Its running daemon; undefined where none runs. Throws a `Refusal` where its address must not be used. */
  readonly find: () => DaemonAddress | undefined;
  /** What one does that is starting or stopping, in a sentence; undefined where none is. */
  readonly starting: () => string | undefined;
}

/** Every place there is now: daemons come and go. */
export type Places = () => readonly DaemonPlace[];

/** Real ms that a daemon may take to say what it does. One that takes longer is shown as silent. */
export const answerMs = 2_000;
/** A view is smaller by far. */
const maxBytes = 16 * 1024 * 1024;

export interface DaemonRequest {
  readonly method: 'GET' | 'POST';
  /** Below the control address, with its query. */
  readonly path: string;
  readonly body?: string;
  /** Real ms until its answer begins. */
  readonly withinMs: number;
}

/** Sends a request to a daemon, with its token and nothing of ours. */
export function send(daemon: DaemonAddress, { method, path, body, withinMs }: DaemonRequest, clock: Clock) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${daemon.token}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request(`${daemon.control}${path}`, { method, headers });
    const cancel = clock.at(clock.now() + clock.machine(withinMs), () =>
      sent.destroy(new Error(`no answer within ${withinMs / 1_000} s`)),
    );
    sent.on('response', (answer) => {
      // What has begun may still stop half-way.
      answer.on('close', cancel);
      resolve(answer);
    });
    sent.on('error', (error) => {
      cancel();
      reject(error);
    });
    sent.end(body);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** What the overview reads of a view. */
const viewSchema = z.looseObject({
  version: z.literal(viewVersion),
  mode: z.string(),
  isRealMoney: z.boolean(),
  exchangeUrl: z.string(),
  state: z.enum(['starting', 'recovering', 'ready', 'killed', 'stopping']),
  stateText: z.string(),
  noMarketData: z.string().optional(),
  blocked: z.string().optional(),
  equity: z.looseObject({ asset: z.string(), now: z.string(), dayStart: z.string() }),
  openOrders: z.array(z.unknown()),
  unknowns: z.array(z.looseObject({ resolved: z.unknown().optional() })),
  strategies: z.array(z.looseObject({ id: z.string(), status: z.string() })),
  inForce: z.looseObject({ text: z.string() }),
  alarms: z.array(z.looseObject({ text: z.string() })).optional(),
});
type SeenView = z.output<typeof viewSchema>;

function summaryOf(view: SeenView): DaemonSummary {
  const { mode, isRealMoney, exchangeUrl, state, stateText, noMarketData, blocked } = view;
  const { equity, strategies, alarms = [] } = view;
  const ids = (all: SeenView['strategies']): number => new Set(all.map(({ id }) => id)).size;
  return {
    ...{ mode, isRealMoney, exchangeUrl, state, stateText, noMarketData, blocked },
    equity: { asset: equity.asset, now: equity.now, dayStart: equity.dayStart },
    openOrders: view.openOrders.length,
    unknowns: view.unknowns.filter(({ resolved }) => resolved === undefined).length,
    strategies: ids(strategies),
    runningStrategies: ids(strategies.filter(({ status }) => status === 'running')),
    inForce: view.inForce.text,
    threw: strategies.filter(({ status }) => status === 'stopped').map(({ id }) => id),
    alarms: alarms.map(({ text }) => text),
  };
}

/** The view of a daemon, or why there is none. */
async function look(daemon: DaemonAddress, clock: Clock): Promise<DaemonSummary | string> {
  try {
    const answer = await send(daemon, { method: 'GET', path: '/api/view', withinMs: answerMs }, clock);
    const text = await textOf(answer);
    if (answer.statusCode === 403)
      return 'It refused the token in its state directory: it may just have started again.';
    if (answer.statusCode !== 200) return `It answered with status ${answer.statusCode}.`;
    const { success, data } = viewSchema.safeParse(JSON.parse(text));
    return success ? summaryOf(data) : 'Its answer is not that of a daemon of this version.';
  } catch (error) {
    return `It does not answer: ${causeOf(error)}.`;
  }
}

/** `find`, with its refusal as a sentence. */
export const found = ({ find }: DaemonPlace): DaemonAddress | string | undefined => orSentence(find);

/** `starting`, likewise. */
export const startingOn = ({ starting }: DaemonPlace): string | undefined => orSentence(starting);

function orSentence<T>(look: () => T): T | string {
  try {
    return look();
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

interface Last {
  readonly at: number;
  readonly said: DaemonSummary;
}

/** What all daemons say now. Pages that ask at the same time share one answer. */
export function overviewOf(places: Places, clock: Clock): () => Promise<Overview> {
  const last = new Map<string, Last>();
  let asking: Promise<Overview> | undefined;

  async function rowOf(place: DaemonPlace): Promise<DaemonRow> {
    const { name, dir } = place;
    const address = found(place);
    const said = address === undefined || typeof address === 'string' ? address : await look(address, clock);
    if (typeof said === 'object') last.set(dir, { at: clock.now(), said });
    const before = last.get(dir);
    const common = { name, dir, lastContact: before?.at, said: before?.said };
    if (typeof said === 'object') return { ...common, contact: 'answers', problem: undefined };
    const starting = said === undefined ? startingOn(place) : undefined;
    if (starting !== undefined) return { ...common, contact: 'starting', problem: starting };
    if (said === undefined) return { ...common, contact: 'stopped', problem: 'No daemon runs here.' };
    return { ...common, contact: typeof address === 'string' ? 'refused' : 'silent', problem: said };
  }

  async function askAll(): Promise<Overview> {
    const daemons = await Promise.all(places().map(rowOf));
    return { at: clock.now(), daemons };
  }

  return () => {
    asking ??= askAll().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
