/** What a deployment's socket does: whether it answers, acknowledges, and how it pings. */
import type { Clock } from '../../clock/clock.ts';
import { decodeFrame } from './market/frames.ts';
import type { Ws } from './market/ws.ts';

export interface SocketCapabilities {
  /** Real ms until the first data of a subscription; undefined when none came. */
  readonly firstDataMs: number | undefined;
  readonly acknowledges: boolean;
  readonly ping: 's' | 'ms' | 'none seen';
  /** Why the connection failed or ended early. */
  readonly closed: string | undefined;
}

/** Real ms: the specification pings every 10 s (§6.1). */
export const listenMs = 11_000;
/** A ping above this counts in ms: in seconds it would be the year 5138. */
const msFrom = 1e11;

/** Subscribes to the depth of a symbol and listens; ends early once everything was seen. */
export function probeSocket(ws: Ws, url: string, symbol: string, clock: Clock): Promise<SocketCapabilities> {
  return new Promise((resolve) => {
    const real = (): number => clock.monotonic() / clock.machine(1);
    const channel = `market_${symbol.toLowerCase()}_depth_step0`;
    let askedAt = real();
    const seen: { firstDataMs?: number; acknowledges?: boolean; ping?: 's' | 'ms' } = {};
    let ended = false;
    const end = (closed?: string): void => {
      if (ended) return;
      ended = true;
      stop();
      connection.close();
      const { firstDataMs, acknowledges = false, ping = 'none seen' } = seen;
      resolve({ firstDataMs, acknowledges, ping, closed });
    };
    const stop = clock.at(clock.now() + clock.machine(listenMs), () => end());
    const connection = ws(url, {
      opened() {
        askedAt = real();
        connection.send(JSON.stringify({ event: 'sub', params: { channel, cb_id: 'doctor' } }));
      },
      frame(bytes) {
        const frame = decodeFrame(bytes);
        if (frame.kind === 'ack') seen.acknowledges = true;
        if (frame.kind === 'push' && frame.channel === channel) seen.firstDataMs ??= real() - askedAt;
        if (frame.kind === 'ping') {
          seen.ping = Number(frame.echo.replaceAll('"', '')) >= msFrom ? 'ms' : 's';
          connection.send(`{"pong":${frame.echo}}`);
        }
        if (seen.ping !== undefined && seen.firstDataMs !== undefined) end();
      },
      closed: (cause) => end(cause),
    });
  });
}
