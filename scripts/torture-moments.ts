/**
 * `npm run torture -- --kind moments`: kills a trading daemon with -9 at every named moment, each brought about by holding an
 * answer, while the exchange loses some of its answers, and compares the books after each start.
 */
import { type Rng, realMs, seededRng } from '../src/clock/clock.ts';
import type { FaultRuleInput, Simulator } from '../src/simulator/simulator.ts';
import { textTable } from '../src/terminal/table.ts';
import { differencesAtRest, quiet } from '../test/kit/books.ts';
import { anyMoment, type Moment, moments, moveMaker, recording, type Stage, turnTaker } from '../test/kit/moments.ts';
import type { Program } from '../test/kit/program.ts';
import { makeRig, openExchange, type Rig, target, trader } from '../test/kit/rig.ts';

/** What a run must have seen to count. */
const minFills = 50;
const minUnknowns = 5;
const minInFlight = 10;
/** Positions taken between two kills. */
const turnsBetween = 3;

/** Answers lost after the request took effect, and requests that were carried out before their connection broke. */
const faults: readonly FaultRuleInput[] = [
  { match: { method: 'POST', path: '/sapi/v1/order', probability: 0.12 }, do: { status: 504, when: 'after' } },
  { match: { method: 'POST', path: '/sapi/v1/order', probability: 0.06 }, do: { drop: 'after' } },
  { match: { method: 'POST', path: '/sapi/v1/cancel', probability: 0.1 }, do: { drop: 'after' } },
  { match: { method: 'GET', path: '/sapi/v1/myTrades', probability: 0.03 }, do: { truncate: true } },
  { match: { method: 'GET', path: '/sapi/v1/openOrders', probability: 0.03 }, do: { status: 503, when: 'before' } },
];

/** Every named moment in turn, and in each third round one that nobody chose. */
function momentOf(index: number, rng: Rng): Moment {
  if (index % 4 === 3) return anyMoment(Math.floor(rng() * 60));
  const turn = index - Math.floor(index / 4);
  const round = Math.floor(turn / moments.length);
  const named = moments[turn % moments.length];
  if (named === undefined) throw new Error('there is no moment');
  return named.inFlight || round === 0 ? named : recording(Math.floor(rng() * 80));
}

async function tradeALittle(rig: Rig, exchange: Simulator): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn++) {
    turnTaker({ rig });
    moveMaker({ rig });
    rig.emit('other', target(turn % 2 === 0 ? 0.2 : 0));
    await quiet(rig, exchange, 60_000);
  }
}

const unknownsOf = (rig: Rig): number =>
  rig.read(
    (reader) =>
      reader
        .orders()
        .filter(({ clientOrderId }) => reader.events(clientOrderId).some(({ event }) => event === 'unknown')).length,
  );

interface Row {
  readonly moment: Moment;
  readonly readyMs: number;
  readonly fills: number;
  readonly orders: number;
  readonly unknowns: number;
  readonly differences: readonly string[];
}

async function killOnce(stage: Stage, moment: Moment): Promise<Row & { readonly daemon: Program }> {
  const { rig, exchange } = stage;
  const lose = (): (() => void)[] => faults.map((rule) => exchange.addFault(rule));
  const losing = lose();
  await tradeALittle(rig, exchange);
  // The moment needs the request that it holds: luck must not answer it otherwise.
  for (const stop of losing) stop();
  await moment.kill(stage);
  const losingAgain = lose();
  const startedAt = realMs();
  const daemon = await rig.start();
  const readyMs = Math.round(realMs() - startedAt);
  const differences = await differencesAtRest(rig, exchange);
  for (const stop of losingAgain) stop();
  const fills = exchange.allTrades(trader.uid).length;
  const orders = exchange.allOrders(trader.uid).length;
  return { daemon, moment, readyMs, fills, orders, unknowns: unknownsOf(rig), differences };
}

function report(rows: readonly Row[]): void {
  const head = ['kill', 'moment', 'in flight', 'ready after ms', 'orders', 'fills', 'unknown so far', 'differences'];
  const cells = rows.map((row, index) =>
    [
      index + 1,
      row.moment.name,
      row.moment.inFlight ? 'yes' : '',
      row.readyMs,
      row.orders,
      row.fills,
      row.unknowns,
      row.differences.length,
    ].map(String),
  );
  process.stdout.write(`${textTable(head, cells)}\n`);
  for (const line of rows.flatMap(({ differences }) => differences)) process.stdout.write(`${line}\n`);
}

/** What the run lacks to count as one, and what went wrong in it. */
function faultsOf(rows: readonly Row[]): readonly string[] {
  const last = rows.at(-1);
  const inFlight = rows.filter(({ moment }) => moment.inFlight).length;
  const differing = rows.filter(({ differences }) => differences.length > 0).length;
  return [
    ...(differing > 0 ? [`the ledgers differed after ${differing} kills`] : []),
    ...((last?.fills ?? 0) < minFills ? [`fewer than ${minFills} fills`] : []),
    ...((last?.unknowns ?? 0) < minUnknowns ? [`fewer than ${minUnknowns} unknown outcomes`] : []),
    ...(inFlight < minInFlight ? [`fewer than ${minInFlight} kills with a request in flight`] : []),
  ];
}

/** So many kills; true when the run counts and the books were equal after each. */
export async function tortureMoments(kills: number, seed: number): Promise<boolean> {
  const rng = seededRng(seed);
  const exchange = await openExchange({ seed });
  const rig = makeRig(exchange);
  const rows: Row[] = [];
  try {
    let daemon = await rig.start();
    for (let index = 0; index < kills; index++) {
      const { daemon: next, ...row } = await killOnce({ rig, exchange, daemon }, momentOf(index, rng));
      daemon = next;
      rows.push(row);
      process.stderr.write(
        `kill ${index + 1} of ${kills}: ${row.moment.name}, ${row.differences.length} differences\n`,
      );
    }
    await daemon.end('SIGINT');
  } finally {
    report(rows);
    rig.remove();
    await exchange.close();
  }
  const faulty = faultsOf(rows);
  const last = rows.at(-1);
  const inFlight = rows.filter(({ moment }) => moment.inFlight).length;
  const seen = `${rows.length} kills, ${inFlight} with a request in flight, ${last?.fills ?? 0} fills, ${last?.unknowns ?? 0} unknown outcomes`;
  process.stdout.write(
    faulty.length === 0
      ? `PASSED: ${seen}; after each start the journal had the exchange's own list, none missing, none twice\n`
      : `FAILED: ${seen}; ${faulty.join('; ')}\n`,
  );
  return faulty.length === 0;
}
