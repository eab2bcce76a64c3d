/** The WebSocket wire port and its one real implementation, by ws. */

import { WebSocket } from 'ws';
import { causeOf } from '../../../domain/refusal.ts';
import { maxFrameBytes } from './frames.ts';

export interface WsEvents {
  opened(): void;
  frame(bytes: Buffer): void;
  /** Once, however the connection ended or failed to come about; nothing follows it. */
  closed(cause: string): void;
}

export interface WsConnection {
  send(text: string): void;
  /** At once, without a closing handshake: it is used where the other side has stopped answering. */
  close(): void;
}

export type Ws = (url: string, events: WsEvents) => WsConnection;

/** Real ms until the connection must stand. */
const handshakeMs = 10_000;

/** Gets the raw bytes of every frame, and undefined when a connection opens. It must neither change nor keep the bytes. */
export type FrameObserver = (bytes: Uint8Array | undefined) => void;

/** permessage-deflate is off: the frames come compressed already, and twice costs ten times the work. */
export function realWs(url: string, events: WsEvents, observe: FrameObserver = () => {}): WsConnection {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    handshakeTimeout: handshakeMs,
    maxPayload: maxFrameBytes,
    // One deployment refuses the upgrade without it.
    headers: { 'user-agent': 'sluice' },
  });
  let cause = '';
  socket.on('open', () => {
    observe(undefined);
    events.opened();
  });
  socket.on('message', (data) => {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [Buffer.from(data)]);
    observe(bytes);
    events.frame(bytes);
  });
  socket.on('error', (error) => {
    cause = causeOf(error);
  });
  socket.on('close', (code, reason) => {
    events.closed(cause === '' ? `closed with code ${code} ${reason.toString().slice(0, 80)}`.trimEnd() : cause);
  });
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => socket.terminate(),
  };
}
