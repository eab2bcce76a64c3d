/** What HTTP requests to the exchange share, by whichever client: the proof that nothing was written, and the text of a failure. */

import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { systemText } from '../../../domain/system-errors.ts';

/** Answers above this are cut off: 1,000 orders are 0.4 MB, all symbols of the largest venues 2 MB. */
export const maxReplyBytes = 8 * 1024 * 1024;
export const tooLargeText = `the answer is larger than ${maxReplyBytes} bytes`;
export const cutOffText = 'the answer was cut off';

/**
 * Watches one request's socket for the proof that nothing was written.
 *
 * A socket that never got connected (for TLS: never finished its handshake) cannot have carried a byte of the request, whatever
 * its counter says: Node counts bytes that wait in memory for the connection. On a connected socket, also one reused from an
 * earlier request, the counter must not have moved. Anything else may have been written.
 */
export function watchWire(tls: boolean) {
  let request: ClientRequest | undefined;
  let socket: Socket | undefined;
  let connected = false;
  let before = 0;
  const onSocket = (given: Socket): void => {
    socket = given;
    if (request?.reusedSocket === true || !given.connecting) {
      connected = true;
      before = given.bytesWritten;
      return;
    }
    given.once(tls ? 'secureConnect' : 'connect', () => {
      connected = true;
    });
  };
  return {
    /** Opens a request and watches it from its first moment: got writes before it emits the request. */
    open: (url: URL, options: RequestOptions): ClientRequest => {
      const opened = tls ? httpsRequest(url, options) : httpRequest(url, options);
      request = opened;
      if (opened.socket === null) opened.once('socket', onSocket);
      else onSocket(opened.socket);
      return opened;
    },
    isConnected: (): boolean => connected,
    mayHaveWritten: (): boolean => socket !== undefined && connected && socket.bytesWritten !== before,
    cut(): void {
      request?.destroy();
    },
  };
}

/** Unrequested compressed answers come as bytes. They are no JSON and decide nothing. */
export const textOfBytes = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 1_000)).toString('latin1');

/** An error in plain words, or its code and first line, never the error itself: got's carry the whole request. */
export function plainCause(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  const known = systemText(error);
  if (known !== undefined) return known;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const line = error.message.split('\n', 1)[0] ?? '';
  return `${code}: ${line.replaceAll(/https?:\/\/\S+/g, 'the exchange').slice(0, 120)}`;
}
