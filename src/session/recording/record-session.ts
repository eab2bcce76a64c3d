/** Records the market of a daemon from the daemon's own feed. A failure of the recording never stops trading. */

import { dirname } from 'node:path';
import { catalogueOf } from '../../config/read.ts';
import type { TradingConfig } from '../../config/schema.ts';
import { causeOf } from '../../domain/refusal.ts';
import { marketsIn } from '../../trading/lanes.ts';
import type { Configured } from '../../trading/strategies.ts';
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
export function recordSession(
  config: TradingConfig,
  configured: readonly Configured[],
  file: string,
  say: (line: string) => void,
): SessionRecording {
  if (!config.record) return nothing;
  const dir = catalogueOf(dirname(file), config);
  const failed = (why: string): void => say(`recording ended, trading goes on: ${why}`);
  const compacting = compactions(dir, (line) => say(`not all recorded data are in the catalogue: ${line}`));
  try {
    const made = recorder({
      dir,
      source: new URL(config.exchange.restUrl).hostname,
      symbols: recordedOf(configured),
      maxBytes: config.recordMaxMb * 1e6,
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
    failed(causeOf(error));
    return nothing;
  }
}

/** Every symbol once, with the intervals of all that read it; trades and depth only of those that are traded. */
function recordedOf(configured: readonly Configured[]): readonly Recorded[] {
  const markets = configured.flatMap(marketsIn);
  return [...new Set(markets.map(({ symbol }) => symbol))].map((symbol) => {
    const there = markets.filter((one) => one.symbol === symbol);
    const isTraded = there.some(({ use }) => use === 'traded');
    return { symbol, trades: isTraded, depth: isTraded, klines: [...new Set(there.map(({ interval }) => interval))] };
  });
}
