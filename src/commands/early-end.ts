/** Detects a program that ends before its command is finished: it must not end with success. */
import { loopTurn } from '../clock/clock.ts';
import { strategyPlace, strayText } from '../strategy/fault.ts';
import { hasLoadedFiles, loadingNow } from '../strategy/loading.ts';
import { exitCodeOf } from '../terminal/exit-code.ts';

/** Enough of a stack to reach a strategy below whatever it calls. */
const frames = 100;

/** Detects a program that exits early. Call the returned function when the command has ended. */
export function detectEarlyEnd(say: (line: string) => void): () => void {
  let isThrough = false;
  const fail = (what: string): void => {
    say(`sluice: ${what}`);
    process.exitCode = 1;
  };
  process.on('exit', () => {
    if (isThrough) return;
    Error.stackTraceLimit = frames;
    const place = strategyPlace(new Error('asked where').stack ?? '');
    if (place !== undefined)
      fail(
        `a strategy called process.exit() in ${place}; the command did not finish. A strategy only emits signals: remove that call`,
      );
  });
  // Nothing is left that could go on.
  process.on('beforeExit', () => {
    if (isThrough || process.exitCode !== undefined) return;
    const file = loadingNow();
    fail(
      file === undefined
        ? 'this is a bug, please report it: the program exited before the command finished'
        : `strategy file ${file} never finished loading: a top-level await never resolves; remove it`,
    );
  });
  process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
    // A daemon has last words of its own.
    if (process.listenerCount('uncaughtException') > 1) return;
    const stray = strayText(error);
    if (stray === undefined) exitCodeOf(error, say);
    else fail(stray);
    process.exit(1);
  });
  return () => {
    isThrough = true;
    if (!hasLoadedFiles()) return;
    // Timers of a strategy would keep the program alive. Output and broken promises come first.
    process.stdout.write('', () => process.stderr.write('', () => void loopTurn().then(() => process.exit())));
  };
}
