/** Limits the connections to the dashboard: every process of the machine can open some, and each takes one of the daemon's files. */
import type { Server, Socket } from 'node:net';
import type { Clock } from '../clock/clock.ts';

/** Connections that showed no token yet. */
export const mostStrangers = 16;
/** Connections in all. */
export const mostConnections = 128;
/** Real ms until a connection must have shown a token: headers that never end are cut off by it, too. */
export const strangerMs = 30_000;

/**
 * One connection too many closes the oldest one without a token, never the new one: connections that others hold open must not keep the
 * owner out. Returns what is called when a request with a valid token came over a connection.
 */
export function limitConnections(server: Server, clock: Clock): (socket: Socket) => void {
  // In the order in which they were opened, each with what stops its timer.
  const strangers = new Map<Socket, () => void>();
  const owners = new Set<Socket>();
  const forget = (socket: Socket): void => {
    strangers.get(socket)?.();
    strangers.delete(socket);
    owners.delete(socket);
  };
  const end = (socket: Socket | undefined): void => {
    if (socket === undefined) return;
    forget(socket);
    socket.destroy();
  };
  const oldest = (of: Iterable<Socket>): Socket | undefined => of[Symbol.iterator]().next().value;
  server.on('connection', (socket: Socket) => {
    const isCrowded = strangers.size >= mostStrangers || strangers.size + owners.size >= mostConnections;
    if (isCrowded) end(oldest(strangers.keys()) ?? oldest(owners));
    strangers.set(
      socket,
      clock.at(clock.now() + clock.machine(strangerMs), () => end(socket)),
    );
    socket.once('close', () => forget(socket));
  });
  return (socket) => {
    if (!strangers.has(socket)) return;
    forget(socket);
    owners.add(socket);
  };
}
