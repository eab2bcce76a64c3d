/** Requests to the services of people. One that hangs or floods is cut off, and no error names an address, because it is a secret. */

import got, { HTTPError, type OptionsInit, TimeoutError } from 'got';
import { systemClock } from '../clock/clock.ts';
import { systemText } from '../domain/system-errors.ts';

/** A service that takes longer is hanging, real ms. */
const maxMs = 10_000;
/** More than any of them answers. */
const maxBytes = 100_000;

/** Sends a text; returns why it failed. `refusal`: why an answer of a status that is success says that the text was not taken. */
export const post = (
  url: string,
  what: OptionsInit,
  refusal?: (answer: string) => string | undefined,
): Promise<string | undefined> => request(url, { ...what, method: 'POST' }, refusal);

/** Asks for an address, whose answer does not matter; returns why it failed. */
export const get = (url: string): Promise<string | undefined> => request(url, { method: 'GET' });

async function request(
  url: string,
  what: OptionsInit & { readonly method: 'GET' | 'POST' },
  refusal: (answer: string) => string | undefined = () => undefined,
): Promise<string | undefined> {
  const flood = new AbortController();
  try {
    const asked = got(url, {
      ...what,
      timeout: { request: maxMs },
      retry: { limit: 0 },
      // A redirect could carry the text and a token elsewhere.
      followRedirect: false,
      // A small answer could unpack to gigabytes.
      decompress: false,
      signal: flood.signal,
    });
    void asked.on('downloadProgress', ({ transferred }) => {
      if (transferred > maxBytes) flood.abort();
    });
    const { statusCode, rawBody } = (await asked) as { readonly statusCode: number; readonly rawBody: Uint8Array };
    return statusCode < 300 ? refusal(Buffer.from(rawBody).toString()) : `HTTP ${statusCode}`;
  } catch (error) {
    if (flood.signal.aborted) return 'an answer without end';
    if (error instanceof TimeoutError) return 'no answer in time';
    return error instanceof HTTPError ? `HTTP ${error.response.statusCode}` : codeOf(error);
  }
}

/** The message of an error may contain the address: words of ours, or its code. */
export const codeOf = (error: unknown): string =>
  systemText(error) ?? String((error as NodeJS.ErrnoException).code ?? 'no answer');

/** A signal that aborts when a service hangs; `end` once it answered. */
export function cutOffAfter(): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  const end = systemClock.at(systemClock.now() + maxMs, () => controller.abort());
  return { signal: controller.signal, end };
}
