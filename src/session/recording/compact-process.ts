/** Runs compaction in a separate process, so that it does not block recording or trading. */

import { spawn } from 'node:child_process';
import { causeOf } from '../../domain/refusal.ts';

/** `report` gets the messages of a compaction that could not store everything. */
export function compactions(dir: string, report: (line: string) => void, program = process.argv[1] ?? '') {
  let running = Promise.resolve();
  return {
    /** Compacts the waiting files once earlier compactions have ended. */
    request(): void {
      running = running.then(() => compactBeside(dir, report, program));
    },
    /** Resolves when all requested compactions have ended. */
    done: (): Promise<void> => running,
  };
}

/** What a compaction says at most, characters: a line for each file that waits. */
const maxText = 4_000;

/** Runs `sluice data compact`; resolves when it has ended, however: what it could not do waits for the next time. */
function compactBeside(dir: string, report: (line: string) => void, program: string): Promise<void> {
  return new Promise((settle) => {
    const stdio = ['ignore', 'ignore', 'pipe'] as const;
    const child = spawn(process.execPath, [program, 'data', 'compact', '--data', dir], { stdio: [...stdio] });
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-maxText);
    });
    child.once('error', (error) => {
      report(causeOf(error));
      settle();
    });
    child.once('close', (code) => {
      // A signal means that it was stopped.
      if (code !== null && code > 0 && code < 128) for (const line of text.trim().split('\n')) report(line);
      settle();
    });
  });
}
