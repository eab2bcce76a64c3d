/** Which program the seeds ran on: seeds of another protocol do not count with those of this one. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

export interface Build {
  readonly commit: string;
  /** A digest of the code that decides what happens to orders and fills: the same in commits that only change other things. */
  readonly protocol: string;
  /** That code has changes that are not committed. */
  readonly changed: boolean;
}

/** What the protocol is made of; pages, tools, reports and other markets are not. */
const protocolPaths = [
  'src/execution',
  'src/journal',
  'src/venue/exchange',
  'src/venue/venue.ts',
  'src/budget',
  'src/portfolio',
  'src/risk',
  'src/domain',
  'src/clock',
  'src/trader.ts',
  'src/trading/assemble.ts',
  'src/trading/build-execution.ts',
  'src/trading/flatten.ts',
  'src/trading/kill-switch.ts',
  'src/trading/orders.ts',
  'src/trading/retries.ts',
  'src/trading/restore.ts',
  'src/trading/unprotected.ts',
];

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The program as it stands; outside a checkout nothing is known of it. */
export function buildNow(): Build {
  try {
    const files = git('ls-tree', '-r', 'HEAD', '--', ...protocolPaths)
      .split('\n')
      .filter((line) => !line.endsWith('.test.ts'));
    const protocol = createHash('sha256').update(files.join('\n')).digest('hex').slice(0, 12);
    return {
      commit: git('rev-parse', '--short', 'HEAD'),
      protocol,
      changed: git('status', '--porcelain', '--', ...protocolPaths) !== '',
    };
  } catch {
    return { commit: 'unknown', protocol: 'unknown', changed: true };
  }
}
