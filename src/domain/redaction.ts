/**
 * Secrets that no output may contain: neither the terminal, the log and the journal, nor an alert. An error of a library names the address that it
 * asked, and a strategy may state such an error as its reason.
 */

/**
 * A shorter word is no secret: redacting it would make other texts unreadable. Of a secret as a whole and of a part of an address, characters.
 * Of digits alone more, or they would be found in a quantity or an id of the journal.
 */
const [minWhole, minPart, minDigits] = [6, 10, 16];
const isLong = (text: string, min: number): boolean => text.length >= (/^[\d.]*$/.test(text) ? minDigits : min);

/** Matches each form in which a secret may stand in an output, the longest first, so that no rest of one remains. */
export function secretPattern(secrets: readonly string[]): RegExp {
  const wholes = secrets.flatMap((secret) => [secret, ...passwordIn(secret)]).filter((text) => isLong(text, minWhole));
  const parts = secrets.flatMap(partsOf).filter((text) => isLong(text, minPart));
  const forms = [...new Set([...wholes, ...parts].flatMap(formsOf))].sort((a, b) => b.length - a.length);
  // One search for all: each by itself took 17 times as long. Without a secret it matches nothing.
  return new RegExp(forms.map((form) => RegExp.escape(form)).join('|') || '(?!)', 'g');
}

/** A text in which all that matches is replaced. */
export const replaceMatches = (text: string, pattern: RegExp): string => text.replace(pattern, '•••');

const isAddress = (secret: string): boolean => secret.includes('//') && URL.canParse(secret);

const passwordIn = (secret: string): readonly string[] =>
  isAddress(secret) ? [new URL(secret).password, decoded(new URL(secret).password)] : [];

/** What names an account in an address, and what follows the number of a bot. */
function partsOf(secret: string): readonly string[] {
  if (!isAddress(secret)) return secret.split(':').slice(1);
  const { pathname, searchParams } = new URL(secret);
  return [...pathname.split('/'), ...searchParams.values()];
}

/** As it is, in an address, in JSON, in hexadecimal, and in Base64 wherever it begins in a longer text. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at both ends also hold bits of what stands beside it.
    const own = text.slice(Math.ceil((before * 4) / 3), (before + bytes.length) % 3 === 0 ? undefined : -1);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), bytes.toString('hex'), ...inBase64];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const known = new Set<string>();
let pattern: RegExp | undefined;

/** Redacts secrets in all that this process puts out from now on. */
export function registerSecrets(secrets: readonly (string | undefined)[]): void {
  const added = secrets.filter((secret): secret is string => secret !== undefined && !known.has(secret));
  if (added.length === 0) return;
  for (const secret of added) known.add(secret);
  pattern = secretPattern([...known]);
}

/** The secrets of this process, for its threads: each registers them for itself. */
export const registeredSecrets = (): readonly string[] => [...known];

/** A text without the secrets of this process. */
export const redact = (text: string): string => (pattern === undefined ? text : replaceMatches(text, pattern));

/** What people, strategies and the exchange write in words. All else is names, ids and money, which must stay as they are. */
const inWords = new Set(['reason', 'quarantineReason', 'text', 'cause', 'message']);

/** Plain data whose texts in words are without the secrets of this process; data without a secret is given back as it is. */
export function redactWords<T>(value: T): T {
  return pattern === undefined ? value : (cleaned(value, false) as T);
}

function cleaned(value: unknown, isInWords: boolean): unknown {
  if (typeof value === 'string') return isInWords ? redact(value) : value;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, one, cleaned(one, inWords.has(name))] as const);
  if (entries.every(([, before, after]) => before === after)) return value;
  if (Array.isArray(value)) return entries.map(([, , after]) => after);
  return Object.fromEntries(entries.map(([name, , after]) => [name, after]));
}
