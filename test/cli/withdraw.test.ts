/** Withdrawals against the built-in exchange, whose operator approves, pays and rejects them; on both profiles. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { instrument } from '../../src/domain/instrument.ts';
import { Refusal } from '../../src/domain/refusal.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { type ApplyCommand, apply, list } from '../../src/withdraw/withdraw.ts';

const address = 'TXyzabcdefghijk12345';
const btc = instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
let dir = '';
let simulator: Simulator;
const printed: string[] = [];

describe.each(['documented', 'observed'] as const)('on the %s profile', (profile) => {
  beforeEach(async () => {
    printed.length = 0;
    dir = mkdtempSync(join(tmpdir(), 'sluice-withdraw-'));
    writeFileSync(join(dir, 'allowed.txt'), `USDT ${address}\n`, { mode: 0o600 });
    simulator = await startSimulator({
      profile,
      users: [
        {
          uid: '1',
          key: 'trading-key',
          secret: 'trading-secret',
          keys: [{ key: 'withdraw-key', secret: 'withdraw-secret', permissions: ['read', 'withdraw'] }],
          balances: { USDT: '1000' },
        },
      ],
      instruments: [btc],
      markets: [{ kind: 'empty', symbol: 'BTCUSDT' }],
    });
  });
  afterEach(async () => {
    await simulator.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const command = (given: Partial<ApplyCommand> = {}): ApplyCommand => ({
    asset: 'USDT',
    amount: '25.5',
    address,
    allowList: join(dir, 'allowed.txt'),
    state: join(dir, 'state'),
    url: simulator.restUrl,
    json: true,
    out: (line) => void printed.push(line),
    say: () => {},
    signal: new AbortController().signal,
    environment: {
      SLUICE_WITHDRAW_API_KEY: 'withdraw-key',
      SLUICE_WITHDRAW_API_SECRET: 'withdraw-secret',
      XDG_STATE_HOME: dir,
    },
    input: Readable.from(['25.5\n', `${address}\n`]),
    ...given,
  });
  const last = (): unknown => JSON.parse(printed.at(-1) ?? '');
  const failure = async (promise: Promise<unknown>): Promise<string> => {
    const error: unknown = await promise.catch((caught: unknown) => caught);
    if (error instanceof Refusal) return error.message;
    throw new Error('no refusal came', { cause: error });
  };

  it('one is applied for, approved, paid and listed', async () => {
    await apply(command({ id: 'rent' }));
    expect(last()).toMatchObject({ withdrawOrderId: 'rent', state: 'accepted', id: expect.stringMatching(/^\d+$/) });
    const [row] = simulator.operator.withdrawals();
    const id = row?.id ?? 0;
    simulator.operator.approve(id);
    simulator.operator.pay(id, '0xabc');
    simulator.operator.complete(id);
    await list(command());
    expect(last()).toMatchObject({
      withdrawOrderId: 'rent',
      amount: '25.5',
      address,
      status: 'completed',
      txId: '0xabc',
    });
  });

  it.each([
    ['lost after it took effect', { status: 504, when: 'after' }],
    ['of a connection that broke', { drop: 'after' }],
  ] as const)('an answer %s is cleared up, and the exchange has it once', async (_, fault) => {
    simulator.addFault({ match: { method: 'POST', path: '/sapi/v1/withdraw/apply' }, do: fault });
    await apply(command());
    expect(last()).toMatchObject({ state: 'accepted' });
    expect(simulator.operator.withdrawals()).toHaveLength(1);
  });

  it('an id that the exchange knows from elsewhere is no second payment', async () => {
    await apply(command({ id: 'twice' }));
    await apply(command({ id: 'twice', state: join(dir, 'another') }));
    expect(last()).toMatchObject({ withdrawOrderId: 'twice', state: 'accepted' });
    expect(simulator.operator.withdrawals()).toHaveLength(1);
  });

  it('a key that may not withdraw, and an amount that is not there, are refused in words', async () => {
    const trading = { SLUICE_WITHDRAW_API_KEY: 'trading-key', SLUICE_WITHDRAW_API_SECRET: 'trading-secret' };
    const environment = { ...command().environment, ...trading };
    expect(await failure(apply(command({ environment })))).toMatch(/what to do/);
    const rich = command({ amount: '5000', input: Readable.from(['5000\n', `${address}\n`]) });
    expect(await failure(apply(rich))).toMatch(/what to do/);
    expect(simulator.operator.withdrawals()).toHaveLength(0);
  });
});
