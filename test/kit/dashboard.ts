/** A dashboard of a daemon that does nothing, and requests to it. */
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { ScaledClock } from '../../src/clock/clock.ts';
import { loadAssets } from '../../src/dashboard/assets.ts';
import { type Dashboard, type DashboardSource, startDashboard } from '../../src/dashboard/dashboard.ts';
import type { Answers, Question } from '../../src/dashboard/history.ts';
import type { IndicatorsAsked, IndicatorsView } from '../../src/dashboard/indicators.ts';
import { type KlinesAsked, type KlinesView, klinesView } from '../../src/dashboard/klines.ts';
import type { KlineView, View } from '../../src/dashboard/view.ts';
import { answers } from './history-answers.ts';
import { sampleTime, view } from './view.ts';

export const token = 'token-of-the-dashboard-test';
const minuteMs = 60_000;

const sampleKlines: readonly KlineView[] = Array.from({ length: 240 }, (_, index) => {
  const close = 6_100 + 60 * Math.sin(index / 9);
  const openTime = sampleTime - (240 - index) * minuteMs;
  return { openTime, open: close - 4, high: close + 9, low: close - 11, close, volume: 10 + (index % 7) };
});

/** A daemon that does nothing but remember what it was told. */
export class FakeDaemon implements DashboardSource {
  shown: View = view();
  readonly told: string[] = [];
  /** What was asked, as `why {"subject":"…"}`. */
  readonly questions: string[] = [];
  readonly answers: Answers = answers();
  readonly indicatorsAsked: string[] = [];
  charted: IndicatorsView = { run: 1, values: [], leftOut: 0 };
  readonly history = {
    ask: async <Q extends Question>(question: Q, asked: object): Promise<Answers[Q]> => {
      this.questions.push(`${question} ${JSON.stringify(asked)}`);
      return this.answers[question];
    },
  };
  view(): View {
    return this.shown;
  }
  klinesShown = sampleKlines;
  readonly klinesAsked: KlinesAsked[] = [];
  klines(asked: KlinesAsked): KlinesView {
    this.klinesAsked.push(asked);
    return klinesView(this.klinesShown, 1, asked);
  }
  indicators(asked: IndicatorsAsked): IndicatorsView {
    this.indicatorsAsked.push(JSON.stringify(asked));
    return this.charted;
  }
  async kill({ reason, by, everything }: Parameters<DashboardSource['kill']>[0]): Promise<string> {
    this.told.push(`kill${everything === true ? ' everything' : ''}: ${reason}, by ${by}`);
    const inForce = { mark: 'killed', text: `All strategies were killed by ${by}: ${reason}.` };
    this.shown = view({ state: 'killed', stateText: 'Killed by the dashboard.', inForce });
    return 'Killed: 6 resting orders are being cancelled.';
  }
  pause = this.#tell('pause', 'It is paused.');
  resume = ({ reason, by, ...rest }: Parameters<DashboardSource['resume']>[0]): Promise<string> => {
    this.shown = view();
    return this.#tell('resume', 'Trading goes on.')({ reason, by, ...rest });
  };
  cancel = this.#tell('cancel', '6 orders are being cancelled.');
  /** What was asked to be flattened. */
  readonly flattened: Parameters<DashboardSource['flatten']>[0][] = [];
  async flatten(asked: Parameters<DashboardSource['flatten']>[0]): Promise<string> {
    this.flattened.push(asked);
    return 'Positions are being closed.';
  }
  resolve = this.#tell('resolve', 'The order is closed.');
  adopt = this.#tell('adopt', 'The order is adopted.');
  resolveTrade = this.#tell('resolve-trade', 'The trade is decided.');
  reload = this.#tell('reload', 'It runs the new code.');
  reloadConfig = this.#tell('reload the configuration', 'Nothing in it has changed.');
  acknowledge = this.#tell('acknowledge', 'one alarm is acknowledged');
  limits = this.#tell('limits', 'done');
  adjust = this.#tell('adjust', 'The ledger counts it.');

  #tell(action: string, answer: string): (asked: object) => Promise<string> {
    return async (asked) => {
      this.told.push(`${action}: ${Object.values(asked).join(', ')}`);
      return answer;
    };
  }
}

/** The dashboard of a daemon; `port` 0 takes any free one. */
export const serve = (source: FakeDaemon, port = 0, its = token): Promise<Dashboard> =>
  startDashboard({ port, token: its, assets: loadAssets(), source, clock: new ScaledClock(1) });

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A request with exactly these headers; `fetch` does not let a client lie about its Host. */
export const ask = (
  { port }: Dashboard,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });

/** 101 when the WebSocket opened, else the status it was refused with. */
export const upgrade = ({ port }: Dashboard, headers: Record<string, string>, path = '/api/live'): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    socket.on('error', (error) => {
      if (!error.message.startsWith('Unexpected server response')) reject(error);
    });
  });

export const json = { 'content-type': 'application/json' };
export const bearer = { authorization: `Bearer ${token}` };
