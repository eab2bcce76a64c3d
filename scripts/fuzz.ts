/**
 * `npm run fuzz -- [--rounds 100] [--seed 1]`: bad frames and bad replies against the client, bad requests against the control address
 * of the built-in exchange, changed bits in journals, backtests of several markets and of two strategies against the slow reference, and
 * backtests by events run in two ways, each round with a seed of its own. Ends with 1 at the first that throws, is believed wrongly, is not answered or differs, and names its seed.
 */
import { realMs } from '../src/clock/clock.ts';
import { fuzzSeveral, fuzzTicks, fuzzTwo } from '../test/backtest/fuzz-backtests.ts';
import { fuzzControl } from '../test/kit/fuzz-control.ts';
import { fuzzFramesInTime } from '../test/kit/fuzz-frames-thread.ts';
import { fuzzJournal } from '../test/kit/fuzz-journal.ts';
import { fuzzReplies } from '../test/kit/fuzz-replies.ts';
import { askedFor, wholeFrom } from './asked.ts';

const usage = 'usage: npm run fuzz -- [--rounds 100] [--seed 1]';
const values = askedFor({ rounds: { type: 'string' }, seed: { type: 'string' } }, usage);
const rounds = wholeFrom(1, 'rounds', values.rounds, usage) ?? 100;
const first = wholeFrom(0, 'seed', values.seed, usage) ?? 1;
const perRound = 2_000;
const controlsPerRound = 500;
const journalsPerRound = 20;
const startedAt = realMs();
let believed = 0;
let taken = 0;
let carriedOut = 0;
let refused = 0;
let filled = 0;
let ordered = 0;
for (let seed = first; seed < first + rounds; seed++) {
  try {
    believed += await fuzzFramesInTime(seed, perRound);
    taken += await fuzzReplies(seed, perRound);
    carriedOut += await fuzzControl(seed, controlsPerRound);
    refused += (await fuzzJournal(seed, journalsPerRound)).refused;
    filled += (await fuzzSeveral(seed)) + (await fuzzTwo(seed));
    ordered += await fuzzTicks(seed);
  } catch (error) {
    console.error(`seed ${seed}:`, error);
    process.exit(1);
  }
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1e6);
  if ((seed - first) % 10 === 9) console.error(`${seed - first + 1} of ${rounds} rounds, heap ${heapMb} MB`);
}
const seconds = ((realMs() - startedAt) / 1_000).toFixed(0);
console.log(
  `${rounds * perRound} frames (${believed} messages believed), ${rounds * perRound} replies (${taken} taken), ` +
    `${rounds * controlsPerRound} control requests (${carriedOut} carried out), ` +
    `${rounds * journalsPerRound} journals (${refused} refused, the others held what they held), ` +
    `backtests of several markets and two strategies (${filled} fills, as in the slow reference), ` +
    `backtests by events (${ordered} orders, however they were run) in ${seconds} s: nothing broke`,
);
