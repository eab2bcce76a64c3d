/** A daemon's short life on an exchange with quirks: it trades, loses an answer, cancels, is killed with -9 and goes on. */
import { type Profile, type Quirks, quirkPositions, quirksOf } from '../../src/simulator/core/quirks.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { batchLife } from './batch-life.ts';
import { differencesAtRest, quiet } from './books.ts';
import type { Program } from './program.ts';
import { makeRig, openExchange, price, quotes, type Rig, speed, target, trader, whale } from './rig.ts';
import { pass, until } from './until.ts';

export const profiles: readonly Profile[] = ['documented', 'observed'];

/** A profile, and the one quirk that is turned against it; none of them is the profile as it is. */
export interface QuirkCase {
  readonly profile: Profile;
  readonly quirks: Partial<Quirks>;
  /** `trade`, a daemon on spot, when left out. */
  readonly life?: LifeName;
}

/** A daemon on spot, on an account that nobody else uses, and on such a margin account; or batches by the client alone. */
export const lives = ['trade', 'dedicated', 'margin', 'batch'] as const;
export type LifeName = (typeof lives)[number];

export const titleOf = ({ profile, quirks, life: name }: QuirkCase): string =>
  [
    profile,
    ...(name === undefined || name === 'trade' ? [] : [name]),
    ...Object.entries(quirks).map(([name, position]) => `${name}: ${JSON.stringify(position)}`),
  ].join(', ');

/** A run is over before a socket has stalled that long, so it stalls sooner here, ms. */
const stallsSoonMs = 400;

/** Each position of each quirk that is not the profile's own. */
export function quirkCases(profile: Profile): QuirkCase[] {
  const own: Readonly<Record<string, unknown>> = { ...quirksOf(profile) };
  return Object.entries(quirkPositions).flatMap(([name, positions]) =>
    positions
      .filter((position) => position !== own[name])
      .map((position) => ({ profile, quirks: { [name]: name === 'stallAfterMs' ? stallsSoonMs : position } })),
  );
}

/** Long enough for every puppet to have spoken some times, ms. */
const aWhileMs = 500;

const bidAt = (at: number) => quotes({ side: 'BUY', price: at, quantity: 0.1 });

type Life = (rig: Rig, exchange: Simulator, start: () => Promise<Program>) => Promise<readonly string[]>;

/** Answers the next create with a 504 although it took effect. */
const loseAnswer = (exchange: Simulator, path = '/sapi/v1/order') =>
  exchange.addFault({
    match: { method: 'POST', path, times: 1 },
    do: { status: 504, when: 'after' },
  });

const lifeOn =
  (create: string): Life =>
  async (rig, exchange, start) => {
    rig.emit('maker', bidAt(price / 2));
    rig.emit('taker', target(0.1));
    const daemon = await start();
    await quiet(rig, exchange);

    loseAnswer(exchange, create);
    rig.emit('taker', target(0.3));
    await quiet(rig, exchange);
    rig.emit('maker', bidAt(price / 2 + 10));
    await quiet(rig, exchange);
    await daemon.end('SIGKILL');

    rig.emit('taker', target(0));
    rig.emit('maker', bidAt(price / 2 + 20));
    const next = await start();
    const wrong = [...(await differencesAtRest(rig, exchange))];
    const { code } = await next.end('SIGINT');
    if (code !== 130) wrong.push(`the daemon ended with ${code}: ${next.lines.slice(-3).join(' / ')}`);
    await until('its last orders cancelled', () => exchange.openOrders(trader.uid).length === 0);
    const sides = exchange.allTrades(trader.uid).map(({ side }) => side);
    if (!(sides.includes('BUY') && sides.includes('SELL'))) wrong.push(`it traded ${sides.join() || 'nothing'}`);
    return wrong;
  };

/** Where client ids do not come back and others may trade nothing proves whose an order is: it stays in doubt, and no second one is sent. */
const lifeInDoubt: Life = async (rig, exchange, start) => {
  const daemon = await start();
  loseAnswer(exchange);
  rig.emit('taker', target(0.1));
  await daemon.line(/quarantined: order \d+ on the account may be it/);
  const sent = (): number => exchange.allOrders(trader.uid).length;
  const before = sent();
  rig.emit('taker', target(0.3));
  await pass(aWhileMs);
  const wrong = before === 1 && sent() === 1 ? [] : [`${before} orders became ${sent()}`];
  rig.emit('other', target(0.1));
  await until('another symbol to go on', () =>
    exchange.allTrades(trader.uid).some(({ symbol }) => symbol === 'ETHUSDT'),
  );
  await daemon.end('SIGINT');
  return wrong;
};

/** Lives it; what is wrong at the end, in words, and what the daemons said last where something never happened. */
export async function liveWith({ profile, quirks, life = 'trade' }: QuirkCase): Promise<readonly string[]> {
  const rich = { ...trader, margin: { USDT: '1000000' } };
  const exchange = await openExchange({ profile, quirks, users: [rich, whale] });
  const rig = makeRig(exchange);
  // Which part of a path a gateway strips cannot be found out: whoever uses one says it.
  const stripPrefix = quirks.signedPath === 'stripped' ? '/sapi' : undefined;
  const { restUrl, wsUrl } = exchange;
  rig.configure({
    exchange: { restUrl, wsUrl, speed, ...(stripPrefix !== undefined && { stripPrefix }) },
    account: life === 'margin' ? 'margin' : 'spot',
    dedicatedAccount: life !== 'trade',
  });
  const daemons: Program[] = [];
  try {
    const start = async (): Promise<Program> => {
      const daemon = rig.launch();
      daemons.push(daemon);
      await daemon.line(/Z ready: /);
      return daemon;
    };
    if (life === 'batch') return await batchLife(exchange, stripPrefix);
    if (life === 'margin') return await lifeOn('/sapi/v1/margin/order')(rig, exchange, start);
    const isInDoubt = quirks.clientId === 'null' && life === 'trade';
    return await (isInDoubt ? lifeInDoubt : lifeOn('/sapi/v1/order'))(rig, exchange, start);
  } catch (error) {
    const said = daemons.flatMap(({ lines }) => lines.slice(-8));
    return [error instanceof Error ? error.message : String(error), ...said];
  } finally {
    rig.remove();
    await exchange.close();
  }
}
