/** `sluice dev STRATEGY`: at each save the strategy is tested, backtested and checked, and its open report refreshes itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, type FSWatcher, mkdirSync, readFileSync, watch } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { registry } from '../../../strategies/registry.ts';
import { checkStrategy, faultOf, inputFor } from '../../backtest/check/check.ts';
import { castOf, prepared } from '../../backtest/prepare/prepare.ts';
import { realMs, systemClock } from '../../clock/clock.ts';
import { placesIn, readConfig } from '../../config/read.ts';
import { backtestSchema } from '../../config/schema.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { withImports } from '../../strategy/code-version.ts';
import type { Output } from '../../terminal/output.ts';
import { runPrepared } from '../backtest/run-prepared.ts';
import { linesOf } from '../check/command.ts';
import { serveReport } from './report-page.ts';
import { testArguments } from './run-tests.ts';

export interface DevOptions extends Pick<Output, 'out' | 'say'> {
  readonly config: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Real ms after a change: an editor writes a file in several steps. */
const settleMs = 20;
/** Lines of the result that a save prints; the report has all. */
const shown = /^(Return|Max drawdown|Sharpe ratio|Round trips|Verdict)/;
/** Klines at which a save looks for look-ahead: a fifth of those of `sluice check`, which takes as many times longer. */
const cuts = 24;
/** Lines of the check that a save prints. */
const checkedLines = /^(look-ahead|warm-up|mistake)/;

/** Works until Ctrl-C. What is wrong with the strategy or the configuration is shown, and watching goes on. */
export async function dev(strategy: string, options: DevOptions): Promise<void> {
  const { config, out, say, signal } = options;
  const file = resolve(strategy);
  if (!existsSync(file)) throw new Refusal(`strategy file ${strategy} does not exist`);
  if (!existsSync(config))
    throw new Refusal(
      `configuration ${config} does not exist: give the one of a backtest that runs it with --config FILE`,
    );
  const report = join('var', 'dev', `${basename(file).replace(/\.[cm]?[jt]s$/, '')}.html`);
  mkdirSync(dirname(report), { recursive: true });
  const page = await serveReport(report, options.port);
  say(`report: ${page.url}   (Ctrl-C ends)`);
  const changes = new Changes(signal);
  try {
    while (!signal.aborted) {
      const from = realMs();
      changes.follow([...filesOf(file), resolve(config)]);
      const faults = await round(options, file, report);
      for (const fault of faults) say(fault);
      page.refresh(faults.join('\n'));
      out(`${faults.length === 0 ? 'done' : 'failed'} in ${((realMs() - from) / 1_000).toFixed(2)} s`);
      await changes.next();
    }
  } finally {
    changes.end();
    await page.close();
  }
}

const testOf = (file: string): string => file.replace(/(\.[cm]?[jt]s)$/, '.test$1');

/** A strategy, what it imports by relative paths, and its test. */
const filesOf = (file: string): readonly string[] =>
  [file, testOf(file)].filter(existsSync).flatMap((one) => withImports(one));

/** One round. Returns what failed, in words. */
async function round(options: DevOptions, file: string, report: string): Promise<readonly string[]> {
  const tested = existsSync(testOf(file)) ? runTest(testOf(file), options.signal) : Promise.resolve([]);
  const faults: string[] = [];
  try {
    faults.push(...(await backtested(options, file, report)));
  } catch (error) {
    faults.push(error instanceof Refusal ? error.message : `this is a bug, please report it: ${causeOf(error)}`);
  }
  return [...(await tested), ...faults];
}

/** A backtest with its report, then the check of each place where the configuration uses the file. */
async function backtested(
  { config: name, out, signal }: DevOptions,
  file: string,
  report: string,
): Promise<readonly string[]> {
  const config = readConfig(name, backtestSchema);
  const dir = dirname(resolve(name));
  if (!config.strategies.some(({ use }) => resolve(dir, use) === file))
    throw new Refusal(`${name} has no strategy with use: ${file}: add it, or name another configuration with --config`);
  const cast = await castOf(name, config, [], {
    registry,
    placeOf: placesIn(name, []),
    klines: new Map(),
    again: true,
  });
  const whole = await prepared(name, config, cast);
  const run = { config: name, set: [], json: false, report, ledger: join('var', 'runs'), signal };
  await runPrepared({ ...run, out: (line) => void (shown.test(line) && out(line)), say: () => {} }, config, whole);
  const faults: string[] = [];
  for (const hosted of whole.input.hosted) {
    if (signal.aborted || resolve(dir, hosted.use) !== file) continue;
    const checked = await checkStrategy(inputFor(whole.input, hosted), cuts);
    for (const line of linesOf(checked, false)) if (checkedLines.test(line)) out(line);
    faults.push(...[faultOf(checked) ?? []].flat());
  }
  return faults;
}

/** The unit tests of a file; returns what their runner printed where one failed. */
async function runTest(file: string, signal: AbortSignal): Promise<readonly string[]> {
  const child: ChildProcess = spawn(process.execPath, [...testArguments([file])], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (said += text.toString()));
  const end = (): void => void child.kill();
  signal.addEventListener('abort', end);
  const [code] = (await once(child, 'close')) as [number | null];
  signal.removeEventListener('abort', end);
  if (code === 0 || signal.aborted) return [];
  return [said.slice(Math.max(0, said.indexOf('✖ failing tests:'))).trim()];
}

/** Changes of files, by the folders that they are in: editors replace files. */
class Changes {
  readonly #signal: AbortSignal;
  readonly #watchers = new Map<string, FSWatcher>();
  #files: ReadonlySet<string> = new Set();
  #content = '';
  #wake = Promise.withResolvers<void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake.resolve());
  }

  /** From now on these; what they hold at this moment is known. */
  follow(files: readonly string[]): void {
    this.#files = new Set(files);
    this.#wake = Promise.withResolvers();
    if (this.#signal.aborted) this.#wake.resolve();
    for (const dir of new Set(files.map((file) => dirname(file))))
      if (!this.#watchers.has(dir))
        this.#watchers.set(
          dir,
          watch(dir, () => this.#wake.resolve()),
        );
    this.#content = this.#read();
  }

  /** Resolves when one of them holds something else. */
  async next(): Promise<void> {
    while (!this.#signal.aborted) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      await systemClock.sleep(settleMs);
      if (this.#read() !== this.#content) return;
    }
  }

  end(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #read(): string {
    return [...this.#files].map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join('\0');
  }
}
