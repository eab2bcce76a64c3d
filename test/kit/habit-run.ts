/** A daemon's short life on an exchange with habits: it trades, loses an answer, cancels, is killed with -9 and goes on. */
import { type Habits, habitPositions, habitsOf, type Profile } from '../../src/simulator/core/habits.ts';
import { differencesAtRest, quiet } from './books.ts';
import { makeRig, openExchange, price, quotes, target, trader } from './rig.ts';
import { until } from './until.ts';

export const profiles: readonly Profile[] = ['documented', 'observed'];

/** A profile, and the one habit that is turned against it; none of them is the profile as it is. */
export interface HabitCase {
  readonly profile: Profile;
  readonly habits: Partial<Habits>;
}
export const titleOf = ({ profile, habits }: HabitCase): string =>
  [profile, ...Object.entries(habits).map(([name, position]) => `${name}: ${JSON.stringify(position)}`)].join(', ');

/** A run is over before a socket has stalled that long, so it stalls sooner here, ms. */
const stallsSoonMs = 1_500;

/** Each position of each habit that is not the profile's own. */
export function habitCases(profile: Profile): HabitCase[] {
  const own: Readonly<Record<string, unknown>> = { ...habitsOf(profile) };
  return Object.entries(habitPositions).flatMap(([name, positions]) =>
    positions
      .filter((position) => position !== own[name])
      .map((position) => ({ profile, habits: { [name]: name === 'stallAfterMs' ? stallsSoonMs : position } })),
  );
}

const bidAt = (at: number) => quotes({ side: 'BUY', price: at, quantity: 0.1 });

/** Lives it; what is wrong at the end, in words, or throws where something never happened. */
export async function liveWith({ profile, habits }: HabitCase): Promise<readonly string[]> {
  const exchange = await openExchange({ profile, habits });
  const rig = makeRig(exchange);
  try {
    rig.wish('maker', bidAt(price / 2));
    rig.wish('taker', target(0.1));
    const daemon = await rig.start();
    await quiet(rig, exchange);

    const lost = { method: 'POST', path: '/sapi/v1/order', times: 1 } as const;
    exchange.addFault({ match: lost, do: { status: 504, when: 'after' } });
    rig.wish('taker', target(0.3));
    await quiet(rig, exchange);
    rig.wish('maker', bidAt(price / 2 + 10));
    await quiet(rig, exchange);
    await daemon.end('SIGKILL');

    rig.wish('taker', target(0));
    rig.wish('maker', bidAt(price / 2 + 20));
    const next = await rig.start();
    const wrong = [...(await differencesAtRest(rig, exchange))];
    const { code } = await next.end('SIGINT');
    if (code !== 130) wrong.push(`the daemon ended with ${code}: ${next.lines.slice(-3).join(' / ')}`);
    await until('its last orders cancelled', () => exchange.openOrders(trader.uid).length === 0);
    const sides = exchange.allTrades(trader.uid).map(({ side }) => side);
    if (!(sides.includes('BUY') && sides.includes('SELL'))) wrong.push(`it traded ${sides.join() || 'nothing'}`);
    return wrong;
  } finally {
    rig.remove();
    await exchange.close();
  }
}
