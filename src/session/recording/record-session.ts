/** Records the market of a daemon from the daemon's own feed. A failure of the recording never stops trading. */

import { dirname } from 'node:path';
import { catalogueOf } from '../../config/read.ts';
import type { TradingConfig } from '../../config/schema.ts';
import { Refusal } from '../../domain/refusal.ts';
import { compactions } from './compact-process.ts';
import { type Recorded, type Recorder, recorder } from './recorder.ts';

export interface SessionRecording {
  /** Undefined where nothing is recorded. */
  readonly recorder: Recorder | undefined;
  /** Ends the recording and puts it into the catalogue. */
  stop(): Promise<void>;
}

const nothing: SessionRecording = { recorder: undefined, stop: () => Promise.resolve() };

/** What `record` in the configuration asks for; says why nothing is recorded where that cannot be. */
export function recordSession(config: TradingConfig, file: string, say: (line: string) => void): SessionRecording {
  if (!config.record) return nothing;
  const dir = catalogueOf(dirname(file), config);
  const failed = (why: string): void => say(`recording ended, trading goes on: ${why}`);
  const compacting = compactions(dir, (line) => say(`not all recorded data are in the catalogue: ${line}`));
  try {
    const made = recorder({
      dir,
      source: new URL(config.exchange.restUrl).hostname,
      symbols: tradedOn(config),
      mostBytes: config.recordMostMb * 1e6,
      ended: failed,
      closed: () => compacting.request(),
    });
    return {
      recorder: made,
      async stop() {
        // The last file is closed by this, which compacts it.
        await made.stop();
        await compacting.done();
      },
    };
  } catch (error) {
    failed(error instanceof Refusal ? error.message : String(error));
    return nothing;
  }
}

/** Every symbol once, with the intervals of all who trade on it. */
function tradedOn({ strategies }: TradingConfig): readonly Recorded[] {
  return [...new Set(strategies.map(({ symbol }) => symbol))].map((symbol) => ({
    symbol,
    trades: true,
    depth: true,
    klines: [...new Set(strategies.filter((one) => one.symbol === symbol).map(({ interval }) => interval))],
  }));
}
