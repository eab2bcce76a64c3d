/** `sluice reload` of strategies of several markets while positions are open: new code takes them over, or the old code goes on. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

const write = (text: string): void => writeFileSync(join(rig.dir, 'mine.ts'), text);
const configure = (markets: object): string =>
  rig.configure({ strategies: [{ id: 'mine', use: './mine.ts', interval: '1min', allocation: '20000', ...markets }] });

/** What is held of each symbol, to a tenth. */
const held = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['BTCUSDT', 'ETHUSDT'].map((symbol) => [
      symbol,
      rig
        .read((reader) => reader.fills())
        .filter((fill) => fill.symbol === symbol)
        .reduce((sum, { side, quantity }) => sum + (side === 'BUY' ? 1 : -1) * Number(quantity), 0)
        .toFixed(1),
    ]),
  );
const holds = (BTCUSDT: string, ETHUSDT: string) =>
  until(`${BTCUSDT} and ${ETHUSDT}`, () => held()['BTCUSDT'] === BTCUSDT && held()['ETHUSDT'] === ETHUSDT);
const lastReason = (symbol: string): string | undefined =>
  rig.read((reader) => reader.signalBefore('mine', symbol, Number.MAX_SAFE_INTEGER))?.signal.reason;
const stops = async (): Promise<readonly unknown[]> =>
  (await rig.run('positions', '--json')).stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly protection: { readonly stop?: unknown } }).protection.stop);

/** Tries new code, which is refused; nothing is ordered, and what is held stays. */
async function refused(text: string, says: RegExp): Promise<void> {
  const [before, orders] = [held(), exchange.allOrders(trader.uid).length];
  write(text);
  const { code, stdout, stderr } = await rig.run('reload', 'mine');
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/did not carry out reload: the old code of mine goes on: /);
  expect(stderr).toMatch(says);
  expect([held(), exchange.allOrders(trader.uid).length]).toEqual([before, orders]);
}

interface Pair {
  readonly size?: number;
  readonly reason?: string;
  readonly roles?: string;
  readonly alone?: string;
  /** Before it decides. */
  readonly first?: string;
}
const pair = ({
  size = 0.5,
  reason = 'the first code',
  roles = 'near, far',
  alone = 'unwind',
  first = '',
}: Pair = {}) => {
  const names = roles.split(', ');
  const each = (what: (role: string) => string): string => names.map(what).join(', ');
  return `
import { defineStrategy, hold } from 'sluice';
export default defineStrategy({
  name: 'mine', about: 'Holds two markets', params: {},
  markets: { ${each((role) => `${role}: 'traded'`)} },
  legsAlone: { afterMs: 60_000, action: '${alone}' },
  indicators: () => ({}),
  decide(_, { holdings, klines }) {
    ${first}
    return { ${each((role) => `${role}: hold({ quantity: ${size} }, '${reason}', { stop: klines.${role}.close * 0.5 })`)} };
  },
});`;
};

test('new code of a pair takes over both legs with their stops, and what does not fit is refused', async () => {
  write(pair());
  configure({ markets: { near: { symbol: 'BTCUSDT' }, far: { symbol: 'ETHUSDT' } } });
  const daemon = await rig.start();
  await holds('0.5', '0.5');
  const orders = exchange.allOrders(trader.uid).length;
  await refused(
    pair({ alone: 'complete' }),
    /its legsAlone is .*complete.*, and that of the running one .*unwind.*: restart/,
  );
  await refused(pair({ roles: 'near, other' }), /it decides on .*other.*, and the running one on .*far/);
  // It is tried with the positions that are held.
  await refused(
    pair({ first: "if (holdings.far.quantity > 0.4) throw new Error('far is held');" }),
    /it throws: .*far is held \(mine\.ts, line \d+\)/,
  );
  write(pair({ reason: 'the second code' }));
  const { code, stdout, stderr } = await rig.run('reload', 'mine');
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/Strategy mine runs version \w+, with its position, exits and orders\./);
  for (const symbol of ['BTCUSDT', 'ETHUSDT'])
    await until(`a signal for ${symbol}`, () => lastReason(symbol) === 'the second code');
  expect(exchange.allOrders(trader.uid).length).toBe(orders);
  expect(await stops()).toEqual([expect.anything(), expect.anything()]);
  write(pair({ size: 0.8 }));
  expect((await rig.run('reload', 'mine')).code).toBe(0);
  await holds('0.8', '0.8');
  expect((await daemon.end('SIGINT')).code).toBe(130);
});

const list = (choice: string): string => `
import { defineStrategy, weights } from 'sluice';
export default defineStrategy({
  name: 'mine', about: 'Holds one of a list', params: {},
  indicators: () => ({}),
  choose(markets) { ${choice} },
});`;

test('new code of a list rotates what the old one held, and one whose choose throws is refused', async () => {
  write(list("return weights({ BTCUSDT: 0.5 }, 'the first code', { threshold: 0.2 });"));
  configure({ symbols: ['BTCUSDT', 'ETHUSDT'] });
  const daemon = await rig.start();
  await holds('1.0', '0.0');
  await refused(
    list(
      "if (markets.some(({ holding }) => holding.quantity > 0)) throw new Error('it holds'); return weights({}, 'none');",
    ),
    /it throws: .*it holds \(mine\.ts, line \d+\)/,
  );
  await refused(list("return weights({ BTCUSDT: 0.7, ETHUSDT: 0.7 }, 'too much');"), /1\.4/);
  await refused(list("return weights({ SOLUSDT: 0.7 }, 'unknown');"), /SOLUSDT/);
  await refused(pair(), /it decides on .*near.*, and the running one on a list of symbols/);
  write(list("return weights({ ETHUSDT: 0.5 }, 'the second code', { threshold: 0.2 });"));
  const { code, stderr } = await rig.run('reload', 'mine');
  expect(code, stderr).toBe(0);
  await holds('0.0', '1.0');
  expect((await daemon.end('SIGINT')).code).toBe(130);
});
