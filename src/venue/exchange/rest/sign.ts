/** Signatures of requests (specification §5.2): HMAC-SHA256 in hex over timestamp + METHOD + target + body, as sent. */
import { createHmac, createSecretKey } from 'node:crypto';

export type Signer = ReturnType<typeof signer>;
type Headers = Readonly<Record<string, string>>;

/**
 * The secret lives in a closure, so that neither printing nor serialising anything shows it.
 * `stripPrefix` is a part of the path that a gateway takes away before it verifies (seen in the wild: `/spot/open`).
 */
export function signer(apiKey: string, apiSecret: string, stripPrefix = '') {
  const secret = createSecretKey(apiSecret, 'utf8');
  return {
    /** Headers for exactly these bytes; `target` is the path with its query as it stands in the request line. */
    headers(method: 'GET' | 'POST', target: string, body: string, timestamp: number): Headers {
      const signed = stripPrefix !== '' && target.startsWith(stripPrefix) ? target.slice(stripPrefix.length) : target;
      const payload = `${timestamp}${method}${signed}${body}`;
      const signature = createHmac('sha256', secret).update(payload).digest('hex');
      return { 'x-ch-apikey': apiKey, 'x-ch-ts': `${timestamp}`, 'x-ch-sign': signature };
    },
    /** The text with key, secret and the signature in these headers struck out: an answer may quote what we sent, and answers are logged. */
    redact(text: string, headers: Headers): string {
      const canaries = [apiSecret, apiKey, headers['x-ch-sign'] ?? ''].filter((one) => one !== '');
      return canaries.reduce((clean, one) => clean.replaceAll(one, '[struck out]'), text);
    },
  };
}
