/**
 * What the protocol adds to an order's way: from the decision to the order's first byte at the exchange, with everything between
 * them (its weight taken in the file that all processes share, its rows committed FULL by the writer's thread with their chain,
 * every rule asked again at the last hop) and without (the same request, signed and sent at once); against the one FULL commit
 * of as many bytes by a bare thread that journal-before-send cannot do without. In turn in one run, each after a pause. Both
 * ends of every way are taken by the same steady clock of the machine.
 *
 *     node bench/order-cost.ts [ORDERS]     300
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { budget } from '../src/budget/budget.ts';
import { sharedFile } from '../src/budget/shared-file.ts';
import { ScaledClock, systemRng } from '../src/clock/clock.ts';
import { type Instrument, instrument } from '../src/domain/instrument.ts';
import { lots, noRate, ticks, units } from '../src/domain/money.ts';
import { type Journal, journal } from '../src/journal/journal.ts';
import { emptyLoaded } from '../src/journal/load.ts';
import { memoryJournal } from '../src/journal/memory.ts';
import { openState } from '../src/journal/open.ts';
import { workerHost } from '../src/journal/writer-hosts.ts';
import type { OrderDraft } from '../src/portfolio/plan.ts';
import { noLog } from '../src/session/log/log.ts';
import { type Assembled, assemble } from '../src/trading/assemble.ts';
import { exchange as connect } from '../src/venue/exchange/exchange.ts';
import type { OrderEntry } from '../src/venue/venue.ts';
import { wide } from '../test/kit/builders.ts';
import { lifeOf } from './recovery/past.ts';

const orders = Number(process.argv[2] ?? 300);
const warmUp = 30;
const pauseMs = 30;
const dir = mkdtempSync(join(tmpdir(), 'sluice-order-cost-'));
const now = (): number => Number(process.hrtime.bigint());
const answer = <T>(worker: Worker, message?: unknown): Promise<T> =>
  new Promise((resolve) => {
    worker.once('message', resolve);
    if (message !== undefined) worker.postMessage(message);
  });
const median = (values: readonly number[]): number =>
  ([...values].sort((a, b) => a - b)[values.length >> 1] as number) / 1e6;

const clock = new ScaledClock();
const at: Instrument = instrument({
  symbol: 'BTCUSDT',
  base: 'BTC',
  quote: 'USDT',
  pricePrecision: 2,
  quantityPrecision: 5,
});
const server = new Worker(new URL('./latency/exchange.ts', import.meta.url));
const port = await answer<number>(server);
const binding = { mode: 'live', account: 'spot', venue: 'bench' } as const;
const guard = { dir: join(dir, 'heads'), host: 'bench', accept: undefined };
const state = openState(join(dir, 'state'), binding, ['s'], guard);

function fatal(error: Error): never {
  throw error;
}

/** What sends orders, and takes their weight by `spend`. */
function entry(spend: Parameters<typeof connect>[0]['spend']) {
  return connect({
    restUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}/`,
    ...{ apiKey: 'key', apiSecret: 'secret', account: 'spot' },
    ...{ clock, rng: systemRng, spend, notice: () => {}, log: noLog() },
  });
}

const deskOf = (book: Journal, port: OrderEntry): Assembled => {
  const assembled = assemble({
    clock,
    journal: book,
    identity: state.identity,
    loaded: emptyLoaded,
    orders: port,
    account: 'spot',
    instruments: new Map([[at.symbol, at]]),
    allocations: [{ strategy: 's', symbol: at.symbol, amount: units('1000000') }],
    limits: wide,
    timing: { pollMs: 1e6, sweepMs: 1e6, absentAfterMs: 6_000, sweepGapMs: 1e6 },
    maxSendDelayMs: 60_000,
    marketBuyIn: 'amount',
    feeInBase: noRate,
    notice: ({ text }) => console.error(text),
  });
  assembled.portfolio.mark(at.symbol, 67_000, clock.now());
  return assembled;
};

/** Neither weight nor journal nor last hop: the request as it is. */
const ungated = (port: OrderEntry): OrderEntry => ({
  ...port,
  isRoom: () => false,
  admit: () => Promise.resolve(true),
  prepare(intent, instrument) {
    const prepared = port.prepare(intent, instrument);
    return { ...prepared, send: () => prepared.send(Promise.resolve(undefined)) };
  },
});

const warn = (): void => {};
const shared = sharedFile({ path: join(dir, 'limits.db'), address: `127.0.0.1:${port}`, clock, warn });
const limits = budget({ clock, shared, user: 'bench', ipWeightPerMinute: 1e9, uidWeightPerMinute: 1e9 });
const written = journal(workerHost(state.path, state.identity.epoch, fatal, state.remember), clock);
const [whole, plain] = [entry(limits.spend), entry(() => Promise.resolve(true))];
const desks = {
  whole: deskOf(written, whole.orders),
  plain: deskOf(
    memoryJournal(() => false),
    ungated(plain.orders),
  ),
};
const bareThread = new Worker(new URL('./journal/bare.ts', import.meta.url), { workerData: join(dir, 'bare.db') });
const draft: OrderDraft = {
  ...{
    decision: 1,
    strategy: 's',
    role: 'main',
    account: 'spot',
    symbol: at.symbol,
    side: 'BUY',
    type: 'LIMIT',
    purpose: 'quote',
  },
  ...{ volume: { lots: lots('0.00123', at) }, expectedLots: lots('0.00123', at), price: ticks('60000', at) },
  reason: '3 orders a side, 0.10 % from line to line',
};

/** ns from the decision to the first byte. */
async function way({ trader: desk }: Assembled): Promise<number> {
  await answer(server, 'arm');
  const arrives = answer<number>(server);
  await clock.sleep(pauseMs);
  const decidedAt = now();
  const done = desk.execute(desk.reserve(draft));
  // One that does not leave would be waited for without end; the answer may be read before the word of the arrival is.
  const arrived = await Promise.race([arrives, done.then(() => clock.sleep(1_000))]);
  if (arrived === undefined) throw new Error('an order came to nothing before it left');
  await done;
  return arrived - decidedAt;
}

async function bareCommit(index: number): Promise<number> {
  const order = { clientOrderId: `s${index}`, orderId: String(index), side: 'BUY' } as const;
  const rows = lifeOf(order, index, index, true)
    .filter((row) => row.kind === 'order' || (row.kind === 'event' && row.event !== 'accepted'))
    .map((row, place) => [`s${index} ${place}`, JSON.stringify(row)] as const);
  await clock.sleep(pauseMs);
  const startedAt = now();
  await answer(bareThread, rows);
  return now() - startedAt;
}

const times = { whole: [] as number[], plain: [] as number[], commit: [] as number[] };
for (let index = 0; index < orders + warmUp; index++) {
  const taken = { whole: await way(desks.whole), plain: await way(desks.plain), commit: await bareCommit(index) };
  if (index < warmUp) continue;
  for (const what of ['whole', 'plain', 'commit'] as const) times[what].push(taken[what]);
}

whole.close();
plain.close();
limits.close();
await written.close();
state.lock.release();
await Promise.all([server.terminate(), bareThread.terminate()]);
rmSync(dir, { recursive: true, force: true });

const [with_, without, commit] = [median(times.whole), median(times.plain), median(times.commit)];
console.log(
  `${orders} orders; median ms from decision to first byte: ${with_.toFixed(3)} with the protocol, ${without.toFixed(3)} without, that is ${(with_ - without).toFixed(3)} more; one FULL commit by a bare thread ${commit.toFixed(3)}`,
);
console.log(`beside that commit ${(with_ - without - commit).toFixed(3)} ms (asked: at most 0.2)`);
