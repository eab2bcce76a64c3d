/** The moments at which a daemon is killed with -9, each brought about by holding an answer of the exchange. */
import type { FaultRuleInput, Simulator } from '../../src/simulator/simulator.ts';
import type { Program } from './program.ts';
import { price, quotes, type Rig, target } from './rig.ts';
import { pass, until } from './until.ts';

export interface Stage {
  readonly rig: Rig;
  readonly exchange: Simulator;
  readonly daemon: Program;
}

export interface Moment {
  readonly name: string;
  /** True when a request of the daemon is under way as it dies. */
  readonly inFlight: boolean;
  /** Brings the daemon there, kills it, and lets go of what was held. */
  kill(stage: Stage): Promise<void>;
}

const createPath = '/sapi/v1/order';
const cancelPath = '/sapi/v1/cancel';
const openOrdersPath = '/sapi/v1/openOrders';
const tradesPath = '/sapi/v1/myTrades';

const create = { method: 'POST', path: createPath } as const;
const cancel = { method: 'POST', path: cancelPath } as const;

/** Takes the other one of two positions: an order must be created. */
export function turnTaker({ rig }: Pick<Stage, 'rig'>): void {
  const before = rig.signalled.get('taker');
  const holds = before?.kind === 'target' && 'quantity' in before.size && before.size.quantity > 0;
  rig.emit('taker', target(holds ? 0 : 0.1));
}

/** Wants its order elsewhere: one is cancelled, then another created. Far from the market, so that it rests. */
export function moveMaker({ rig }: Pick<Stage, 'rig'>): void {
  const before = rig.signalled.get('maker');
  const resting = before?.kind === 'quotes' ? before.quotes[0]?.price : undefined;
  rig.emit('maker', quotes({ side: 'BUY', price: (resting ?? price / 2) + 1, quantity: 0.1 }));
}

/** Arms a hold for the next request, or for all that come. */
function holding(exchange: Simulator, match: FaultRuleInput['match'], when: 'before' | 'after') {
  const name = `${match?.method} ${match?.path} ${when}`;
  const disarm = exchange.addFault({ match, do: { hold: name, when } });
  let isHeld = false;
  void exchange.held(name).then(() => {
    isHeld = true;
  });
  return {
    held: () => until(`a held ${name}`, () => isHeld),
    letGo() {
      disarm();
      exchange.release(name);
    },
  };
}

/** Dies while a request is held that `prompt` makes the daemon send. */
const duringRequest = (
  name: string,
  match: FaultRuleInput['match'],
  when: 'before' | 'after',
  prompt: (stage: Stage) => void,
): Moment => ({
  name,
  inFlight: true,
  async kill(stage) {
    const hold = holding(stage.exchange, { ...match, times: 1 }, when);
    prompt(stage);
    await hold.held();
    await stage.daemon.end('SIGKILL');
    hold.letGo();
  },
});

/** Longer than a look at one symbol takes, real ms. */
const oneLookMs = 60;

/** Answers the next create with a 504 although it took effect. */
const loseNextAnswer = (exchange: Simulator): (() => void) =>
  exchange.addFault({ match: { method: 'POST', path: createPath, times: 1 }, do: { status: 504, when: 'after' } });

const hasUnknown = (rig: Rig): boolean => rig.read((reader) => reader.orders("state = 'unknown'").length > 0);

/** Dies while the look that would find an unknown order is held at one of its requests. */
const duringLook = (name: string, path: string): Moment => ({
  name,
  inFlight: true,
  async kill(stage) {
    const { rig, exchange, daemon } = stage;
    // Looks go on all the time: they are stopped first, so that the order cannot be found before.
    const hold = holding(exchange, { method: 'GET', path }, 'after');
    await hold.held();
    await pass(oneLookMs);
    const found = loseNextAnswer(exchange);
    turnTaker(stage);
    await until('an order of unknown outcome', () => hasUnknown(rig));
    await daemon.end('SIGKILL');
    found();
    hold.letGo();
  },
});

/** Dies while it asks whose the order is that it found in a list. */
const duringAttribution: Moment = {
  name: 'while the order found is asked for',
  inFlight: true,
  async kill(stage) {
    const hold = holding(stage.exchange, { method: 'GET', path: createPath }, 'after');
    const found = loseNextAnswer(stage.exchange);
    turnTaker(stage);
    await hold.held();
    await stage.daemon.end('SIGKILL');
    found();
    hold.letGo();
  },
};

/** Dies so many real ms after the answer that told of a fill has left. */
export const recording = (afterMs: number): Moment => ({
  name: `${afterMs} ms after the answer with a fill`,
  inFlight: false,
  async kill(stage) {
    const { exchange, daemon } = stage;
    const created = holding(exchange, { ...create, times: 1 }, 'after');
    turnTaker(stage);
    await created.held();
    const told = holding(exchange, { method: 'GET', path: tradesPath }, 'after');
    await told.held();
    created.letGo();
    told.letGo();
    if (afterMs > 0) await pass(afterMs);
    await daemon.end('SIGKILL');
  },
});

/** Dies twice: once with a create under way, and again while the next start looks for it. */
const duringRecovery = (path: string): Moment => ({
  name: `during recovery, at ${path.split('/').at(-1)}`,
  inFlight: true,
  async kill(stage) {
    await acceptedCreate.kill(stage);
    const hold = holding(stage.exchange, { method: 'GET', path }, 'before');
    const next = stage.rig.launch();
    await hold.held();
    await next.end('SIGKILL');
    hold.letGo();
  },
});

/** Dies at no special moment, with everything in motion. */
export const anyMoment = (afterMs: number): Moment => ({
  name: `${afterMs} ms after new signals`,
  inFlight: false,
  async kill(stage) {
    turnTaker(stage);
    moveMaker(stage);
    await pass(afterMs);
    await stage.daemon.end('SIGKILL');
  },
});

const acceptedCreate = duringRequest('after a create was accepted', create, 'after', turnTaker);

/** Every named point, in an order in which each leaves the next one something to find. */
export const moments: readonly Moment[] = [
  duringRequest('before a create is processed', create, 'before', turnTaker),
  acceptedCreate,
  duringLook('while an unknown order is looked for in the open orders', openOrdersPath),
  duringLook('while an unknown order is looked for in the own trades', tradesPath),
  duringAttribution,
  duringRequest('before a cancel is processed', cancel, 'before', moveMaker),
  duringRequest('after a cancel took effect', cancel, 'after', moveMaker),
  duringRequest('after a resting order was accepted', create, 'after', moveMaker),
  recording(0),
  recording(20),
  duringRecovery(openOrdersPath),
  duringRecovery(tradesPath),
];
