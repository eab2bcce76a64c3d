import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSecrets } from './secrets.ts';

test('a file that others may read is refused where a key is wanted of it, and not looked at where both are given', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, '.env');
  writeFileSync(file, 'SLUICE_API_KEY=filed\nSLUICE_API_SECRET=filed\n', { mode: 0o644 });
  const given = { SLUICE_API_KEY: 'key', SLUICE_API_SECRET: 'secret' };
  expect(readSecrets(given, file)).toEqual({ apiKey: 'key', apiSecret: 'secret' });
  if (process.platform !== 'win32')
    expect(() => readSecrets({ SLUICE_API_KEY: 'key' }, file)).toThrow(/can be read by other users/);
});

test.each(['a\nb', 'a​b', 'ké'])('refuses a key that no header can carry: %j', (key) => {
  expect(() => readSecrets({ SLUICE_API_KEY: key, SLUICE_API_SECRET: 'secret' })).toThrow(
    /^SLUICE_API_KEY holds a space or a character that no key has/,
  );
});
