/**
 * `npm run conformance -- --url URL [--ws URL] …`: goes through the specification, section by section, against the exchange
 * there. It reads only, unless it is allowed more. Ends with 1 when the exchange differs from the specification.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Profile } from './answers.ts';
import { type Check, lacks, type Need } from './check.ts';
import { checks } from './checks.ts';
import { operations } from './operations.ts';
import { sweep } from './orders.ts';
import { type Keys, openSession, type Session, type Target } from './session.ts';

const usage = `usage: npm run conformance -- --url URL [options]
  --url URL             the exchange, such as https://openapi.example.com
  --ws URL              its feed, with the path, such as wss://ws.example.com/kline-api/ws (--ws-url is the same)
  --strip-prefix PATH   what a gateway there takes from the start of paths before it verifies signatures, such as /spot
  --profile NAME        documented (the specification to the letter), or observed (what live exchanges do)
  --symbol SYMBOL       the one to look at and trade; the first that is listed when left out
  --key K --secret S    a key: what may be read with it is checked too; CONFORMANCE_KEY and CONFORMANCE_SECRET, or
                        else SLUICE_API_KEY and SLUICE_API_SECRET, do the same
  --keys FILE           more of them as JSON: {"main", "second", "readOnly", "elsewhere"}, each {"key", "secret"}
  --write               places and cancels orders, far from the market
  --margin              places margin orders too, one of them at the market
  --quiet SYMBOL        with --write and a second key: trades between the two there, where nobody else does
  --spend AMOUNT        what one order is worth in the quote asset; 20 when left out
  --withdrawals         the key may look at withdrawals (weight 100 each)
  --withdraw SYMBOL:AMOUNT:ADDRESS   applies for withdrawals of that: money may leave the exchange
  --addresses A,B,…     breaks the limits from these local addresses: they end up banned
  --section N           only checks of this section, and those within it
  --json                one line of JSON for each check`;

/** Ends the process: what was asked for cannot be. */
function refuse(why: string): never {
  process.stderr.write(`${why}\n${usage}\n`);
  process.exit(2);
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

function given() {
  const named = {
    url: text,
    ws: text,
    'ws-url': text,
    'strip-prefix': text,
    profile: { ...text, default: 'documented' },
    symbol: text,
    key: text,
    secret: text,
    keys: text,
  };
  const trading = {
    write: flag,
    margin: flag,
    quiet: text,
    spend: { ...text, default: '20' },
    withdrawals: flag,
    withdraw: text,
    addresses: text,
  };
  try {
    return parseArgs({ options: { ...named, ...trading, section: text, json: flag, help: flag } }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
type Given = ReturnType<typeof given>;

function keysOf({ key, secret, keys }: Given): Keys | undefined {
  if (keys !== undefined) return JSON.parse(readFileSync(keys, 'utf8')) as Keys;
  // Never a key of one pair with the secret of another.
  const pairs = [
    [key, secret],
    [process.env['CONFORMANCE_KEY'], process.env['CONFORMANCE_SECRET']],
    [process.env['SLUICE_API_KEY'], process.env['SLUICE_API_SECRET']],
  ] as const;
  const [first, sign] = pairs.find((pair) => pair[0] !== undefined && pair[1] !== undefined) ?? [];
  const main = { key: first, secret: sign };
  return main.key !== undefined && main.secret !== undefined
    ? { main: { key: main.key, secret: main.secret } }
    : undefined;
}

function targetOf(values: Given): Target {
  const {
    url,
    ws = values['ws-url'],
    profile,
    symbol,
    quiet,
    withdraw,
    addresses,
    'strip-prefix': stripPrefix,
  } = values;
  if (url === undefined) refuse('--url is missing');
  if (profile !== 'documented' && profile !== 'observed') refuse(`there is no profile ${profile}`);
  const spend = Number(values.spend);
  if (!(spend > 0)) refuse(`--spend must be an amount, not ${values.spend}`);
  const [of, amount, ...address] = withdraw?.split(':') ?? [];
  if (withdraw !== undefined && (of === undefined || amount === undefined || address.length === 0))
    refuse('--withdraw takes SYMBOL:AMOUNT:ADDRESS');
  const keys = keysOf(values);
  return {
    url,
    profile: profile satisfies Profile,
    spend,
    ...(ws !== undefined && { wsUrl: ws }),
    ...(stripPrefix !== undefined && { stripPrefix }),
    ...(symbol !== undefined && { symbol }),
    ...(quiet !== undefined && { quiet }),
    ...(keys !== undefined && { keys }),
    ...(of !== undefined && amount !== undefined && { withdrawal: { symbol: of, amount, address: address.join(':') } }),
    ...(addresses !== undefined && { addresses: addresses.split(',') }),
  };
}

function grantedBy(
  { keys, wsUrl, quiet, withdrawal, addresses }: Target,
  { write, margin, withdrawals }: Given,
): ReadonlySet<Need> {
  const can: readonly (readonly [Need, boolean])[] = [
    ['feed', wsUrl !== undefined],
    ['key', keys !== undefined],
    ['write', write],
    ['quiet', write && quiet !== undefined && keys?.second !== undefined],
    ['readOnly', keys?.readOnly !== undefined && write],
    ['elsewhere', keys?.elsewhere !== undefined],
    ['margin', margin],
    ['withdrawals', withdrawals || withdrawal !== undefined],
    ['withdraw', withdrawal !== undefined],
    ['limits', addresses !== undefined],
  ];
  return new Set(can.filter(([, granted]) => granted).map(([need]) => need));
}

/** What is missing, and the option that gives it. */
const needText: Readonly<Record<Need, string>> = {
  feed: 'needs the feed (--ws)',
  key: 'needs a key (--key and --secret)',
  write: 'needs leave to place orders (--write)',
  quiet: 'needs a quiet symbol and a second key (--write, --quiet, --keys)',
  readOnly: 'needs a key that may only read (--write, --keys)',
  elsewhere: 'needs a key for other addresses (--keys)',
  margin: 'needs leave to place margin orders (--margin)',
  withdrawals: 'needs a key that may look at withdrawals (--withdrawals)',
  withdraw: 'needs leave to apply for a withdrawal (--withdraw)',
  limits: 'needs leave to break the limits (--addresses)',
};

interface Result {
  readonly check: Check;
  /** `differs`: from what live exchanges do where the specification is silent. */
  readonly outcome: 'passed' | 'failed' | 'differs' | 'skipped';
  readonly why?: string;
}

async function carryOut(check: Check, at: Session, granted: ReadonlySet<Need>): Promise<Result> {
  const lacking = lacks(check, granted);
  if (lacking.length > 0) return { check, outcome: 'skipped', why: lacking.map((need) => needText[need]).join(', ') };
  try {
    await check.run(at);
    return { check, outcome: 'passed' };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
    return { check, outcome: check.observed === undefined ? 'failed' : 'differs', why };
  }
}

const marks = { passed: 'ok  ', failed: 'FAIL', differs: 'note', skipped: 'skip' } as const;

function say({ check, outcome, why }: Result, json: boolean): void {
  const { section, observed, says } = check;
  const source = observed === undefined ? `§${section}` : `§${section} [${observed}]`;
  const line = `${marks[outcome]}  ${source.padEnd(9)} the exchange ${says}${why === undefined ? '' : `: ${why}`}`;
  process.stdout.write(`${json ? JSON.stringify({ section, observed, says, outcome, why }) : line}\n`);
}

/** The last lines: the counts, and what of the interface was asked for. */
function sum(results: readonly Result[], { done }: Session): void {
  const count = (outcome: Result['outcome']): number => results.filter((one) => one.outcome === outcome).length;
  const asked = operations.filter(({ name }) => done.has(name)).length;
  process.stdout.write(
    `${count('passed')} passed, ${count('failed')} failed, ${count('differs')} differ where the specification is silent, ` +
      `${count('skipped')} skipped; ${asked} of ${operations.length} operations were asked for\n`,
  );
}

const values = given();
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
const target = targetOf(values);
const granted = grantedBy(target, values);
const at = await openSession(target).catch((error: unknown): never => {
  process.stderr.write(
    `nothing to check at ${target.url}: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(2);
});
const { section: only } = values;
const results: Result[] = [];
for (const check of checks) {
  if (only !== undefined && check.section !== only && !check.section.startsWith(`${only}.`)) continue;
  const result = await carryOut(check, at, granted);
  results.push(result);
  say(result, values.json);
}
await sweep(at);
if (!values.json) sum(results, at);
process.exit(results.some(({ outcome }) => outcome === 'failed') ? 1 : 0);
