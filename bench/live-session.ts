/** A live session in the process of a benchmark, without log and console. */
import { join } from 'node:path';
import { readConfig } from '../src/config/read.ts';
import { tradingSchema } from '../src/config/schema.ts';
import { startLive } from '../src/session/live.ts';
import { noLog } from '../src/session/log/log.ts';
import type { Session } from '../src/session/session.ts';
import { configure } from '../src/trading/strategies.ts';

/** Starts what a configuration file says, with its state in `dir`/state, and waits until it trades. A fatal error is thrown. */
export async function liveSession(
  dir: string,
  file: string,
  apiKey: string,
  apiSecret: string,
  say: (line: string) => void = () => {},
): Promise<Session> {
  const config = readConfig(file, tradingSchema);
  const session = await startLive({
    mode: 'live',
    config,
    configured: await configure(config.strategies, file),
    stateDir: join(dir, 'state'),
    secrets: { apiKey, apiSecret },
    environment: { XDG_STATE_HOME: dir },
    log: noLog(),
    say,
    signal: new AbortController().signal,
    fatal: (error) => {
      throw error;
    },
  });
  await session.ready;
  return session;
}
