/** The exchange key: from the environment or a private `.env`, never from the configuration. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { parse } from 'dotenv';
import { registerSecrets } from '../domain/redaction.ts';
import { Refusal } from '../domain/refusal.ts';

export interface Secrets {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** As of a project whose files belong to another user, where a service gets its keys from elsewhere. */
function isOfAnother(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** Variables of a `.env` file; none when there is no such file, or this user may not read it. Refuses one that others may read. */
function fromFile(file: string): Readonly<Record<string, string>> {
  let mode: number;
  if (isOfAnother(file)) return {};
  try {
    ({ mode } = statSync(file));
  } catch {
    return {};
  }
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new Refusal(`${file} can be read by other users of this machine: run chmod 600 ${file}`, 3);
  }
  try {
    return parse(readFileSync(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(
      code === 'EISDIR'
        ? `${file} is a folder, not a file of keys: put the keys into the environment, or take it away`
        : `${file} cannot be read (${code ?? String(error)}): it must belong to the user that runs this`,
      3,
    );
  }
}

/** The variables that hold a key and its secret: another purpose has another key. */
export interface SecretNames {
  readonly key: string;
  readonly secret: string;
}
const tradingNames: SecretNames = { key: 'SLUICE_API_KEY', secret: 'SLUICE_API_SECRET' };

/** Variables with secrets by name, the environment before the file, which is only checked when it is needed. */
export function readVariables(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  file = '.env',
): Readonly<Record<string, string | undefined>> {
  const saved = names.every((name) => environment[name] !== undefined) ? {} : fromFile(file);
  const found = Object.fromEntries(names.map((name) => [name, environment[name] ?? saved[name]]));
  registerSecrets(Object.values(found));
  return found;
}

/** The API key and secret. */
export function readSecrets(
  environment: Readonly<Record<string, string | undefined>>,
  file = '.env',
  names: SecretNames = tradingNames,
): Secrets {
  const { [names.key]: apiKey = '', [names.secret]: apiSecret = '' } = readVariables(
    [names.key, names.secret],
    environment,
    file,
  );
  const missing = [...(apiKey === '' ? [names.key] : []), ...(apiSecret === '' ? [names.secret] : [])];
  if (missing.length > 0) {
    throw new Refusal(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set: put ${missing.length === 1 ? 'it' : 'them'} into the environment or into ${file} (chmod 600)${isOfAnother(file) ? `. There is a ${file}, which this user may not read` : ''}`,
    );
  }
  const odd = [names.key, names.secret].find((_, index) => !/^[\x21-\x7e]+$/.test([apiKey, apiSecret][index] ?? ''));
  if (odd !== undefined)
    throw new Refusal(`${odd} holds a space or a character that no key has: copy it again from the exchange`);
  return { apiKey, apiSecret };
}
