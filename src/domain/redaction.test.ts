import { expect, test } from 'vitest';
import { redact, redactWords, registerSecrets, replaceMatches, secretPattern } from './redaction.ts';

const secret = 'canary-/+"&%=z-0123456789';
const base64 = (before: string): string => Buffer.from(`${before}${secret} and more`).toString('base64');

test.each([
  ['as it is', secret],
  ['in an address', encodeURIComponent(secret)],
  ['in JSON', JSON.stringify(secret).slice(1, -1)],
  ['in hexadecimal', Buffer.from(secret).toString('hex')],
  ['at the begin of Base64', base64('')],
  ['within Base64', base64('a')],
  ['within Base64, one byte later', base64('ab')],
  ['within Base64 for addresses', Buffer.from(`a${secret}`).toString('base64url')],
])('a secret %s is hidden', (_, text) => {
  const left = replaceMatches(`before ${text} after`, secretPattern([secret]));
  expect(left).toMatch(/^before \S*•••\S* after$/);
  // No more than the characters that it shares with its neighbours is left.
  expect(left.length).toBeLessThan('before •••'.length + 30);
});

test('of an address the password and the parts that name an account are hidden, and words that everybody knows are not', () => {
  const pattern = secretPattern([
    ...['123456789:AAbbCCddEEff-token', 'smtps://me:pass%20word%21x@mail.example.org:465'],
    ...['https://hooks.slack.com/services/T000/B000/abcdefghijklmnop', 'https://example.org/?token=0123456789abcdef'],
  ]);
  for (const part of ['AAbbCCddEEff-token', 'pass word!x', 'abcdefghijklmnop', '0123456789abcdef'])
    expect(replaceMatches(`bad ${part}`, pattern), part).toBe('bad •••');
  for (const word of ['services', 'T000', 'hooks.slack.com', 'mail.example.org'])
    expect(replaceMatches(word, pattern)).toBe(word);
});

test('a short word is no secret: other texts would be unreadable', () => {
  expect(replaceMatches('a key of 5', secretPattern(['5', 'key', '']))).toBe('a key of 5');
});

test('digits alone are redacted only where they are long: a quantity or an id must not lose its own', () => {
  const pattern = secretPattern(['123456', 'https://example.org/195411329048112/x', '19541132904811230001']);
  expect(replaceMatches('0.00123456 of 195411329048112399', pattern)).toBe('0.00123456 of 195411329048112399');
  expect(replaceMatches('key 19541132904811230001', pattern)).toBe('key •••');
});

test('what this process redacts is in no words, names and money keep it, and other data is the same object', () => {
  const plain = { reason: 'all is well', facts: [1, null, { text: 'x' }], amount: 5n, strategy: secret, price: secret };
  expect(redactWords(plain)).toBe(plain);
  registerSecrets([secret, undefined]);
  expect(redact(`it is ${secret}`)).toBe('it is •••');
  expect(redactWords(plain)).toBe(plain);
  expect(redactWords({ ...plain, facts: [1, [{ text: secret }]] })).toEqual({
    ...plain,
    facts: [1, [{ text: '•••' }]],
  });
});
