/** The doctor's checks of the exchange. */
import { createHash } from 'node:crypto';
import type { Connection } from '../../client/connection.ts';
import { machineWall } from '../../clock/clock.ts';
import type { TradingConfig } from '../../config/schema.ts';
import { symbolsOf } from '../../config/symbols.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { noLots, noUnits, plus, quantityText, unitsText } from '../../domain/money.ts';
import { didYouMean } from '../../domain/refusal.ts';
import { leftText } from '../../domain/words.ts';
import { isTooLittle } from '../../session/preflight/balance-check.ts';
import { probe } from '../../session/preflight/probe-exchange.ts';
import { marketsIn, tradedIn } from '../../trading/lanes.ts';
import type { Configured } from '../../trading/strategies.ts';
import type { RestCapabilities } from '../../venue/exchange/capabilities.ts';
import { codeMeaning } from '../../venue/exchange/rest/codes.ts';
import type { Balance, Failure } from '../../venue/venue.ts';
import { type Check, fail, ok, warn } from './check.ts';
import { type RecentGiven, recentDenials } from './recent-denials.ts';

export interface Examination extends Pick<RecentGiven, 'file' | 'settings' | 'steps'> {
  readonly config: TradingConfig;
  readonly configured: readonly Configured[];
  readonly connection: Connection;
  /** Undefined when no key can be read. */
  readonly apiKey: string | undefined;
  /** The state directory has traded nothing yet. */
  readonly isNew: boolean;
  /** `echoTestOrderId` of `Exchange.probe`. */
  readonly sentOrder: (at: Instrument) => string | undefined;
}

/** `rest` is undefined when the exchange cannot be probed. */
export async function exchangeChecks(
  given: Examination,
): Promise<{ readonly checks: readonly Check[]; readonly rest: RestCapabilities | undefined }> {
  const { exchange, clock } = given.connection;
  const begunAt = clock.monotonic();
  const ping = await exchange.market.ping();
  const tripMs = (clock.monotonic() - begunAt) / clock.machine(1);
  if (ping.kind === 'failed') {
    const advice = 'check exchange.restUrl and the network';
    return { checks: [banCheck(given), failing('REST', ping, advice)], rest: undefined };
  }
  const checks = [ok('REST', `answers in ${Math.round(tripMs)} ms`), await timeCheck(given), banCheck(given)];
  const listed = await exchange.instruments();
  if (listed.kind === 'failed') return { checks: [...checks, failing('symbols', listed)], rest: undefined };
  checks.push(...symbolChecks(given, listed.value));
  if (checks.every(({ level }) => level !== 'fail')) checks.push(await denialsCheck(given, listed.value));
  if (given.apiKey !== undefined) checks.push(...(await keyChecks(given, listed.value)));
  const named = symbolsOf(given.config.strategies);
  const at = listed.value.find(({ symbol }) => named.includes(symbol));
  if (at === undefined) return { checks, rest: undefined };
  // A key that is not accepted at all has no permissions to check.
  const isAccepted = checks.some(({ name, level }) => name === 'key' && level === 'ok');
  const rest = await probe(exchange, at, isAccepted, given.sentOrder(at));
  return { checks: isAccepted ? [...checks, tradeCheck(rest)] : checks, rest };
}

function failing(name: string, { cause, code }: Failure, otherwise = ''): Check {
  const meaning = code === undefined ? undefined : codeMeaning(code);
  return fail(name, meaning === undefined ? cause : `${cause} (${meaning.means})`, meaning?.advice ?? otherwise);
}

async function timeCheck({ connection: { exchange, clock }, config }: Examination): Promise<Check> {
  const { speed } = config.exchange;
  const answer = await exchange.syncTime();
  const against = exchange.time.against();
  if (answer.kind === 'failed')
    return failing(
      'time',
      answer,
      exchange.time.pace() === undefined
        ? 'the clocks of the exchange disagree; try again later'
        : `set exchange.speed to the speed of the exchange; it is ${speed}`,
    );
  if (against !== undefined)
    return fail('time', against, 'use a faster connection: with this uncertainty no order is created');
  const within = `known to within ${Math.round(answer.value.uncertaintyMs / speed)} ms`;
  const offMs = Math.round(clock.now() - machineWall());
  if (speed !== 1) return ok('time', `${within}; a built-in exchange with its own clock`);
  const text = `${within}; the clock of this machine is ${Math.abs(offMs)} ms ${offMs > 0 ? 'behind' : 'ahead'}`;
  return Math.abs(offMs) > 1_000
    ? warn('time', text, "Sluice follows the exchange's clock; synchronise this machine's clock as well (NTP)")
    : ok('time', text);
}

function banCheck({ connection: { clock, limits } }: Examination): Check {
  const { stoppedUntil, slowedUntil, others, ip } = limits.meter();
  const until = stoppedUntil ?? slowedUntil;
  if (until === undefined)
    return ok('limits', `no ban in force; other processes here spent ${others} of ${ip.max} in the last minute`);
  const order = stoppedUntil === undefined ? 'slow down' : 'send nothing';
  const left = leftText((until - clock.now()) / clock.machine(1));
  return fail(
    'limits',
    `the exchange ordered this address to ${order} for another ${left}`,
    'wait until then; check which other programs run behind this address',
  );
}

function symbolChecks({ config, configured }: Examination, listed: readonly Instrument[]): readonly Check[] {
  const { maxOrderValue } = config.risk;
  const names = listed.map((one) => one.symbol);
  const traded = new Set(configured.flatMap((one) => tradedIn(marketsIn(one))));
  const ofLists = new Set(configured.flatMap(({ config: one }) => one.symbols ?? []));
  return symbolsOf(configured.map((one) => one.config)).map((symbol) => {
    const at = listed.find((one) => one.symbol === symbol);
    if (at === undefined && ofLists.has(symbol))
      return warn(
        'symbol',
        `${symbol} is not listed${didYouMean(symbol, names)}`,
        'the strategies that choose among it leave it out',
      );
    if (at === undefined)
      return fail(
        'symbol',
        `${symbol} is not listed${didYouMean(symbol, names)}`,
        'sluice market symbols lists the traded symbols',
      );
    const minima = [
      ...(at.minQuantity > noLots ? [`at least ${quantityText(at.minQuantity, at)} ${at.base}`] : []),
      ...(at.minNotional > noUnits ? [`at least ${unitsText(at.minNotional)} ${at.quote}`] : []),
    ];
    const text = `${symbol}: ${at.pricePrecision} decimals of price, ${at.quantityPrecision} of quantity, ${minima.join(', ') || 'no minimums'}`;
    return at.minNotional > maxOrderValue && traded.has(symbol)
      ? fail(
          'symbol',
          `${text}; risk.maxOrderValue is ${unitsText(maxOrderValue)}`,
          'raise risk.maxOrderValue: the exchange accepts no smaller order',
        )
      : ok('symbol', text);
  });
}

/** More denials than this share of entries mean that the limits are not those of these strategies. */
const maxDenied = 0.5;

/** Whether the limits allow what the strategies ask for. */
async function denialsCheck(given: Examination, instruments: readonly Instrument[]): Promise<Check> {
  const found = await recentDenials({ ...given, instruments, feed: given.connection.exchange.feed });
  if (typeof found === 'string') return warn('denials', found);
  const { share, isKilled, text } = found;
  if (share === 0 && !isKilled) return ok('denials', text);
  const advice = 'lower what the strategies ask for, or raise the limit (docs/reference/controls.md)';
  return share > maxDenied ? fail('denials', text, advice) : warn('denials', text, advice);
}

async function keyChecks(given: Examination, listed: readonly Instrument[]): Promise<readonly Check[]> {
  const balances = await given.connection.exchange.account.balances();
  if (balances.kind === 'failed') return [failing('key', balances, 'check key and secret')];
  const keyHash = createHash('sha256').update(given.apiKey ?? '');
  return [
    ok('key', `may read the account (key ${keyHash.digest('hex').slice(0, 12)})`),
    fundsCheck(given, listed, balances.value),
    await withdrawCheck(given),
  ];
}

/** Margin balances cannot be queried (specification §4.4). */
function fundsCheck(
  { config, isNew }: Examination,
  listed: readonly Instrument[],
  balances: readonly Balance[],
): Check {
  const { account, strategies } = config;
  if (account === 'margin')
    return warn('funds', 'the exchange has no query for margin balances', 'check them in the user centre');
  const named = symbolsOf(strategies);
  const quote = listed.find(({ symbol }) => named.includes(symbol))?.quote ?? '';
  const allotted = strategies.reduce((sum, { allocation }) => plus(sum, allocation ?? noUnits), noUnits);
  const { free = noUnits, locked = noUnits } = balances.find(({ asset }) => asset === quote) ?? {};
  const text = `${unitsText(free)} ${quote} free, ${unitsText(allotted)} allotted`;
  if (free >= allotted) return ok('funds', text);
  // The start of a new daemon is refused for this.
  return isNew && isTooLittle(allotted, plus(free, locked))
    ? fail('funds', text, 'lower `allocation`, or deposit: a daemon that holds no positions does not start')
    : warn('funds', text, 'orders above the free balance will be refused, unless positions explain the difference');
}

/** By the query alone: no code that the daemon can reach applies for a withdrawal. */
async function withdrawCheck({ connection: { exchange } }: Examination): Promise<Check> {
  const answer = await exchange.withdrawals.query({});
  if (answer.kind === 'ok')
    return warn(
      'withdrawals',
      'the key may query withdrawals, and perhaps make them',
      'remove the permission to withdraw from this key: a daemon only needs to read and to trade',
    );
  return answer.code === undefined
    ? warn('withdrawals', `not known: ${answer.cause}`, 'check the permissions of the key in the user centre')
    : ok('withdrawals', `the key may not query them (code ${answer.code})`);
}

const tradeCheck = ({ orderTest }: RestCapabilities): Check =>
  orderTest === 'yes'
    ? ok('trading', 'the exchange accepts the test of an order')
    : orderTest === 'no'
      ? fail('trading', 'the test of an order is refused', 'give the key the permission to trade')
      : warn('trading', 'not known: the test of an order was not answered', 'try sluice order test');
