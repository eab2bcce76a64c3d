/**
 * `npm run quirks -- [--profile NAME] [--quirk NAME] [--life NAME]`: the whole program on both profiles, and with each quirk of live
 * exchanges turned alone: a daemon on spot, one on an account of its own, one on margin, and batches by the client. Ends with 1 when the ledgers differ anywhere or something never happens.
 */
import { parseArgs } from 'node:util';
import { realMs } from '../src/clock/clock.ts';
import { lives, liveWith, profiles, type QuirkCase, quirkCases, titleOf } from '../test/kit/quirk-run.ts';

/** What was asked for; ends the process with 2 where that cannot be. */
function asked(): readonly QuirkCase[] {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { profile: text, quirk: text, life: text } });
    const { profile: only, quirk, life } = values;
    const cases = profiles
      .filter((profile) => only === undefined || only === profile)
      .flatMap((profile): QuirkCase[] => [{ profile, quirks: {} }, ...quirkCases(profile)])
      .filter(({ quirks }) => quirk === undefined || quirk in quirks)
      .flatMap((one) => lives.map((name): QuirkCase => ({ ...one, life: name })))
      .filter((one) => life === undefined || one.life === life);
    if (cases.length > 0) return cases;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  process.stderr.write(
    'usage: npm run quirks -- [--profile documented|observed] [--quirk NAME] [--life trade|dedicated|margin|batch]\n',
  );
  process.exit(2);
}

const cases = asked();
let failures = 0;
for (const one of cases) {
  const start = realMs();
  const wrong = await liveWith(one);
  if (wrong.length > 0) failures++;
  const took = `${((realMs() - start) / 1_000).toFixed(1)} s`;
  process.stdout.write(`${wrong.length === 0 ? 'ok  ' : 'FAIL'}  ${took.padStart(7)}  ${titleOf(one)}\n`);
  for (const line of wrong) process.stdout.write(`                 ${line}\n`);
}
process.stdout.write(`${cases.length} lives, ${failures} of them with something wrong\n`);
process.exit(failures === 0 ? 0 : 1);
