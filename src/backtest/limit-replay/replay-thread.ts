/** The thread of `replayLimits`. */

import { parentPort, workerData } from 'node:worker_threads';
import { causeOf } from '../../domain/refusal.ts';
import { type ReplayGiven, type ReplayReply, replayHere } from './replay.ts';

const reply: ReplayReply = await replayHere(workerData as ReplayGiven).then(
  (replayed) => ({ replayed }),
  (error: unknown) => ({ fault: causeOf(error) }),
);
parentPort?.postMessage(reply);
