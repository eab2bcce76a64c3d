/** The fuzz of frames in a thread of its own: a client that never comes back from a frame is ended, and its seed is named. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '../../src/clock/clock.ts';
import { fuzzFrames } from './fuzz-frames.ts';

/** Real ms for 2,000 frames, of which most are read in one or two seconds, on a busy machine. */
const longestMs = 60_000;

interface Work {
  readonly seed: number;
  readonly count: number;
}

if (!isMainThread && isWork(workerData)) parentPort?.postMessage(await fuzzFrames(workerData.seed, workerData.count));

function isWork(data: unknown): data is Work {
  return typeof data === 'object' && data !== null && 'seed' in data && 'count' in data;
}

/** As `fuzzFrames`; throws too when that takes longer than `withinMs`, real ms. */
export function fuzzFramesInTime(seed: number, count: number, withinMs = longestMs): Promise<number> {
  const work: Work = { seed, count };
  const worker = new Worker(new URL(import.meta.url), { workerData: work });
  return new Promise<number>((resolve, reject) => {
    const stop = systemClock.at(systemClock.now() + withinMs, () => {
      void worker.terminate();
      reject(new Error(`seed ${seed}: ${count} frames took longer than ${withinMs} ms`));
    });
    worker.once('message', (believed: number) => {
      stop();
      resolve(believed);
    });
    worker.once('error', (error) => {
      stop();
      reject(error);
    });
  });
}
