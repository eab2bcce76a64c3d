/** `sluice data fetch`: the past of a symbol from the exchange into the catalogue, going on where an earlier run ended. */

import { rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Shown, showPace } from '../../backtest/progress.ts';
import {
  addressOf,
  type Client,
  type ClientIo,
  type ExchangeChoice,
  okOrRefuse,
  openClient,
} from '../../client/connection.ts';
import { klinePages, klinesBetween, tradePage } from '../../client/past-pages.ts';
import { systemClock } from '../../clock/clock.ts';
import { type SeriesKey, seriesName } from '../../data/catalogue/kinds.ts';
import { takeLock } from '../../data/catalogue/lock.ts';
import { readManifest } from '../../data/catalogue/manifest.ts';
import { Fetched, fetchedLock, fetchedPath, missingOf, type Stretch } from '../../data/fetch-file.ts';
import { makeFolder } from '../../data/folder.ts';
import { intervalOf, namedSymbol } from '../../data/import/file-names.ts';
import { importFile } from '../../data/import/import.ts';
import {
  closeTime,
  type ExchangeInterval,
  exchangeIntervalOf,
  isExchangeInterval,
  openTimeOf,
} from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { closeGraceMs } from '../../venue/exchange/market/kline-history.ts';
import type { Answer } from '../../venue/venue.ts';
import { importLines, moment } from './import.ts';
import type { DataGiven } from './select-series.ts';

export interface FetchGiven extends DataGiven, ExchangeChoice, ClientIo {
  readonly kind: 'klines' | 'trades';
  readonly interval?: string;
  /** UTC ms. */
  readonly from?: number;
  readonly to?: number;
  readonly source?: string;
  readonly replace: boolean;
}

/** Pages that wait in the file before they go into the catalogue; what a run holds in memory. */
const maxWaiting = 200;
/** Tries of one request before the run gives up, and the first wait between them, real ms; each wait is twice the one before. */
const tries = 5;
const firstWaitMs = 1_000;

interface Run {
  readonly given: FetchGiven;
  readonly client: Client;
  readonly dir: string;
  readonly key: SeriesKey;
  readonly source: string;
  readonly fetched: Fetched;
  readonly shown: Shown;
}

/** Fetches what is not there yet, and says what the exchange does not give. */
export async function fetch(symbol: string, given: FetchGiven): Promise<void> {
  const dir = resolve(given.data);
  const key = keyOf(symbol, given);
  const path = fetchedPath(dir, key);
  makeFolder(dirname(path));
  const unlock = takeLock(fetchedLock(dir, key), path);
  try {
    const before = readManifest(dir, key);
    const source = sourceOf(given, key, before?.source);
    const client = await openClient(given, given, false);
    const shown = showPace(seriesName(key), {
      clock: systemClock,
      signal: given.signal,
      draw: process.stderr.isTTY ? (text) => void process.stderr.write(text) : undefined,
    });
    const run: Run = { given, client, dir, key, source, fetched: new Fetched(path, before !== undefined), shown };
    try {
      okOrRefuse(await withRetries(run, () => client.exchange.syncTime()), client);
      await client.instrument(key.symbol);
      if (given.kind === 'klines') await fetchKlines(run);
      else await fetchTrades(run);
    } finally {
      shown.end();
      client.close();
    }
  } finally {
    unlock();
  }
}

/** The source of the data: `--source`, or the exchange's host. A series has one source. */
export function sourceOf(
  given: Pick<FetchGiven, 'source'> & ExchangeChoice,
  key: SeriesKey,
  stored: string | undefined,
): string {
  const source = given.source ?? new URL(addressOf(given).restUrl).hostname;
  if (stored === undefined || stored === source) return source;
  throw new Refusal(
    `${seriesName(key)} has data from ${stored}, and this is ${source}: use another catalogue (--data), or, if both are the same source, --source ${stored}`,
  );
}

function keyOf(symbol: string, { kind, interval, from }: FetchGiven): SeriesKey {
  if (kind === 'trades') {
    if (interval !== undefined) throw new Refusal('trades have no interval: leave --interval out');
    return { kind, symbol: namedSymbol(symbol) };
  }
  if (interval === undefined) throw new Refusal('the interval is missing (--interval 1min)');
  if (from === undefined) throw new Refusal('the start time is missing (--from 2024-01-01)');
  return { kind, symbol: namedSymbol(symbol), interval: fetchedInterval(interval) };
}

function fetchedInterval(text: string): ExchangeInterval {
  const interval = intervalOf(text);
  if (isExchangeInterval(interval)) return interval;
  const own = exchangeIntervalOf(interval);
  throw new Refusal(
    `the exchange has no klines of ${interval}: fetch ${own} (a backtest makes ${interval} from it, and so does \`sluice data resample --into ${interval}\`)`,
  );
}

async function fetchKlines(run: Run): Promise<void> {
  const { given, client, key, fetched, shown } = run;
  const { clock, exchange } = client;
  const { symbol } = key;
  const interval = fetchedInterval(key.interval ?? '1min');
  const closedBefore = clock.now() - closeGraceMs(clock);
  const last = openTimeOf(interval, closedBefore);
  const asked = { symbol, interval, from: given.from ?? 0, until: Math.min(given.to ?? last, last) };
  if (asked.from >= asked.until)
    throw new Refusal(
      `no kline of ${interval} is closed between --from and ${given.to === undefined ? 'now' : '--to'}`,
    );
  if (given.to !== undefined && given.to > last) given.say(`up to ${moment(last)}: later klines are not closed yet`);
  await store(run);
  const missing = missingOf(asked, fetched.asked);
  const of = missing.reduce((sum, stretch) => sum + klinesBetween(interval, stretch.from, stretch.until), 0);
  const ask = klinePages(exchange, asked);
  let stopped = false;
  let began: string | undefined;
  for (let index = 0, left = of; index < missing.length && !stopped && began === undefined; index++) {
    const stretch = missing[index] as Stretch;
    for (let until = stretch.until; until > stretch.from && !stopped && began === undefined; ) {
      const step = await stored(run, await withRetries(run, () => ask(until)));
      if (step.kind === 'beginning')
        began = `the exchange has no klines of ${symbol} ${interval} before ${moment(step.at)} (${step.why})`;
      else {
        const from = Math.max(step.from, stretch.from);
        // Days of another zone end within ours.
        const rows = step.klines.filter(
          ({ openTime }) => openTime >= from && closeTime(interval, openTime) <= closedBefore,
        );
        fetched.add({
          from,
          until,
          rows: rows.map((one) => [one.openTime, one.open, one.high, one.low, one.close, one.volume]),
        });
        left -= klinesBetween(interval, from, until);
        until = from;
        if (fetched.waiting >= maxWaiting) await store(run);
      }
      stopped = await shown.pace(of - left, of);
    }
  }
  const rows = await store(run);
  shown.end();
  if (missing.length === 0) note(run, 'everything is stored already; the exchange was not queried');
  else if (rows === 0 && began === undefined && !stopped) note(run, 'the exchange has no klines in that time');
  if (began !== undefined) note(run, began);
  if (stopped) throw new Refusal('interrupted: what was fetched is stored; the same command continues', 1);
}

async function fetchTrades(run: Run): Promise<void> {
  const { given, client, key, fetched } = run;
  await store(run);
  const { from, until, trades, isFull } = await stored(
    run,
    await withRetries(run, () => tradePage(client.exchange, key.symbol)),
  );
  const rows = trades
    .filter(({ time }) => time >= (given.from ?? 0) && time < (given.to ?? Number.POSITIVE_INFINITY))
    .map(({ time, price, quantity, side }) => [time, price, quantity, side === 'BUY' ? 1 : -1]);
  if (rows.length > 0) fetched.add({ from, until, rows });
  await store(run);
  if (isFull || (given.from ?? from) < from)
    note(
      run,
      `the exchange provides only its newest ${counted(trades.length, 'trade')}, from ${moment(from)} on. To keep later ones, run sluice record`,
    );
  else if (rows.length === 0) note(run, 'the exchange has no trades in that time');
}

/** What the exchange answered; when it cannot be had, what was fetched before is stored first. */
async function stored<T>(run: Run, answer: Answer<T>): Promise<T> {
  if (answer.kind === 'failed') {
    await store(run);
    run.shown.end();
    run.given.say('what was fetched is stored; the same command continues');
  }
  return okOrRefuse(answer, run.client);
}

/** Asks again where no answer came; a refusal of the exchange stays one. */
async function withRetries<T>({ client, given, shown }: Run, ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  let answer = await ask();
  for (let attempt = 1, waitMs = firstWaitMs; attempt < tries; attempt++, waitMs *= 2) {
    if (answer.kind === 'ok' || answer.code !== undefined || given.signal.aborted) return answer;
    shown.end();
    given.say(`${answer.cause}; retrying in ${waitMs / 1_000} s`);
    await client.clock.sleep(client.clock.machine(waitMs));
    answer = await ask();
  }
  return answer;
}

/** Puts the pages that wait into the catalogue; the rows that they held. */
async function store(run: Run): Promise<number> {
  const { fetched, dir, key, source, given, shown } = run;
  if (fetched.waiting === 0) return 0;
  const path = fetchedPath(dir, key).replace(/\.jsonl$/, '.csv');
  const rows = fetched.writeRows(path, key);
  if (rows > 0) {
    // What the exchange says of a symbol is of that symbol: pages that were refused would wait for ever.
    const layout = { ...key, source, endStamps: false, repair: new Set<never>(), acceptJumps: true };
    const holes = key.kind === 'klines' ? [] : fetched.holes;
    const options = { dir, ...layout, replace: given.replace, now: systemClock.now(), holes };
    const result = await importFile(path, options);
    shown.end();
    for (const line of given.json ? [JSON.stringify(result)] : importLines(result)) given.out(line);
  }
  rmSync(path, { force: true });
  fetched.settle();
  return rows;
}

const note = ({ given, key }: Run, text: string): void =>
  given.out(given.json ? JSON.stringify({ series: seriesName(key), note: text }) : `${seriesName(key)}: ${text}`);
