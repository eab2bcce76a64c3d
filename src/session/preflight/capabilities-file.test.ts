import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RestCapabilities } from '../../venue/exchange/capabilities.ts';
import {
  cancelAt,
  isProbeDue,
  isQueriedByClientId,
  rememberCapabilities,
  rememberFact,
  windowAt,
} from './capabilities-file.ts';

const rest: RestCapabilities = {
  errorStatus: '200',
  errorCode: 'text',
  anySymbolCase: 'yes',
  lists: 'bare',
  publicTrades: 'bare',
  klines: 'newest first',
  orderTest: 'yes',
  clientIdEchoed: 'yes',
  queryByClientId: 'yes',
  recvWindow: 'recvwindow',
  cancel: 'unknown',
};
const socket = { firstDataMs: 5, acknowledges: false, ping: 's', closed: undefined } as const;
const fresh = (): string => join(mkdtempSync(join(tmpdir(), 'sluice-caps-')), 'state');

it('what a venue can do holds for that venue alone, and a proof is not lost to a later look that shows nothing', () => {
  const dir = fresh();
  expect(isQueriedByClientId(dir, 'a/1')).toBe(false);
  rememberCapabilities(dir, 'a/1', 0, { rest, socket });
  rememberCapabilities(dir, 'a/1', 1, { rest: { ...rest, queryByClientId: 'unknown' }, socket });
  expect(isQueriedByClientId(dir, 'a/1')).toBe(true);
  expect(isQueriedByClientId(dir, 'a/2')).toBe(false);
  expect(statSync(join(dir, 'capabilities.json')).mode & 0o777).toBe(0o600);
  rememberCapabilities(dir, 'a/1', 2, { rest: { ...rest, queryByClientId: 'no' }, socket });
  expect(isQueriedByClientId(dir, 'a/1')).toBe(false);
});

it('that client ids are not given back is asked about again, and an echo replaces it', () => {
  const dir = fresh();
  rememberCapabilities(dir, 'a/1', 0, { rest: { ...rest, clientIdEchoed: 'no' } });
  expect(isProbeDue(dir, 'a/1')).toBe(true);
  rememberCapabilities(dir, 'a/1', 1, { rest });
  rememberCapabilities(dir, 'a/1', 2, { rest: { ...rest, clientIdEchoed: 'unknown' } });
  expect(isProbeDue(dir, 'a/1')).toBe(false);
});

it('what a cancel showed is kept beside the rest, whoever writes first, and a doctor does not take it back', () => {
  const dir = fresh();
  expect(cancelAt(dir, 'a/1')).toBe('unknown');
  rememberFact(dir, 'a/1', 0, { cancel: 'asynchronous' });
  expect([cancelAt(dir, 'a/1'), cancelAt(dir, 'a/2')]).toEqual(['asynchronous', 'unknown']);
  rememberCapabilities(dir, 'a/1', 1, { rest, socket });
  expect(cancelAt(dir, 'a/1')).toBe('asynchronous');
  rememberFact(dir, 'a/1', 2, { cancel: 'at once' });
  expect(cancelAt(dir, 'a/1')).toBe('at once');
  expect(JSON.parse(readFileSync(join(dir, 'capabilities.json'), 'utf8'))).toMatchObject({
    at: 2,
    socket: { firstDataMs: 5, ping: 's' },
  });
  expect(isQueriedByClientId(dir, 'a/1')).toBe(true);
});

it('a name of the time window that a create showed is a name, and only tests show that the window is heeded', () => {
  const dir = fresh();
  expect(windowAt(dir, 'a/1')).toBeUndefined();
  rememberFact(dir, 'a/1', 0, { windowTaken: 'recwwindow' });
  expect(windowAt(dir, 'a/1')).toEqual({ name: 'recwwindow', isHeeded: false });
  rememberCapabilities(dir, 'a/1', 1, { rest, socket });
  expect(windowAt(dir, 'a/1')).toEqual({ name: 'recvwindow', isHeeded: true });
});

it.each(['', '{', '[]', '{"version":1,"venue":"a/1","rest":{"queryByClientId":true}}'])(
  'a file that cannot be understood (%j) proves nothing and is written anew',
  (text) => {
    const dir = fresh();
    rememberCapabilities(dir, 'a/1', 0, { rest, socket });
    writeFileSync(join(dir, 'capabilities.json'), text);
    expect(isQueriedByClientId(dir, 'a/1')).toBe(false);
    rememberCapabilities(dir, 'a/1', 0, { rest, socket });
    expect(JSON.parse(readFileSync(join(dir, 'capabilities.json'), 'utf8'))).toMatchObject({ venue: 'a/1', rest });
  },
);

it('a write that fails leaves no part of a file behind', () => {
  const dir = fresh();
  // A folder in the place of the file: it cannot be replaced.
  mkdirSync(join(dir, 'capabilities.json'), { recursive: true });
  expect(() => rememberCapabilities(dir, 'a/1', 0, { rest })).toThrow();
  expect(readdirSync(dir)).toEqual(['capabilities.json']);
});
