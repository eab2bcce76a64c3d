/** The way back of an answer. Apart from the server: its type is in what tests are given, and that of `ws` must not be. */
import type { ServerResponse } from 'node:http';

const jsonType = 'application/json;charset=UTF-8';

export type Wire = ReturnType<typeof wireOf>;

/** Calls have no effect once the client has disconnected. */
export function wireOf(response: ServerResponse) {
  const begin = (status: number, length: number, type: string): void => {
    response.writeHead(status, { 'content-type': type, 'content-length': length });
  };
  return {
    send(status: number, body: string, type = jsonType): void {
      if (response.destroyed) return;
      // A text leaves in one write with its header, bytes in two.
      begin(status, Buffer.byteLength(body), type);
      response.end(body);
    },
    /** Promises the whole answer, sends half of it and destroys the connection. */
    sendHalf(status: number, body: string): void {
      if (response.destroyed) return;
      const bytes = Buffer.from(body);
      begin(status, bytes.length, jsonType);
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
    },
    destroy: (): void => void response.destroy(),
  };
}
