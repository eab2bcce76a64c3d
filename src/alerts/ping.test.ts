import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Ping } from './ping.ts';

let server: Server;
let asked: string[];
let status: number;
let now: number;
let said: string[];
let ping: Ping;
beforeEach(async () => {
  [asked, status, now, said] = [[], 200, 0, []];
  server = createServer((request, answer) => {
    asked.push(`${request.method} ${request.url}`);
    answer.writeHead(status).end('OK');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/uuid-of-the-check`;
  const notice = (level: string, text: string): void => void said.push(`${level} ${text}`);
  ping = new Ping({ url, everyMs: 60_000, now: () => now, notice });
});
afterEach(() => void server.close());

/** A daemon that says so often that all is well, for some seconds. */
async function pass(seconds: number, isWell = true): Promise<void> {
  for (const end = now + seconds * 1_000; now < end; now += 1_000) {
    if (isWell && now % 5_000 === 0) ping.well();
    await ping.send();
  }
}

test('asks at once and then as often as configured, while all is well', async () => {
  await pass(180);
  expect(asked).toEqual(Array(3).fill('GET /uuid-of-the-check'));
});

test('ends when nobody says any more that all is well, and goes on when somebody does', async () => {
  await pass(30);
  await pass(600, false);
  expect(asked).toHaveLength(1);
  await pass(60);
  expect(asked).toHaveLength(2);
});

test('reports once that it fails, and once that it works again, without the address', async () => {
  status = 404;
  await pass(180);
  status = 200;
  await pass(120);
  expect(said).toEqual([
    'warn the ping fails: HTTP 404. Whoever waits for it will report silence',
    'info the ping works again',
  ]);
});
