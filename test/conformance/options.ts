/** The options of the command, and what they allow. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Profile } from './answers.ts';
import type { Need } from './needs.ts';
import type { Keys, Target } from './session.ts';

export const usage = `usage: npm run conformance -- --url URL [options]
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
  --spend AMOUNT        what one order is worth in the quote asset; 20 when left out, or twice the least that is allowed
  --withdrawals         the key can read withdrawals (weight 100 each)
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

export function given() {
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
    spend: text,
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
export type Given = ReturnType<typeof given>;

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

export function targetOf(values: Given): Target {
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
  const spend = values.spend === undefined ? undefined : Number(values.spend);
  if (spend !== undefined && !(spend > 0)) refuse(`--spend must be an amount, not ${values.spend}`);
  const [of, amount, ...address] = withdraw?.split(':') ?? [];
  if (withdraw !== undefined && (of === undefined || amount === undefined || address.length === 0))
    refuse('--withdraw takes SYMBOL:AMOUNT:ADDRESS');
  const keys = keysOf(values);
  return {
    url,
    profile: profile satisfies Profile,
    ...(spend !== undefined && { spend }),
    ...(ws !== undefined && { wsUrl: ws }),
    ...(stripPrefix !== undefined && { stripPrefix }),
    ...(symbol !== undefined && { symbol }),
    ...(quiet !== undefined && { quiet }),
    ...(keys !== undefined && { keys }),
    ...(of !== undefined && amount !== undefined && { withdrawal: { symbol: of, amount, address: address.join(':') } }),
    ...(addresses !== undefined && { addresses: addresses.split(',') }),
  };
}

export function grantedBy(
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
