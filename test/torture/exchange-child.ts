/** The built-in exchange as a process of its own whose ledger is the truth; gone when its parent is. */
import type { LogEntry, Simulator, SimulatorOptions } from '../../src/simulator/simulator.ts';
import { openExchange, price, symbols, trader } from '../kit/rig.ts';
import type { Arrival, Ask, Counts, Opened, Question, Reply, Terms, Truth } from './exchange-words.ts';

const createPaths = /^\/sapi\/v1\/(order|batchOrders)$/;
const cancelPaths = /^\/sapi\/v1\/(cancel|batchCancel)$/;
const clientId = /"newClientOrderId"\s*:\s*"([^"]*)"/;

const arrivals: Arrival[] = [];
let requests = 0;

function note(entry: LogEntry): void {
  if (entry.kind !== 'request') return;
  requests++;
  const [path = ''] = entry.target.split('?');
  const what = createPaths.test(path) ? 'create' : cancelPaths.test(path) ? 'cancel' : undefined;
  if (what === undefined || entry.method !== 'POST') return;
  const { at, ageMs, status, code } = entry;
  arrivals.push({ what, at, ageMs, status, code, clientOrderId: clientId.exec(entry.body)?.[1] ?? '' });
}

function marketsOf({ takersPerSecond }: Terms): Pick<SimulatorOptions, 'markets'> {
  if (takersPerSecond === undefined) return {};
  return {
    markets: symbols.map((symbol) => ({ kind: 'synthetic', symbol, price: String(price), takersPerSecond })),
  };
}

let exchange: Simulator | undefined;

function unsoundness(simulator: Simulator): string | undefined {
  try {
    simulator.checkLedger();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const acts: { [A in Ask['ask']]: (ask: Extract<Ask, { ask: A }>, simulator: Simulator) => unknown } = {
  open: ({ terms }) => terms,
  truth: (_, simulator) =>
    ({
      orders: simulator.allOrders(trader.uid),
      fills: simulator.allTrades(trader.uid),
      balances: simulator.balances(trader.uid),
      unsound: unsoundness(simulator),
    }) satisfies Truth,
  arrivals: ({ after }) => arrivals.slice(after),
  counts: (_, simulator) =>
    ({
      now: simulator.clock.now(),
      arrivals: arrivals.length,
      fills: simulator.allTrades(trader.uid).length,
      open: simulator.openOrders(trader.uid).length,
      requests,
    }) satisfies Counts,
  faults({ rules }, simulator) {
    simulator.removeFaults();
    for (const rule of rules) simulator.addFault(rule);
  },
  happen: ({ event }, simulator) => simulator.happen(event),
  advance: ({ ms }, simulator) => simulator.advance(ms),
};

async function opened(terms: Terms): Promise<Opened> {
  const { takersPerSecond: _, ...options } = terms;
  exchange = await openExchange({ ...options, ...marketsOf(terms), log: note });
  return { restUrl: exchange.restUrl, wsUrl: exchange.wsUrl };
}

async function answer({ id, ask }: Question): Promise<Reply> {
  try {
    if (ask.ask === 'open') return { id, value: await opened(ask.terms) };
    if (exchange === undefined) return { id, error: 'the exchange is not open' };
    const act = acts[ask.ask] as (ask: Ask, simulator: Simulator) => unknown;
    return { id, value: act(ask, exchange) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

process.on('message', (question: Question) => void answer(question).then((reply) => process.send?.(reply)));
process.on('disconnect', () => process.exit());
