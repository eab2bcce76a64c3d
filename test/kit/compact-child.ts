/** Compacts a journal and kills itself at a step: node compact-child.ts STATE_DIR STATE_HOME STEP. */
import { compact } from '../../src/commands/journal/compact.ts';

const [dir = '', home = '', broken = ''] = process.argv.slice(2);
await compact({
  ...{ state: dir, keepDays: 5, environment: { XDG_STATE_HOME: home }, json: false },
  out: () => {},
  say: () => {},
  step: (name) => {
    if (name === broken) process.kill(process.pid, 'SIGKILL');
  },
});
