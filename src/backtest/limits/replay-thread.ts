/** The thread of `replayLimits`. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ReplayGiven, type ReplayReply, replayHere } from './replay.ts';

const reply: ReplayReply = await replayHere(workerData as ReplayGiven).then(
  (replayed) => ({ replayed }),
  (error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }),
);
parentPort?.postMessage(reply);
