import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimClock } from '../clock/sim-clock.ts';
import { limitConnections, maxConnections, maxStrangers, strangerMs } from './access.ts';

let server: Server;
let clock: SimClock;
let admit: (socket: Socket) => void;
let clients: Socket[];

beforeEach(async () => {
  [server, clock, clients] = [createServer(), new SimClock(0), []];
  admit = limitConnections(server, clock);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  server.close();
  await once(server, 'close');
});

/** Opens a connection, and gives the server's end of it and when it was closed. */
async function open() {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => {});
  const ended = new Promise<void>((resolve) => client.once('close', () => resolve()));
  const [socket] = (await once(server, 'connection')) as [Socket];
  return { socket, ended };
}

test('one stranger too many closes the oldest, not the new one and no owner', async () => {
  const owner = await open();
  admit(owner.socket);
  const strangers = [];
  for (let count = 0; count <= maxStrangers; count++) strangers.push(await open());
  await strangers[0]?.ended;
  expect([owner, ...strangers].filter(({ socket }) => socket.destroyed)).toEqual([strangers[0]]);
});

test('one connection too many closes the oldest stranger, or else the oldest of all', async () => {
  const owners = [];
  for (let count = 1; count < maxConnections; count++) {
    const owner = await open();
    admit(owner.socket);
    owners.push(owner);
  }
  const first = await open();
  const second = await open();
  await first.ended;
  expect(owners.some(({ socket }) => socket.destroyed)).toBe(false);
  admit(second.socket);
  const third = await open();
  await owners[0]?.ended;
  expect([second, third].some(({ socket }) => socket.destroyed)).toBe(false);
});

test('a connection that shows no token in time is closed', async () => {
  const slow = await open();
  const owner = await open();
  admit(owner.socket);
  await clock.advanceTo(strangerMs);
  await slow.ended;
  expect(owner.socket.destroyed).toBe(false);
});
