/** `sluice doctor`: whether a configuration can trade here and now, and what to do if not. It changes nothing at the exchange. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { type ClientIo, connect } from '../../client/connection.ts';
import { machineWall } from '../../clock/clock.ts';
import { parseSetting, readConfig } from '../../config/read.ts';
import { isLoopback, type TradingConfig, tradingSchema } from '../../config/schema.ts';
import { readSecrets } from '../../config/secrets.ts';
import { escapeText } from '../../domain/printable.ts';
import { causeOf, orRefusal, Refusal } from '../../domain/refusal.ts';
import type { LimitEntry } from '../../journal/entries.ts';
import { journalFile } from '../../journal/open.ts';
import { venueNameOf } from '../../session/live.ts';
import { cancelAt, rememberCapabilities } from '../../session/preflight/capabilities-file.ts';
import { limitsInForce, unraised } from '../../session/preflight/limits.ts';
import { echoTestOrderId } from '../../session/preflight/probe-exchange.ts';
import { defaultStateDir, inJournal } from '../../session/state.ts';
import { configure } from '../../trading/strategies.ts';
import { listenMs } from '../../venue/exchange/probe-socket.ts';
import {
  type Check,
  clientIdCheck,
  fail,
  type Level,
  machineChecks,
  ok,
  planCheck,
  quirksCheck,
  socketCheck,
} from './check.ts';
import { type Examination, exchangeChecks } from './exchange.ts';

export interface DoctorOptions extends Pick<ClientIo, 'json' | 'say' | 'environment'> {
  readonly config: string;
  readonly state?: string;
  readonly set: readonly string[];
  readonly out: (line: string, isStyled?: boolean) => void;
}

/** Real ms that a request may wait for weight. */
const waitMs = 10_000;

/** Prints every check. The exit code is 1 if one of them failed. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const { config: file, json, out, say, environment } = options;
  const settings = options.set.map(parseSetting);
  const config = readConfig(file, tradingSchema, settings);
  const configured = await configure(config.strategies, file, settings);
  const stateDir = options.state ?? defaultStateDir('live');
  const { restUrl } = config.exchange;
  const found = orRefusal(() => readSecrets(environment));
  const secrets = found instanceof Refusal ? undefined : found;
  const steps = orRefusal(() => (hasJournal(stateDir) ? inJournal(stateDir, (reader) => reader.limits()) : []));
  const given = { config, configured, file, settings, steps: steps instanceof Refusal ? [] : steps };
  const checks: Check[] = [
    ...machineChecks(stateDir),
    planCheck(config, configured),
    limitsCheck(config, steps, stateDir),
  ];
  if (found instanceof Refusal)
    checks.push(fail('key', 'the key and secret cannot be read; paper needs none', found.message));
  say(`asking ${restUrl}; listening to the socket for ${listenMs / 1_000} s`);
  const address = { ...config.exchange, account: config.account, limits: config.requestWeight };
  const connection = connect(address, secrets, environment, { waitMs });
  try {
    checks.push(...(await examine({ ...given, connection, apiKey: secrets?.apiKey }, stateDir)));
  } finally {
    connection.close();
  }
  const isOk = checks.every(({ level }) => level !== 'fail');
  if (json) out(JSON.stringify({ version: 2, ok: isOk, exchange: restUrl, checks }));
  else for (const line of doctorLines(checks, restUrl, process.stdout.isTTY)) out(line, true);
  process.exitCode = isOk ? 0 : 1;
}

const hasJournal = (stateDir: string): boolean => existsSync(join(stateDir, journalFile));

/** The limits in force, and those above the standard: a start refuses them until somebody confirms them. */
function limitsCheck(config: TradingConfig, steps: readonly LimitEntry[] | Refusal, stateDir: string): Check {
  if (steps instanceof Refusal) return fail('risk', 'the confirmed limits cannot be read', steps.message);
  const found = unraised(config, steps, stateDir);
  const { kills, denies, missing } = limitsInForce(config);
  const lines = [
    found === undefined ? 'every limit above the standard is confirmed' : `${found.what} ${found.which.join('; ')}`,
    `kill: ${kills.join(', ')}`,
    `deny: ${denies.join(', ')}`,
    ...(missing.length === 0 ? [] : [`not set: ${missing.join(', ')}`]),
  ].join('\n');
  return found === undefined ? ok('risk', lines) : fail('risk', lines, `${found.advice} ${found.raises.join('; ')}`);
}

async function examine(given: Omit<Examination, 'isNew' | 'sentOrder'>, stateDir: string): Promise<readonly Check[]> {
  const { config, configured, connection, apiKey } = given;
  const { restUrl, wsUrl } = config.exchange;
  const listening = connection.exchange.probeSocket(configured[0]?.config.symbol ?? '');
  const name = apiKey === undefined ? undefined : venueNameOf(restUrl, apiKey);
  const { checks, rest } = await exchangeChecks({
    ...given,
    isNew: !hasJournal(stateDir),
    sentOrder: (at) => (name === undefined ? undefined : echoTestOrderId(stateDir, name, at)),
  });
  const socket = await listening;
  if (rest === undefined) return checks;
  const unsaved = name === undefined ? [] : saved(stateDir, name, { rest, socket });
  // A query cannot show how a cancel ends. A daemon that cancelled has recorded it.
  const seen = name === undefined ? rest : { ...rest, cancel: cancelAt(stateDir, name) };
  return [
    ...checks,
    ...unsaved,
    socketCheck(socket, wsUrl),
    quirksCheck(seen, socket),
    clientIdCheck(seen, isLoopback(restUrl), config.dedicatedAccount),
  ];
}

/** Saves what the exchange can do. A disk that takes nothing must not hide the other checks. */
function saved(stateDir: string, name: string, found: Parameters<typeof rememberCapabilities>[3]): readonly Check[] {
  try {
    rememberCapabilities(stateDir, name, machineWall(), found);
    return [];
  } catch (error) {
    return [
      fail(
        'state',
        `${stateDir} cannot be written: ${causeOf(error)}`,
        'free space there, or allow Sluice to write to it',
      ),
    ];
  }
}

const styles: Readonly<Record<Level, Parameters<typeof styleText>[0]>> = {
  ok: 'green',
  warn: 'yellow',
  fail: ['red', 'bold'],
};
const nameWidth = 16;
const textWidth = 96;
const indent = ' '.repeat(8 + nameWidth);

/** One check a line, long ones wrapped, each with its advice; the last line is a summary. */
export function doctorLines(checks: readonly Check[], url: string, colours: boolean): readonly string[] {
  const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const lines = checks.flatMap(({ name, level, text, advice }) => {
    const [first = '', ...more] = escapeText(text)
      .split('\n')
      .flatMap((line) => wrapped(line));
    const head = `  ${styled(styles[level], level.padEnd(4))}  ${styled('bold', escapeText(name).padEnd(nameWidth))}${first}`;
    const todo =
      advice === '' ? [] : wrapped(escapeText(advice)).map((line, at) => `${indent}${at === 0 ? '→ ' : '  '}${line}`);
    return [head, ...more.map((line) => indent + line), ...todo.map((line) => styled('cyan', line))];
  });
  const [fails = 0, warns = 0] = (['fail', 'warn'] as const).map(
    (level) => checks.filter((one) => one.level === level).length,
  );
  const sum =
    fails > 0
      ? styled(styles.fail, `${fails} ${fails === 1 ? 'problem prevents' : 'problems prevent'} trading`)
      : warns > 0
        ? styled(styles.warn, `trading is possible; ${warns} ${warns === 1 ? 'warning' : 'warnings'}`)
        : styled(styles.ok, 'all checks passed');
  return [`${styled('bold', 'sluice doctor')}  ${escapeText(url)}`, '', ...lines, '', `  ${sum}`];
}

/** Lines that begin with spaces are a table and stay as they are. */
function wrapped(text: string): string[] {
  if (text.startsWith(' ')) return [text];
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= textWidth) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
