/** `sluice record` and `sluice data compact`. */

import { resolve } from 'node:path';
import { type ClientIo, type ExchangeChoice, okOrRefuse, openClient } from '../../client/connection.ts';
import { pause } from '../../clock/clock.ts';
import type { SeriesKey } from '../../data/catalogue/kinds.ts';
import { readManifest } from '../../data/catalogue/manifest.ts';
import { intervalOf, namedSymbol } from '../../data/import/file-names.ts';
import type { Interval } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { compactFrames } from '../../session/recording/compact-frames.ts';
import { compactions } from '../../session/recording/compact-process.ts';
import { type Recorded, recorder } from '../../session/recording/recorder.ts';
import { sourceOf } from '../data/fetch.ts';
import { importLines } from '../data/import.ts';
import type { DataGiven } from '../data/select-series.ts';

export interface RecordGiven extends DataGiven, ExchangeChoice, ClientIo {
  readonly trades: boolean;
  readonly depth: boolean;
  readonly klines?: string;
  readonly source?: string;
  readonly maxMb: number;
}

/** Between two readings of the exchange's time, real ms. */
const syncMs = 600_000;

/** Records until interrupted, then compacts. */
export async function record(names: readonly string[], given: RecordGiven): Promise<void> {
  const dir = resolve(given.data);
  const symbols = wantedOf(names, given);
  const source = sourcesOf(dir, symbols, given);
  let ended: (why: string) => void = () => {};
  const broken = new Promise<string>((settle) => {
    ended = settle;
  });
  const compacting = compactions(dir, given.say);
  let isStopping = false;
  const tape = recorder({
    dir,
    source,
    symbols,
    maxBytes: given.maxMb * 1e6,
    ended,
    closed: () => {
      // The last file is compacted here, so that what comes of it is shown.
      if (!isStopping) compacting.request();
    },
  });
  try {
    const client = await openClient(given, given, false, tape.observeFrames);
    try {
      okOrRefuse(await client.exchange.syncTime(), client);
      for (const { symbol } of symbols) await client.instrument(symbol);
      tape.follow(client.exchange.feed, client.clock);
      given.say(`recording ${symbols.map(({ symbol }) => symbol).join(', ')} into ${dir}; Ctrl-C ends and compacts`);
      const done = new AbortController();
      const interrupted = new Promise<undefined>((settle) => {
        if (given.signal.aborted) settle(undefined);
        given.signal.addEventListener('abort', () => settle(undefined), { once: true });
      });
      const synced = (async (): Promise<void> => {
        while (!done.signal.aborted) {
          await pause(client.clock, client.clock.machine(syncMs), done.signal);
          if (!done.signal.aborted) await client.exchange.syncTime();
        }
      })();
      const why = await Promise.race([interrupted, broken]);
      done.abort();
      await synced;
      if (why !== undefined) throw new Refusal(`the recording ended: ${why}`, 1);
    } finally {
      client.close();
    }
  } finally {
    isStopping = true;
    await tape.stop();
    await compacting.done();
  }
  await compact(given);
}

function wantedOf(names: readonly string[], { trades, depth, klines }: RecordGiven): readonly Recorded[] {
  // Nothing said: everything that backtests can use.
  const all = !trades && !depth && klines === undefined;
  const intervals: readonly Interval[] = (klines ?? (all ? '1min' : ''))
    .split(',')
    .filter((text) => text !== '')
    .map((text) => intervalOf(text.trim()));
  const symbols = [...new Set(names.map(namedSymbol))];
  return symbols.map((symbol) => ({ symbol, trades: all || trades, depth: all || depth, klines: intervals }));
}

/** Where the data come from; refused before a day was recorded that could not be stored. */
function sourcesOf(dir: string, symbols: readonly Recorded[], given: RecordGiven): string {
  let source = '';
  for (const { symbol, trades, depth, klines } of symbols) {
    const keys: readonly SeriesKey[] = [
      ...(trades ? [{ kind: 'trades', symbol } as const] : []),
      ...(depth ? [{ kind: 'depth', symbol } as const] : []),
      ...klines.map((interval) => ({ kind: 'klines', symbol, interval }) as const),
    ];
    for (const key of keys) source = sourceOf(given, key, readManifest(dir, key)?.source);
  }
  return source;
}

/** Puts recorded frames into the catalogue. */
export async function compact({
  data,
  json,
  out,
  say,
}: Pick<RecordGiven, 'data' | 'json' | 'out' | 'say'>): Promise<void> {
  const { files, results, leftOut, said, failed } = await compactFrames(resolve(data));
  for (const result of results) for (const line of json ? [JSON.stringify(result)] : importLines(result)) out(line);
  for (const [what, count] of leftOut) say(`left out: ${counted(count, 'frame or row', 'frames or rows')}: ${what}`);
  for (const line of said) say(line);
  if (json) out(JSON.stringify({ compacted: files, failed }));
  else out(files + failed === 0 ? 'no recorded frames are left' : `${counted(files, 'file')} of frames compacted`);
  if (failed > 0) throw new Refusal(`${counted(failed, 'file')} of frames could not be stored`, 1);
}
