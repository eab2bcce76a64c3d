/** The control API of a running daemon, as commands call it. */
import got, { HTTPError, TimeoutError } from 'got';
import { z } from 'zod';
import type { View } from '../../dashboard/view.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import type { DaemonInfo } from '../state.ts';
import { notOnDisk } from './confirm-on-disk.ts';

const answerSchema = z.object({
  ok: z.boolean(),
  message: z.string(),
  /** Of a command that the daemon refused. */
  exitCode: z.literal([1, 2, 3]).optional(),
});

/** Real ms that a daemon may take: it cancels resting orders before it answers. */
const patienceMs = 60_000;

/** Calls the daemon and returns its message. Throws a `Refusal` with the daemon's reason, or if it does not answer. */
export async function callDaemon(
  daemon: DaemonInfo,
  action: string,
  body: object,
  waitMs = patienceMs,
): Promise<string> {
  try {
    const answer: unknown = await got
      .post(`${daemon.control}/api/${action}`, {
        json: body,
        headers: { authorization: `Bearer ${daemon.token}` },
        retry: { limit: 0 },
        timeout: { request: waitMs },
      })
      .json();
    return answerSchema.parse(answer).message;
  } catch (error) {
    const http = error instanceof HTTPError ? error.response : undefined;
    const { message, exitCode } = (http && answerSchema.safeParse(JSON.parse(String(http.body))).data) ?? {};
    // It was done, but is not on disk.
    if (http?.statusCode === notOnDisk && message !== undefined) throw new Refusal(message, 1);
    if (error instanceof TimeoutError)
      throw new CallFailed(daemon, action, `no answer within ${waitMs / 1_000} s`, { isOpen: true });
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    // A daemon that ended before it answered may have done it.
    const isOpen = http === undefined && code !== 'ECONNREFUSED';
    throw new CallFailed(daemon, action, message ?? code, { isOpen, exitCode });
  }
}

/** Real ms that a daemon may take to show what it does. */
const viewMs = 5_000;

/** What a running daemon shows. Throws a `Refusal` if it does not answer. */
export async function viewOfDaemon({ control, token, pid }: DaemonInfo): Promise<View> {
  try {
    const answer = await got.get(`${control}/api/view`, {
      headers: { authorization: `Bearer ${token}` },
      retry: { limit: 0 },
      timeout: { request: viewMs },
    });
    return JSON.parse(answer.body) as View;
  } catch (error) {
    const body =
      error instanceof HTTPError ? answerSchema.safeParse(JSON.parse(String(error.response.body))) : undefined;
    const why = body?.data?.message ?? causeOf(error);
    throw new Refusal(`the daemon (process ${pid}) does not show what it does: ${why}`, 1);
  }
}

/** The daemon did not confirm an action. */
export class CallFailed extends Refusal {
  readonly why: string;

  /** `isOpen`: it may have been done, or may still be. Repeating it could do it twice. */
  constructor(
    { pid }: DaemonInfo,
    action: string,
    why: string,
    { isOpen = false, exitCode = 1 }: { readonly isOpen?: boolean; readonly exitCode?: 1 | 2 | 3 | undefined },
  ) {
    super(
      isOpen
        ? `the daemon (process ${pid}) has not confirmed ${action} (${why}): it may have done it, or still be working on it, for example while the exchange does not answer; run sluice status before you repeat it`
        : `the daemon (process ${pid}) did not carry out ${action}: ${why}`,
      exitCode,
    );
    this.why = why;
  }
}
