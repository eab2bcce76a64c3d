import { describe, expect, it } from 'vitest';
import { csrfHeader, guard, type Visit } from './guard.ts';

const token = 'correct-horse-battery-staple';
const host = '127.0.0.1:8080';
const origin = `http://${host}`;

const visit = (headers: Visit['headers'] = {}, given: Partial<Visit> = {}): Visit => ({
  method: 'GET',
  headers: { host, ...headers },
  loginToken: undefined,
  upgrade: false,
  ...given,
});

/** A guard, and the cookie that a login by the token gave. */
function loggedIn() {
  const door = guard(token, 8080);
  const admission = door.admit(visit({}, { loginToken: token }));
  if (admission.kind === 'refused' || admission.setCookie === undefined) throw new Error('the login gave no cookie');
  return { door, setCookie: admission.setCookie, cookie: admission.setCookie.split(';')[0] ?? '' };
}

describe('the guard of the dashboard', () => {
  it('admits the token in the address and as a bearer, and nothing else', () => {
    const door = guard(token, 8080);
    expect(door.admit(visit({ authorization: `Bearer ${token}` })).kind).toBe('admitted');
    expect(door.admit(visit({}, { loginToken: token })).kind).toBe('admitted');
    expect(door.admit(visit()).kind).toBe('refused');
    expect(door.admit(visit({ authorization: `Bearer ${token}x` })).kind).toBe('refused');
    expect(door.admit(visit({}, { loginToken: '' })).kind).toBe('refused');
  });

  it('admits no part of a secret: neither of the token, nor of the session, nor of the CSRF value', () => {
    const { door, cookie } = loggedIn();
    const parts = (text: string): string[] => Array.from({ length: text.length }, (_, end) => text.slice(0, end));
    const kinds = [
      ...parts(token).map((part) => door.admit(visit({ authorization: `Bearer ${part}` }))),
      ...parts(token).map((part) => door.admit(visit({}, { loginToken: part }))),
      ...parts(cookie).map((part) => door.admit(visit({ cookie: part }))),
      ...parts(door.csrf).map((part) => door.admit(visit({ cookie, origin, [csrfHeader]: part }, { method: 'POST' }))),
    ].map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['refused']));
  });

  it('logs a browser in by a cookie that scripts and other sites cannot use, and that is not the token', () => {
    const { setCookie } = loggedIn();
    expect(setCookie).toMatch(/; HttpOnly/);
    expect(setCookie).toMatch(/; SameSite=Strict/);
    expect(setCookie).not.toContain(token);
  });

  it('refuses a foreign Host, with the token too: a name of an attacker may resolve to us', () => {
    const { door, cookie } = loggedIn();
    const bearer = { authorization: `Bearer ${token}` };
    expect(door.admit(visit({ ...bearer, host: 'evil.example:8080' })).kind).toBe('refused');
    expect(door.admit(visit({ ...bearer, host: '127.0.0.1:8081' })).kind).toBe('refused');
    expect(door.admit(visit({ cookie, host: 'evil.example:8080' })).kind).toBe('refused');
    expect(door.admit(visit({ cookie, host: 'localhost:8080' })).kind).toBe('admitted');
  });

  it('refuses a foreign Origin, another port of this machine included', () => {
    const { door, cookie } = loggedIn();
    expect(door.admit(visit({ cookie, origin: 'https://evil.example' })).kind).toBe('refused');
    expect(door.admit(visit({ cookie, origin: 'http://127.0.0.1:8081' })).kind).toBe('refused');
    expect(door.admit(visit({ cookie, origin: 'null' })).kind).toBe('refused');
    expect(door.admit(visit({ cookie, origin })).kind).toBe('admitted');
  });

  it('wants Origin and CSRF header of a mutation by cookie', () => {
    const { door, cookie } = loggedIn();
    const post = (headers: Visit['headers']) => door.admit(visit({ cookie, ...headers }, { method: 'POST' })).kind;
    expect(post({ origin, [csrfHeader]: door.csrf })).toBe('admitted');
    expect(post({ origin })).toBe('refused');
    expect(post({ origin, [csrfHeader]: 'guess' })).toBe('refused');
    expect(post({ [csrfHeader]: door.csrf })).toBe('refused');
  });

  it('wants an Origin of a WebSocket by cookie: browsers send cookies with any', () => {
    const { door, cookie } = loggedIn();
    expect(door.admit(visit({ cookie }, { upgrade: true })).kind).toBe('refused');
    expect(door.admit(visit({ cookie, origin }, { upgrade: true })).kind).toBe('admitted');
  });
});
