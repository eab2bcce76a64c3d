/** What there is on an exchange that stands apart: two symbols, two users, and keys that may do less. */
import type { SimulatorOptions, SimulatorUser } from '../../src/simulator/simulator.ts';

/** With participants of its own. */
export const busy = 'BTCUSDT';
/** Where nobody trades but the users. */
export const quiet = 'ETHUSDT';
export const price = '10000';

export const everyKey = {
  main: { key: 'main-key', secret: 'Main-Secret' },
  second: { key: 'second-key', secret: 'Second-Secret' },
  readOnly: { key: 'read-only-key', secret: 'Read-Only-Secret' },
  elsewhere: { key: 'elsewhere-key', secret: 'Elsewhere-Secret' },
};
const balances = { USDT: '1000000', BTC: '100', ETH: '1000' };

export const users: readonly SimulatorUser[] = [
  {
    uid: '10001',
    ...everyKey.main,
    permissions: ['read', 'trade', 'withdraw'],
    keys: [
      { ...everyKey.readOnly, permissions: ['read'] },
      { ...everyKey.elsewhere, addresses: ['192.0.2.1'] },
    ],
    balances,
    margin: balances,
  },
  { uid: '10002', ...everyKey.second, balances },
];

export const assets = { USDT: { fee: '1', minWithdraw: '10' } };
export const withdrawal = { symbol: 'USDT', amount: '50', address: 'T-an-address-of-nobody' };

/** How the exchange differs from the usual one. */
export type Ask = Pick<SimulatorOptions, 'profile' | 'quirks' | 'port' | 'seed' | 'faults' | 'limits'>;

export interface Opened {
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly controlUrl: string;
}
