// What both programs start by: plain JavaScript that any Node understands. Where that is too old, it hands over to the Node 24 that `npm ci` brought into the clone, before anything native loads.
import { closeSync, existsSync, constants as fileFlags, openSync, readFileSync, readlinkSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const needed = 24;
/** As in `src/process/signals.ts`, for this Node may not read that. */
const usr1Text =
  'SIGUSR1 does nothing here: the signal that kills a daemon, so that it creates no order any more, is SIGUSR2';
const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** As in `src/process/signals.ts`: a daemon without a terminal reloads its configuration. */
const reloadsOnHangUp = (() => {
  if (process.platform === 'win32' || !['live', 'paper'].includes(process.argv[2])) return false;
  try {
    closeSync(openSync('/dev/tty', fileFlags.O_RDONLY | fileFlags.O_NOCTTY));
    return false;
  } catch {
    return true;
  }
})();

/** Runs a program of `src/` (`dist/src/` in the package). `daemon`: it runs for days, and its memory must stay small. */
export async function launch(name, program, daemon = false) {
  // By default Node opens a debugger, to every user of the machine, in a program that holds keys. (`--disable-sigusr1` would leave the slip unanswered.)
  if (process.platform !== 'win32') process.on('SIGUSR1', () => process.stderr.write(`${name}: ${usr1Text}\n`));
  // Compiled code is kept in the user's own cache: commands start in two thirds of the time.
  process.env.NODE_COMPILE_CACHE ??= join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice');
  const source = join(root, 'src', `${program}.ts`);
  const main = existsSync(source) ? source : join(root, 'dist', 'src', `${program}.js`);
  const major = Number(process.versions.node.split('.')[0]);
  if (!existsSync(main)) {
    fail(name, `${main} is missing: install sluice again`);
  } else if (major >= needed && !daemon) {
    module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
    await import(pathToFileURL(main).href);
  } else {
    const node = major >= needed ? process.execPath : pinnedNode();
    if (node === undefined) {
      fail(
        name,
        `needs Node ${needed} or newer, and this is Node ${process.versions.node}: install Node ${needed} (in a clone, npm ci brings it)`,
      );
    } else await handOver(name, node, main, daemon);
  }
}

/** As in `src/process/signals.ts`: the terminal's end is none of ours then. */
const underNohup = (() => {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1] ?? '';
    return readlinkSync('/proc/self/fd/0') === '/dev/null' && (Number.parseInt(flags, 8) & 3) === 1;
  } catch {
    return false;
  }
})();

/** The clone's Node for this machine (`scripts/node/package.json`), if there is one. The package brings none. */
function pinnedNode() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  try {
    const dir = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const file = join(dir, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Runs the program under that Node. The channel tells it when we are gone, so that kill -9 here leaves nothing running there. */
async function handOver(name, node, main, daemon) {
  const { spawn } = await import('node:child_process');
  // A daemon makes little that lives: with V8's default young generation it would still grow to twice its size, and threads that
  // each keep an arena of memory would hold on to what inflated frames once needed. Larger blocks go back to the system when they are freed: 10 MB less
  // after an hour.
  const flags = daemon ? ['--max-semi-space-size=1', '--optimize-for-size'] : [];
  const environment = daemon
    ? { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' }
    : {};
  const child = spawn(node, [...flags, main, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...environment, ...process.env, SLUICE_LAUNCHED: '1' },
  });
  // A terminal sends Ctrl-C to the child as well, which says so; from anywhere else it reaches us alone and is ours to pass on.
  let heard = 0;
  child.on('message', () => heard++);
  process.on('SIGINT', () => {
    const before = heard;
    setTimeout(() => heard === before && child.kill('SIGINT'), 300).unref();
  });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => !underNohup && child.kill('SIGHUP'));
  const forced = insisting(child, () => heard > 0);
  if (process.platform !== 'win32') process.on('SIGUSR2', () => child.kill('SIGUSR2'));
  child.on('error', (error) => fail(name, `cannot start ${node}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (forced()) process.stderr.write(`${name}: it did not answer, and was ended at once\n`);
    process.exitCode = code ?? (forced() ? 130 : 128 + constants.signals[signal]);
    process.disconnect?.();
  });
}

/** systemd, `timeout` and a closing terminal signal more than once within moments: the same wish (`src/process/signals.ts`). */
const sameWishMs = 2_000;
/** So do npm and `timeout` with Ctrl-C, within milliseconds of the terminal; a finger takes longer to press it again. */
const samePressMs = 300;
/** A program that hears says so at once, and may then take as long as it needs to stop in order; one that does not hangs. */
const unheardMs = 5_000;
/** The second wish ends it at once, by itself where it can. */
const lastMs = 1_000;

/** Ends a program that hears no signal, or goes on after the second one, as nothing within it can. Tells whether it did. */
function insisting(child, isHeard) {
  let firstAt;
  let forced = false;
  const endIn = (ms, unless) =>
    setTimeout(() => {
      if (unless() || child.exitCode !== null || child.signalCode !== null) return;
      forced = true;
      child.kill('SIGKILL');
    }, ms).unref();
  for (const signal of underNohup || reloadsOnHangUp ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const now = performance.now();
      if (firstAt === undefined) {
        firstAt = now;
        endIn(unheardMs, isHeard);
      } else if (now - firstAt >= (signal === 'SIGINT' ? samePressMs : sameWishMs)) endIn(lastMs, () => false);
    });
  }
  return () => forced;
}

function fail(name, message) {
  process.stderr.write(`${name}: ${message}\n`);
  process.exitCode = 2;
}
