/** A second daemon on the same directory: it is turned away with one line, and the first one does not notice. */
import { pass, until } from '../kit/until.ts';
import { type Arena, patienceMs, usualFaults } from './arena.ts';
import type { Done, Kind } from './kind.ts';

/** One is started while another trades; or two at once on what a killed one left, of which one is turned away. */
async function doubled(arena: Arena): Promise<Done> {
  const { exchange, rng, daemon: first } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(rng() * 200);
  const atOnce = rng() < 0.5;
  if (atOnce) await first.end('SIGKILL');
  const rivals = [...(atOnce ? [arena.launch()] : [first]), arena.launch()];
  const away = await until('one of two daemons to be turned away', () => rivals.find(({ runs }) => !runs), patienceMs);
  const { code } = await away.exited;
  const left = rivals.find((one) => one !== away) ?? first;
  arena.adopt(left);
  await left.line(/Z ready: /, patienceMs);
  return {
    count: 1,
    facts: { 'two started at once': atOnce ? 1 : 0 },
    faults: [
      ...(code === 3 ? [] : [`the second daemon ended with ${code}, not with 3`]),
      ...(away.lines.length === 1 && /in use by a running daemon/.test(away.lines[0] ?? '')
        ? []
        : [`the second daemon said ${away.lines.join(' | ')}`]),
      ...(left.runs ? [] : ['the first daemon ended too']),
    ],
  };
}

export const two: Kind = { name: 'two', counts: 'second daemons', wanted: 100, comparisons: 15, ordeal: doubled };
