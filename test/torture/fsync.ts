/** The disk fails to sync: the process ends every time, with one line, and nothing leaves that was not written down. */
import { pass, until } from '../kit/until.ts';
import { type Arena, usualFaults } from './arena.ts';
import type { Done, Kind } from './kind.ts';
import { lieIn, whyNoShim } from './shim.ts';

/** Real ms within which a daemon that trades commits something and must have ended. */
const endsWithinMs = 60_000;

/** Rows of the status: `fill       2024-01-10T…`. */
const isStatus = (line: string): boolean => /^\S+Z [a-z]+ {2,}/.test(line);

async function failed(arena: Arena): Promise<Done> {
  const { lie } = lieIn(arena);
  const { daemon, exchange, rng } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(20 + rng() * 400);
  const saidBefore = daemon.lines.length;
  lie({ failing: true });
  await until('the end of a daemon whose disk fails', () => !daemon.runs, endsWithinMs);
  const { code } = await daemon.exited;
  lie({});
  const said = daemon.lines.slice(saidBefore).filter((line) => !isStatus(line));
  await arena.start();
  return {
    count: 1,
    faults: [
      ...(code === 1 ? [] : [`it ended with ${code}, not with 1`]),
      ...(said.length === 1 ? [] : [`it said ${said.length} lines: ${said.join(' | ')}`]),
    ],
  };
}

/** Syncs fail already as it starts. */
async function failedAtStart(arena: Arena): Promise<Done> {
  const { lie } = lieIn(arena);
  await arena.daemon.end('SIGKILL');
  lie({ failing: true });
  const daemon = arena.launch();
  await until('the end of a daemon whose disk fails', () => !daemon.runs, endsWithinMs);
  const { code } = await daemon.exited;
  lie({});
  await arena.start();
  return {
    count: 1,
    facts: { 'at the start': 1 },
    faults: [
      ...(code === 1 || code === 3 ? [] : [`it ended with ${code} at its start`]),
      ...(daemon.lines.length === 1
        ? []
        : [`it said ${daemon.lines.length} lines at its start: ${daemon.lines.join(' | ')}`]),
    ],
  };
}

export const fsync: Kind = {
  name: 'fsync',
  counts: 'failing disks',
  wanted: 100,
  comparisons: 20,
  impossible: whyNoShim,
  prepare: async (arena) => void lieIn(arena),
  ordeal: (arena) => (arena.rng() < 0.2 ? failedAtStart(arena) : failed(arena)),
};
