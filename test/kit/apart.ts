/** Starts the built-in exchange as a process of its own, so that nothing but the wire joins it to a test. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ask, Opened } from './apart-world.ts';

const program = fileURLToPath(new URL('./apart-child.ts', import.meta.url));

export interface Apart extends Opened {
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/** Resolves when it listens; rejects with what it said when it cannot. */
export function openApart(ask: Ask = {}): Promise<Apart> {
  const child = fork(program, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
  let said = '';
  child.stderr?.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  child.send(ask);
  return new Promise((resolve, reject) => {
    child.once('message', (opened) =>
      resolve({
        ...(opened as Opened),
        pid: child.pid,
        close() {
          child.kill();
          return ended;
        },
      }),
    );
    void ended.then(() => reject(new Error(`the exchange ended: ${said}`)));
  });
}
