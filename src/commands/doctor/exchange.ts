/** What the doctor asks the exchange. */
import { createHash } from 'node:crypto';
import { type Budget, budget } from '../../budget/budget.ts';
import { accountName, sharedFile, sharedFilePath, userOf } from '../../budget/shared-file.ts';
import { machineWall, ScaledClock, systemRng } from '../../clock/clock.ts';
import type { TradingConfig } from '../../config/schema.ts';
import type { Secrets } from '../../config/secrets.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { noLots, noUnits, plus, quantityText, unitsText } from '../../domain/money.ts';
import { didYouMean } from '../../domain/refusal.ts';
import { noLog } from '../../session/log.ts';
import { isTooLittle } from '../../session/preflight/balance-check.ts';
import { findOut } from '../../session/preflight/probe-exchange.ts';
import type { Configured } from '../../trading/strategies.ts';
import type { RestCapabilities } from '../../venue/exchange/capabilities.ts';
import { type Exchange, exchange } from '../../venue/exchange/exchange.ts';
import { codeMeaning } from '../../venue/exchange/rest/codes.ts';
import type { Balance, Failure } from '../../venue/venue.ts';
import { type Check, check } from './check.ts';

/** The exchange under examination. */
export interface Patient {
  readonly exchange: Exchange;
  readonly clock: ScaledClock;
  readonly limits: Budget;
  readonly apiKey: string | undefined;
  close(): void;
}

/** Real ms that a request may wait for weight. */
const patienceMs = 10_000;

export function openPatient(
  { exchange: place, account, budget: most }: TradingConfig,
  secrets: Secrets | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Patient {
  const clock = new ScaledClock(place.speed);
  const address = new URL(place.restUrl).host;
  const shared = sharedFile({ path: sharedFilePath(environment), address, clock, isOneOff: true, warn: () => {} });
  const limits = budget({ clock, shared, user: userOf(secrets?.apiKey), ...most });
  const x = exchange({
    ...place,
    apiKey: secrets?.apiKey ?? '',
    apiSecret: secrets?.apiSecret,
    account,
    clock,
    rng: systemRng,
    spend: (lane, cost, until) => limits.spend(lane, cost, until ?? clock.now() + clock.machine(patienceMs)),
    notice: limits.notice,
    uidSeen: (uid) => limits.identify(accountName(uid)),
    log: noLog(),
  });
  return {
    exchange: x,
    clock,
    limits,
    apiKey: secrets?.apiKey,
    close() {
      x.close();
      limits.close();
    },
  };
}

/** `isNew`: nothing was traded by the state directory yet. `sent` gives `echoTestOrderId` of `Exchange.probe`. `rest` is undefined when the exchange cannot be asked: then there is nothing to remember. */
export async function exchangeChecks(
  patient: Patient,
  config: TradingConfig,
  configured: readonly Configured[],
  isNew: boolean,
  sent: (at: Instrument) => string | undefined,
): Promise<{ readonly checks: readonly Check[]; readonly rest: RestCapabilities | undefined }> {
  const { exchange: x, clock } = patient;
  const begunAt = clock.monotonic();
  const ping = await x.market.ping();
  const tripMs = (clock.monotonic() - begunAt) / clock.machine(1);
  if (ping.kind === 'failed')
    return {
      checks: [bans(patient), failing('REST', ping, 'check exchange.restUrl and the network')],
      rest: undefined,
    };
  const checks = [
    check('REST', 'ok', `answers in ${Math.round(tripMs)} ms`),
    await timeCheck(patient, config),
    bans(patient),
  ];
  const listed = await x.instruments();
  if (listed.kind === 'failed') return { checks: [...checks, failing('symbols', listed)], rest: undefined };
  checks.push(...symbolChecks(config, configured, listed.value));
  if (patient.apiKey !== undefined) checks.push(...(await keyChecks(patient, config, listed.value, isNew)));
  const at = listed.value.find(({ symbol }) => symbol === configured[0]?.config.symbol);
  if (at === undefined) return { checks, rest: undefined };
  // Where the key is not taken at all its permissions need no word.
  const isTaken = checks.some(({ name, level }) => name === 'key' && level === 'ok');
  const rest = await findOut(x, at, isTaken, sent(at));
  return { checks: isTaken ? [...checks, tradeCheck(rest)] : checks, rest };
}

function failing(name: string, { cause, code }: Failure, otherwise = ''): Check {
  const meaning = code === undefined ? undefined : codeMeaning(code);
  const text = meaning === undefined ? cause : `${cause} (${meaning.means})`;
  return check(name, 'fail', text, meaning?.advice ?? otherwise);
}

async function timeCheck({ exchange: x, clock }: Patient, { exchange: { speed } }: TradingConfig): Promise<Check> {
  const answer = await x.syncTime();
  const against = x.time.against();
  if (answer.kind === 'failed')
    return failing(
      'time',
      answer,
      x.time.pace() === undefined
        ? 'the clocks of the exchange disagree; try again later'
        : `set exchange.speed to what the exchange runs at; it is ${speed}`,
    );
  if (against !== undefined)
    return check('time', 'fail', against, 'use a quicker connection: no order is created like this');
  const within = `known to within ${Math.round(answer.value.uncertaintyMs / speed)} ms`;
  const offMs = Math.round(clock.now() - machineWall());
  if (speed !== 1) return check('time', 'ok', `${within}; a built-in exchange with a time of its own`);
  const text = `${within}; the clock of this machine is ${Math.abs(offMs)} ms ${offMs > 0 ? 'behind' : 'ahead'}`;
  return Math.abs(offMs) > 1_000
    ? check('time', 'warn', text, 'Sluice goes by the exchange; let the machine set its clock (NTP) all the same')
    : check('time', 'ok', text);
}

function bans({ limits }: Patient): Check {
  const { stoppedUntil, slowedUntil, others, ip } = limits.meter();
  const until = stoppedUntil ?? slowedUntil;
  if (until !== undefined)
    return check(
      'limits',
      'fail',
      `the exchange ordered this address to ${stoppedUntil === undefined ? 'slow down' : 'send nothing'} before ${new Date(until).toISOString()}`,
      'wait until then; look what else runs behind this address',
    );
  return check('limits', 'ok', `no ban in force; other processes here spent ${others} of ${ip.max} in the last minute`);
}

function symbolChecks(
  { risk }: TradingConfig,
  configured: readonly Configured[],
  listed: readonly Instrument[],
): readonly Check[] {
  const symbols = [...new Set(configured.map(({ config }) => config.symbol))];
  return symbols.map((symbol) => {
    const at = listed.find((one) => one.symbol === symbol);
    if (at === undefined) {
      const hint = didYouMean(
        symbol,
        listed.map((one) => one.symbol),
      );
      return check('symbol', 'fail', `${symbol} is not listed${hint}`, 'sluice market symbols lists what is traded');
    }
    const minima = [
      ...(at.minQuantity > noLots ? [`at least ${quantityText(at.minQuantity, at)} ${at.base}`] : []),
      ...(at.minNotional > noUnits ? [`at least ${unitsText(at.minNotional)} ${at.quote}`] : []),
    ];
    const text = `${symbol}: ${at.pricePrecision} decimals of price, ${at.quantityPrecision} of quantity, ${minima.join(', ') || 'no minimums'}`;
    if (at.minNotional > risk.maxOrderValue)
      return check(
        'symbol',
        'fail',
        `${text}; risk.maxOrderValue is ${unitsText(risk.maxOrderValue)}`,
        'raise risk.maxOrderValue: the exchange takes no order as small',
      );
    return check('symbol', 'ok', text);
  });
}

async function keyChecks(
  patient: Patient,
  config: TradingConfig,
  listed: readonly Instrument[],
  isNew: boolean,
): Promise<readonly Check[]> {
  const balances = await patient.exchange.account.balances();
  if (balances.kind === 'failed') return [failing('key', balances, 'check key and secret')];
  return [
    check('key', 'ok', `may read the account (${keyName(patient.apiKey)})`),
    fundsCheck(config, listed, balances.value, isNew),
    await withdrawCheck(patient),
  ];
}

const keyName = (apiKey = ''): string => `key ${createHash('sha256').update(apiKey).digest('hex').slice(0, 12)}`;

/** Of margin there is no balance to be asked for (specification §4.4). */
function fundsCheck(
  { account, strategies }: TradingConfig,
  listed: readonly Instrument[],
  balances: readonly Balance[],
  isNew: boolean,
): Check {
  if (account === 'margin')
    return check('funds', 'warn', 'the exchange has no query for margin balances', 'look there yourself');
  const quote = listed.find(({ symbol }) => symbol === strategies[0]?.symbol)?.quote ?? '';
  const wanted = strategies.reduce((sum, { allocation }) => plus(sum, allocation ?? noUnits), noUnits);
  const { free = noUnits, locked = noUnits } = balances.find(({ asset }) => asset === quote) ?? {};
  const text = `${unitsText(free)} ${quote} free, ${unitsText(wanted)} allotted`;
  if (free >= wanted) return check('funds', 'ok', text);
  // What such a start is refused for.
  return isNew && isTooLittle(wanted, plus(free, locked))
    ? check('funds', 'fail', text, 'lower `allocation`, or pay in: a daemon that holds nothing does not begin so')
    : check(
        'funds',
        'warn',
        text,
        'orders beyond what is free will be refused, unless a strategy holds the rest already',
      );
}

/** By the query alone: no code that the daemon can reach applies for a withdrawal. */
async function withdrawCheck({ exchange: x }: Patient): Promise<Check> {
  const answer = await x.withdrawals.query({});
  if (answer.kind === 'ok')
    return check(
      'withdrawals',
      'warn',
      'the key may ask about withdrawals, and perhaps make them',
      'take the permission to withdraw from this key: a daemon needs to read and to trade, nothing else',
    );
  return answer.code === undefined
    ? check('withdrawals', 'warn', `not known: ${answer.cause}`, 'look into the user centre what the key may do')
    : check('withdrawals', 'ok', `the key may not ask about them (code ${answer.code})`);
}

const tradeCheck = ({ orderTest }: RestCapabilities): Check =>
  orderTest === 'yes'
    ? check('trading', 'ok', 'the exchange takes the test of an order')
    : orderTest === 'no'
      ? check('trading', 'fail', 'the test of an order is refused', 'give the key the permission to trade')
      : check('trading', 'warn', 'not known: the test of an order was not answered', 'try sluice order test');
