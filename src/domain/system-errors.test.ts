import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { expect, test } from 'vitest';
import { causeOf } from './refusal.ts';
import { isEnvironmentError, systemText } from './system-errors.ts';

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('a file error names the file and what to do, with its code', () => {
  expect(causeOf(thrown(() => readFileSync('/nowhere/x.yaml')))).toBe('/nowhere/x.yaml does not exist (ENOENT)');
  const denied = Object.assign(new Error("EACCES: permission denied, open 'a.ts'"), { code: 'EACCES', path: 'a.ts' });
  expect(causeOf(denied)).toBe(
    'a.ts cannot be opened by this user (permission denied): change its owner or permissions (EACCES)',
  );
  expect(isEnvironmentError(denied)).toBe(true);
});

test('a port that is taken, and one that is for the system', async () => {
  const first = createTcpServer();
  await once(first.listen(0, '127.0.0.1'), 'listening');
  const address = first.address();
  const second = createTcpServer();
  const failed = once(second, 'error');
  second.listen(typeof address === 'string' ? 0 : address?.port, '127.0.0.1');
  expect(causeOf((await failed)[0])).toBe('the port is taken (EADDRINUSE)');
  first.close();
  const low = Object.assign(new Error('listen EACCES'), { code: 'EACCES', syscall: 'listen' });
  expect(causeOf(low)).toContain('ports below 1024');
});

test('https to a port that speaks http, whatever OpenSSL calls it', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const asked = request({ host: '127.0.0.1', port: typeof address === 'string' ? 0 : address?.port });
  const failed = once(asked, 'error');
  asked.end();
  expect(causeOf((await failed)[0])).toMatch(/^the port does not speak TLS: write http:\/\/ or ws:\/\/ for it/);
  server.close();
});

test('an error inside another one counts, and others stay as they are', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(causeOf(new TypeError('fetch failed', { cause: refused }))).toBe(
    'nothing listens at that address and port (ECONNREFUSED)',
  );
  expect(causeOf(new Error('mine'))).toBe('mine');
  expect(systemText(Object.assign(new Error('x'), { code: 'toString' }))).toBeUndefined();
  expect(isEnvironmentError(new Error('mine'))).toBe(false);
});
