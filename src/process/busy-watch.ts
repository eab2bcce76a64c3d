/** The thread beside a run: asks its event loop whether it turns, and where that is blocked by a strategy, makes it one that can be ended. */
import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { blockUntil } from '../clock/clock.ts';
import { strategyPlace } from '../strategy/fault.ts';

/** What the thread is given. */
export interface BusyData {
  /** Set by the loop when it is asked whether it turns. */
  readonly turned: Int32Array;
  /** Nothing turned for so long, and signals get their default meaning; real ms. */
  readonly quietMs: number;
  /** Those that would end the program. */
  readonly signals: readonly string[];
}
/** `turns?` asks whether the loop turns. `released`: signals have their default meaning until it does. */
export type BusyMessage = 'turns?' | 'released';

/** Between two questions, and the least until it is said; real ms. */
const everyMs = 250;
const minSaidMs = 5_000;

const { turned, quietMs, signals } = workerData as BusyData;
const saidAfterMs = Math.max(minSaidMs, quietMs);
const say = (message: BusyMessage): void => parentPort?.postMessage(message);
const isTurning = (maxMs: number): boolean => {
  blockUntil(turned, maxMs);
  return Atomics.load(turned, 0) === 1;
};

/** Signals have no listeners: the operating system ends the process at the first one, whatever it does. */
const release = `for (const signal of ${JSON.stringify(signals)}) globalThis.process.removeAllListeners(signal)`;

/** Stops the program for a moment where it is, and takes the listeners away. Gives where in a strategy it was, innermost first. */
function released(): Promise<string | undefined> {
  const session = new Session();
  session.connectToMainThread();
  const files = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => void files.set(params.scriptId, params.url));
  return new Promise((resolve) => {
    session.on('Debugger.paused', ({ params: { callFrames } }) => {
      const end = (): void => {
        say('released');
        // Goes on where it was.
        session.disconnect();
        resolve(strategyPlace(callFrames.map((frame) => stackLine(frame, files)).join('\n')));
      };
      const [first] = callFrames;
      if (first === undefined) end();
      else session.post('Debugger.evaluateOnCallFrame', { callFrameId: first.callFrameId, expression: release }, end);
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

const stackLine = ({ location }: Debugger.CallFrame, files: ReadonlyMap<string, string>): string =>
  `${files.get(location.scriptId)}:${location.lineNumber + 1}`;

// Without a listener the thread would end while it waits for the program to stop.
parentPort?.on('message', () => {});
for (;;) {
  Atomics.store(turned, 0, 0);
  say('turns?');
  if (!isTurning(quietMs)) {
    const place = await released();
    if (!isTurning(saidAfterMs - quietMs) && place !== undefined)
      // The program that would print it is the one that is busy.
      writeSync(2, `sluice: a strategy has been busy for ${saidAfterMs / 1_000} s, ${place}: Ctrl-C ends it\n`);
    while (!isTurning(Number.POSITIVE_INFINITY));
  }
  blockUntil(new Int32Array(new SharedArrayBuffer(4)), everyMs);
}
