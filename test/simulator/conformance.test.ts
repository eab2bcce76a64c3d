/** The built-in exchange, as a process of its own, goes through the specification on both profiles. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimClock } from '../../src/clock/sim-clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Profile } from '../conformance/answers.ts';
import type { Check } from '../conformance/check.ts';
import { checks } from '../conformance/checks.ts';
import { send } from '../conformance/http.ts';
import { operations } from '../conformance/operations.ts';
import { openSession, type Session } from '../conformance/session.ts';
import { type Apart, openApart } from '../kit/apart.ts';
import { busy, everyKey, quiet, withdrawal } from '../kit/apart-world.ts';
import { suite } from '../kit/conformance.ts';

const profiles = ['documented', 'observed'] as const;
/** Addresses of this machine; only Linux has them all. */
const addresses = Array.from({ length: 60 }, (_, index) => `127.0.0.${index + 10}`);
const breaksLimits = (check: Check): boolean => check.needs?.includes('limits') === true;
const title = ({ section, observed, says }: Check): string =>
  `§${section}${observed === undefined ? '' : ` [${observed}]`} ${says}`;

interface Stage {
  readonly exchange: Apart;
  readonly at: Session;
  /** What the checks that wait for seconds came to: they do so beside the others. */
  readonly waited: ReadonlyMap<Check, Promise<unknown>>;
}
const stages = new Map<Profile, Stage>();

const outcome = (work: Promise<void>): Promise<unknown> => work.catch((error: unknown) => ({ error }));

async function open(profile: Profile): Promise<Stage> {
  const exchange = await openApart({ profile });
  const { restUrl: url, wsUrl } = exchange;
  const at = await openSession({
    url,
    wsUrl,
    profile,
    symbol: busy,
    quiet,
    keys: everyKey,
    withdrawal,
    spend: 50,
    addresses,
  });
  const waiting = checks.filter(({ slow }) => slow);
  return { exchange, at, waited: new Map(waiting.map((check) => [check, outcome(check.run(at))])) };
}

beforeAll(async () => {
  await Promise.all(profiles.map(async (profile) => stages.set(profile, await open(profile))));
});
afterAll(async () => {
  for (const { exchange } of stages.values()) await exchange.close();
});

describe.for(profiles)('the exchange with the %s profile', (profile) => {
  const stage = (): Stage => {
    const found = stages.get(profile);
    if (found === undefined) throw new Error('there is no exchange');
    return found;
  };
  for (const check of checks.filter((one) => !breaksLimits(one)))
    test(title(check), async () => {
      const { at, waited } = stage();
      const result = waited.get(check);
      if (result === undefined) await check.run(at);
      else expect(await result).toBeUndefined();
    });

  describe.runIf(process.platform === 'linux')('and its limits', () => {
    for (const check of checks.filter(breaksLimits)) test(title(check), () => check.run(stage().at));
  });

  test('reads only where the suite is given nothing but its addresses', async () => {
    const { restUrl, wsUrl } = stage().exchange;
    const where = ['--url', restUrl, '--ws', wsUrl, '--symbol', busy];
    const { code, out } = await suite([...where, '--profile', profile, '--section', '4']);
    expect(out.split('\n').filter((line) => line.startsWith('FAIL') || line.startsWith('note'))).toEqual([]);
    expect(out).toMatch(/; 12 of 37 operations were asked for\n$/);
    expect(code).toBe(0);
    // Held against the other profile it differs, and the suite says so.
    const wrong = profiles.find((one) => one !== profile) ?? profile;
    const other = await suite([...where, '--profile', wrong, '--section', '7']);
    expect(other.out).toMatch(/^FAIL {2}§7 .* a refused request has HTTP (200|400): /m);
    expect(other.code).toBe(1);
  });

  test('was asked for every operation that the specification names', () => {
    expect(operations.map(({ name }) => name).filter((name) => !stage().at.done.has(name))).toEqual([]);
  });
});

test('the suite signs what is left of a path where a gateway strips its beginning', async () => {
  const exchange = await openApart({ quirks: { signedPath: 'stripped' } });
  try {
    const { main } = everyKey;
    const given = ['--url', exchange.restUrl, '--symbol', busy, '--section', '5.2', '--json'];
    const signed = async (...more: string[]) => {
      const { out } = await suite([...given, '--key', main.key, '--secret', main.secret, ...more]);
      return out.split('\n').filter((line) => line.includes('"failed"')).length;
    };
    expect(await signed('--strip-prefix', '/sapi')).toBe(0);
    expect(await signed()).toBeGreaterThan(0);
  } finally {
    await exchange.close();
  }
});

test('what the suite leaves out names the option that it needs, and the key may come from the same variables as of sluice', async () => {
  const exchange = await openApart({});
  try {
    const given = ['--url', exchange.restUrl, '--symbol', busy, '--section'];
    const { key: SLUICE_API_KEY, secret: SLUICE_API_SECRET } = everyKey.main;
    const own = { SLUICE_API_KEY, SLUICE_API_SECRET };
    // A pair is taken whole: half of another one does not mix in.
    const [bare, deaf, received, signed, mixed] = await Promise.all([
      suite([...given, '5.3']),
      suite([...given, '6.3']),
      suite([...given, '6.3', '--ws-url', exchange.wsUrl]),
      suite([...given, '5.3'], own),
      suite([...given, '5.3'], { ...own, CONFORMANCE_KEY: 'half' }),
    ]);
    expect(bare.out).toMatch(/^skip {2}§5\.3 .*: needs a key \(--key and --secret\)$/m);
    expect(deaf.out).toMatch(/^skip {2}§6\.3 .*: needs the feed \(--ws\)$/m);
    expect(received.out).not.toContain('needs the feed');
    expect(signed.out).not.toContain('needs a key (');
    expect(mixed.out).toBe(signed.out);
  } finally {
    await exchange.close();
  }
});

test('the exchange accepts the published vector, at its time and with its secret', async () => {
  const sample = '902ae3cb34ecee2779aa4d3e1d226686';
  const exchange = await startSimulator({
    users: [{ uid: '1', key: 'published', secret: sample, balances: {} }],
    instruments: [{ symbol: busy, base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 }],
    clock: new SimClock(1_588_591_856_950),
  });
  try {
    const sending = (sign: string) => ({
      method: 'POST',
      target: '/sapi/v1/order/test',
      body: '{"symbol":"BTCUSDT","price":"9300","volume":"1","side":"BUY","type":"LIMIT"}',
      headers: { 'X-CH-APIKEY': 'published', 'X-CH-TS': '1588591856950', 'X-CH-SIGN': sign },
    });
    const published = 'c50d0a74bb9427a9a03933d0eded03af9bf50115dc5b706882a4fcf07a26b761';
    expect(await send(exchange.restUrl, sending(published))).toMatchObject({ status: 200, text: '{}' });
    expect(await send(exchange.restUrl, sending(published.toUpperCase()))).toMatchObject({ status: 200 });
    expect(await send(exchange.restUrl, sending(published.replace('c', 'd')))).toMatchObject({
      value: { code: -1022 },
    });
  } finally {
    await exchange.close();
  }
});
