import { describe, expect, it } from 'vitest';
import { guard, type Visit } from './access.ts';

const token = 'correct-horse-battery-staple';
const host = '127.0.0.1:8080';
const origin = `http://${host}`;
const bearer = { authorization: `Bearer ${token}` };

/** What becomes of a request with these headers. */
const admitted = (headers: Visit['headers'] = {}, isPage = false): string =>
  guard(token, 8080)({ headers: { host, ...headers }, isPage }).kind;

describe('the guard of the dashboard', () => {
  it('admits the token as a bearer and as a subprotocol, and nothing else', () => {
    expect(admitted(bearer)).toBe('owner');
    expect(admitted({ 'sec-websocket-protocol': `sluice, ${token}` })).toBe('owner');
    expect(admitted()).toBe('refused');
    for (const wrong of ['', token.slice(0, -1), `${token}x`, token.toUpperCase()]) {
      expect(admitted({ authorization: `Bearer ${wrong}` }), wrong).toBe('refused');
      expect(admitted({ 'sec-websocket-protocol': `sluice, ${wrong}` }), wrong).toBe('refused');
    }
    expect(admitted({ cookie: `sluice-8080=${token}; token=${token}` })).toBe('refused');
  });

  it('admits no part of the token', () => {
    const parts = Array.from({ length: token.length }, (_, end) => token.slice(0, end));
    const kinds = parts.flatMap((part) => [
      admitted({ authorization: `Bearer ${part}` }),
      admitted({ 'sec-websocket-protocol': `sluice, ${part}` }),
    ]);
    expect(new Set(kinds)).toEqual(new Set(['refused']));
  });

  it('gives the page to whoever opens its address: it holds no secret', () => {
    expect(admitted({}, true)).toBe('stranger');
    expect(admitted(bearer, true)).toBe('owner');
    expect(admitted({ host: 'evil.example:8080' }, true)).toBe('refused');
    expect(admitted({ origin: 'https://evil.example' }, true)).toBe('refused');
  });

  it('refuses a foreign Host, with the token too: a name of an attacker may resolve to us', () => {
    expect(admitted({ ...bearer, host: 'evil.example:8080' })).toBe('refused');
    expect(admitted({ ...bearer, host: '127.0.0.1:8081' })).toBe('refused');
    expect(admitted({ ...bearer, host: undefined })).toBe('refused');
    expect(admitted({ ...bearer, host: 'localhost:8080' })).toBe('owner');
  });

  it('refuses a foreign Origin, another port of this machine included', () => {
    for (const foreign of ['https://evil.example', 'http://127.0.0.1:8081', 'http://localhost:8080', 'null'])
      expect(admitted({ ...bearer, origin: foreign }), foreign).toBe('refused');
    expect(admitted({ ...bearer, origin })).toBe('owner');
  });
});
