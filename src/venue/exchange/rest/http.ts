/** The HTTP port of the exchange: what is sent and what comes back. */
import type { Gate } from '../../venue.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type HttpReply =
  | { readonly kind: 'reply'; readonly status: number; readonly retryAfter: string | undefined; readonly body: string }
  /** `written` is false only when it is proven that not one byte of the request left this machine. */
  | { readonly kind: 'failed'; readonly cause: string; readonly written: boolean };

export interface HttpTimeouts {
  /** Real ms until the connection must stand, TLS included. */
  readonly connectMs: number;
  /** Real ms until the whole answer must be there. */
  readonly requestMs: number;
}

/** One request, one attempt, one value: nothing is retried and nothing is thrown. With a gate no byte leaves before that says so. */
export interface Http {
  send(request: HttpRequest, gate?: Gate): Promise<HttpReply>;
  close(): void;
}
