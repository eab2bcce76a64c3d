/** The values on the chart of a running daemon: those that its strategy decided on, also after a restart and a reload. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { IndicatorsView } from '../../src/dashboard/indicators.ts';
import { runningDaemon } from '../../src/session/state.ts';
import { rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();

/** Writes what it decides on into a file. */
const code = (period: number): string => `
import { appendFileSync } from 'node:fs';
import { defineStrategy, flat, sma } from 'sluice';
export default defineStrategy({
  name: 'mine',
  about: 'Notes its average',
  params: {},
  indicators: () => ({ average: sma('close', ${period}) }),
  decide({ average }, { kline }) {
    appendFileSync(${JSON.stringify(join(rig.dir, 'decided.txt'))}, JSON.stringify([kline.openTime, average]) + '\\n');
    return flat('none');
  },
});
`;
const write = (period: number): void => writeFileSync(join(rig.dir, 'mine.ts'), code(period));

async function asked<T>(path: string): Promise<T> {
  const daemon = runningDaemon(rig.state);
  const reply = await fetch(`${daemon?.control}${path}`, { headers: { authorization: `Bearer ${daemon?.token}` } });
  expect(reply.status).toBe(200);
  return (await reply.json()) as T;
}
const charted = (): Promise<IndicatorsView> => asked('/api/indicators?symbol=BTCUSDT&interval=1min');

/** What it has decided on. */
const decided = (): readonly (readonly [number, number])[] => {
  const file = join(rig.dir, 'decided.txt');
  return (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
    .filter((line) => line.endsWith(']'))
    .map((line) => JSON.parse(line) as [number, number]);
};

/** Waits for decisions, and compares each with the chart. */
async function expectSame(): Promise<IndicatorsView> {
  await until('three decisions', () => decided().length >= 3);
  const decisions = decided();
  const shown = await charted();
  const [{ names, rows } = { names: [], rows: [] }] = shown.values;
  expect(names).toEqual(['average']);
  const values = new Map(rows.map(([openTime, value]) => [openTime, value]));
  for (const [openTime, average] of decisions) expect(values.get(openTime)).toBe(average);
  // The values of the warm-up come before them.
  expect(rows.length).toBeGreaterThan(decisions.length + 100);
  return shown;
}

test('the chart has what the strategy decided on, after a restart and after a reload of other code, too', async () => {
  write(3);
  rig.configure({
    strategies: [{ id: 'mine', use: './mine.ts', symbol: 'BTCUSDT', interval: '1min', allocation: '200000' }],
  });
  const first = await rig.start();
  await expectSame();
  await first.end('SIGINT');
  rmSync(join(rig.dir, 'decided.txt'));
  const daemon = await rig.start();
  const before = await expectSame();
  write(50);
  expect((await rig.run('reload', 'mine')).code).toBe(0);
  await until('values of the new code', async () => (await charted()).run > before.run);
  rmSync(join(rig.dir, 'decided.txt'));
  const after = await expectSame();
  const newest = before.values[0]?.rows.at(-1)?.[0];
  // Old values of the old code are not mixed with new ones.
  const valueAt = ({ values }: IndicatorsView): unknown =>
    values[0]?.rows.find(([openTime]) => openTime === newest)?.[1];
  expect(valueAt(after)).not.toBe(valueAt(before));
  expect((await daemon.end('SIGINT')).code).toBe(130);
});
