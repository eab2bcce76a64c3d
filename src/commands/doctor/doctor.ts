/** `sluice doctor`: whether a configuration can trade, here and now, and what to do where it cannot. It changes nothing at the exchange. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machineWall } from '../../clock/clock.ts';
import { parseSetting, readConfig } from '../../config/read.ts';
import { isLoopback, type TradingConfig, tradingSchema } from '../../config/schema.ts';
import { readSecrets, type Secrets } from '../../config/secrets.ts';
import { Refusal } from '../../domain/refusal.ts';
import { journalFile } from '../../journal/open.ts';
import { venueNameOf } from '../../session/live.ts';
import { cancelAt, rememberCapabilities } from '../../session/preflight/capabilities-file.ts';
import { unraised } from '../../session/preflight/limits.ts';
import { echoTestOrderId } from '../../session/preflight/probe-exchange.ts';
import { defaultStateDir, inJournal } from '../../session/state.ts';
import { type Configured, configure } from '../../trading/strategies.ts';
import { listenMs } from '../../venue/exchange/probe-socket.ts';
import { type Check, capabilityChecks, check, type Level } from './check.ts';
import { exchangeChecks, openPatient, type Patient } from './exchange.ts';
import { machineChecks, planChecks } from './machine.ts';
import { doctorLines } from './show.ts';

export interface DoctorOptions {
  readonly config: string;
  readonly state?: string;
  readonly set: readonly string[];
  readonly json: boolean;
  readonly out: (line: string, isStyled?: boolean) => void;
  readonly say: (line: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Prints every check; its exit code is 1 when one of them failed. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const { config: file, set, json, out, say, environment } = options;
  const settings = set.map(parseSetting);
  const config = readConfig(file, tradingSchema, settings);
  const configured = await configure(config.strategies, file, settings);
  const stateDir = options.state ?? defaultStateDir('live');
  const secrets = secretsOf(environment);
  const checks: Check[] = [
    ...machineChecks(stateDir),
    ...planChecks(config, configured),
    limitsCheck(config, stateDir),
  ];
  if ('advice' in secrets) checks.push(secrets);
  say(`asking ${config.exchange.restUrl}; the socket is listened to for ${listenMs / 1_000} s`);
  const patient = openPatient(config, 'apiKey' in secrets ? secrets : undefined, environment);
  try {
    checks.push(...(await examine(patient, config, configured, stateDir)));
  } finally {
    patient.close();
  }
  const worst: Level = checks.some(({ level }) => level === 'fail') ? 'fail' : 'ok';
  if (json) out(JSON.stringify({ version: 2, ok: worst === 'ok', exchange: config.exchange.restUrl, checks }));
  else for (const line of doctorLines(checks, config.exchange.restUrl, process.stdout.isTTY)) out(line, true);
  process.exitCode = worst === 'fail' ? 1 : 0;
}

const hasJournal = (stateDir: string): boolean => existsSync(join(stateDir, journalFile));

/** Limits above the standard, which a start refuses until somebody confirmed them. */
function limitsCheck(config: TradingConfig, stateDir: string): Check {
  try {
    const steps = hasJournal(stateDir) ? inJournal(stateDir, (reader) => reader.limits()) : [];
    const found = unraised(config, steps, stateDir);
    if (found === undefined) return check('risk', 'ok', 'no limit stands above the standard that was not confirmed');
    const { what, which, advice, raises } = found;
    return check('risk', 'fail', `${what} ${which.join('; ')}`, `${advice} ${raises.join('; ')}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return check('risk', 'fail', 'the steps above the standard limits cannot be read', error.message);
  }
}

function secretsOf(environment: DoctorOptions['environment']): Secrets | Check {
  try {
    return readSecrets(environment);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return check('key', 'fail', 'no key and secret can be read', error.message);
  }
}

async function examine(
  patient: Patient,
  config: TradingConfig,
  configured: readonly Configured[],
  stateDir: string,
): Promise<readonly Check[]> {
  const symbol = configured[0]?.config.symbol ?? '';
  const listening = patient.exchange.probeSocket(symbol);
  const name = patient.apiKey === undefined ? undefined : venueNameOf(config.exchange.restUrl, patient.apiKey);
  const { checks, rest } = await exchangeChecks(patient, config, configured, !hasJournal(stateDir), (at) =>
    name === undefined ? undefined : echoTestOrderId(stateDir, name, at),
  );
  const socket = await listening;
  if (rest === undefined) return checks;
  if (name !== undefined) rememberCapabilities(stateDir, name, machineWall(), { rest, socket });
  const isHere = isLoopback(config.exchange.restUrl);
  // A cancel shows what no question can: a daemon that made one has written it down.
  const seen = name === undefined ? rest : { ...rest, cancel: cancelAt(stateDir, name) };
  return [
    ...checks,
    ...capabilityChecks(seen, socket, { isHere, wsUrl: config.exchange.wsUrl, dedicated: config.dedicatedAccount }),
  ];
}
