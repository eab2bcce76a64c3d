/** `sluice live` and `sluice paper`: the daemon with what only commands can give it, a replay of its limits and an answer from the terminal. */
import { type DaemonOptions, live as startLive, paper as startPaper } from '../../session/daemon.ts';
import { withQuestions } from '../../terminal/questions.ts';

const withReplay = (options: DaemonOptions): DaemonOptions => ({
  ...options,
  replayDenials: (file, settings) => async (given) => {
    // A backtest engine is loaded where the limits are new to the state directory.
    const { recentDenials } = await import('../doctor/recent-denials.ts');
    const found = await recentDenials({ ...given, file, settings });
    return typeof found === 'string' || (found.share === 0 && !found.isKilled) ? undefined : found.text;
  },
  ...(process.stdin.isTTY &&
    process.stdout.isTTY &&
    !options.json && {
      confirm: (question) =>
        withQuestions(options, async (ask) => (await ask(`${question} Type yes:`))?.toLowerCase() === 'yes'),
    }),
});

/** `sluice live`. */
export const live = (options: DaemonOptions): Promise<void> => startLive(withReplay(options));
/** `sluice paper`. */
export const paper = (options: DaemonOptions): Promise<void> => startPaper(withReplay(options));
