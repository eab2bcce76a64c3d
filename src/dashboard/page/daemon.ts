/** The page's two ways to the daemon: the stream of updates and the calls. Addresses are relative: a page of several daemons has each below its name. */
import type { Update } from '../view.ts';
import { type Answered, connection, take, toast } from './store.ts';
import { afterMs } from './timer.ts';

const firstRetryMs = 500;
const slowestRetryMs = 5_000;
const toastMs = 8_000;

const tokenName = 'sluice-token';
/** Kept by the tab, of this origin alone: no other port gets it, as it would get a cookie. */
const token = (): string => sessionStorage.getItem(tokenName) ?? 'none';
export const bearer = (): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token()}` });

/** Takes the token out of the address, which is copied and kept in the history; true when there was one. */
export function takeToken(): boolean {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given === undefined) return false;
  sessionStorage.setItem(tokenName, given);
  history.replaceState(null, '', location.pathname);
  return true;
}

/** A WebSocket does not say why it closed; a plain request does. */
async function askWhetherRefused(): Promise<void> {
  try {
    const { status } = await fetch('api/view', { headers: bearer() });
    if (status === 403 && connection.value === 'lost') connection.value = 'refused';
  } catch {
    // Nobody answers: the connection stays lost.
  }
}

/** Connects, and connects again for as long as the page is open. */
export function connect(retryMs = firstRetryMs): void {
  const socket = new WebSocket(new URL('api/live', location.href.replace(/^http/, 'ws')), ['sluice', token()]);
  let opened = false;
  socket.onmessage = ({ data }: MessageEvent<string>) => {
    opened = true;
    connection.value = 'connected';
    take(JSON.parse(data) as Update);
  };
  socket.onclose = () => {
    connection.value = 'lost';
    void askWhetherRefused();
    afterMs(retryMs, () => connect(opened ? firstRetryMs : Math.min(slowestRetryMs, retryMs * 2)));
  };
}

let clearToast = (): void => {};

/** Shows the result of an action for a while. */
export function say(answer: Answered): void {
  clearToast();
  toast.value = answer;
  clearToast = afterMs(toastMs, () => {
    toast.value = undefined;
  });
}

export type Call = 'kill' | 'pause' | 'resume' | 'cancel' | 'flatten' | 'acknowledge';

/** What is shown where a request has no answer. */
export const noAnswer = 'No answer: the program that serves this page has ended, or hangs.';

/** A POST, with the status of its answer. Throws where nobody answers. */
export async function post(path: string, body: object): Promise<{ readonly status: number; readonly said: unknown }> {
  const reply = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer() },
    body: JSON.stringify(body),
  });
  return { status: reply.status, said: await reply.json() };
}

/** Calls the daemon and shows what it answers. */
export async function call(action: Call, body: object): Promise<void> {
  say({ ok: true, message: `Sent to the daemon: ${action} …` });
  try {
    const { said } = await post(`api/${action}`, body);
    say(said as Answered);
  } catch {
    say({
      ok: false,
      message: `The daemon did not answer. \`npx sluice ${action === 'acknowledge' ? 'alerts ack' : action}\` in a terminal does the same.`,
    });
  }
}
